/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Images of a served process (agent_images.h). */
#include "src/run/agent_images.h"

#include <stdio.h>
#include <string.h>

#include "src/target/target.h"

int agent_images_open(struct agent_images *a, struct read_segment *first, pid_t pid)
{
	struct read_identity id;
	int rc = read_identity(first, &id);

	*a = (struct agent_images){ .pid = pid };
	if (rc == 0) {
		a->start_ticks = id.start_ticks;
		a->exec_gen = id.exec_gen;
	}
	return rc;
}

/* Notes the path of a newer image than the newest. */
static int newer_find(void *ctx, const struct target_segment *t)
{
	struct agent_images *a = ctx;

	if (t->state == TARGET_RUNNING && t->process == a->pid &&
		t->start_ticks == a->start_ticks && t->exec_gen > a->exec_gen) {
		a->exec_gen = t->exec_gen;
		snprintf(a->path, sizeof(a->path), "%s", t->path);
	}
	return 0;
}

struct read_segment *agent_images_next(void *ctx)
{
	struct agent_images *a = ctx;
	uint32_t before = a->exec_gen;
	char message[READ_MESSAGE_MAX];
	struct read_segment *newer;

	if (a->pid == 0 || target_list(newer_find, a) < 0 || a->exec_gen == before)
		return a->found;
	newer = read_open(a->path, message);
	if (!newer) {
		a->exec_gen = before; /* not complete yet */
		return a->found;
	}
	read_close(a->before);
	a->before = a->found;
	a->found = newer;
	return newer;
}

void agent_images_close(struct agent_images *a)
{
	read_close(a->before);
	read_close(a->found);
	*a = (struct agent_images){ 0 };
}
