/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One call site of a recording of all events in depth, by reading the events up to a moment again.
 * Main thread. */
#ifndef SRC_RECORD_EVENT_DETAIL_H
#define SRC_RECORD_EVENT_DETAIL_H

#include "src/record/event_replay.h"

/* `end_ns`: the moment, from which ages count. 0 or -ENOMEM. */
int event_detail_read(struct event_recording *r, uint32_t stream, struct event_until until,
	uint64_t end_ns, uint32_t site, struct snap_detail *out);

#endif
