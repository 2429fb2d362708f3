/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The marks of a recording, written and read again. */
#include "tests/unit/record_file_fixture.h"

TEST(marks_come_back)
{
	struct snap_mark_site sites[] = { { 3, 1, 2, 3, 4 }, { 9, UINT64_MAX, 6, 7, 8 } };
	struct snap_mark marks[2] = { { .number = 1,
					      .name = "after warm-up",
					      .ns = S_NS / 2,
					      .live_bytes = 5,
					      .allocs = 9,
					      .sites = sites,
					      .nsites = 2 },
		{ .number = 4, .ns = 5 * S_NS, .before = &marks[0] } };
	struct recording_writer *w = create(0);
	const struct snap_mark *m;
	struct recording *r;
	struct snapshot *s, *early;
	struct program p;

	program_init(&p, 3, 4);
	for (unsigned i = 0; i < 10; i++) {
		program_tick(&p, S_NS, 30);
		p.head.moments = i >= 5 ? &marks[1] : &marks[0];
		if (i == 8)
			strcpy(marks[1].name, "named late");
		add(w, &p);
	}
	CHECK_INT(recording_close(w), 0);
	r = reopen(path);
	s = recording_last(r, 0);
	early = past(r, 0, s, 3 * S_NS);
	m = s->moments;
	CHECK(m && m->number == 4 && m->ns == 5 * S_NS);
	CHECK_STR(m->name, "named late");
	CHECK(early->moments == m->before);
	m = m->before;
	CHECK(m && m->before == NULL && m->nsites == 2);
	CHECK_STR(m->name, "after warm-up");
	CHECK_INT(m->allocs, 9);
	for (unsigned i = 0; i < 2; i++) {
		CHECK_INT(m->sites[i].id, sites[i].id);
		CHECK_INT(m->sites[i].live_bytes, sites[i].live_bytes);
		CHECK_INT(m->sites[i].alloc_bytes, sites[i].alloc_bytes);
	}
	snapshot_unref(early);
	snapshot_unref(s);
	recording_free(r);
	CHECK(p.head.moments == &marks[1]);
	program_free(&p);
}

/* However many came after it. */
TEST(an_old_mark_is_renamed)
{
	static struct snap_mark marks[200];
	struct recording_writer *w = create(0);
	const struct snap_mark *m;
	struct recording *r;
	struct snapshot *s;
	struct program p;

	program_init(&p, 3, 4);
	for (unsigned i = 0; i < 200; i++)
		marks[i] = (struct snap_mark){
			.number = i + 1, .ns = i, .before = i ? &marks[i - 1] : NULL
		};
	program_tick(&p, S_NS, 30);
	p.head.moments = &marks[199];
	add(w, &p);
	strcpy(marks[2].name, "warm");
	program_tick(&p, S_NS, 30);
	end(w, &p);
	CHECK_INT(recording_close(w), 0);
	r = reopen(path);
	s = recording_last(r, 0);
	for (m = s->moments; m && m->number > 3;)
		m = m->before;
	CHECK(m && m->number == 3);
	CHECK_STR(m ? m->name : "", "warm");
	CHECK_STR(s->moments->name, "");
	snapshot_unref(s);
	recording_free(r);
	program_free(&p);
}

int main(void)
{
	folder_make();
	RUN(marks_come_back);
	RUN(an_old_mark_is_renamed);
	folder_remove();
	return check_end();
}
