/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a scan got the memory that it read. Plain data. */
#ifndef SRC_LEAK_ACCESS_ACCESS_REPORT_H
#define SRC_LEAK_ACCESS_ACCESS_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#define LEAK_REASON_MAX 128

struct leak_access_report {
	const char *how; /* in words; static */
	bool copied; /* a copy was read while the process went on */
	char no_copy[LEAK_REASON_MAX]; /* why not; "": one was read, or none was wanted */
	bool copy_left; /* the copy has ended, but a zombie is left of it */
	unsigned snapshots; /* copies that the program's library lent; lost is what was lost in each
			     */
	int refused; /* why ptrace was refused; 0: it was allowed, or allowed on request */
	bool consented; /* the program's library allowed it on request */
	bool at_exit; /* the process was read at its last instant */
	uint64_t stop_ns; /* the process stood still */
	unsigned busy; /* threads that were inside realloc at every check */
};

#endif
