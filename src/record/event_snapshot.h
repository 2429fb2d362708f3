/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A moment of a recording of all events as a snapshot, which every report takes. Main thread. */
#ifndef SRC_RECORD_EVENT_SNAPSHOT_H
#define SRC_RECORD_EVENT_SNAPSHOT_H

#include "src/record/event_read.h"

/*
 * The launched program's last image, `at_ns` after its start (UINT64_MAX: at its end), with the
 * other images and children that had begun by then. The recording must outlive it, unless
 * event_snapshot_keep is called. NULL and errno ENOMEM.
 */
struct snapshot *event_snapshot(struct event_recording *r, uint64_t at_ns);
/* The same, and what happened since `from_ns`: SNAP_RANGE. */
struct snapshot *event_snapshot_range(struct event_recording *r, uint64_t from_ns, uint64_t at_ns);
/* The peak of an earlier one of these: after its last event, though others may have the same time.
 */
struct snapshot *event_snapshot_peak(struct event_recording *r, const struct snapshot *s);
/* The snapshot frees its recording with itself. */
void event_snapshot_keep(struct snapshot *s, struct event_recording *r);
/* The stream of that image. */
uint32_t event_snapshot_stream(const struct event_recording *r);

/* A site of a moment in depth, while its recording is open. 0, -ENOMEM; -ENODATA: this snapshot is
 * none of these. Takes as long as reading all events once. */
int event_snapshot_detail(const struct snapshot *s, uint32_t site, struct snap_detail *out);

#endif
