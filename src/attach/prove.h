/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Proves that a stopped thread holds none of the locks that loading a library takes. Such a
 * thread waits in a function of libc that is known to hold none, and the program itself called
 * that function, not libc or the loader. If the thread is in a signal handler, the same must hold
 * for the code that the handler interrupted. Or it waits in a system call that the program makes
 * itself, as Go does, and no word on its stack points into libc, the loader or an allocator. The
 * thread that stopped the process.
 */
#ifndef SRC_ATTACH_PROVE_H
#define SRC_ATTACH_PROVE_H

#include "src/attach/process.h"

#define ATTACH_PROVE_WAITS 256u

struct attach_prove {
	const struct attach_process *process;
	struct {
		uint64_t at, end;
		bool locks; /* an allocator may wait so, too */
	} wait[ATTACH_PROVE_WAITS];
	size_t waits;
	uint64_t start; /* the executable's entry; 0: not known */
	uint64_t leave[2], leave_end[2]; /* exit and quick_exit */
	bool own; /* the program brings malloc itself: its waits may be malloc's */
};

/* Looks up the functions. */
void attach_prove_begin(struct attach_prove *p, const struct attach_process *process);
/* Whether a thread may be sent to system calls, or to a function that makes nothing else and takes
 * `bytes` of stack: it is on its own stack, as far as that can be known, and in no handler on
 * another one, which may lie in the middle of that. */
bool attach_prove_may_call(
	const struct attach_process *p, const struct trace_thread *t, uint64_t bytes);
/* NULL, or why it is not proved, in a few words (static). */
const char *attach_prove(const struct attach_prove *p, const struct trace_thread *t);
/* The same for a thread that stands at the entry of a function that the program has called. */
const char *attach_prove_entry(const struct attach_prove *p, const struct user_regs_struct *regs);

#endif
