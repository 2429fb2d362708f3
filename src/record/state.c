/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All figures at one tick as numbers (state.h). Main thread. */
#include "src/record/state.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/array.h"

/*
 * The fields of the head, in the order of a file: new ones go to the end, and none is ever removed.
 * A field that is an array counts as that many numbers.
 */
struct field {
	uint16_t offset;
	uint8_t size; /* of one number: 1, 4 or 8 */
	uint8_t count;
};

#define FIELDS(member, each, n)                                                                    \
	{                                                                                          \
		offsetof(struct snapshot, member), sizeof(each), (n)                               \
	}
#define FIELD(member) FIELDS(member, ((struct snapshot *)0)->member, 1)
#define ARRAY(member)                                                                              \
	FIELDS(member, uint64_t, (sizeof(((struct snapshot *)0)->member)) / (sizeof(uint64_t)))
#define TOTAL(member)	 FIELD(totals.member)
#define PROC(member)	 FIELD(proc.member)
#define SAMPLING(member) FIELD(sampling.member)

static const struct field fields[] = {
	FIELD(uptime_ns),
	FIELD(start_realtime_ns),
	FIELD(tick_ns),
	FIELD(state),
	FIELD(exit_status),
	FIELD(signal),
	FIELD(forked),
	FIELD(segment_bytes),
	FIELD(viewer_cpu_ns),
	FIELD(viewer_rss),
	TOTAL(allocs),
	TOTAL(frees),
	TOTAL(reallocs),
	TOTAL(alloc_bytes),
	TOTAL(free_bytes),
	TOTAL(live_blocks),
	TOTAL(live_bytes),
	TOTAL(peak_live_bytes),
	TOTAL(peak_ns),
	TOTAL(at_peak_bytes),
	TOTAL(at_peak_blocks),
	TOTAL(has_at_peak),
	TOTAL(temporary),
	TOTAL(failed),
	TOTAL(unknown_frees),
	TOTAL(missed_frees),
	TOTAL(lost_events),
	TOTAL(untracked_blocks),
	TOTAL(untracked_bytes),
	TOTAL(truncated_stacks),
	TOTAL(ancestor_allocs),
	TOTAL(ancestor_live_bytes),
	TOTAL(stacks_bytes),
	TOTAL(stacks_forgotten),
	TOTAL(unwinds_checked),
	TOTAL(unwinds_wrong),
	TOTAL(unwinds_shorter),
	TOTAL(unwinds_longer),
	TOTAL(error.live_bytes),
	TOTAL(error.live_blocks),
	TOTAL(error.allocs),
	TOTAL(error.alloc_bytes),
	PROC(rss),
	PROC(hwm),
	PROC(pss),
	PROC(swap),
	PROC(have_pss),
	PROC(minor_faults),
	PROC(major_faults),
	PROC(threads),
	PROC(valid),
	SAMPLING(bytes),
	SAMPLING(most),
	SAMPLING(marks),
	ARRAY(sampling.mark),
	SAMPLING(limit),
	SAMPLING(measured),
	SAMPLING(overhead),
	SAMPLING(passing),
	ARRAY(sizes),
	ARRAY(lifetimes),
	TOTAL(paused_blocks),
	TOTAL(paused_bytes),
	TOTAL(has_mapped),
	TOTAL(mapped_bytes),
	TOTAL(mapped_blocks),
	TOTAL(mapped_peak_bytes),
	TOTAL(mapped_peak_ns),
	TOTAL(maps),
	TOTAL(unmaps),
	TOTAL(map_bytes),
	TOTAL(unmap_bytes),
	TOTAL(allocator_mapped_bytes),
	TOTAL(unknown_unmap_bytes),
	TOTAL(missed_unmap_bytes),
	TOTAL(untracked_maps),
	TOTAL(untracked_map_bytes),
	TOTAL(untracked_unmap_bytes),
	TOTAL(pool_bytes),
	TOTAL(pool_blocks),
	TOTAL(pool_peak_bytes),
	TOTAL(pool_untracked),
	TOTAL(pool_untracked_bytes),
	TOTAL(has_before),
	TOTAL(before_found_blocks),
	TOTAL(before_found_bytes),
	TOTAL(before_blocks),
	TOTAL(before_bytes),
	TOTAL(has_wrong),
	ARRAY(totals.wrong_frees),
	TOTAL(wrong_unlisted),
};

