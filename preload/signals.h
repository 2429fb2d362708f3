/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks signals around code that must not be abandoned: a handler may leave by longjmp and never
 * return. Two system calls, so only for rare code that makes some anyway. Signals are delivered
 * afterwards, some microseconds later.
 */
#ifndef PRELOAD_SIGNALS_H
#define PRELOAD_SIGNALS_H

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "preload/call.h"

#define SIGNALS_ALL   UINT64_MAX /* those that libc keeps for itself included */
#define SIGNALS_BYTES 8 /* of a mask, as the kernel has it */

/* Blocks all signals of the calling thread. Returns the previous mask. Keeps errno. */
static inline uint64_t signals_block(void)
{
#ifdef CALL_EXISTS
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
#ifdef CALL_EXISTS
	if (before != SIGNALS_ALL)
		call(SYS_rt_sigprocmask, SIG_SETMASK, call_pointer(&before), 0, SIGNALS_BYTES, 0);
#endif
}

#endif
