/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The list of jumps (jumps.h). A viewer may stop all threads at any instruction here: a jump is
 * complete before it counts.
 */
#include "preload/jumps.h"

#include <assert.h>
#include <stddef.h>

#include "shm/atomic.h"

__attribute__((visibility("default"))) struct ht_attached heaptop_attached = {
	.magic = HT_ATTACHED_MAGIC,
	.version = HT_ATTACHED_VERSION,
	.bytes = sizeof(struct ht_attached),
};

static_assert(sizeof(heaptop_attached.jump[0].moved) > RELOCATE_MOST, "each byte displaced");

static void fill(struct ht_attached_jump *j, const struct entry *e)
{
	j->pad = e->original;
	j->displaced = e->displaced;
	__builtin_memcpy(j->before, e->before, sizeof(j->before));
	__builtin_memcpy(j->jump, e->jump, sizeof(j->jump));
	__builtin_memset(j->moved, RELOCATE_NOWHERE, sizeof(j->moved));
	__builtin_memcpy(j->moved, e->moved, sizeof(e->moved));
	ht_fence_handler();
	j->at = e->at;
}

static struct ht_attached_jump *find(uint64_t at)
{
	for (uint32_t i = 0; i < heaptop_attached.jumps; i++)
		if (heaptop_attached.jump[i].at == at)
			return &heaptop_attached.jump[i];
	return NULL;
}

bool jumps_add(const struct entry *e)
{
	struct ht_attached_jump *gone = find(0);

	if (!gone && heaptop_attached.jumps == HT_ATTACHED_JUMPS)
		return false;
	fill(gone ? gone : &heaptop_attached.jump[heaptop_attached.jumps], e);
	ht_fence_handler();
	heaptop_attached.jumps += !gone;
	return true;
}

void jumps_drop(const struct entry *e)
{
	struct ht_attached_jump *j = find(e->at);

	if (j)
		j->at = 0;
}

void jumps_clear(void)
{
	heaptop_attached.jumps = 0;
	heaptop_attached.unlisted = 0;
}
