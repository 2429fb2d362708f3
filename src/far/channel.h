/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames over two descriptors: one end of a connection. Used by one thread. */
#ifndef SRC_FAR_CHANNEL_H
#define SRC_FAR_CHANNEL_H

#include <stdatomic.h>

#include "src/far/wire.h"

#define FAR_BANNER_MAX 65536u /* what a login shell may say before the agent does */

/* `in` and `out` may be the same descriptor. */
struct far_channel {
	int in, out;
	struct bytes got; /* read, from `at` on not taken yet */
	size_t at;
	bool begun; /* the magic has come */
	size_t passed; /* bytes before it */
	uint64_t received; /* bytes so far */
	const atomic_bool *stop; /* once it is true, nothing waits any more; or NULL */
};

/* `data` is valid until the next far_channel_fill. */
struct far_frame {
	uint8_t type;
	const uint8_t *data;
	size_t len;
};

/* Makes both descriptors non-blocking, and sends the magic. 0 or -errno. */
int far_channel_open(struct far_channel *c, int in, int out);
void far_channel_free(struct far_channel *c);
/* Waits for bytes, `timeout_ms` at most (-1: for ever), and reads them. 1: some came; 0: none;
 * -EPIPE: the other side has ended; -EINTR; or -errno. */
int far_channel_fill(struct far_channel *c, int timeout_ms);
/* Takes the next whole frame. 1; 0: it is not there yet; -EPROTO: what comes is no frame. */
int far_channel_next(struct far_channel *c, struct far_frame *f);
/* Sends a frame. Waits for a slow peer `timeout_ms` at most (-1: for ever) without progress. 0,
 * -EMSGSIZE, -EPIPE, -ETIMEDOUT, -EINTR (stopped) or -errno. */
int far_channel_send(
	struct far_channel *c, enum far_type type, const void *data, size_t len, int timeout_ms);
/* The beginning of what came instead of a magic: one line, cleaned. */
void far_channel_banner(const struct far_channel *c, char *out, size_t cap);

#endif
