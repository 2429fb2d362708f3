/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of allocators inside the program, in a snapshot. Pure. */
#ifndef SRC_MODEL_ALLOCATOR_STATE_H
#define SRC_MODEL_ALLOCATOR_STATE_H

/* A function of an allocator that the program brings along (preload/inner.h). */
enum snap_allocator_state {
	SNAP_ALLOCATOR_RECORDED,
	SNAP_ALLOCATOR_REFUSED,
	SNAP_ALLOCATOR_UNLOADED
};

struct snap_allocator {
	const char *module; /* its path; empty: unknown */
	const char *function;
	enum snap_allocator_state state;
	const char *reason; /* why it is refused, or NULL */
};
/* "recorded", "refused", "unloaded". Static. */
const char *allocator_state_word(enum snap_allocator_state state);

#endif
