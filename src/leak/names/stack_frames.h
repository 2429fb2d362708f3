/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The frames of a thread's stack, by the call frame information of its object files: from the
 * registers at the scan and the words that the roots kept, when the process runs again. One thread.
 */
#ifndef SRC_LEAK_NAMES_STACK_FRAMES_H
#define SRC_LEAK_NAMES_STACK_FRAMES_H

#include "src/leak/analysis/root_names.h"

struct leak_frame {
	uint64_t sp; /* the frame's words begin here, and end where the next frame begins */
	uint64_t pc; /* in its function; a return address, less one */
};

struct leak_unwinder;

/* `root`: prefix of the paths of the mappings. NULL: out of memory, or there is no way here. */
struct leak_unwinder *leak_unwinder_new(const struct leak_space *space, const char *root);
void leak_unwinder_free(struct leak_unwinder *u);
/* Fills in `out`, the innermost first. Returns how many; 0: unknown. The last frame found has all
 * words above it, so the frames behind a gap in the information are not found. */
size_t leak_unwinder_frames(struct leak_unwinder *u, const struct leak_thread_places *t,
	struct leak_frame *out, size_t most);

#endif
