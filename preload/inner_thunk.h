/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code between a patched function's pad and the recording code, and then the function itself.
 * Preserves every register that the function itself preserves or does not touch: its callers may
 * have been compiled with knowledge of its body (gcc's -fipa-ra). Vector registers keep their lower
 * 16 bytes only. x86-64.
 */
#ifndef PRELOAD_INNER_THUNK_H
#define PRELOAD_INNER_THUNK_H

#define INNER_THUNK_BYTES 448 /* of struct inner_call, which lies right below the frame */
#define INNER_THUNK_RETURN                                                                         \
	(INNER_THUNK_BYTES + 8) /* below the frame: the function's return address */
/* Below the frame, too: the block's size; and the block of that size that the next allocator gave
 * the function. */
#define INNER_THUNK_SIZE   56
#define INNER_THUNK_PASSED 16

/* Where pads go: entered with the caller's rbp and the entry's number pushed. */
extern const char inner_thunk[] __attribute__((visibility("hidden")));
/* While the function runs, its return address: how one tells that it has not been abandoned. */
extern const char inner_thunk_return[] __attribute__((visibility("hidden")));

#endif
