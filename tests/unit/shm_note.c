/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of shm/note and of its reader: order, laps, notes that are half written, claims. */
#include "tests/unit/shm_fixture.h"

#include "shm/note.h"
#include "src/read/segment.h"

struct heard {
	uint64_t first, last;
	unsigned count;
	char text[HT_NOTE_TEXT];
};

static void hear(void *ctx, const struct read_note *n)
{
	struct heard *h = ctx;

	CHECK(h->count == 0 || n->number > h->last);
	h->first = h->count == 0 ? n->number : h->first;
	h->last = n->number;
	h->count++;
	strcpy(h->text, n->text);
}

static struct read_segment reader_of(const struct fixture *f)
{
	return (struct read_segment){ .fd = f->fd, .write_fd = -1, .header = f->s.header };
}

static void say(struct fixture *f, unsigned times, const char *text)
{
	for (unsigned i = 0; i < times; i++)
		note_write(&f->s, &(struct note){ .kind = HT_NOTE_MARK, .text = text });
}

TEST(in_order_and_once)
{
	struct fixture f;
	struct read_segment r;
	struct heard h = { 0 };
	uint64_t seen = 0;

	fixture_open(&f, SEGMENT_SMALL);
	r = reader_of(&f);
	CHECK_INT(read_notes(&r, &seen, hear, &h), 0);
	say(&f, 3, "one");
	CHECK_INT(read_notes(&r, &seen, hear, &h), 3);
	CHECK_INT(h.last, 3);
	CHECK_STR(h.text, "one");
	CHECK_INT(read_notes(&r, &seen, hear, &h), 0);
	say(&f, 1, NULL);
	CHECK_INT(read_notes(&r, &seen, hear, &h), 1);
	CHECK_STR(h.text, "");
	fixture_close(&f);
}

TEST(a_reader_that_is_late_gets_the_latest)
{
	struct fixture f;
	struct read_segment r;
	struct heard h = { 0 };
	uint64_t seen = 0;

	fixture_open(&f, SEGMENT_SMALL);
	r = reader_of(&f);
	say(&f, 3 * HT_NOTES + 5, "x");
	CHECK_INT(read_notes(&r, &seen, hear, &h), HT_NOTES);
	CHECK_INT(h.first, 2 * HT_NOTES + 6);
	CHECK_INT(h.last, 3 * HT_NOTES + 5);
	fixture_close(&f);
}

TEST(a_long_text_is_cut)
{
	struct fixture f;
	struct read_segment r;
	struct heard h = { 0 };
	uint64_t seen = 0;
	char text[2 * HT_NOTE_TEXT];

	memset(text, 'y', sizeof(text));
	text[sizeof(text) - 1] = 0;
	fixture_open(&f, SEGMENT_SMALL);
	r = reader_of(&f);
	say(&f, 1, text);
	CHECK_INT(read_notes(&r, &seen, hear, &h), 1);
	CHECK_INT(strlen(h.text), HT_NOTE_TEXT - 1);
	fixture_close(&f);
}

/* The newest may still come; an older one that never does holds up nothing. */
TEST(a_note_is_half_written)
{
	struct fixture f;
	struct read_segment r;
	struct heard h = { 0 };
	struct ht_note *note;
	uint64_t seen = 0;

	fixture_open(&f, SEGMENT_SMALL);
	r = reader_of(&f);
	say(&f, 2, "x");
	note = segment_at(&f.s, segment_element(&f.s, HT_REGION_NOTES, 1, sizeof(*note)));
	note->number = 0;
	CHECK_INT(read_notes(&r, &seen, hear, &h), 1);
	CHECK_INT(seen, 1);
	say(&f, 1, "x");
	CHECK_INT(read_notes(&r, &seen, hear, &h), 1);
	CHECK_INT(h.last, 3);
	fixture_close(&f);
}

TEST(one_viewer_claims_a_note)
{
	struct fixture f;
	struct read_segment r;

	fixture_open(&f, SEGMENT_SMALL);
	r = reader_of(&f);
	say(&f, 4, "x");
	CHECK_INT(read_notes_claim(&r, 4), 0);
	CHECK_INT(read_notes_claim(&r, 4), 4);
	CHECK_INT(read_notes_claim(&r, 3), 4);
	CHECK_INT(f.s.header->notes_taken, 4);
	close(r.write_fd);
	fixture_close(&f);
}

static void add_up(void *ctx, uint64_t addr, uint64_t tick)
{
	*(uint64_t *)ctx += addr * 1000 + tick;
}

TEST(leaks_that_are_meant)
{
	struct fixture f;
	struct read_segment r;
	uint64_t sum = 0;

	fixture_open(&f, SEGMENT_SMALL);
	r = reader_of(&f);
	note_intend(&f.s, 5, 7);
	note_intend(&f.s, 6, 0);
	CHECK_INT(read_intended(&r, add_up, &sum), 0);
	CHECK_INT(sum, 11007);
	f.s.header->intended = note_intended_most(f.s.header);
	note_intend(&f.s, 8, 9);
	CHECK_INT(f.s.header->intended_refused, 1);
	/* A damaged count is no index. */
	f.s.header->intended = UINT32_MAX;
	CHECK_INT(read_intended(&r, add_up, &sum), 0);
	fixture_close(&f);
}

int main(void)
{
	RUN(in_order_and_once);
	RUN(a_reader_that_is_late_gets_the_latest);
	RUN(a_long_text_is_cut);
	RUN(a_note_is_half_written);
	RUN(one_viewer_claims_a_note);
	RUN(leaks_that_are_meant);
	return check_end();
}
