/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All figures of a process image at one tick, as plain numbers that a tick's encoding (tick.h)
 * changes: sites by id, thread slots, and the head: totals, /proc, histograms, sampling. Main
 * thread.
 */
#ifndef SRC_RECORD_STATE_H
#define SRC_RECORD_STATE_H

#include <string.h>
#include "src/model/snapshot.h"
#include "src/util/bytes.h"

/* Limits of what is accepted from a file: those of a segment. */
#define STATE_SITES_MAX	  SNAP_INHERITED_FIRST /* ids are below */
#define STATE_THREADS_MAX (1u << 16) /* slots are below */
#define STATE_TEXT_MAX	  4096u /* bytes of a notice or a thread's name */

/* Numbers of a site. Those that change together are predicted from each other (tick_bits.h). */
enum {
	STATE_ALLOCS,
	STATE_HELD, /* allocs - frees */
	STATE_ALLOC_BYTES,
	STATE_LIVE_BYTES,
	STATE_TEMPORARY,
	STATE_PEAK,
	STATE_AT_PEAK_BYTES,
	STATE_AT_PEAK_BLOCKS,
	STATE_SITE_NUMBERS,
};

/* Further numbers that most programs never have; all 0 otherwise. */
enum {
	STATE_BLOCKS_OFF, /* live_blocks - (allocs - frees) */
	STATE_ERROR_LIVE_BYTES,
	STATE_ERROR_LIVE_BLOCKS,
	STATE_ERROR_ALLOCS,
	STATE_ERROR_ALLOC_BYTES,
	STATE_SITE_MORE,
};

struct state_site {
	uint64_t n[STATE_SITE_NUMBERS];
};
struct state_more {
	uint64_t n[STATE_SITE_MORE];
};

enum {
	STATE_THREAD_TID,
	STATE_THREAD_OWNERS,
	STATE_THREAD_ALLOCS,
	STATE_THREAD_FREES,
	STATE_THREAD_ALLOC_BYTES,
	STATE_THREAD_FREE_BYTES,
	STATE_THREAD_FOREIGN_FREES,
	STATE_THREAD_FOREIGN_BYTES,
	STATE_THREAD_NUMBERS,
};

struct state_thread {
	bool present;
	char name[sizeof(((struct snap_thread *)0)->name)];
	uint64_t n[STATE_THREAD_NUMBERS];
};

/* The head's numbers are fields of struct snapshot, in the order of a table in state.c. */
#define STATE_HEAD_MAX 256u

/* All zeros: the state before the first tick. */
struct state {
	uint64_t head[STATE_HEAD_MAX];
	char *notice; /* owned; NULL: none */
	struct bytes wrong; /* wrong frees (wrong_rows.h) */
	struct state_site *site; /* owned; by id; 0 where it is not present */
	struct state_more *more; /* owned; the same; NULL: all 0 */
	uint8_t *present; /* owned; by id; 1 or 0 */
	uint32_t room, sites; /* ids below `room`; number of sites present */
	struct state_thread *thread; /* owned; by slot */
	uint32_t thread_room, threads;
};

/* How many numbers the head has. */
unsigned state_head_numbers(void);
/* Copies the head's fields of a snapshot to numbers, and back. The pointers of `s` stay. */
void state_head_take(uint64_t *head, const struct snapshot *s);
void state_head_give(const uint64_t *head, struct snapshot *s);

/* Whether a snapshot is of the state's own moment, as all are after the program's end. */
bool state_is_of(const struct state *state, const struct snapshot *s);

/* Make room for an id or slot, which are below the limits. 0, -EINVAL, -ENOMEM. */
int state_site_room(struct state *s, uint32_t id);
int state_more_room(struct state *s);
int state_thread_room(struct state *s, uint32_t slot);
/* Replaces the wrong frees. 0 or -ENOMEM. */
int state_wrong_set(struct state *s, const char *rows, size_t len);
/* Replaces the notice; `len` bytes. 0 or -ENOMEM. */
int state_notice_set(struct state *s, const char *text, size_t len);

/* The numbers of a site of a snapshot. Without `errors`, those are left at 0 and not read: they
 * would be a cache line more of each site. */
void state_site_take(
	const struct snap_site *in, bool errors, struct state_site *out, struct state_more *more);
/* The same back: everything but id, stack, and what is derived. `more` NULL: zeros. */
void state_site_give(
	const struct state_site *in, const struct state_more *more, struct snap_site *out);
void state_thread_take(const struct snap_thread *in, struct state_thread *out);
void state_thread_give(const struct state_thread *in, uint32_t slot, struct snap_thread *out);

/* The site is no longer there; `id` is below `room`. */
void state_site_clear(struct state *s, uint32_t id);
/* The first site present from `id` on; `room`: none. One looks at sites in this way, as ids that
 * are not present take no memory until they are touched. */
static inline uint32_t state_site_next(const struct state *s, uint32_t id)
{
	const uint8_t *next = id < s->room ? memchr(&s->present[id], 1, s->room - id) : NULL;

	return next ? (uint32_t)(next - s->present) : s->room;
}

/* Memory that it holds. */
size_t state_bytes(const struct state *s);
/* Back to the state before the first tick; keeps the memory. */
void state_clear(struct state *s);
/* Makes `to`, which is as before the first tick, equal to `s`. 0 or -ENOMEM. */
int state_copy(struct state *to, const struct state *s);
void state_free(struct state *s);

#endif
