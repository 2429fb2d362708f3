/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cooperation with a viewer that scans for leaks but may not trace this process (struct ht_coop):
 * the library permits tracing, or makes a copy of the process that serves the viewer its memory.
 * Only on request; any thread, in hooks off the hot path, or while it waits at the program's end.
 */
#ifndef PRELOAD_COOP_H
#define PRELOAD_COOP_H

/* Serves the request in header.coop_ask, if this is a suitable moment. Blocks signals for some
 * milliseconds; errno is kept. */
void coop_serve(void);
/* A viewer detaches: the next segment's requests are numbered anew. */
void coop_forget(void);

#endif
