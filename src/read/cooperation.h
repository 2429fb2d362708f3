/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Asking a program for help with a leak scan (struct ht_coop): it acts on it at one of its next
 * allocations. One viewer at a time. Any one thread.
 */
#ifndef SRC_READ_COOP_H
#define SRC_READ_COOP_H

#include "src/read/read.h"

struct read_coop;

/* What a program that made a copy of itself says of that moment; not trusted. */
struct read_coop_copy {
	uint64_t at_ns; /* CLOCK_MONOTONIC */
	uint64_t stack, pointer; /* of the thread that made it */
	uint32_t tid, copy; /* as the program sees them */
};

/* Of a segment, which must outlive it. NULL and *rc: -EBUSY, another viewer is at it; -errno. */
struct read_coop *read_coop_open(struct read_segment *s, int *rc);
/* Takes back what was asked for. */
void read_coop_close(struct read_coop *c);

/*
 * Asks, and waits until it was acted on: `ns` at most (up to HT_COOP_NS), and as long as
 * `goes_on`, which is called each millisecond, is true. 0; -ETIMEDOUT: the program does not
 * allocate; -ECANCELED; or what it says, an error.
 */
struct read_coop_wish {
	enum ht_coop_ask ask;
	uint32_t viewer; /* pid, as the program sees it */
	uint64_t ns;
	bool (*goes_on)(void *ctx);
	void *ctx;
};
int read_coop_ask(struct read_coop *c, const struct read_coop_wish *w);
/* After one for a copy. 0 or -EIO. */
int read_coop_copy(struct read_coop *c, struct read_coop_copy *out);
/*
 * After HT_COOP_CHECKED_COPY, whatever came of it: what the program has found, an enum
 * ht_coop_check; not trusted. If that is HT_COOP_SAFE, `start` (HT_COOP_DATA bytes) has where
 * mappings begin that the copy has empty, *count of them: before any request.
 */
uint32_t read_coop_check(struct read_coop *c, uint64_t *start, size_t *count);
/* Whether the thread that made the copy is still held back. */
bool read_coop_waits(struct read_coop *c);
/* Whether the copy was asked in vain. */
bool read_coop_is_gone(const struct read_coop *c);
/*
 * Has the one or the other read up to `bytes` (HT_COOP_DATA at most) at `addr` into `data`, which
 * HT_COOP_WORDS reads before. How many bytes came, or -errno; -ETIMEDOUT: it is no longer there.
 */
ssize_t read_coop_request(struct read_coop *c, enum ht_coop_server server,
	enum ht_coop_command command, uint64_t addr, void *data, size_t bytes);
/* Where threads have their TLS: how many of `max` were filled in. */
size_t read_coop_threads(struct read_coop *c, uint64_t *pointer, size_t max);

#endif