static_assert(sizeof(struct snap_size) == 3 * sizeof(uint64_t), "histograms are plain numbers");
static_assert(sizeof(struct snap_rate_change) == 2 * sizeof(uint64_t), "so are these");

#define NFIELDS (sizeof(fields) / sizeof(fields[0]))

unsigned state_head_numbers(void)
{
	unsigned sum = 0;

	for (size_t i = 0; i < NFIELDS; i++)
		sum += fields[i].count;
	assert(sum <= STATE_HEAD_MAX);
	return sum;
}

static uint64_t number_take(const char *at, size_t size)
{
	uint32_t small;
	uint64_t large;

	switch (size) {
	case 1:
		return (uint8_t)*at;
	case 4:
		memcpy(&small, at, sizeof(small));
		return small;
	default:
		memcpy(&large, at, sizeof(large));
		return large;
	}
}

static void number_give(uint64_t n, char *at, size_t size)
{
	uint32_t small = (uint32_t)n;

	switch (size) {
	case 1:
		*at = n != 0; /* all of one byte are truth values */
		break;
	case 4:
		memcpy(at, &small, sizeof(small));
		break;
	default:
		memcpy(at, &n, sizeof(n));
	}
}

void state_head_take(uint64_t *head, const struct snapshot *s)
{
	for (size_t i = 0; i < NFIELDS; i++)
		for (unsigned k = 0; k < fields[i].count; k++)
			*head++ = number_take(
				(const char *)s + fields[i].offset + (size_t)k * fields[i].size,
				fields[i].size);
}

/* What comes from a file may be anything. */
static double share(double x)
{
	return x >= 0 && x <= 1e6 ? x : 0;
}

static void head_bound(struct snapshot *s)
{
	if ((unsigned)s->state > SNAP_COPY)
		s->state = SNAP_GONE;
	if (s->sampling.marks > SNAP_RATE_CHANGES)
		s->sampling.marks = SNAP_RATE_CHANGES;
	s->sampling.limit = share(s->sampling.limit);
	s->sampling.overhead = share(s->sampling.overhead);
	s->sampling.passing = share(s->sampling.passing);
}

void state_head_give(const uint64_t *head, struct snapshot *s)
{
	for (size_t i = 0; i < NFIELDS; i++)
		for (unsigned k = 0; k < fields[i].count; k++)
			number_give(*head++,
				(char *)s + fields[i].offset + (size_t)k * fields[i].size,
				fields[i].size);
	head_bound(s);
}

bool state_is_of(const struct state *state, const struct snapshot *s)
{
	struct snapshot last = { 0 };

	state_head_give(state->head, &last);
	return last.uptime_ns == s->uptime_ns && last.state == s->state &&
	       last.totals.allocs == s->totals.allocs && last.totals.frees == s->totals.frees;
}

/* Room for an index below `most`, and no more than for those. */
static uint32_t room_for(uint32_t room, uint32_t index, uint32_t first, uint32_t most)
{
	uint64_t now = room ? room : first;

	while (now <= index)
		now += now / 2;
	return now < most ? (uint32_t)now : most;
}

int state_site_room(struct state *s, uint32_t id)
{
	uint32_t room = room_for(s->room, id, 256, STATE_SITES_MAX);
	struct state_more *more;
	struct state_site *site;
	uint8_t *present;

	if (id >= STATE_SITES_MAX)
		return -EINVAL;
	if (id < s->room)
		return 0;
	site = array_extend(s->site, s->room, room, sizeof(*site));
	if (site)
		s->site = site;
	more = s->more ? array_extend(s->more, s->room, room, sizeof(*more)) : NULL;
	if (more)
		s->more = more;
	present = array_extend(s->present, s->room, room, sizeof(*present));
	if (present)
		s->present = present;
	if (!site || !present || (s->more && !more))
		return -ENOMEM;
	s->room = room;
	return 0;
}

