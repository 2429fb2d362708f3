/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How far an estimate of sampling mode may be off. Pure; any thread.
 *
 * The figure itself is a sum of weights (shm/poisson.h), and so is its variance V. But V is itself
 * an estimate: where by chance nothing was sampled it is zero, and a bar of nothing around a figure
 * of nothing would be wrong for everything that was missed. For blocks much smaller than the grain
 * g (what one sample stands for) the number of samples is Poisson distributed, and the score
 * interval for its mean, k + z^2/2 +- z sqrt(k + z^2/4), keeps its promise from the first sample on
 * (Brown, Cai and DasGupta, "Interval estimation in exponential families", 2003). Its farther end,
 * written with V in the place of k g^2, is the half width here:
 *
 *	z^2/2 g + z sqrt(V + z^2/4 g^2),	z = 1.96
 *
 * which is the usual 1.96 sqrt(V) once there are many samples.
 */
#ifndef SRC_MODEL_INTERVAL_H
#define SRC_MODEL_INTERVAL_H

#include <stdint.h>

/* Of blocks of all kinds, small ones may be missed behind large ones: then one sample stands for as
 * many as are this small. */
#define INTERVAL_SMALL 16

/*
 * How many blocks one sample stands for, of blocks of `size` bytes: sqrt(1 - p) / p, where p is how
 * likely such a block is to be recorded. That is rate / size of small ones, and nothing of blocks
 * so large that none is missed: then V is all that there is to doubt.
 */
double interval_grain(double size, double rate);
/* Half of the 95 % interval around a figure of variance `variance`, of which one sample stands for
 * `grain` (both in the figure's own unit). Grain 0: exact, 0. */
uint64_t interval_half(double variance, double grain);

#endif
