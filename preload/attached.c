/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calls by which a viewer attaches to a running program, and detaches (shm/attached.h). It has
 * opened this library there, and has the program make these calls. Any thread; errno is kept, since
 * the thread was borrowed.
 */
#include <errno.h>
#include <link.h>

#include "preload/environment.h"
#include "preload/inner_memory.h"
#include "preload/jumps.h"
#include "preload/lifecycle.h"
#include "preload/symbols.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED ht_attached_call heaptop_attach, heaptop_detach;

static int finish(struct ht_attached *a, int rc, const char *why)
{
	size_t bytes = __builtin_strlen(why);

	a->pads_bytes = inner_memory_all(&a->pads);
	bytes = bytes < sizeof(a->why) ? bytes : sizeof(a->why) - 1;
	__builtin_memcpy(a->why, why, bytes);
	a->why[bytes] = '\0';
	a->result = rc;
	return rc;
}

struct attaching {
	const char *why;
	int rc;
};

/* Whoever reads the loader's list holds the lock that others need to change it. */
static int attach_locked(struct dl_phdr_info *info, size_t size, void *data)
{
	struct attaching *t = data;

	symbols_forget();
	t->rc = lifecycle_attach(&t->why);
	return 1;
}

int heaptop_attach(struct ht_attached *a)
{
	struct attaching t = { "it is made for another version of heaptop", -EPROTO };
	int saved = errno;

	if (a == &heaptop_attached && a->version == HT_ATTACHED_VERSION && a->bytes == sizeof(*a)) {
		environment_give(a);
		dl_iterate_phdr(attach_locked, &t);
	}
	(void)finish(a, t.rc, t.rc == 0 ? "" : t.why);
	errno = saved;
	return t.rc;
}

int heaptop_detach(struct ht_attached *a)
{
	int saved = errno;

	if (a->unlisted != 0)
		return finish(a, -E2BIG, "too many of its functions are patched");
	lifecycle_detach();
	(void)finish(a, 0, "");
	errno = saved;
	return 0;
}
