/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The half width of an estimate's interval (interval.h). */
#include "src/model/interval.h"

#include <math.h>

#define Z    1.959964 /* 95 % of a normal distribution are within this many standard deviations */
#define MOST 9e18 /* limit that makes every cast defined */

double interval_grain(double size, double rate)
{
	double length = (size + 1) / rate; /* of the block, in units of the sampling rate */

	return exp(-length / 2) / -expm1(-length);
}

uint64_t interval_half(double variance, double grain)
{
	double half;

	if (!(grain > 0))
		return 0;
	half = Z * Z / 2 * grain + Z * sqrt(fmax(variance, 0) + Z * Z / 4 * grain * grain);
	return half < MOST ? (uint64_t)(half + 0.5) : (uint64_t)MOST;
}
