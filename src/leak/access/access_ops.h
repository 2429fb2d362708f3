/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The interface of the five methods to get the memory of a process for a leak scan (README.md),
 * and the state that they share. The methods implement it, access.c chooses among them, and a
 * scan calls access.h. On the thread that stops the process (stop.h).
 */
#ifndef SRC_LEAK_ACCESS_ACCESS_OPS_H
#define SRC_LEAK_ACCESS_ACCESS_OPS_H

#include "src/leak/access/access_report.h"
#include "src/leak/access/exit_stack.h"
#include "src/leak/access/forked_copy.h"
#include "src/leak/access/headroom.h"
#include "src/leak/access/library_request.h"
#include "src/leak/access/progress.h"
#include "src/leak/access/scan_lock.h"
#include "src/leak/access/space.h"
#include "src/trace/stop.h"
#include "src/leak/access/uncopied.h"
#include "src/leak/access/vm_sharers.h"
#include "src/read/read.h"

/* Whether a copy of the process is read, so that the process may go on meanwhile. */
enum leak_copying {
	LEAK_COPY_NEVER,
	LEAK_COPY_AUTO, /* if it has much memory: a copy takes milliseconds per GB */
	LEAK_COPY_ALWAYS
};

struct leak_access;

/* One way. Each function returns 0 or -errno; NULL: nothing to do. */
struct leak_access_ops {
	/* Before the process is stopped: what takes longer than it may stand still. */
	void (*prepare)(struct leak_access *a);
	/* Gets one instant of the process: stops it, or takes a copy. A message says why not;
	 * -EPERM, -EACCES: this way is not permitted. */
	int (*take)(struct leak_access *a);
	/* Opens the memory of that instant: a->space and a->stop describe it from now on. */
	int (*open)(struct leak_access *a);
	/* The caller has read the live table: lets the process go on, if this way can. */
	int (*detach)(struct leak_access *a);
	/* All has been read: lets the process go on. What was read is not whole: -ENOMEM; -ESRCH
	 * if it ended meanwhile. Leaves the message alone. */
	int (*release)(struct leak_access *a);
	/* At the end of the scan: takes back what the program was asked for. */
	void (*close)(struct leak_access *a);
};

/* The state of copy_access.c. */
struct leak_access_copy {
	struct leak_forked_copy process;
	struct leak_headroom headroom;
	struct leak_uncopied uncopied;
	bool uncopied_known;
	bool wanted; /* one is to be made */
	bool used; /* it is read instead of the process */
	bool lost; /* it ended before it was read */
	const char *why_not; /* though it would be worth it; static, or in leak_access.reason */
};

/* The state of lent_access.c. */
struct leak_access_lent {
	struct leak_uncopied uncopied;
	bool blind; /* /proc is closed to us: its library inspects its memory and files for us */
	bool copied; /* it has made a copy, which it has to reap */
	uint64_t pointer[HT_COOP_SLOTS]; /* thread pointers of its threads */
};

struct leak_access {
	const struct leak_access_ops *ops; /* the way that is taken */
	/* The request, the caller's. */
	struct read_segment *segment;
	pid_t pid;
	const struct core *core; /* it is a core file's; NULL: it runs */
	enum leak_copying copying;
	bool at_rest; /* no thread is to be inside malloc, or a hook, at the instant */
	struct leak_range malloc_code; /* where that is */
	bool usable_asked; /* leak_usable_size_is_asked */
	bool at_exit; /* it waits at its end: let it go on, and take its last instant */
	struct leak_progress *progress; /* may be NULL */
	char *message; /* TRACE_MESSAGE_MAX */
	struct leak_access_report *report;
	/* The instant that was taken. */
	struct leak_space space;
	struct trace_stop stop; /* threads and their registers */
	pid_t last; /* the thread that ended the process; 0: it is not at its last instant */
	struct leak_exit_stack exit; /* of that thread */
	bool exact; /* nothing changed while it was taken */
	/* The live table at that instant, and shortly before it (or NULL). NULL: the caller reads
	 * the table itself before detach. */
	struct read_live_copy *table, *table_before;
	uint64_t at_ns; /* CLOCK_MONOTONIC; with `table` */
	bool needs_table; /* the caller must copy the table: the process may go on after detach */
	bool has_table; /* it did */
	/* When the stop began; when the process was at its last instant, or 0. */
	uint64_t start_ns, exit_ns;
	/* The state of the ways. */
	struct leak_scan_lock lock;
	struct leak_vm_sharers sharers;
	struct leak_access_copy copy;
	struct leak_access_lent lent;
	struct leak_library_request *library; /* open; NULL: its library was asked for nothing */
	bool traced; /* its library lets us trace the process */
	const struct leak_access_ops *direct; /* the way that needs no help */
	const char *refusal; /* why `take` is not permitted, for the message; static or `reason` */
	char reason[LEAK_REASON_MAX];
};

/* "WHAT: WHY" in a->reason, which it returns. */
const char *leak_access_ops_reason(struct leak_access *a, const char *what, int rc);
/* Sets the progress, if anything waits for it. */
void leak_access_ops_phase(const struct leak_access *a, enum leak_phase phase);
/* `rc`, or -ECANCELED if that is 0 and the scan was cancelled. */
int leak_access_ops_continue(const struct leak_access *a, int rc);
/* -ESRCH, with the message that the process ended while it was read: it was killed, or did so
 * itself before it had stopped. */
int leak_access_ops_ended(struct leak_access *a);
/* Whether the process still runs the image that was recorded. 0, or -ESTALE with a message. */
int leak_access_ops_image_check(struct leak_access *a);

#endif
