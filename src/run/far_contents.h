/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Contents of blocks of a program on another machine, for the screen, which does not wait: what was
 * read last, while newer bytes are on the way. Main thread.
 */
#ifndef SRC_RUN_FAR_CONTENTS_H
#define SRC_RUN_FAR_CONTENTS_H

#include "src/far/order.h"
#include "src/run/contents_request.h"

#define FAR_CONTENTS_KEPT (2 * CONTENTS_RANGES)

struct far_contents {
	struct far_order order;
	struct far_contents_entry {
		struct contents_range range; /* bytes 0: free */
		uint64_t used_ns, read_ns; /* read 0: nothing has come yet */
		bool asked; /* in the request that is under way */
	} entry[FAR_CONTENTS_KEPT];
	uint8_t asked[CONTENTS_RANGES]; /* entries of that request, in its order */
	size_t nasked;
	int failed; /* why nothing comes: -errno */
};

/* Bytes that were read, less than 1 if they could not be; -EAGAIN: they are on the way; -EPERM: the
 * agent may only read; or another -errno. Asks for them if they are old. */
long far_contents_read(struct far_contents *f, uint64_t addr, void *out, size_t bytes);
/* Whether a request is under way. */
bool far_contents_awaits(const struct far_contents *f);
/* Takes what has come. True: there is something new. */
bool far_contents_listen(struct far_contents *f);
/* Forgets all: they are of another process. */
void far_contents_forget(struct far_contents *f);

#endif
