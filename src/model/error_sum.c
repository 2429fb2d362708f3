/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors of sums (error_sum.h). Doubles, since the square of some gigabytes exceeds 64 bits. */
#include "src/model/error_sum.h"

#include <math.h>

static double square(uint64_t x)
{
	return (double)x * (double)x;
}

void error_sum_add(struct error_sum *to, const struct snap_error *part)
{
	to->live_bytes += square(part->live_bytes);
	to->live_blocks += square(part->live_blocks);
	to->allocs += square(part->allocs);
	to->alloc_bytes += square(part->alloc_bytes);
}

/* Figures from a file may be any. */
static uint64_t root(double sum)
{
	double x = sqrt(sum);

	return x < 0x1p64 ? (uint64_t)x : UINT64_MAX;
}

struct snap_error error_sum_root(const struct error_sum *sum)
{
	return (struct snap_error){ .live_bytes = root(sum->live_bytes),
		.live_blocks = root(sum->live_blocks),
		.allocs = root(sum->allocs),
		.alloc_bytes = root(sum->alloc_bytes) };
}
