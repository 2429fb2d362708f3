/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ways to match the call sites of two builds (match.h describes them). */
#ifndef SRC_DIFF_WAYS_H
#define SRC_DIFF_WAYS_H

enum diff_match {
	DIFF_BY_STACK, /* equal stacks */
	DIFF_BY_OWN_STACK, /* equal but for the frames of standard libraries and allocators */
	DIFF_BY_PREFIX, /* the inner frames are equal */
	DIFF_BY_PART, /* one stack has frames that the other lacks */
	DIFF_BY_FUNCTION, /* only function and file are equal */
	DIFF_UNMATCHED /* the site is on one side only */
};

#endif
