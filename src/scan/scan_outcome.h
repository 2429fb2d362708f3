/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The outcome of one leak scan, before it is part of a snapshot: a result, or the reason why
 * there is none. A scan of a process on another machine is made there, and its outcome is sent as
 * bytes. Any thread.
 */
#ifndef SRC_SCAN_SCAN_OUTCOME_H
#define SRC_SCAN_SCAN_OUTCOME_H

#include "src/leak/scan.h"
#include "src/read/read.h"
#include "src/util/bytes.h"

/* The most bytes of an outcome that cross. */
#define SCAN_OUTCOME_MOST (UINT64_C(64) << 20)

struct scan_outcome {
	char failed[TRACE_MESSAGE_MAX]; /* why there is no result; "": there is one */
	int refused; /* with `failed`: -EACCES or -EPERM by ptrace, or another -errno */
	uint64_t at_ns; /* when it began, since the program's start */
	bool before_exit; /* at the end was requested, and it was just before */
	struct leak_result result;
};

/* Scans a process on this machine. */
void scan_outcome_make(
	struct scan_outcome *o, struct read_segment *s, const struct leak_scan_options *request);
void scan_outcome_fail(struct scan_outcome *o, const char *why);
void scan_outcome_free(struct scan_outcome *o);

/* What the desk asks for, and the outcome: the agent reads the one and writes the other. Pure. */
void scan_outcome_request_put(struct bytes *b, const struct leak_scan_options *request);
/* Only what a desk may choose. 0 or -EPROTO. */
int scan_outcome_request_get(struct bytes_cursor *c, struct leak_scan_options *request);
void scan_outcome_put(struct bytes *b, const struct scan_outcome *o);
/* 0 and an outcome to free; or -EPROTO or -ENOMEM. */
int scan_outcome_get(struct bytes_cursor *c, struct scan_outcome *o);

#endif
