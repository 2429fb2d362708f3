/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One patched function: a jump at its entry leads to a pad, which leads to the recording code.
 * The pad also contains the displaced instructions, from which the function continues. No system
 * call and no allocation here: all memory is read and written through struct entry_memory, so that
 * the same code serves in the program and from another process.
 *
 * The bytes change while other threads may run. A thread must never execute a mixture, nor stand
 * between two displaced instructions when they are overwritten. So either no other thread can be in
 * the function (this is the only one; the module has just been loaded, and its code is not yet
 * reachable), or all are stopped, and those in the displaced bytes are moved (the caller does
 * that).
 */
#ifndef PRELOAD_PATCH_ENTRY_H
#define PRELOAD_PATCH_ENTRY_H

#include "preload/patch/relocate.h"

#define ENTRY_ALIGN    16u /* of a pad, and of the displaced instructions in it */
#define ENTRY_PAD_MOST (32u + RELOCATE_PAD_MOST)

/* Where code is read and written. Each returns 0 or -errno; all or nothing. */
struct entry_memory {
	int (*read)(void *of, uint64_t at, void *to, size_t bytes);
	int (*write)(void *of, uint64_t at, const void *from, size_t bytes);
	void *of;
};

struct entry {
	uint64_t at; /* the function */
	uint64_t pad; /* what its entry jumps to */
	uint64_t original; /* in the pad: the function as it was */
	uint8_t displaced; /* bytes, of which the jump takes the first RELOCATE_JUMP */
	uint8_t before[RELOCATE_JUMP];
	uint8_t jump[RELOCATE_JUMP];
	uint8_t moved[RELOCATE_MOST]; /* as in struct relocated, from `original` on */
};

/* Who is called instead of a function. */
struct entry_recorder {
	uint64_t at;
	int32_t number;
	bool is_hook; /* it has the function's own type: called as that is, with nothing pushed */
};

/*
 * Makes the pad of the function at `at`, whose `bytes` bytes of code are at `code`, with `readable`
 * bytes there: writes it to
 * `pad` (ENTRY_PAD_MOST bytes, which will be executable at address `pad_at`), *used bytes. The pad
 * calls the recorder as if by a jump from the entry; unless that is a hook, with two words pushed:
 * the caller's rbp, then its number, sign-extended. Changes no register but rsp.
 */
enum relocate_why entry_make(struct entry *e, const uint8_t *code, size_t bytes, size_t readable,
	uint64_t at, uint8_t *pad, uint64_t pad_at, struct entry_recorder recorder, unsigned *used);

/* Writes the jump. -EBUSY: the bytes are no longer those that entry_make saw. 0 or -errno. */
int entry_set(const struct entry *e, const struct entry_memory *m);
/* Writes the function's own bytes back. -EBUSY: the jump is not there any more. 0 or -errno. */
int entry_clear(const struct entry *e, const struct entry_memory *m);

#endif
