/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What hazard_one.c and hazard_two.c have in common: frames by rsp, by rbp, and with an
 * over-aligned local, each of HAZARD_BYTES and more. */

#include <alloca.h>
#include <stdlib.h>

typedef void (*hazard_inner)(int depth);

#define HAZARD __attribute__((noinline))

static HAZARD void by_rsp(hazard_inner inner, int depth)
{
	volatile char frame[HAZARD_BYTES] = { 0 };

	inner(depth + frame[0]);
	__asm__ volatile("" ::: "memory");
}

static HAZARD void by_rbp(hazard_inner inner, int depth)
{
	volatile char *frame = alloca((size_t)depth % 5 * 16 + HAZARD_BYTES);

	frame[0] = 0;
	by_rsp(inner, depth + frame[0]);
	__asm__ volatile("" ::: "memory");
}

static HAZARD void aligned(hazard_inner inner, int depth)
{
	volatile char frame[HAZARD_BYTES] __attribute__((aligned(128))) = { 0 };

	by_rbp(inner, depth + frame[0]);
	__asm__ volatile("" ::: "memory");
}

void hazard_call(hazard_inner inner, int depth);
void hazard_call(hazard_inner inner, int depth)
{
	free(malloc(24));
	aligned(inner, depth);
}
