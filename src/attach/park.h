/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * If no thread of a process is proved (prove.h), catches one where the program calls its
 * allocator. For that the entries of malloc, calloc, realloc and free are patched to lead to a
 * pad. The first thread that arrives there waits for the viewer, at first for PARK_MS; the others
 * continue. If the viewer is gone, no thread waits more than once. The thread that stopped the
 * process, except for attach_park_arrived and attach_park_arm.
 */
#ifndef SRC_ATTACH_PARK_H
#define SRC_ATTACH_PARK_H

#include "src/attach/phase.h"

#define ATTACH_PARK_ENTRIES 16u

struct attach_park {
	uint64_t pad; /* 0: there is none */
	uint64_t function[ATTACH_PARK_ENTRIES];
	/* How long a thread waits, in ticks of the processor's clock: PARK_MS at first, longer
	 * where we came too late. */
	uint64_t limit, limit_most;
	bool caught; /* a thread was seen to wait: attach_park_arrived */
	struct ht_attached *list; /* its jumps: the same form as our library's */
	bool armed; /* the jumps are written */
};

/* Before the first stop: measures the processor's clock. 0 or -ENOMEM. */
int attach_park_begin(struct attach_park *k);
/* Makes it, with all threads stopped: a pad is mapped, or that of a killed viewer taken. 0;
 * -EAGAIN: a thread is in the way; or -errno with a message. */
int attach_park_set(struct attach_park *k, struct attach_job *j, struct trace_stop *s);
/* Whether a thread waits. */
bool attach_park_arrived(const struct attach_park *k, const struct attach_job *j);
/* The next one that comes is caught; or, false, the one that waits goes on, and nobody is. */
void attach_park_arm(const struct attach_park *k, const struct attach_job *j, bool arm);
/* The thread that waits, and its registers as they were at the entry. NULL: it has gone on. */
struct trace_thread *attach_park_find(struct attach_park *k, const struct attach_job *j,
	struct trace_stop *s, struct user_regs_struct *regs);
/* Takes the jumps out. 0 or -errno. */
int attach_park_clear(struct attach_park *k, const struct attach_job *j);
void attach_park_free(struct attach_park *k);

/* Takes out the jumps that a killed viewer has left; the process need not be stopped to look. */
bool attach_park_is_left(const struct attach_process *p);
int attach_park_clear_left(const struct attach_process *p);
/* Bytes of the pad that stays. */
uint64_t attach_park_bytes(const struct attach_process *p);

#endif
