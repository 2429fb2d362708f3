/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a caller of src/attach passes and gets. */
#ifndef SRC_ATTACH_TERMS_H
#define SRC_ATTACH_TERMS_H

#include <stdbool.h>
#include <stdint.h>

#define ATTACH_MESSAGE_MAX 512
#define ATTACH_PATH_MAX	   512

struct attach_options {
	const char *library; /* path of libheaptop.so, as we see it */
	const char *segment; /* path of the segment prepared for it, as the process sees it */
	const char *allocators; /* as --allocators; NULL: none given */
	bool follow; /* children, too */
	bool free_stacks; /* frees take their stacks */
	uint64_t timeout_ns; /* to wait for a thread that can be used */
	/* What is being done, one line without the pid; false: give up. May be NULL. */
	bool (*progress)(void *ctx, const char *text);
	void *ctx;
};

/* What it cost the process: how often all of its threads stood still, and for how long. */
struct attach_pauses {
	uint32_t pauses;
	uint64_t longest_ns, total_ns;
};

#endif
