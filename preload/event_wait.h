/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waiting for a viewer that must not miss an event (shm/layout.h, "Waiting"). In hooks, on any
 * thread with a recorder. errno is kept. */
#ifndef PRELOAD_EVENT_WAIT_H
#define PRELOAD_EVENT_WAIT_H

#include "preload/recorder.h"

/* Called when the ring's head has reached r->ring_limit. If the ring is full, waits, if a viewer
 * asks for that and this thread may. Returns the new limit. */
uint64_t event_wait(struct recorder *r);
/* Whether a viewer of `h` grants time, or could not yet renew what it granted. `now`: of
 * clock_monotonic. */
bool event_wait_is_granted(const struct ht_header *h, uint64_t now);

#endif
