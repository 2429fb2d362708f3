/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads what the program said through heaptop.h (read.h). Main thread; read_intended: any. */
#include <errno.h>
#include <string.h>

#include "shm/note.h"
#include "src/read/segment.h"

/* The record of note `index`. 0; -EAGAIN: it is being written; -ENOENT: it was overwritten. */
static int note_read(struct read_segment *s, uint64_t index, struct read_note *out)
{
	struct ht_note n;
	uint64_t again = 0,
		 at = s->header->region[HT_REGION_NOTES].offset + index % HT_NOTES * sizeof(n);
	int rc = read_at(s, at, &n, sizeof(n));

	ht_fence_acquire(); /* NOTE */
	if (rc == 0)
		rc = read_at(s, at + offsetof(struct ht_note, number), &again, sizeof(again));
	if (rc != 0)
		return rc;
	if (n.number != index + 1 || again != n.number)
		return n.number > index + 1 || again > index + 1 ? -ENOENT : -EAGAIN;
	*out = (struct read_note){ .number = n.number,
		.ns = n.ns,
		.live_bytes = n.live_bytes,
		.kind = n.kind,
		.tid = n.tid };
	memcpy(out->text, n.text, sizeof(out->text));
	out->text[HT_NOTE_TEXT - 1] = 0;
	return 0;
}

uint64_t read_notes_count(struct read_segment *s)
{
	uint64_t count = 0;

	(void)read_at(s, offsetof(struct ht_header, notes), &count, sizeof(count));
	return count;
}

ssize_t read_notes(struct read_segment *s, uint64_t *seen,
	void (*visit)(void *ctx, const struct read_note *n), void *ctx)
{
	struct read_note n;
	uint64_t count = read_notes_count(s), i;
	ssize_t visited = 0;
	int rc;

	if (count <= *seen)
		return 0;
	for (i = count - *seen > HT_NOTES ? count - HT_NOTES : *seen; i < count; i++) {
		rc = note_read(s, i, &n);
		/* Its writer may be dead, or have had no memory for it: not for ever. */
		if (rc == -EAGAIN && i + 1 == count)
			break;
		if (rc == -EIO)
			return rc;
		if (rc == 0) {
			visit(ctx, &n);
			visited++;
		}
		*seen = i + 1;
	}
	return visited;
}

uint64_t read_notes_claim(struct read_segment *s, uint64_t to)
{
	const size_t at = offsetof(struct ht_header, notes_taken);
	uint64_t before = 0;

	if (s->frozen)
		return read_at(s, at, &before, sizeof(before)) == 0 ? before : to;
	/* With another viewer there, exactly one must act. */
	return read_word_raise(s, at, sizeof(before), to, &before) == 0 ? before : to;
}

int read_intended(
	struct read_segment *s, void (*visit)(void *ctx, uint64_t addr, uint64_t tick), void *ctx)
{
	struct ht_intended e;
	uint32_t count = 0, most = note_intended_most(s->header);
	int rc = read_at(s, offsetof(struct ht_header, intended), &count, sizeof(count));

	for (uint32_t i = 0; rc == 0 && i < count && i < most; i++) {
		rc = read_at(s, note_intended_at(s->header, i), &e, sizeof(e));
		if (rc == 0 && e.tick != 0) /* INTEND */
			visit(ctx, e.addr, e.tick - 1);
	}
	return rc;
}
