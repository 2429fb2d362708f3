/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Asks a program to help with a leak scan (struct ht_coop): the program acts at one of its next
 * allocations. One viewer at a time. Any one thread.
 */
#ifndef SRC_READ_COOPERATION_H
#define SRC_READ_COOPERATION_H

#include "src/read/read.h"

struct read_coop;

/* What a program reports about the copy that it made of itself; not trusted. */
struct read_coop_copy {
	uint64_t at_ns; /* CLOCK_MONOTONIC */
	uint64_t stack, pointer; /* of the thread that made the copy */
	uint32_t tid, copy; /* as the program sees them */
};

/* For a segment, which must outlive it. NULL and *rc: -EBUSY, another viewer has the lock; or
 * -errno. */
struct read_coop *read_coop_open(struct read_segment *s, int *rc);
/* Withdraws the request. */
void read_coop_close(struct read_coop *c);

/*
 * Sends a request and waits until the program acts on it, at most `ns` (up to HT_COOP_NS).
 * `goes_on` is called each millisecond; false cancels. 0; -ETIMEDOUT: the program does not
 * allocate; -ECANCELED; or the error that the program reports.
 */
struct read_coop_question {
	enum ht_coop_ask ask;
	uint32_t viewer; /* pid, as the program sees it */
	uint64_t ns;
	bool (*goes_on)(void *ctx);
	void *ctx;
};
int read_coop_ask(struct read_coop *c, const struct read_coop_question *w);
/* After a request for a copy. 0 or -EIO. */
int read_coop_copy(struct read_coop *c, struct read_coop_copy *out);
/*
 * After HT_COOP_CHECKED_COPY, whatever its result: what the program found, an enum ht_coop_check;
 * not trusted. With HT_COOP_SAFE, `start` (HT_COOP_DATA bytes) gets the start addresses of the
 * *count mappings that are empty in the copy. Call it before any request.
 */
uint32_t read_coop_check(struct read_coop *c, uint64_t *start, size_t *count);
/* Whether the thread that made the copy still waits. */
bool read_coop_is_waiting(struct read_coop *c);
/* Whether the copy has stopped answering. */
bool read_coop_is_gone(const struct read_coop *c);
/*
 * Lets the thread or the copy read up to `bytes` (at most HT_COOP_DATA) at `addr` into `data`;
 * HT_COOP_WORDS first takes its input from `data`. Returns the number of bytes, or -errno;
 * -ETIMEDOUT: the server is gone.
 */
ssize_t read_coop_request(struct read_coop *c, enum ht_coop_server server,
	enum ht_coop_command command, uint64_t addr, void *data, size_t bytes);
/* Fills in at most `max` thread pointers (where threads have their TLS); returns their number. */
size_t read_coop_threads(struct read_coop *c, uint64_t *pointer, size_t max);

#endif
