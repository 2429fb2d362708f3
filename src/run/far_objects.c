/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Object files from another machine (far_objects.h). */
#include "src/run/far_objects.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/util/text.h"
#include "src/util/units.h"

#define PIECE_MS    30000
#define SILENT_NS   UINT64_C(10000000000) /* who says nothing for so long sends no file */
#define OBJECT_MOST (UINT64_C(512) << 20)

/* ---- the folder ---- */

/* XDG_CACHE_HOME/heaptop/objects, made if it is not there. */
static void folder_find(struct far_objects *o)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	bool own = cache && cache[0] == '/';
	char *at;

	if (!own && (!home || home[0] != '/'))
		return;
	if (snprintf(o->folder, sizeof(o->folder), "%s%s/heaptop/objects", own ? cache : home,
		    own ? "" : "/.cache") >= (int)sizeof(o->folder))
		return;
	for (at = o->folder + 1; (at = strchr(at, '/')); at++) {
		*at = 0;
		mkdir(o->folder, 0700);
		*at = '/';
	}
	if (mkdir(o->folder, 0700) == 0 || errno == EEXIST)
		o->elsewhere.objects = o->folder;
}

/* BUILD-ID.PID: a part of a file. */
static bool is_part(const char *name)
{
	size_t hex = strspn(name, "0123456789abcdef");

	return hex > 0 && name[hex] == '.' && name[hex + 1] &&
	       !name[hex + 1 + strspn(name + hex + 1, "0123456789")];
}

/* Who copies holds a lock, which ends with it. */
static void part_remove(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		unlinkat(folder, name, 0);
	close(fd);
}

static void parts_remove(const char *folder)
{
	DIR *d = opendir(folder);
	const struct dirent *e;

	while (d && (e = readdir(d)))
		if (is_part(e->d_name))
			part_remove(dirfd(d), e->d_name);
	if (d)
		closedir(d);
}

void far_objects_init(struct far_objects *o)
{
	o->fd = -1;
	o->next = 1;
	folder_find(o);
	if (o->elsewhere.objects)
		parts_remove(o->folder);
}

/* ---- one file ---- */

static struct sym_module sym_module_of(const struct far_objects *o)
{
	return (struct sym_module){ .path = o->module.path,
		.build_id = o->module.build_id,
		.build_id_len = o->module.build_id_bytes };
}

static void base_name(const struct far_objects *o, char *name, size_t cap)
{
	const char *slash = strrchr(o->module.path, '/');
	const char *base = slash ? slash + 1 : o->module.path;

	text_clean(name, cap, base, strlen(base));
}

static void announce(const struct far_objects *o)
{
	char name[64];

	base_name(o, name, sizeof(name));
	if (o->waits && isatty(STDERR_FILENO))
		fprintf(stderr, "heaptop: copying %s from the other side for its names\n", name);
}

/* Written under another name, so that a file by its build-id is whole, and has that build-id. */
static int part_open(struct far_objects *o)
{
	const struct sym_module m = sym_module_of(o);
	char path[PATH_MAX];

	if (!elsewhere_object(&m, &o->elsewhere, path, sizeof(path)))
		return -ENOENT;
	snprintf(o->part, sizeof(o->part), "%s.%d", path, (int)getpid());
	o->fd = open(o->part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (o->fd < 0)
		return -errno;
	(void)flock(o->fd, LOCK_EX | LOCK_NB); /* else it may be removed, and does not come */
	return 0;
}

/* A side that does not answer is not asked for other files. */
static void part_close(struct far_objects *o, int result)
{
	const struct sym_module m = sym_module_of(o);
	char path[PATH_MAX];

	far_desk_copy_end(o->desk);
	close(o->fd);
	o->fd = -1;
	if (result == -ETIMEDOUT)
		o->fetches = false;
	if (result != 0 || !elsewhere_is_of(&m, o->part) ||
		!elsewhere_object(&m, &o->elsewhere, path, sizeof(path)) ||
		rename(o->part, path) != 0)
		unlink(o->part);
}

static bool is_wanted(const struct far_objects *o)
{
	const struct sym_module m = sym_module_of(o);

	return o->fetches && o->module.path[0] == '/' && o->module.build_id_bytes > 0 &&
	       !elsewhere_has(&m, &o->elsewhere);
}

/* 0: it comes. */
static int begin(struct far_objects *o)
{
	int rc = part_open(o);

	if (rc != 0)
		return rc;
	rc = far_desk_copy(o->desk, o->view, o->next, o->fd, OBJECT_MOST);
	if (rc != 0)
		part_close(o, rc);
	return rc;
}

/* The whole file now. -EINTR: a signal has come. */
static int wait_for(struct far_objects *o)
{
	int rc = part_open(o);

	if (rc != 0)
		return rc;
	announce(o);
	rc = far_desk_file(o->desk, o->view, o->next, o->fd, OBJECT_MOST, PIECE_MS);
	part_close(o, rc);
	return rc;
}

/* ---- all ---- */

void far_objects_look(struct far_objects *o)
{
	while (o->fd < 0 && read_module(o->segment, o->next, &o->module) == 0) {
		if (is_wanted(o) && o->waits && wait_for(o) == -EINTR)
			return; /* the next tick goes on */
		if (is_wanted(o) && !o->waits && begin(o) == 0)
			return;
		o->next++;
	}
}

bool far_objects_listen(struct far_objects *o)
{
	uint64_t done, bytes;
	int result;

	if (o->fd < 0)
		return false;
	result = far_desk_copied(o->desk, &done, &bytes);
	if (result == 1 && far_desk_silent_ns(o->desk) > SILENT_NS)
		result = -ETIMEDOUT;
	if (result == 1)
		return false;
	part_close(o, result);
	o->next++;
	far_objects_look(o);
	return true;
}

void far_objects_restart(struct far_objects *o, struct read_segment *segment)
{
	if (o->fd >= 0)
		part_close(o, -ECANCELED);
	o->segment = segment;
	o->next = 1;
	far_objects_look(o);
}

const char *far_objects_progress(const struct far_objects *o, char text[FAR_OBJECTS_TEXT])
{
	char name[64], here[UNITS_MAX], whole[UNITS_MAX];
	uint64_t done, bytes;

	if (o->fd < 0 || far_desk_copied(o->desk, &done, &bytes) != 1)
		return NULL;
	base_name(o, name, sizeof(name));
	units_bytes(here, done);
	units_bytes(whole, bytes);
	snprintf(text, FAR_OBJECTS_TEXT, "copying %s from there for its names: %s of %s", name,
		here, bytes ? whole : "?");
	return text;
}

void far_objects_free(struct far_objects *o)
{
	if (o->desk && o->fd >= 0)
		part_close(o, -ECANCELED);
}
