/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings: what is written comes back, to the byte. */
#include <signal.h>
#include <sys/resource.h>
#include "shm/layout.h"
#include "src/record/state.h"
#include "tests/unit/record_file_fixture.h"

#define TICKS 150

static void frame_compare(const struct frame *a, const struct frame *b)
{
	SAME(pc);
	SAME(offset);
	SAME(line);
	SAME(inlined);
	SAME(hidden);
	CHECK_STR(a->function ? a->function : "", b->function ? b->function : "");
	CHECK_STR(a->mangled ? a->mangled : "", b->mangled ? b->mangled : "");
	CHECK_STR(a->file ? a->file : "", b->file ? b->file : "");
	CHECK_STR(a->module->path, b->module->path);
	CHECK_STR(a->module->name, b->module->name);
	CHECK_STR(a->module->build_id, b->module->build_id);
}

static void stack_compare(const struct stack *a, const struct stack *b)
{
	SAME(nframes);
	SAME(truncated);
	SAME(ancestor);
	CHECK(a->resolved);
	for (uint32_t i = 0; i < a->nframes && i < b->nframes; i++)
		frame_compare(snapshot_frame(a, i), snapshot_frame(b, i));
}

/* Writes a program's ticks; `tick` gets their snapshots. */
static void record(
	struct program *p, struct recording_writer *w, struct snapshot **tick, size_t ticks)
{
	for (size_t i = 0; i < ticks; i++) {
		program_tick(p, S_NS, 30);
		tick[i] = program_snapshot(p);
		CHECK_INT(recording_add(w, tick[i]), 0);
	}
}

/* All ticks of a file are those that were written. */
static void ticks_compare(struct recording *r, struct snapshot **tick, size_t ticks)
{
	struct snapshot *last = recording_last(r, 0), *s;
	const struct timeline *t = history_timeline(recording_history(r, 0));

	CHECK(last != NULL);
	CHECK_INT(t->npoints, ticks);
	CHECK(t->replay && t->file);
	for (size_t i = 0; last && i < ticks && i < t->npoints; i++) {
		CHECK_INT(t->points[i].ns, tick[i]->uptime_ns);
		CHECK_INT(t->points[i].live_bytes, tick[i]->totals.live_bytes);
		CHECK_INT(t->points[i].rss, tick[i]->proc.rss);
		CHECK_INT(t->points[i].threads, tick[i]->proc.threads);
		s = past(r, 0, last, tick[i]->uptime_ns);
		CHECK(s != NULL);
		if (s)
			snapshot_compare(s, tick[i]);
		for (size_t k = 0; s && k < s->nsites && k < tick[i]->nsites; k++)
			stack_compare(s->sites[k].stack, tick[i]->sites[k].stack);
		snapshot_unref(s);
	}
	snapshot_unref(last);
}

static void ticks_free(struct snapshot **tick, size_t ticks)
{
	for (size_t i = 0; i < ticks; i++)
		snapshot_unref(tick[i]);
}

TEST(every_tick_comes_back)
{
	for (unsigned closed = 0; closed < 2; closed++) {
		struct recording_writer *w = create(0);
		struct snapshot *tick[TICKS];
		struct recording *r;
		struct program p;

		program_init(&p, 11 + closed, 60);
		program_unusual(&p);
		record(&p, w, tick, TICKS);
		if (!closed) {
			r = reopen(path);
			CHECK(strstr(recording_notice(r), "not closed"));
			ticks_compare(r, tick, TICKS);
			recording_free(r);
		}
		end(w, &p);
		CHECK_INT(recording_close(w), 0);
		r = reopen(path);
		CHECK(recording_notice(r) == NULL);
		CHECK_INT(recording_streams(r), 1);
		ticks_compare(r, tick, TICKS);
		recording_free(r);
		ticks_free(tick, TICKS);
		program_free(&p);
	}
}

