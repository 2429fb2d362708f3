/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The margin of error of an estimate in sampling mode. Pure; any thread.
 *
 * The figure is a sum of weights (shm/poisson.h), and so is its variance V. But V is itself an
 * estimate: if by chance nothing was sampled, it is 0, and an error of 0 around a figure of 0 would
 * be wrong for everything that was missed. For blocks much smaller than the grain g (what one
 * sample represents) the number of samples is Poisson distributed, and the score interval for its
 * mean, k + z^2/2 +- z sqrt(k + z^2/4), has its coverage from the first sample on (Brown, Cai and
 * DasGupta, "Interval estimation in exponential families", 2003). Its farther end, written with V
 * in the place of k g^2, is the half width here:
 *
 *	z^2/2 g + z sqrt(V + z^2/4 g^2),	z = 1.96
 *
 * which is the usual 1.96 sqrt(V) once there are many samples.
 */
#ifndef SRC_MODEL_INTERVAL_H
#define SRC_MODEL_INTERVAL_H

#include <stdint.h>

/* For totals over blocks of all sizes: many small blocks may be missed, so the grain is that of
 * blocks of this size. */
#define INTERVAL_SMALL 16

/*
 * Number of blocks of `size` bytes that one sample represents: sqrt(1 - p) / p, where p is the
 * probability that such a block is recorded. That is about rate / size for small blocks, and 0 for
 * blocks so large that none is missed: then V is the only uncertainty.
 */
double interval_grain(double size, double rate);
/* Half the width of the 95 % interval around a figure with `variance`, where one sample represents
 * `grain` (both in the figure's unit). Grain 0: exact, 0. */
uint64_t interval_half(double variance, double grain);

#endif
