/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contents of blocks for a desk (agent_contents.h): some hundred bytes, read at once. */
#include "src/run/agent_contents.h"

#include <errno.h>
#include <sys/uio.h>

#include "src/proc/proc.h"
#include "src/run/contents_request.h"

static void range_read(struct contents_range *r, pid_t pid)
{
	struct iovec here = { r->data, r->bytes };
	struct iovec there = { (void *)(uintptr_t)r->addr, r->bytes };
	ssize_t n = pid > 0 ? process_vm_readv(pid, &here, 1, &there, 1, 0) : -1;

	r->got = n > 0 ? (size_t)n : 0;
}

static int contents_begin(void *ctx, const struct read_segment *segment, pid_t pid,
	const uint8_t *request, size_t len)
{
	struct bytes_cursor c = { request, request + len, false };
	struct contents_range range[CONTENTS_RANGES];
	struct agent_contents *a = ctx;
	pid_t tid;
	size_t count;

	(void)segment;
	if (contents_request_get(&c, range, &count) != 0 || count == 0)
		return -EPROTO;
	tid = pid > 0 ? proc_memory_tid(pid) : 0;
	for (size_t i = 0; i < count; i++)
		range_read(&range[i], tid);
	bytes_free(&a->found);
	contents_answer_put(&a->found, range, count);
	return 0;
}

static void contents_cancel(void *ctx)
{
	(void)ctx;
}

static bool contents_look(void *ctx, struct far_working *s, const struct bytes **found)
{
	(void)s;
	*found = &((struct agent_contents *)ctx)->found;
	return true;
}

static void contents_leave(void *ctx)
{
	bytes_free(&((struct agent_contents *)ctx)->found);
}

void agent_contents_init(struct agent_contents *a)
{
	*a = (struct agent_contents){ .worker = { .ctx = a,
					      .begin = contents_begin,
					      .cancel = contents_cancel,
					      .look = contents_look,
					      .leave = contents_leave } };
}

void agent_contents_free(struct agent_contents *a)
{
	contents_leave(a);
}
