/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The distinct frames of a session's call stacks: one place for each address, with the frames that
 * are inlined there once names are known. A program's stacks have a hundred times as many frames as
 * it has places. Places never move and stay until the end. Only stacks.c calls this. Main thread.
 */
#ifndef SRC_MODEL_STACK_PLACES_H
#define SRC_MODEL_STACK_PLACES_H

#include "src/model/snapshot.h"
#include "src/util/intern.h"

struct stack_place {
	struct frame outer; /* first: a stack's pointer to it is one to the place */
	struct frame *inlined; /* into it, innermost first; the places' memory */
	uint32_t ninlined;
	bool resolved;
	bool named; /* registered with a name */
	bool asked; /* for its names */
};

/* All zeros: empty. */
struct stack_places {
	struct intern *memory; /* of places and frames; NULL: none yet */
	struct stack_place **slots; /* owned; open addressing, a power of two, at most half full */
	size_t nslots, count;
};

/* The place of a frame as it was registered; a new one is resolved if the frame has a name. NULL:
 * out of memory. */
struct stack_place *stack_places_get(struct stack_places *s, const struct frame *f);
/* What a place resolved to: `n` frames, at least 1, the last of which the others are inlined into.
 * 0, -EINVAL or -ENOMEM. */
int stack_places_resolve(
	struct stack_places *s, struct stack_place *p, const struct frame *frames, uint32_t n);
/* Decides anew which frames with names are hidden. */
void stack_places_hide_again(struct stack_places *s, bool (*hidden)(const struct frame *f));
/* Frees what it holds, not `s`. */
void stack_places_free(struct stack_places *s);

#endif
