/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call stacks of a session's sites: registered once, never moved (snapshots point to them);
 * their frames are replaced by resolved ones as names arrive. Most frames are in many stacks, so
 * stacks are arrays of pointers to frames that they share (stack_places.h). Only model.c calls
 * this. Main thread.
 */
#ifndef SRC_MODEL_STACKS_H
#define SRC_MODEL_STACKS_H

#include "src/model/stack_places.h"

struct stacks_entry {
	struct stack stack; /* address is fixed for the session */
	const char *alloc_function; /* static */
	const struct frame **frames; /* owned; stack.shared */
	uint32_t pending; /* places that are not resolved */
};

/* By id, from some first one on: position + 1, 0 if unknown. */
struct stacks_index {
	uint32_t *position;
	size_t ids;
};

struct stacks {
	struct stack_places places;
	struct stacks_entry **chunks; /* entries, in pieces that never move */
	size_t nchunks, chunks_room, count; /* room: for so many chunks */
	struct stacks_index own, inherited; /* from 0 and SNAP_INHERITED_FIRST on */
	uint32_t *waiting; /* positions of stacks with unresolved frames */
	size_t nwaiting, waiting_room;
};

/* 0, -EEXIST, -EINVAL for an id no segment has, -ENOMEM. Positions count up from 0. */
int stacks_add(struct stacks *s, uint32_t id, const char *alloc_function,
	const struct frame *frames, uint32_t nframes, unsigned missing);
/* Position of the site, or -1. */
long stacks_find(const struct stacks *s, uint32_t id);
struct stacks_entry *stacks_at(const struct stacks *s, size_t position);
/* As model_site_places and model_names_settle. */
uint32_t stacks_places_of(
	const struct stacks *s, uint32_t id, struct stack_place **places, uint32_t most);
int stacks_settle(struct stacks *s);
/* As model_hide_again. */
void stacks_hide_again(struct stacks *s, bool (*hidden)(const struct frame *f));
/* Frees what it holds, not `s`. */
void stacks_free(struct stacks *s);

#endif