/* Large columns are packed one by one; here all of them are large, and there are several groups. */
TEST(many_sites_come_back)
{
	enum { MANY = 40 };
	struct recording_writer *w = create(0);
	struct snapshot *tick[MANY];
	struct recording *r;
	struct program p;

	program_init(&p, 21, 4000);
	program_unusual(&p);
	for (size_t i = 0; i < MANY; i++) {
		program_tick(&p, S_NS, 95);
		for (size_t k = 0; k < p.nsites; k++) {
			p.sites[k].error.live_bytes = dice(&p) % 900;
			p.sites[k].error.live_blocks = dice(&p) % 900;
			p.sites[k].error.allocs = dice(&p) % 900;
			p.sites[k].error.alloc_bytes = dice(&p) % 900;
			p.sites[k].temporary += dice(&p) % 900;
			p.sites[k].at_peak_bytes = dice(&p) % 90000;
			p.sites[k].at_peak_blocks = dice(&p) % 900;
		}
		tick[i] = program_snapshot(&p);
		CHECK_INT(recording_add(w, tick[i]), 0);
	}
	CHECK_INT(recording_close(w), 0);
	r = reopen(path);
	ticks_compare(r, tick, MANY);
	recording_free(r);
	ticks_free(tick, MANY);
	program_free(&p);
}

TEST(who_it_is_and_how_it_ended)
{
	struct recording_writer *w = create(0);
	struct recording *r;
	struct snapshot *s;
	struct program p;

	program_init(&p, 3, 5);
	program_tick(&p, S_NS, 100);
	add(w, &p);
	p.head.uptime_ns += S_NS;
	p.head.state = SNAP_KILLED;
	p.head.signal = SIGSEGV;
	end(w, &p);
	CHECK_INT(recording_close(w), 0);
	CHECK(recording_is(path) && !recording_is("/dev/null") && !recording_is("/nowhere"));
	r = reopen(path);
	s = recording_last(r, 0);
	recording_free(r);
	/* All of it stays. */
	CHECK_INT(s->pid, 4211);
	CHECK_STR(s->command, "./server --port 80");
	CHECK_STR(s->exe, "/opt/app/server");
	CHECK_INT(s->argc, 3);
	CHECK_STR(s->argv[2], "80");
	CHECK_INT(s->moment, SNAP_NOW);
	CHECK_INT(s->state, SNAP_KILLED);
	CHECK_STR(s->signal_name, "SIGSEGV");
	CHECK(s->history_points > 0 && s->history_points <= SNAP_HISTORY_POINTS);
	CHECK_INT(s->history[s->history_points - 1], s->totals.live_bytes);
	for (size_t i = 0; i < s->nsites; i++)
		stack_compare(s->sites[i].stack, p.sites[i].stack);
	snapshot_unref(s);
	program_free(&p);
}

TEST(a_program_that_was_not_seen_to_end_is_a_copy)
{
	struct recording_writer *w = create(0);
	struct recording *r;
	struct snapshot *s;
	struct program p;

	program_init(&p, 3, 5);
	program_tick(&p, S_NS, 100);
	add(w, &p);
	CHECK_INT(recording_close(w), 0);
	r = reopen(path);
	s = recording_last(r, 0);
	CHECK_INT(s->state, SNAP_COPY);
	snapshot_unref(s);
	recording_free(r);
	program_free(&p);
}

TEST(one_tick_is_a_saved_snapshot)
{
	struct recording_writer *w = create(0);
	struct snapshot *tick;
	struct recording *r;
	struct program p;

	program_init(&p, 3, 300);
	program_tick(&p, 65 * S_NS, 100);
	tick = program_snapshot(&p);
	CHECK_INT(recording_end(w, tick), 0);
	CHECK_INT(recording_close(w), 0);
	r = reopen(path);
	ticks_compare(r, &tick, 1);
	recording_free(r);
	snapshot_unref(tick);
	program_free(&p);
}

