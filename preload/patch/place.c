/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Places for pads (place.h). Modules lie side by side below others, or alone. So the distance
 * from the module doubles: below it, where an executable has nothing and no heap grows, then
 * above.
 */
#include "preload/patch/place.h"

#define REACH	0x7ff00000ull /* of a 32-bit displacement, less some for the pads themselves */
#define PAGE	4096ull
#define FIRST	0x10000ull /* distance of the first place */
#define STEPS	15u /* doublings: to 1 GB */
#define LOWEST	0x10000ull /* the kernel maps nothing for us below (vm.mmap_min_addr) */
#define HIGHEST 0x7ffffffff000ull /* nor above */

bool place_is_near(const struct place *p, uint64_t at)
{
	uint64_t low = at < p->start ? at : p->start;
	uint64_t high = at + p->bytes > p->end ? at + p->bytes : p->end;

	return high - low <= REACH;
}

/* False: there is no such place. */
static bool candidate(const struct place *p, unsigned number, uint64_t *at)
{
	uint64_t distance = FIRST << (number % STEPS);

	if (number < STEPS) {
		if (p->start < LOWEST + distance + p->bytes)
			return false;
		*at = (p->start - distance - p->bytes) & ~(PAGE - 1);
	} else {
		*at = (p->end + distance + PAGE - 1) & ~(PAGE - 1);
	}
	return *at + p->bytes <= HIGHEST && place_is_near(p, *at);
}

bool place_next(struct place *p, uint64_t *at)
{
	while (p->tried < 2 * STEPS)
		if (candidate(p, p->tried++, at))
			return true;
	return false;
}
