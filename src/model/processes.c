/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tree of processes (processes.h). There are a thousand at most, so linear searches suffice.
 */
#include "src/model/processes.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define LEVELS_MAX 32u /* deeper rows are shown at this level; there are 64 guides */
#define NO_ROW	   UINT32_MAX

struct tree {
	struct process_row *in, *out;
	uint32_t *up; /* by row of `in`: its parent's, or NO_ROW */
	size_t count, placed;
	bool taken[PROCESSES_MAX];
	uint16_t next[PROCESSES_MAX]; /* the next child of the same parent + 1; 0: it is the last */
};

/* By group; in it what stands for the whole of it, then processes by pid. */
static int by_group(const void *left, const void *right)
{
	const struct process_row *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if ((a->kind == PROCESS_ONE) != (b->kind == PROCESS_ONE))
		return a->kind == PROCESS_ONE ? 1 : -1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static void place(struct tree *t, size_t i, unsigned level, uint64_t guides, bool last);

/* Takes all children before placing any: if a pid occurs twice, they could otherwise be found below
 * each other. */
static void place_children(struct tree *t, size_t parent, unsigned level, uint64_t guides)
{
	uint16_t first = 0, *end = &first;

	for (size_t i = 0; i < t->count; i++) {
		if (t->taken[i] || t->up[i] != parent)
			continue;
		t->taken[i] = true;
		*end = (uint16_t)(i + 1);
		end = &t->next[i];
		*end = 0;
	}
	for (uint16_t at = first; at; at = t->next[at - 1])
		place(t, at - 1u, level, guides, t->next[at - 1] == 0);
}

static void place(struct tree *t, size_t i, unsigned level, uint64_t guides, bool last)
{
	struct process_row *row = &t->out[t->placed++];
	size_t at = t->placed;

	t->taken[i] = true;
	*row = t->in[i];
	row->level = level;
	row->last = last;
	row->guides = guides;
	if (level < LEVELS_MAX)
		place_children(t, i, level + 1,
			last || level == 0 ? guides : guides | UINT64_C(1) << level);
	if (row->kind == PROCESS_ONE)
		row->below = (uint32_t)(t->placed - at);
	row->sum_bytes = row->has_live && !row->ended ? row->live_bytes : 0;
	for (; at < t->placed; at++)
		if (t->out[at].has_live && !t->out[at].ended)
			row->sum_bytes += t->out[at].live_bytes;
}

uint64_t processes_id(pid_t pid, uint64_t start_ticks, uint64_t pid_namespace)
{
	uint64_t id = (uint64_t)pid << 40 ^ start_ticks ^ pid_namespace << 20;

	return id ? id : 1;
}

const char *processes_state(char state)
{
	return state == 'T' || state == 't' ? "stopped" : "running";
}

const char *processes_ended(int wait_status)
{
	static char text[512][16];
	char *out = text[0];

	if (wait_status < 0)
		return "ended";
	if (WIFSIGNALED(wait_status)) {
		const char *name = sigabbrev_np(WTERMSIG(wait_status));

		out = text[256 + WTERMSIG(wait_status)];
		if (name)
			snprintf(out, sizeof(text[0]), "SIG%s", name);
		else
			snprintf(out, sizeof(text[0]), "signal %d", WTERMSIG(wait_status));
		return out;
	}
	out = text[WEXITSTATUS(wait_status)];
	snprintf(out, sizeof(text[0]), "exit %d", WEXITSTATUS(wait_status));
	return out;
}

/* ---- parents and groups ---- */

static bool is_parent(const struct process_row *a, const struct process_row *child)
{
	if (a->kind != PROCESS_ONE || a == child)
		return false;
	return child->parent_id ? a->id == child->parent_id
				: child->parent > 0 && a->pid == child->parent;
}

/* A running one, if several have the number. */
static void parents_find(struct tree *t)
{
	for (size_t i = 0; i < t->count; i++) {
		t->up[i] = NO_ROW;
		if (t->in[i].kind != PROCESS_ONE || t->in[i].parent == t->in[i].pid)
			continue;
		for (size_t k = 0; k < t->count; k++)
			if (is_parent(&t->in[k], &t->in[i]) &&
				(t->up[i] == NO_ROW || t->in[t->up[i]].ended))
				t->up[i] = (uint32_t)k;
	}
}

/* Children of this launch belong to it; all others stand below parents of their own group. */
static void groups_settle(struct tree *t)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < t->count; i++) {
			if (t->up[i] == NO_ROW || !t->in[i].group || t->in[t->up[i]].group)
				continue;
			t->in[i].group = 0;
			changed = true;
		}
	}
	for (size_t i = 0; i < t->count; i++)
		if (t->up[i] != NO_ROW && t->in[t->up[i]].group != t->in[i].group)
			t->up[i] = NO_ROW;
}

