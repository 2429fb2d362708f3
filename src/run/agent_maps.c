/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Maps for a desk (agent_maps.h). The reader's thread makes each, once per request. */
#include "src/run/agent_maps.h"

#include <errno.h>
#include <stdlib.h>

#include "src/memory/map_bytes.h"
#include "src/memory/map_reader.h"

struct agent_maps {
	struct far_worker worker;
	struct map_reader *reader; /* of the last request; or NULL */
	struct bytes found;
};

static int map_begin(void *ctx, const struct read_segment *segment, pid_t pid,
	const uint8_t *request, size_t len)
{
	const struct map_reader_of of = { .path = read_path(segment), .pid = pid };
	struct agent_maps *a = ctx;

	(void)request;
	if (len > 0)
		return -EPROTO;
	map_reader_free(a->reader);
	bytes_free(&a->found);
	a->reader = map_reader_new(&of, NULL);
	if (!a->reader)
		return -ENOMEM;
	map_reader_want(a->reader);
	return 0;
}

/* A reading is short, and ends by itself. */
static void map_cancel(void *ctx)
{
	(void)ctx;
}

static bool map_look(void *ctx, struct far_working *s, const struct bytes **found)
{
	struct agent_maps *a = ctx;
	const struct map *m;

	(void)s;
	if (!map_reader_collect(a->reader)) {
		map_reader_want(a->reader); /* again, if no thread could be started */
		return false;
	}
	m = map_reader_newest(a->reader);
	if (m)
		map_bytes_put(&a->found, m);
	*found = &a->found;
	return true;
}

static void map_leave(void *ctx)
{
	struct agent_maps *a = ctx;

	map_reader_free(a->reader);
	a->reader = NULL;
	bytes_free(&a->found);
}

struct agent_maps *agent_maps_new(void)
{
	struct agent_maps *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->worker = (struct far_worker){
		.ctx = a,
		.begin = map_begin,
		.cancel = map_cancel,
		.look = map_look,
		.leave = map_leave,
	};
	return a;
}

const struct far_worker *agent_maps_worker(const struct agent_maps *a)
{
	return &a->worker;
}

void agent_maps_free(struct agent_maps *a)
{
	if (!a)
		return;
	map_leave(a);
	free(a);
}
