/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calls by which a viewer attaches to a running program, and detaches (shm/attached.h). It
 * has loaded this library there, and makes a thread of the program call these functions. Any
 * thread; errno is kept, since the thread was borrowed.
 */
#include <errno.h>

#include "preload/inner_memory.h"
#include "preload/jumps.h"
#include "preload/lifecycle.h"

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

int heaptop_attach(struct ht_attached *a)
{
	const char *why = "it is made for another version of heaptop";
	int saved = errno, rc = -EPROTO;

	if (a == &heaptop_attached && a->version == HT_ATTACHED_VERSION && a->bytes == sizeof(*a))
		rc = lifecycle_attach(a, &why);
	(void)finish(a, rc, why);
	errno = saved;
	return rc;
}

int heaptop_detach(struct ht_attached *a)
{
	int saved = errno;

	if (a->unlisted != 0)
		return finish(a, -E2BIG, "too many of its functions are patched");
	if (a->state == HT_ATTACHED_RELEASED)
		lifecycle_unmap();
	else
		lifecycle_detach();
	(void)finish(a, 0, "");
	errno = saved;
	return 0;
}