/* Names come later, with inlined frames, and some never. */
TEST(names_are_written_when_they_are_known)
{
	static const struct frame named[] = {
		{ .module = &program_app,
			.function = "push",
			.file = "list.h",
			.line = 3,
			.inlined = true,
			.hidden = true },
		{ .pc = 0x555500001000,
			.offset = 0x1000,
			.module = &program_app,
			.function = "app::run(int)",
			.mangled = "_ZN3app3runEi",
			.file = "run.cc",
			.line = 70000 },
		/* A frame that is found to be of an allocator without symbols. */
		{ .pc = 0x7f0000002000, .offset = 0x2000, .module = &program_lib, .hidden = true },
		{ .pc = 0x555500000040,
			.offset = 0x40,
			.module = &program_app,
			.function = "main" },
	};
	struct recording_writer *w = create(0);
	struct recording *r;
	struct snapshot *s;
	struct program p;

	program_init(&p, 3, 2);
	program_tick(&p, S_NS, 100);
	add(w, &p);
	p.stacks[0].frames = named;
	p.stacks[0].nframes = 4;
	p.stacks[0].resolved = true;
	program_tick(&p, 20 * S_NS, 100);
	add(w, &p);
	/* Without an end: they were written with a tick. */
	r = reopen(path);
	s = recording_last(r, 0);
	CHECK_INT(s->sites[0].stack->title, 1);
	stack_compare(s->sites[0].stack, &p.stacks[0]);
	/* Its outermost frame is the same place. */
	CHECK_STR(snapshot_frame(s->sites[1].stack, 2)->function, "main");
	CHECK(snapshot_frame(s->sites[1].stack, 0)->function == NULL);
	snapshot_unref(s);
	recording_free(r);
	CHECK_INT(recording_close(w), 0);
	program_free(&p);
}

TEST(what_the_file_says_is_cleaned)
{
	static const struct snap_module evil = {
		.path = "/tmp/a\033[2J\nb", .name = "a", .build_id = ""
	};
	struct recording_writer *w = create(0);
	struct recording *r;
	struct snapshot *s;
	struct program p;

	program_init(&p, 3, 1);
	p.frames[0].module = &evil;
	p.frames[1].function = "f\r\xff";
	p.head.command = "x\ny";
	p.head.notice = "n\033]0;t\a";
	p.nthreads = 1;
	p.threads[0] = (struct snap_thread){ .slot = 1, .tid = 7, .name = "t\033[2J" };
	p.stacks[0].resolved = true;
	program_tick(&p, S_NS, 100);
	end(w, &p);
	CHECK_INT(recording_close(w), 0);
	r = reopen(path);
	s = recording_last(r, 0);
	CHECK_STR(s->command, "x?y");
	CHECK_STR(s->notice, "n?]0;t?");
	CHECK_INT(s->nthreads, 1);
	CHECK_STR(s->threads[0].name, "t?[2J");
	CHECK_STR(snapshot_frame(s->sites[0].stack, 0)->module->path, "/tmp/a?[2J?b");
	CHECK_STR(snapshot_frame(s->sites[0].stack, 1)->function, "f??");
	snapshot_unref(s);
	recording_free(r);
	program_free(&p);
}

/* The most memory that this process has had, in KiB. */
static long peak_kb(void)
{
	struct rusage u;

	CHECK_INT(getrusage(RUSAGE_SELF, &u), 0);
	return u.ru_maxrss;
}

/* Tables by id grow by half, up to the last id of a segment, wherever a recording names one; ids
 * that are not there take no memory. */
