/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Places for pads (place.h). Modules lie side by side below others, or alone. So the distance
 * from the module doubles: below it, where an executable has nothing and no heap grows. Then come
 * the lowest addresses, where a program may begin right above them. Above an executable its heap
 * grows, up to the first mapping: there the distance begins as far as it can be, and is halved.
 */
#include "preload/patch/place.h"

#define REACH	   0x7ff00000ull /* of a 32-bit displacement, less some for the pads themselves */
#define PAGE	   4096ull
#define FIRST	   0x10000ull /* distance of the first place */
#define STEPS	   15u /* doublings: to 1 GB */
#define CANDIDATES (2 * STEPS + 1)
#define LOWEST	   0x10000ull /* the kernel maps nothing for us below (vm.mmap_min_addr) */
#define HIGHEST	   0x7ffffffff000ull /* nor above */

bool place_is_near(const struct place *p, uint64_t at)
{
	uint64_t low = at < p->start ? at : p->start;
	uint64_t high = at + p->bytes > p->end ? at + p->bytes : p->end;

	return high - low <= REACH;
}

/* False: there is no such place. */
static bool candidate(const struct place *p, unsigned number, uint64_t *at)
{
	uint64_t below = FIRST << number, above = FIRST << (CANDIDATES - 1 - number);

	if (number == STEPS)
		below = 0;
	if (number <= STEPS && p->start < LOWEST + below + p->bytes)
		return false;
	if (number < STEPS)
		*at = (p->start - below - p->bytes) & ~(PAGE - 1);
	else if (number == STEPS)
		*at = LOWEST;
	else
		*at = (p->end + above + PAGE - 1) & ~(PAGE - 1);
	return *at + p->bytes <= HIGHEST && place_is_near(p, *at);
}

bool place_next(struct place *p, uint64_t *at)
{
	while (p->tried < CANDIDATES)
		if (candidate(p, p->tried++, at))
			return true;
	return false;
}