int state_more_room(struct state *s)
{
	if (!s->more)
		s->more = calloc(s->room ? s->room : 1, sizeof(*s->more));
	return s->more ? 0 : -ENOMEM;
}

int state_thread_room(struct state *s, uint32_t slot)
{
	uint32_t room = room_for(s->thread_room, slot, 8, STATE_THREADS_MAX);
	struct state_thread *thread;

	if (slot >= STATE_THREADS_MAX)
		return -EINVAL;
	if (slot < s->thread_room)
		return 0;
	thread = array_extend(s->thread, s->thread_room, room, sizeof(*thread));
	if (!thread)
		return -ENOMEM;
	s->thread = thread;
	s->thread_room = room;
	return 0;
}

int state_notice_set(struct state *s, const char *text, size_t len)
{
	char *copy = NULL;

	if (len > 0) {
		copy = malloc(len + 1);
		if (!copy)
			return -ENOMEM;
		memcpy(copy, text, len);
		copy[len] = '\0';
	}
	free(s->notice);
	s->notice = copy;
	return 0;
}

int state_wrong_set(struct state *s, const char *rows, size_t len)
{
	s->wrong.len = 0;
	s->wrong.failed = false;
	bytes_add(&s->wrong, rows, len);
	return s->wrong.failed ? -ENOMEM : 0;
}

void state_site_take(
	const struct snap_site *in, bool errors, struct state_site *out, struct state_more *more)
{
	out->n[STATE_ALLOCS] = in->allocs;
	out->n[STATE_HELD] = in->allocs - in->frees;
	out->n[STATE_ALLOC_BYTES] = in->alloc_bytes;
	out->n[STATE_LIVE_BYTES] = in->live_bytes;
	out->n[STATE_TEMPORARY] = in->temporary;
	out->n[STATE_PEAK] = in->peak_live_bytes;
	out->n[STATE_AT_PEAK_BYTES] = in->at_peak_bytes;
	out->n[STATE_AT_PEAK_BLOCKS] = in->at_peak_blocks;
	*more = (struct state_more){ { [STATE_BLOCKS_OFF] =
					       in->live_blocks - (in->allocs - in->frees) } };
	if (!errors)
		return;
	more->n[STATE_ERROR_LIVE_BYTES] = in->error.live_bytes;
	more->n[STATE_ERROR_LIVE_BLOCKS] = in->error.live_blocks;
	more->n[STATE_ERROR_ALLOCS] = in->error.allocs;
	more->n[STATE_ERROR_ALLOC_BYTES] = in->error.alloc_bytes;
}

void state_site_give(
	const struct state_site *in, const struct state_more *more, struct snap_site *out)
{
	out->allocs = in->n[STATE_ALLOCS];
	out->frees = in->n[STATE_ALLOCS] - in->n[STATE_HELD];
	out->alloc_bytes = in->n[STATE_ALLOC_BYTES];
	out->live_bytes = in->n[STATE_LIVE_BYTES];
	out->live_blocks = in->n[STATE_HELD];
	out->temporary = in->n[STATE_TEMPORARY];
	out->peak_live_bytes = in->n[STATE_PEAK];
	out->at_peak_bytes = in->n[STATE_AT_PEAK_BYTES];
	out->at_peak_blocks = in->n[STATE_AT_PEAK_BLOCKS];
	if (!more)
		return;
	out->live_blocks += more->n[STATE_BLOCKS_OFF];
	out->error = (struct snap_error){ .live_bytes = more->n[STATE_ERROR_LIVE_BYTES],
		.live_blocks = more->n[STATE_ERROR_LIVE_BLOCKS],
		.allocs = more->n[STATE_ERROR_ALLOCS],
		.alloc_bytes = more->n[STATE_ERROR_ALLOC_BYTES] };
}

