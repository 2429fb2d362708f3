/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Waiting for a viewer that must not miss an event (event_wait.h). The viewer grants the time in
 * advance, in header.events_wait, and renews that only while it makes progress. So a viewer that
 * was killed or stopped delays a process by no more than its last grant and GRACE_NS, however many
 * threads wait, one beside or after the other; and images that it calls exec for in the STALL_NS
 * after that, by HT_RING_WAIT_NS each. A thread does not rely on that alone: it gives up when its
 * own ring was not read for HT_RING_WAIT_NS, and then waits no more until it is.
 *
 * Time in which nobody ran is not the viewer's: a machine that stood still for a second has let
 * each grant expire, and whoever runs first then is not to conclude that the viewer has gone. So a
 * nap counts as at most twice what was asked for, and threads wait GRACE_NS of naps beyond a
 * grant; once one has done so in vain, none waits beyond that grant any more.
 *
 * Naps by a futex, as exit_wait.c: the call that a program hardly forbids itself.
 */
#include "preload/event_wait.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/clock.h"
#include "preload/unwind_cfi.h"
#include "shm/pause.h"
#include "shm/ring.h"

#define SPINS	    2000u /* some 20 us: a viewer that is reading this ring needs less */
#define NAP_LEAST   50000u /* ns */
#define NAP_MOST    1000000u /* ns: naps double up to this */
#define RECHECK	    (HT_RING_EVENTS / 8) /* events written before a viewer's request is noticed */
#define ROOM_WANTED (HT_RING_EVENTS / 4) /* events to be read before the writer goes on */
#define GRACE_NS    50000000u
#define STALL_NS    2000000000u /* after the end of a grant: a thread may still begin to wait */

struct waiting {
	struct ht_thread *thread;
	uint64_t tail; /* when last read */
	uint64_t grant; /* header.events_wait when last read */
	uint64_t checked_ns; /* when that was */
	uint64_t idle_ns, late_ns; /* time waited: since the tail moved; since the grant expired */
	uint64_t nap_ns, napped_ns; /* to ask for next; asked for last */
};

/* The grant beyond which a thread has waited in vain. */
static uint64_t grant_forsaken;

bool event_wait_is_granted(const struct ht_header *h, uint64_t now)
{
	uint64_t grant = ht_load_relaxed_64(&h->events_wait);

	return grant > now || (grant != 0 && grant + STALL_NS > now &&
				      grant != ht_load_relaxed_64(&grant_forsaken));
}

static bool has_room(const struct waiting *w, uint64_t head)
{
	return head + ROOM_WANTED <= ring_limit(w->thread);
}

/* Whether this thread may wait here. */
static bool may_wait(const struct recorder *r, uint64_t tail, uint64_t now)
{
	return event_wait_is_granted(state_segment.header, now) && r->ring &&
	       tail + 1 != r->ring_forsaken && state_pid() == state_segment.header->pid &&
	       !unwind_cfi_in_handler(state_thread.busy & ~(uintptr_t)1);
}

static void nap(struct waiting *w)
{
	static const uint32_t never_woken;
	const struct timespec t = { .tv_nsec = (long)w->nap_ns };

	syscall(SYS_futex, &never_woken, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
	w->napped_ns = w->nap_ns;
	if (w->nap_ns < NAP_MOST)
		w->nap_ns *= 2;
}

/* Whether to go on waiting. Not after a viewer has taken its grant back: 0. */
static bool is_patient(struct waiting *w)
{
	uint64_t tail = ht_load_relaxed_64(&w->thread->ring_tail), now = clock_monotonic();
	uint64_t spent = now - w->checked_ns, most = 2 * w->napped_ns;

	w->checked_ns = now;
	if (spent > most)
		spent = most;
	w->idle_ns = tail == w->tail ? w->idle_ns + spent : 0;
	w->tail = tail;
	w->grant = ht_load_relaxed_64(&state_segment.header->events_wait);
	w->late_ns = now < w->grant ? 0 : w->late_ns + spent;
	return w->grant != 0 && w->idle_ns < HT_RING_WAIT_NS && w->late_ns < GRACE_NS;
}

static void wait_for_room(struct waiting *w, uint64_t head)
{
	for (unsigned i = 0; i < SPINS; i++) {
		if (has_room(w, head))
			return;
		pause_spin(1);
	}
	while (!has_room(w, head) && is_patient(w))
		nap(w);
}

static void wait_counted(struct recorder *r, uint64_t head, uint64_t tail, uint64_t now)
{
	struct ht_header *h = state_segment.header;
	struct waiting w = {
		.thread = r->thread, .tail = tail, .checked_ns = now, .nap_ns = NAP_LEAST
	};

	wait_for_room(&w, head);
	ht_add_relaxed_64(&h->events_waits, 1);
	ht_add_relaxed_64(&h->events_waited_ns, clock_monotonic() - now);
	if (has_room(&w, head))
		return;
	r->ring_forsaken = w.tail + 1;
	if (w.late_ns > 0)
		ht_store_relaxed_64(&grant_forsaken, w.grant);
}

uint64_t event_wait(struct recorder *r)
{
	uint64_t head = ht_load_relaxed_64(&r->thread->ring_head), limit = ring_limit(r->thread);
	uint64_t tail = limit - (HT_RING_EVENTS - 1), now;
	int saved = errno;

	if (limit - head - 1 < HT_RING_EVENTS - 1)
		return limit;
	now = clock_monotonic();
	if (may_wait(r, tail, now))
		wait_counted(r, head, tail, now);
	errno = saved;
	limit = ring_limit(r->thread);
	return limit - head - 1 < HT_RING_EVENTS - 1 ? limit : head + RECHECK;
}
