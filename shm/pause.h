/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Waits without the kernel. A program may be killed for a system call that it does not make
 * itself, so the library does not yield the processor when it waits for another thread: the
 * scheduler preempts it in time. Any thread, also in signal handlers.
 */
#ifndef SHM_PAUSE_H
#define SHM_PAUSE_H

/* Tells the processor that this thread waits: some ten to a hundred cycles each. */
static inline void pause_spin(unsigned times)
{
	for (; times > 0; times--) {
#if defined(__x86_64__) || defined(__i386__)
		__builtin_ia32_pause();
#elif defined(__aarch64__)
		__asm__ volatile("isb"); /* yield is a nop on most */
#else
		__asm__ volatile("");
#endif
	}
}

#endif
