/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeps signal handlers out of what must not be left in the middle: a handler may leave by longjmp
 * and never come back. Two system calls, so only for what is rare and makes some anyway. Signals
 * that come meanwhile are delivered afterwards, some microseconds later.
 */
#ifndef PRELOAD_SIGNALS_H
#define PRELOAD_SIGNALS_H

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "preload/call.h"

#define SIGNALS_ALL   UINT64_MAX /* those that libc keeps for itself included */
#define SIGNALS_BYTES 8 /* of a mask, as the kernel has it */

/* All of the calling thread's. Returns the mask that was. Keeps errno. */
static inline uint64_t signals_block(void)
{
#ifdef __x86_64__
	const uint64_t all = SIGNALS_ALL;
	uint64_t before = 0;

	if (call(SYS_rt_sigprocmask, SIG_SETMASK, call_pointer(&all), call_pointer(&before),
		    SIGNALS_BYTES, 0) == 0)
		return before;
#endif
	return SIGNALS_ALL; /* nothing was changed, so nothing is to be restored */
}

static inline void signals_restore(uint64_t before)
{
#ifdef __x86_64__
	if (before != SIGNALS_ALL)
		call(SYS_rt_sigprocmask, SIG_SETMASK, call_pointer(&before), 0, SIGNALS_BYTES, 0);
#endif
}

#endif
