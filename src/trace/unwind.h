/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call stack of a stopped thread of another process, by the call frame information that is
 * mapped there and nothing else: no frame is guessed. The thread that stopped it.
 */
#ifndef SRC_TRACE_UNWIND_H
#define SRC_TRACE_UNWIND_H

#include "src/trace/image.h"
#include "src/trace/stop.h"

struct trace_frame {
	uint64_t pc; /* of the innermost, where it is; of the others, the return address */
	uint64_t sp;
	bool signal; /* the kernel's, for a handler */
};

struct trace_unwound {
	size_t count;
	bool whole; /* up to a function that says that nobody called it */
};

/* At most `most` frames, innermost first, of the thread as it would be with these registers. */
void trace_unwind(struct trace_unwound *u, const struct trace_image *i,
	const struct user_regs_struct *regs, struct trace_frame *frame, size_t most);

#endif