/* ---- what stands for several ---- */

static size_t group_sum(
	const struct process_row *rows, size_t count, uint32_t group, struct process_row *sum)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (rows[i].kind != PROCESS_ONE || rows[i].group != group)
			continue;
		n++;
		if (rows[i].has_live && !rows[i].ended)
			sum->live_bytes += rows[i].live_bytes;
		sum->rss_bytes += rows[i].ended ? 0 : rows[i].rss_bytes;
		sum->rate_bytes_per_s += rows[i].ended ? 0 : rows[i].rate_bytes_per_s;
		sum->has_live |= rows[i].has_live;
		sum->has_rss |= rows[i].has_rss;
		sum->has_rate |= rows[i].has_rate;
	}
	return n;
}

static bool is_headed(const struct process_row *rows, size_t count, uint32_t group)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].kind != PROCESS_ONE && rows[i].group == group)
			return true;
	return false;
}

/* False: the group needs none. */
static bool head_make(
	const struct process_row *rows, size_t count, uint32_t group, struct process_row *out)
{
	struct process_row head = { .group = group, .state = "" };
	size_t n = group_sum(rows, count, group, &head);

	if (group == 0 && n < 2)
		return false;
	head.kind = group == 0 ? PROCESS_ALL : PROCESS_HEAD;
	head.id = group == 0 ? PROCESSES_ALL : PROCESSES_ALL + 1 + group;
	head.below = (uint32_t)n;
	snprintf(head.command, sizeof(head.command), "%s",
		group == 0		   ? "all processes of this launch"
		: group == PROCESSES_ALONE ? "not launched by heaptop"
					   : "another launch");
	*out = head;
	return true;
}

size_t processes_heads(struct process_row *rows, size_t count, size_t max)
{
	struct tree t = { .in = rows, .count = count, .up = malloc(count * sizeof(*t.up) + 1) };
	size_t all = count;

	if (!t.up)
		return count;
	parents_find(&t);
	groups_settle(&t);
	free(t.up);

	for (size_t i = 0; i < count && all < max; i++)
		if (!is_headed(rows, all, rows[i].group) &&
			head_make(rows, count, rows[i].group, &rows[all]))
			all++;
	return all;
}

/* ---- the tree ---- */

/* Roots, then those that are in cycles. */
static void group_place(struct tree *t, size_t from, size_t to, pid_t first)
{
	for (unsigned pass = 0; pass < 4; pass++)
		for (size_t i = from; i < to; i++)
			if (!t->taken[i] &&
				(pass == 3 ||
					(t->up[i] == NO_ROW &&
						(pass == 2 || t->in[i].kind != PROCESS_ONE ||
							(pass == 1 && t->in[i].pid == first)))))
				place(t, i, 0, 0, true);
}

static void tree_place(struct tree *t, pid_t first)
{
	size_t to;

	for (size_t from = 0; from < t->count; from = to) {
		to = from;
		while (to < t->count && t->in[to].group == t->in[from].group)
			to++;
		group_place(t, from, to, first);
	}
}

void processes_arrange(struct process_row *rows, size_t count, pid_t first)
{
	struct tree t = { .out = rows, .count = count < PROCESSES_MAX ? count : PROCESSES_MAX };

	t.in = malloc(t.count * sizeof(*rows) + 1);
	t.up = malloc(t.count * sizeof(*t.up) + 1);
	if (t.in && t.up) {
		memcpy(t.in, rows, t.count * sizeof(*rows));
		parents_find(&t);
		groups_settle(&t);
		qsort(t.in, t.count, sizeof(*rows), by_group);
		parents_find(&t); /* they have moved */
		groups_settle(&t);
		tree_place(&t, first);
	}
	free(t.in);
	free(t.up);
}
