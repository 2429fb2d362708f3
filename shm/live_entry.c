/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entries of the live table (live_entry.h): births that need rounding. */
#include "shm/live_entry.h"

uint32_t live_birth_rounded(uint64_t tick)
{
	uint32_t fours = 0;

	while (tick >> LIVE_BIRTH_EXACT != 0 && fours < 7) {
		tick >>= 2;
		fours++;
	}
	if (tick >> LIVE_BIRTH_EXACT != 0) /* two years: the clock is wrong */
		tick = (1ull << LIVE_BIRTH_EXACT) - 1;
	return fours << LIVE_BIRTH_EXACT | (uint32_t)tick;
}
