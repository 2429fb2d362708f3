/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Help for a viewer that is to scan for leaks and may not trace us (struct ht_coop): we let it
 * trace us, or make a copy of this process that gives it its memory. Only when asked; any thread,
 * in hooks off the hot path, or waiting at the program's end.
 */
#ifndef PRELOAD_COOP_H
#define PRELOAD_COOP_H

/* Does what is asked for (header.coop_ask), if this is the moment. Signals wait meanwhile, some
 * milliseconds; errno is kept. */
void coop_serve(void);

#endif
