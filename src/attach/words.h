/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The words of a stack that point to code: each return address of a frame that is live there is
 * one of them. For stacks that cannot be followed, since their code has no call frame information
 * (Go's). The thread that stopped the process.
 */
#ifndef SRC_ATTACH_WORDS_H
#define SRC_ATTACH_WORDS_H

#include "src/trace/image.h"

struct attach_word {
	uint64_t pc;
	bool returns; /* behind a call instruction: it may be a return address */
	bool restores; /* what a handler returns to: it may be the first word of the kernel's frame
			*/
};

/*
 * Those from `from` up to `end`, innermost first. How many; more than `most`: there are more than
 * that, or the stack is too deep, or it cannot be read.
 */
size_t attach_words(const struct trace_image *i, uint64_t from, uint64_t end,
	struct attach_word *out, size_t most);

#endif
