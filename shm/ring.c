/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The timeline's two ends: ring_append runs in hooks, ring_read in viewers. Edge RING of
 * shm/layout.h, in both directions: a reader that sees the head sees the records below it; and a
 * reader that saw any word of a record being overwritten will see, when it reloads the head, at
 * least the head that was published before that overwriting began, and so knows which of its copies
 * to discard. The scheme is that of the kernel's perf ring buffer in overwrite mode.
 */
#include "shm/ring.h"

struct ht_event *ring_open(const struct segment *s, uint32_t slot)
{
	uint64_t bytes = HT_RING_EVENTS * sizeof(struct ht_event);
	uint64_t at = segment_element(s, HT_REGION_RINGS, slot, bytes);

	if (slot == 0 || commit_range(s, at, bytes) != 0)
		return NULL;
	return segment_at(s, at);
}

void ring_push(const struct segment *s, uint32_t slot, const struct ht_event *e)
{
	struct ht_thread *t = thread_at(s, slot);

	if (slot == 0)
		thread_add(slot, &t->ring_head, 1); /* counted, so that readers know of the loss */
	else
		ring_append(t, ring_open(s, slot), e);
}

/* Events below this one may be overwritten, even now: the slot of `head` itself is in use. */
static uint64_t oldest_whole(uint64_t head)
{
	return head < HT_RING_EVENTS ? 0 : head - HT_RING_EVENTS + 1;
}

static void skip_to(uint64_t *cursor, uint64_t to, uint64_t *lost)
{
	if (*cursor >= to)
		return;
	*lost += to - *cursor;
	*cursor = to;
}

int ring_read(const struct ring_source *source, uint64_t *cursor, struct ht_event *out,
	uint32_t max, uint64_t *lost)
{
	uint64_t head, first;
	uint32_t count = 0, stale;
	int rc = source->head(source->ctx, &head); /* RING: acquire */

	if (rc < 0)
		return rc;
	if (head < *cursor)
		return -EPROTO; /* heads only grow: not a ring of ours */
	skip_to(cursor, oldest_whole(head), lost);
	for (first = *cursor; first + count < head && count < max;) {
		rc = source->record(
			source->ctx, (uint32_t)((first + count) % HT_RING_EVENTS), &out[count]);
		if (rc < 0)
			return rc;
		if (count == 0 && out[0].kind == 0) {
			/* Below the head and never written: there was no memory for it. Only the
			 * oldest events can be so, as memory once committed stays. */
			skip_to(cursor, ++first, lost);
			continue;
		}
		count++;
	}
	ht_fence_acquire(); /* RING: the copies before the second load of the head */
	rc = source->head(source->ctx, &head);
	if (rc < 0)
		return rc;
	skip_to(cursor, oldest_whole(head), lost);
	stale = *cursor - first > count ? count : (uint32_t)(*cursor - first);
	__builtin_memmove(out, out + stale, (count - stale) * sizeof(*out));
	*cursor += count - stale;
	return (int)(count - stale);
}
