/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where pads may be: close enough to a module that its code reaches the pads, and the pads its
 * data, by 32-bit displacements. Proposes addresses; the caller maps there, in this process or
 * another, or asks for the next. Pure.
 */
#ifndef PRELOAD_PATCH_PLACE_H
#define PRELOAD_PATCH_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct place {
	uint64_t start, end; /* of the module */
	size_t bytes; /* wanted */
	unsigned tried;
};

/* Whether pads at `at` reach all of the module, and it them. */
bool place_is_near(const struct place *p, uint64_t at);

/* The next address to try. False: there are no more. */
bool place_next(struct place *p, uint64_t *at);

#endif
