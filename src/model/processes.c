/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tree of processes (processes.h). There are a few hundred at most, so linear searches suffice.
 */
#include "src/model/processes.h"

#include <stdlib.h>
#include <string.h>

#define LEVELS_MAX 32u /* deeper rows are shown at this level; there are 64 guides */

struct tree {
	struct process_row *in, *out;
	size_t count, placed;
	bool taken[PROCESSES_MAX];
};

static int by_pid(const void *left, const void *right)
{
	const struct process_row *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static void place(struct tree *t, size_t i, unsigned level, uint64_t guides, bool last);

/* Takes all children before placing any: if a pid occurs twice, they could otherwise be found below
 * each other. */
static void place_children(struct tree *t, pid_t parent, unsigned level, uint64_t guides)
{
	uint16_t child[PROCESSES_MAX];
	size_t n = 0;

	for (size_t i = 0; i < t->count; i++) {
		if (t->taken[i] || t->in[i].parent != parent)
			continue;
		t->taken[i] = true;
		child[n++] = (uint16_t)i;
	}
	for (size_t k = 0; k < n; k++)
		place(t, child[k], level, guides, k + 1 == n);
}

static void place(struct tree *t, size_t i, unsigned level, uint64_t guides, bool last)
{
	struct process_row *row = &t->out[t->placed++];

	t->taken[i] = true;
	*row = t->in[i];
	row->level = level;
	row->last = last;
	row->guides = guides;
	if (level < LEVELS_MAX && row->pid > 0)
		place_children(t, row->pid, level + 1,
			last || level == 0 ? guides : guides | UINT64_C(1) << level);
}

static bool has_row(const struct tree *t, pid_t pid)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->in[i].pid == pid)
			return true;
	return false;
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

void processes_arrange(struct process_row *rows, size_t count, pid_t first)
{
	struct tree t = { .out = rows, .count = count < PROCESSES_MAX ? count : PROCESSES_MAX };

	t.in = malloc(t.count * sizeof(*rows) + 1);
	if (!t.in)
		return;
	qsort(rows, t.count, sizeof(*rows), by_pid);
	memcpy(t.in, rows, t.count * sizeof(*rows));
	for (size_t i = 0; i < t.count; i++)
		if (t.in[i].parent == t.in[i].pid || !has_row(&t, t.in[i].parent))
			t.in[i].parent = 0;
	for (size_t i = 0; i < t.count; i++)
		if (t.in[i].parent == 0 && t.in[i].pid == first && !t.taken[i])
			place(&t, i, 0, 0, true);
	for (size_t i = 0; i < t.count; i++)
		if (t.in[i].parent == 0 && !t.taken[i])
			place(&t, i, 0, 0, true);
	for (size_t i = 0; i < t.count; i++)
		if (!t.taken[i])
			place(&t, i, 0, 0, true);
	free(t.in);
}
