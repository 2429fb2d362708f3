/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Notes (note.h). A writer takes a number, and with it a record, which it marks as being written
 * until it stores the number there. If another writer is a whole lap ahead meanwhile, one of the
 * two notes is lost.
 */
#include "shm/note.h"

static void text_fill(struct ht_note *to, const char *text)
{
	uint64_t n = text ? __builtin_strlen(text) : 0;

	n = n < HT_NOTE_TEXT ? n : HT_NOTE_TEXT - 1;
	__builtin_memcpy(to->text, text ? text : "", n);
	__builtin_memset(to->text + n, 0, HT_NOTE_TEXT - n);
}

void note_write(const struct segment *s, const struct note *n)
{
	uint64_t number = ht_add_relaxed_64(&s->header->notes, 1);
	uint64_t at =
		segment_element(s, HT_REGION_NOTES, number % HT_NOTES, sizeof(struct ht_note));
	struct ht_note *to = segment_at(s, at);

	if (commit_range(s, at, sizeof(*to)) != 0)
		return;
	ht_store_relaxed_64(&to->number, 0);
	ht_fence_release(); /* NOTE: readers of the note before find that it is gone */
	to->ns = n->ns;
	to->live_bytes = n->live_bytes;
	to->kind = (uint32_t)n->kind;
	to->tid = n->tid;
	text_fill(to, n->text);
	ht_store_release_64(&to->number, number + 1); /* NOTE */
}

void note_intend(const struct segment *s, uint64_t addr, uint64_t tick)
{
	uint32_t index = ht_load_relaxed_32(&s->header->intended);
	struct ht_intended *to;

	do {
		if (index >= note_intended_most(s->header)) {
			ht_add_relaxed_32(&s->header->intended_refused, 1);
			return;
		}
	} while (!ht_cas_relaxed_32(&s->header->intended, &index, index + 1));
	to = segment_at(s, note_intended_at(s->header, index));
	if (commit_range(s, note_intended_at(s->header, index), sizeof(*to)) != 0) {
		ht_add_relaxed_32(&s->header->intended_refused, 1);
		return;
	}
	to->addr = addr;
	ht_store_release_64(&to->tick, tick + 1); /* INTEND */
}
