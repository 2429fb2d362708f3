/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libdebuginfod through dlopen: five functions, one call. Called by debugfile.c on the symboliser's
 * worker thread, only if the user enabled debuginfod.
 */
#include "src/sym/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct client;
typedef int progress_fn(struct client *c, long a, long b);

static struct {
	bool tried;
	struct client *(*begin)(void);
	void (*end)(struct client *c);
	void (*set_progress)(struct client *c, progress_fn *fn);
	void (*set_data)(struct client *c, void *data);
	void *(*get_data)(struct client *c);
	int (*find)(struct client *c, const unsigned char *id, int len, char **path);
} lib;

/* libdebuginfod calls it regularly during a download; non-zero cancels the download. */
static int give_up(struct client *c, long a, long b)
{
	const atomic_bool *stop = lib.get_data(c);

	(void)a;
	(void)b;
	return *stop;
}

static bool library_load(void)
{
	void *so;

	if (lib.tried)
		return lib.find != NULL;
	lib.tried = true;
	so = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!so)
		return false;
	*(void **)&lib.begin = dlsym(so, "debuginfod_begin");
	*(void **)&lib.end = dlsym(so, "debuginfod_end");
	*(void **)&lib.set_progress = dlsym(so, "debuginfod_set_progressfn");
	*(void **)&lib.set_data = dlsym(so, "debuginfod_set_user_data");
	*(void **)&lib.get_data = dlsym(so, "debuginfod_get_user_data");
	if (lib.begin && lib.end && lib.set_progress && lib.set_data && lib.get_data)
		*(void **)&lib.find = dlsym(so, "debuginfod_find_debuginfo");
	return lib.find != NULL;
}

int debuginfod_fetch(const uint8_t *id, size_t len, const atomic_bool *stop)
{
	struct client *c;
	int fd;

	if (!library_load())
		return -ENOSYS;
	c = lib.begin();
	if (!c)
		return -ENOMEM;
	lib.set_data(c, (void *)(uintptr_t)stop);
	lib.set_progress(c, give_up);
	fd = lib.find(c, id, (int)len, NULL);
	lib.end(c);
	return fd;
}