void state_thread_take(const struct snap_thread *in, struct state_thread *out)
{
	*out = (struct state_thread){ .present = true };
	memcpy(out->name, in->name, strnlen(in->name, sizeof(out->name) - 1));
	out->n[STATE_THREAD_TID] = in->tid;
	out->n[STATE_THREAD_OWNERS] = in->owners;
	out->n[STATE_THREAD_ALLOCS] = in->allocs;
	out->n[STATE_THREAD_FREES] = in->frees;
	out->n[STATE_THREAD_ALLOC_BYTES] = in->alloc_bytes;
	out->n[STATE_THREAD_FREE_BYTES] = in->free_bytes;
	out->n[STATE_THREAD_FOREIGN_FREES] = in->foreign_frees;
	out->n[STATE_THREAD_FOREIGN_BYTES] = in->foreign_bytes;
}

void state_thread_give(const struct state_thread *in, uint32_t slot, struct snap_thread *out)
{
	*out = (struct snap_thread){ .slot = slot,
		.tid = (uint32_t)in->n[STATE_THREAD_TID],
		.owners = in->n[STATE_THREAD_OWNERS],
		.allocs = in->n[STATE_THREAD_ALLOCS],
		.frees = in->n[STATE_THREAD_FREES],
		.alloc_bytes = in->n[STATE_THREAD_ALLOC_BYTES],
		.free_bytes = in->n[STATE_THREAD_FREE_BYTES],
		.foreign_frees = in->n[STATE_THREAD_FOREIGN_FREES],
		.foreign_bytes = in->n[STATE_THREAD_FOREIGN_BYTES] };
	memcpy(out->name, in->name, sizeof(out->name));
}

void state_site_clear(struct state *s, uint32_t id)
{
	s->sites -= s->present[id];
	s->present[id] = 0;
	s->site[id] = (struct state_site){ 0 };
	if (s->more)
		s->more[id] = (struct state_more){ 0 };
}

size_t state_bytes(const struct state *s)
{
	return s->room *
		       (sizeof(*s->site) + sizeof(*s->present) + (s->more ? sizeof(*s->more) : 0)) +
	       s->thread_room * sizeof(*s->thread) + (s->notice ? strlen(s->notice) + 1 : 0) +
	       s->wrong.cap;
}

void state_clear(struct state *s)
{
	memset(s->head, 0, sizeof(s->head));
	free(s->notice);
	s->notice = NULL;
	s->wrong.len = 0;
	for (uint32_t id = state_site_next(s, 0); id < s->room; id = state_site_next(s, id + 1))
		state_site_clear(s, id);
	if (s->thread_room)
		memset(s->thread, 0, s->thread_room * sizeof(*s->thread));
	s->threads = 0;
}

int state_copy(struct state *to, const struct state *s)
{
	int rc = s->room ? state_site_room(to, s->room - 1) : 0;

	if (!rc && s->more)
		rc = state_more_room(to);
	if (!rc && s->thread_room)
		rc = state_thread_room(to, s->thread_room - 1);
	if (!rc)
		rc = state_notice_set(to, s->notice, s->notice ? strlen(s->notice) : 0);
	if (!rc)
		rc = state_wrong_set(to, (const char *)s->wrong.data, s->wrong.len);
	if (rc)
		return rc;
	memcpy(to->head, s->head, sizeof(to->head));
	for (uint32_t id = state_site_next(s, 0); id < s->room; id = state_site_next(s, id + 1)) {
		to->site[id] = s->site[id];
		to->present[id] = 1;
		if (s->more)
			to->more[id] = s->more[id];
	}
	if (s->thread_room)
		memcpy(to->thread, s->thread, s->thread_room * sizeof(*s->thread));
	to->sites = s->sites;
	to->threads = s->threads;
	return 0;
}

void state_free(struct state *s)
{
	free(s->notice);
	bytes_free(&s->wrong);
	free(s->site);
	free(s->more);
	free(s->present);
	free(s->thread);
	*s = (struct state){ 0 };
}
