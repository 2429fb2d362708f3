/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Help for a viewer that is to scan for leaks and may not trace us (struct ht_coop): we let it
 * trace us, or make a copy of this process that gives it its memory. Only when asked; any thread,
 * in hooks off the hot path, or waiting at the program's end.
 */
#ifndef PRELOAD_COOP_H
#define PRELOAD_COOP_H

#include <stdint.h>

/* Does what is asked for (header.coop_ask), if this is the moment. Signals wait meanwhile, some
 * milliseconds; errno is kept. */
void coop_asked(void);

/* Of the calling thread; 0: this machine has none that we know of. */
static inline uint64_t coop_thread_pointer(void)
{
#ifdef __x86_64__
	uint64_t pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
#else
	return 0;
#endif
}

#endif
