/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A made segment, a model of its call sites, and the walk over its live blocks (of another machine,
 * if live_agent_walks). */
#ifndef TESTS_UNIT_LIVE_WALK_FIXTURE_H
#define TESTS_UNIT_LIVE_WALK_FIXTURE_H

#include "src/session/live_walk.h"
#include "tests/unit/live_agent.h"
#include "tests/unit/segment_fixture.h"

struct surveyed {
	struct live_agent agent;
	struct made made;
	struct read_segment *reader;
	struct model *model;
	struct live_walk live_walk;
	struct mark_list moments;
	uint32_t sites; /* ids are below it */
};

static inline void surveyed_open(struct surveyed *w, uint32_t sites)
{
	static const struct snap_module module = { .path = "/m", .name = "m", .build_id = "" };
	static const struct frame frame = { .pc = 1, .module = &module, .function = "f" };

	memset(w, 0, sizeof(*w));
	made_open(&w->made, &fixture_identity);
	made_fill(&w->made);
	w->reader = made_read(&w->made);
	live_agent_init(&w->agent, w->made.path);
	w->model = model_new();
	w->sites = sites;
	for (uint32_t site = 1; site < sites; site++)
		CHECK_INT(model_site_add(w->model, site, "malloc", &frame, 1, false), 0);
}

static inline void surveyed_close(struct surveyed *w)
{
	live_walk_free(&w->live_walk);
	live_agent_free(&w->agent);
	model_free(w->model);
	read_close(w->reader);
	made_close(&w->made);
}

static inline struct live_walk_of surveyed_of(struct surveyed *w)
{
	return (struct live_walk_of){ .segment = w->reader,
		.model = w->model,
		.moments = &w->moments,
		.created_ns = FIXTURE_CREATED_NS,
		.sites = w->sites,
		.far = live_agent_order(&w->agent),
		.waits = true };
}

/* A tick of the model, and a look at the blocks, whether it is due or not. */
static inline struct snapshot *surveyed_look(struct surveyed *w, const struct model_input *in)
{
	struct live_walk_of of = surveyed_of(w);
	struct snapshot *s = model_tick(w->model, in);

	CHECK(s != NULL);
	w->live_walk.due_ns = 0;
	live_walk_update(&w->live_walk, &of, s);
	return s;
}

#endif
