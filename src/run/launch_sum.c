/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All processes of a launch as one (launch_sum.h). Main thread. */
#include "src/run/launch_sum.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/model/merged.h"
#include "src/model/processes.h"
#include "src/util/clock.h"

#define NOTICE_MAX 256

/* A process besides the launched one. */
struct part {
	uint64_t id;
	struct session *session;
	bool seen; /* it is still the process's image, which runs */
};

struct launch_sum {
	struct process_tree *main;
	struct merged *merged;
	struct part part[LAUNCH_SUM_MAX];
	size_t parts;
	size_t left_out; /* running processes without a part */
	char notice[NOTICE_MAX];
};

struct launch_sum *launch_sum_new(struct process_tree *main)
{
	struct launch_sum *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->main = main;
	l->merged = merged_new();
	if (l->merged)
		return l;
	free(l);
	return NULL;
}

void launch_sum_free(struct launch_sum *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->parts; i++)
		session_close(l->part[i].session);
	merged_close(l->merged);
	free(l);
}

/* ---- which processes ---- */

static uint64_t main_id(const struct launch_sum *l)
{
	const struct read_identity *id = session_identity(process_tree_session(l->main));

	return processes_id(id->pid, id->start_ticks, id->pid_namespace);
}

static struct part *part_find(struct launch_sum *l, const struct launch_process *p)
{
	for (size_t i = 0; i < l->parts; i++)
		if (l->part[i].id == p->id && !strcmp(session_path(l->part[i].session), p->path))
			return &l->part[i];
	return NULL;
}

static void part_open(struct launch_sum *l, const struct launch_process *p)
{
	struct session_options o = { .beside = process_tree_session(l->main), .pid = p->pid };
	char message[READ_MESSAGE_MAX];
	struct session *s = NULL;

	if (l->parts < LAUNCH_SUM_MAX)
		s = session_open(p->path, &o, message);
	if (s)
		l->part[l->parts++] = (struct part){ .id = p->id, .session = s, .seen = true };
	else
		l->left_out++;
}

static void parts_update(struct launch_sum *l)
{
	const struct launch_process *const *all;
	size_t count = launch_processes_all(process_tree_launch(l->main), &all);
	uint64_t main = main_id(l);

	l->left_out = 0;
	for (size_t i = 0; i < l->parts; i++)
		l->part[i].seen = false;
	for (size_t i = 0; i < count; i++) {
		struct part *part = part_find(l, all[i]);

		if (all[i]->ended || all[i]->id == main || !all[i]->path[0])
			continue;
		if (part)
			part->seen = true;
		else
			part_open(l, all[i]);
	}
}

/* ---- a tick ---- */

/* One that has ended is read once more: what it allocated at the end counts, too. */
static void part_read(struct launch_sum *l, struct part *p)
{
	struct snapshot *s = session_tick(p->session);

	if (s && merged_add(l->merged, s, !p->seen || snapshot_ended(s)) != 0)
		l->left_out++;
	snapshot_unref(s);
}

static void parts_read(struct launch_sum *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->parts; i++) {
		part_read(l, &l->part[i]);
		if (l->part[i].seen)
			l->part[kept++] = l->part[i];
		else
			session_close(l->part[i].session);
	}
	l->parts = kept;
}

static const char *notice_make(struct launch_sum *l, const struct snapshot *now)
{
	/* A copy: the process may go before the sum. */
	if (!l->left_out)
		snprintf(l->notice, sizeof(l->notice), "%s", now->notice ? now->notice : "");
	if (!l->left_out)
		return now->notice ? l->notice : NULL;
	snprintf(l->notice, sizeof(l->notice),
		"the sum leaves out %zu running processes (it holds %u at most)", l->left_out,
		LAUNCH_SUM_MAX + 1);
	return l->notice;
}

struct snapshot *launch_sum_tick(struct launch_sum *l, struct snapshot *now)
{
	struct snapshot *sum;

	if (!now)
		return NULL;
	parts_update(l);
	merged_begin(l->merged);
	if (merged_add(l->merged, now, snapshot_ended(now)) != 0)
		l->left_out++;
	parts_read(l);
	sum = merged_end(l->merged, now, clock_monotonic_ns());
	if (sum)
		sum->notice = notice_make(l, now);
	errno = sum ? errno : ENOMEM;
	return sum;
}

void launch_sum_names_finish(struct launch_sum *l, uint64_t timeout_ns)
{
	uint64_t end = clock_monotonic_ns() + timeout_ns;

	for (size_t i = 0; i < l->parts; i++) {
		uint64_t now = clock_monotonic_ns();

		session_names_finish(l->part[i].session, now < end ? end - now : 0);
	}
}

/* ---- a site of it ---- */

static void detail_add(void *ctx, const struct snapshot *of, uint32_t site)
{
	struct snap_detail one, *out = ctx;

	if (session_detail(of, site, &one) != 0)
		return;
	for (unsigned i = 0; i < SNAP_SIZE_BUCKETS; i++) {
		out->sizes[i].allocs += one.sizes[i].allocs;
		out->sizes[i].live_blocks += one.sizes[i].live_blocks;
		out->sizes[i].live_bytes += one.sizes[i].live_bytes;
	}
	for (unsigned i = 0; i < SNAP_LIFE_BUCKETS; i++)
		out->lifetimes[i] += one.lifetimes[i];
}

int launch_sum_detail(const struct launch_sum *l, uint32_t site, struct snap_detail *out)
{
	*out = (struct snap_detail){ .id = site };
	merged_visit(l->merged, site, detail_add, out);
	return 0;
}

void launch_sum_hide_again(struct launch_sum *l)
{
	merged_hide_again(l->merged);
}
