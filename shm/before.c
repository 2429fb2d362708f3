/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks from before the recording (before.h). Inside hooks: no locks, no system calls. */
#include "shm/before.h"

#include <errno.h>

int before_prepare(const struct segment *s)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < HT_BEFORE_CLASSES; i++) {
		const struct stack_trace t = { .function = HT_FN_BEFORE + i };
		uint32_t site = stack_intern(s, &t);

		if (i == 0)
			first = site;
		if (site == 0 || site != first + i)
			return -ENOMEM;
	}
	ht_store_relaxed_32(&s->header->before_site, first);
	return 0;
}

uint32_t before_free(const struct segment *s, struct counter_owner *o, uint64_t usable, bool listed)
{
	uint32_t site = before_site(s, usable, listed);
	const struct counter_freed end = { .size = usable, .life_ticks = segment_tick(s) };

	counter_free(s, o, site, &end);
	return site;
}
