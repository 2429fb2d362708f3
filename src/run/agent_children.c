/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recorded children (agent_children.h). */
#include "src/run/agent_children.h"

#include <stdio.h>
#include <string.h>

#include "src/proc/proc.h"
#include "src/target/target.h"

#define NAMED_MOST 4u

struct children {
	pid_t parent;
	unsigned count;
	char *out;
	size_t cap, len;
};

static bool is_child(pid_t pid, pid_t parent)
{
	struct proc_reading r;

	return pid > 0 && proc_read(pid, false, &r) == 0 && r.ppid == parent;
}

static void child_add(struct children *c, const struct target_segment *t)
{
	size_t len = strcspn(t->command, " ");
	const char *slash = memrchr(t->command, '/', len);
	const char *name = slash ? slash + 1 : t->command;
	int n = snprintf(c->out + c->len, c->cap - c->len, "%s%d (%.*s)", c->count ? ", " : "",
		(int)t->process, (int)(t->command + len - name), name);

	if (n > 0 && c->len + (size_t)n < c->cap)
		c->len += (size_t)n;
}

static int segment_visit(void *ctx, const struct target_segment *t)
{
	struct children *c = ctx;

	if (t->state != TARGET_RUNNING || t->replaced || !is_child(t->process, c->parent))
		return 0;
	if (c->count < NAMED_MOST)
		child_add(c, t);
	c->count++;
	return 0;
}

void agent_children_list(pid_t pid, char *out, size_t cap)
{
	struct children c = { .parent = pid, .out = out, .cap = cap };

	*out = 0;
	if (pid <= 0 || target_list(segment_visit, &c) < 0)
		return;
	if (c.count > NAMED_MOST)
		snprintf(out + c.len, cap - c.len, " and %u more", c.count - NAMED_MOST);
}