TEST(the_last_ids_come_back)
{
	const uint32_t last = HT_SITES_MAX - 1;
	struct snap_leak_site leak = { .class = SNAP_LEAK_DEFINITE, .site = last };
	struct snap_leaks leaks = { .how = "h", .sites = &leak, .nsites = 1 };
	struct snap_mark_site marked = { .id = last, .live_bytes = 5 };
	struct snap_mark mark = { .number = 1, .ns = 1, .sites = &marked, .nsites = 1 };
	struct recording_writer *w = create(0);
	struct recording *r;
	struct snapshot *s;
	struct program p;
	long before;

	program_init(&p, 3, 2);
	p.sites[1].id = last;
	p.wrong[0] = (struct snap_wrong_free){ .site = last - 1, .stack = &p.stacks[0] };
	p.nwrong = 1;
	p.has_wrong = p.head.totals.has_wrong = true;
	p.head.leaks = &leaks;
	p.head.moments = &mark;
	program_tick(&p, S_NS, 100);
	p.nthreads = 1;
	p.threads[0] = (struct snap_thread){ .slot = STATE_THREADS_MAX - 1, .tid = 7 };
	end(w, &p);
	CHECK_INT(recording_close(w), 0);
	before = peak_kb();
	r = reopen(path);
	s = recording_last(r, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* calloc touches it there */
	CHECK(peak_kb() - before < 8 << 10);
#endif
	CHECK(s != NULL);
	if (s) {
		CHECK_INT(s->nsites, 2);
		CHECK_INT(s->sites[1].id, last);
		CHECK_INT(s->sites[1].stack->nframes, 3);
		CHECK_INT(s->wrong[0].site, last - 1);
		CHECK(s->leaks && s->leaks->nsites == 1 && s->leaks->sites[0].site == last);
		CHECK(s->moments && s->moments->nsites == 1 && s->moments->sites[0].id == last);
		CHECK_INT(s->threads[0].slot, STATE_THREADS_MAX - 1);
	}
	snapshot_unref(s);
	recording_free(r);
	program_free(&p);
}

TEST(streams_of_several_images)
{
	struct recording_writer *w = create(0);
	struct recording *r;
	struct snapshot *s;
	struct program a, b;

	program_init(&a, 5, 20);
	program_unusual(&a);
	program_init(&b, 6, 30);
	b.head.pid = 77;
	for (unsigned i = 0; i < 10; i++) {
		program_tick(&a, S_NS, 30);
		add(w, &a);
		program_tick(&b, S_NS, 30);
		if (i < 5)
			add(w, &b);
		if (i == 4)
			end(w, &b);
	}
	/* The same owner again is another image. */
	b.head.pid = 78;
	end(w, &b);
	end(w, &a);
	CHECK_INT(recording_close(w), 0);
	r = reopen(path);
	CHECK_INT(recording_streams(r), 3);
	CHECK_INT(history_timeline(recording_history(r, 0))->npoints, 10);
	CHECK_INT(history_timeline(recording_history(r, 1))->npoints, 5);
	CHECK_INT(history_timeline(recording_history(r, 2))->npoints, 1);
	CHECK(recording_history(r, 3) == NULL && recording_last(r, 3) == NULL);
	s = recording_last(r, 1);
	CHECK_INT(s->pid, 77);
	snapshot_unref(s);
	s = recording_last(r, 2);
	CHECK_INT(s->pid, 78);
	CHECK_INT(s->totals.allocs, b.head.totals.allocs);
	snapshot_unref(s);
	recording_free(r);
	program_free(&a);
	program_free(&b);
}

TEST(size_and_rate_are_told)
{
	struct recording_writer *w = create(1 << 20);
	struct timeline t = { 0 };
	struct program p;

	program_init(&p, 3, 4);
	program_tick(&p, S_NS, 100);
	add(w, &p);
	recording_fill(w, &t);
	CHECK_STR(t.file, path);
	CHECK_INT(t.file_bytes, file_size(path));
	CHECK_INT(t.file_limit_bytes, 1 << 20);
	CHECK(t.trouble == NULL && !t.replay && t.file_bytes_per_s >= 0);
	CHECK_INT(recording_close(w), 0);
	CHECK_INT(recording_close(NULL), 0);
	recording_free(NULL);
	program_free(&p);
}

/* The writer keeps nothing of those that ended; one more is not written, and the file goes on. */
TEST(more_images_than_have_numbers)
{
	struct recording_writer *w = create(0);
	struct program p, more;
	struct snapshot *s;
	uintptr_t images = 0;
	size_t before;

	program_init(&p, 3, 1);
	program_tick(&p, S_NS, 100);
	add(w, &p);
	program_init(&more, 4, 1);
	program_tick(&more, S_NS, 100);
	s = program_snapshot(&more);
	for (images = 1; !recording_is_full(w) && images < 70000; images++) {
		s->owner = (void *)images;
		CHECK_INT(recording_add(w, s), 0);
		CHECK_INT(recording_end(w, s), 0);
	}
	CHECK_INT(images, 65536);
	snapshot_unref(s);
	before = file_size(path);
	program_tick(&p, S_NS, 100);
	add(w, &p);
	CHECK(file_size(path) > before);
	CHECK_INT(recording_close(w), 0);
	program_free(&p);
	program_free(&more);
}

int main(void)
{
	folder_make();
	RUN(every_tick_comes_back);
	RUN(many_sites_come_back);
	RUN(who_it_is_and_how_it_ended);
	RUN(a_program_that_was_not_seen_to_end_is_a_copy);
	RUN(one_tick_is_a_saved_snapshot);
	RUN(names_are_written_when_they_are_known);
	RUN(what_the_file_says_is_cleaned);
	RUN(the_last_ids_come_back);
	RUN(streams_of_several_images);
	RUN(size_and_rate_are_told);
	RUN(more_images_than_have_numbers);
	folder_remove();
	return check_end();
}
