/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast a recording may grow (allowance.h). Main thread. */
#include "src/record/allowance.h"

#define S_NS	1e9
#define HOUR_NS (3600 * S_NS)
/* A program that runs for some minutes has all of its ticks, as most programs do. */
#define SAVED_NS (60 * S_NS)
/* A spike that lasts longer is seen in any program. */
#define DEBT_NS (10 * S_NS)

void allowance_begin(struct allowance *a, uint64_t hourly_bytes)
{
	*a = (struct allowance){ .bytes_per_ns = (double)hourly_bytes / HOUR_NS, .turn = 1 };
	a->left = a->bytes_per_ns * SAVED_NS;
}

static void time_note(struct allowance *a, uint64_t now_ns)
{
	double most = a->bytes_per_ns * SAVED_NS;

	if (now_ns > a->at_ns)
		a->left += a->bytes_per_ns * (double)(now_ns - a->at_ns);
	if (a->left > most)
		a->left = most;
	a->at_ns = now_ns;
}

bool allowance_take(struct allowance *a, uint64_t now_ns, uint32_t *turn)
{
	if (a->bytes_per_ns <= 0)
		return true;
	time_note(a, now_ns);
	if (*turn == a->turn) {
		if (a->left < 0)
			return false;
		a->turn++;
	}
	*turn = a->turn;
	return true;
}

void allowance_pay(struct allowance *a, uint64_t bytes)
{
	double least = -a->bytes_per_ns * DEBT_NS;

	a->left -= (double)bytes;
	if (a->left < least)
		a->left = least;
}
