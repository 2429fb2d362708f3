/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scan's copy of the process (copier.h). */
#include "src/leak/access/copy_access.h"

#include <errno.h>
#include <string.h>

#include "src/proc/proc.h"

void leak_copy_access_refuse(struct leak_copy_access *c, const char *why)
{
	c->why_not = why;
	c->wanted = false;
}

void leak_copy_access_prepare(struct leak_copy_access *c, pid_t pid, uint64_t least)
{
	*c = (struct leak_copy_access){ 0 };
	c->why_not = leak_headroom_check(&c->headroom, "", proc_memory_tid(pid));
	if (c->headroom.own_bytes < least) {
		c->why_not = NULL;
		return;
	}
	c->wiped_known = leak_uncopied_find(&c->wiped, pid) == 0;
	if (!c->why_not)
		c->why_not = c->wiped.unfit;
	c->wanted = !c->why_not;
}

/* What the kernel writes by itself may go to the copy instead of the program. */
static bool is_reading_ahead(const struct leak_space *s)
{
	for (size_t i = 0; i < s->maps; i++)
		if (strstr(s->map[i].path, "[io_uring]") ||
			strncmp(s->map[i].path, "/[aio]", 6) == 0)
			return true;
	return false;
}

/* What can be told only of a process that stands still, and is traced by us. */
static const char *refuse(struct leak_copy_access *c, const struct leak_space *space)
{
	if (is_reading_ahead(space))
		return "the kernel may be writing into its memory (io_uring, aio)";
	/* It may have been refused as long as we did not trace it. */
	if (!c->wiped_known && leak_uncopied_find(&c->wiped, space->pid) != 0)
		return "it cannot be told what a copy would have";
	return c->wiped.unfit;
}

int leak_copy_access_take(
	struct leak_copy_access *c, struct leak_stop *stop, struct leak_space *space, uint64_t at)
{
	bool stuck;
	int rc;

	if (c->wanted)
		c->why_not = refuse(c, space);
	if (!c->wanted || c->why_not) {
		(void)leak_forked_copy_tidy(stop, at, &stuck);
		return stuck ? -ESRCH : 0;
	}
	c->why_not = leak_forked_copy_make(stop, at, &c->copy, &stuck);
	if (stuck)
		return -ESRCH;
	if (c->why_not)
		return 0;
	rc = leak_uncopied_adopt(space, c->copy.pid, leak_map_holds_pointers, &c->wiped);
	c->used = rc == 0;
	if (rc != 0)
		c->why_not = rc == -E2BIG ? "it shares too much memory with others"
					  : "its copy cannot be read";
	return 0;
}

int leak_copy_access_begin(struct leak_copy_access *c)
{
	c->lost = !leak_forked_copy_settle(&c->copy) ||
		  !leak_headroom_watch(&c->headroom, c->copy.pid);
	return c->lost ? -ENOMEM : 0;
}

int leak_copy_access_end(struct leak_copy_access *c)
{
	if (c->copy.pid != 0) {
		c->lost |= c->used && !leak_forked_copy_alive(&c->copy);
		c->lost |= leak_headroom_unwatch(&c->headroom);
		c->left = !leak_forked_copy_end(&c->copy);
	}
	leak_uncopied_free(&c->wiped);
	return c->lost ? -ENOMEM : 0;
}
