/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings: what is written comes back, whatever happened to the file. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "src/model/mark_list.h"
#include "src/record/recording.h"
#include "tests/unit/record_fixture.h"

#define TICKS 150

/* In memory: thousands of small files are written. */
static char folder[] = "/dev/shm/heaptop-record.XXXXXX";
static char path[80], other[80];
static char message[RECORDING_MESSAGE_MAX];

static struct recording_writer *create(uint64_t limit)
{
	struct recording_writer *w = recording_create(path,
		&(struct recording_options){ .limit_bytes = limit, .version = "0.1" }, message);

	CHECK(w != NULL);
	if (!w)
		fprintf(stderr, "%s\n", message);
	return w;
}

static struct recording *reopen(const char *file)
{
	struct recording *r = recording_open(file, message);

	if (!r)
		fprintf(stderr, "%s\n", message);
	CHECK(r != NULL);
	return r;
}

static void add(struct recording_writer *w, struct program *p)
{
	struct snapshot *s = program_snapshot(p);

	CHECK_INT(recording_add(w, s), 0);
	snapshot_unref(s);
}

static void end(struct recording_writer *w, struct program *p)
{
	struct snapshot *s = program_snapshot(p);

	CHECK_INT(recording_end(w, s), 0);
	snapshot_unref(s);
}

static size_t file_size(const char *file)
{
	struct stat st = { 0 };

	stat(file, &st);
	return (size_t)st.st_size;
}

static char *file_load(const char *file, size_t *len)
{
	int fd = open(file, O_RDONLY);
	char *data = malloc(file_size(file) + 1);

	*len = (size_t)read(fd, data, file_size(file));
	close(fd);
	return data;
}

static void file_save(const char *file, const char *data, size_t len)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(write(fd, data, len) == (ssize_t)len);
	close(fd);
}

static struct snapshot *past(struct recording *r, size_t stream, struct snapshot *base, uint64_t ns)
{
	return history_snapshot(recording_history(r, stream), base,
		&(struct moment){ .kind = SNAP_PAST, .ns = ns });
}

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
		frame_compare(&a->frames[i], &b->frames[i]);
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
		{ .pc = 0x7f0000002000, .offset = 0x2000, .module = &program_lib },
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
	CHECK_STR(s->sites[1].stack->frames[2].function, "main");
	CHECK(s->sites[1].stack->frames[0].function == NULL);
	snapshot_unref(s);
	recording_free(r);
	CHECK_INT(recording_close(w), 0);
	program_free(&p);
}

TEST(what_the_file_says_is_cleaned)
{
	static const struct snap_module evil = { "/tmp/a\033[2J\nb", "a", "" };
	struct recording_writer *w = create(0);
	struct recording *r;
	struct snapshot *s;
	struct program p;

	program_init(&p, 3, 1);
	p.frames[0].module = &evil;
	p.frames[1].function = "f\r\xff";
	p.head.command = "x\ny";
	p.stacks[0].resolved = true;
	program_tick(&p, S_NS, 100);
	end(w, &p);
	CHECK_INT(recording_close(w), 0);
	r = reopen(path);
	s = recording_last(r, 0);
	CHECK_STR(s->command, "x?y");
	CHECK_STR(s->sites[0].stack->frames[0].module->path, "/tmp/a?[2J?b");
	CHECK_STR(s->sites[0].stack->frames[1].function, "f??");
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

TEST(leak_scans_come_back)
{
	static const struct snap_leak_site rows[] = {
		{ .class = SNAP_LEAK_DEFINITE,
			.site = 3,
			.sum = { 2, 200 },
			.indirect = { 1, 5 },
			.oldest_ns = 77,
			.seen = 2,
			.before = { 1, 100 } },
		{ .class = SNAP_LEAK_POSSIBLE, .site = 6, .sum = { 1, 10 }, .suppressed = true },
	};
	static const struct snap_leak_round round = { .number = 1, .ns = 5, .sum = { { 1, 2 } } };
	struct snap_leaks first = { .failed = "no access", .at_ns = 2 * S_NS },
			  second = { .how = "process_vm_readv",
				  .sum = { { 2, 200 }, { 1, 5 }, { 1, 10 }, { 100, 10000 } },
				  .heuristic = { [2] = { 3, 30 } },
				  .heuristic_name = { [2] = "stdstring" },
				  .sites = rows,
				  .nsites = 2,
				  .rounds = &round,
				  .nrounds = 1,
				  .stop_ns = 12345,
				  .threads = 3,
				  .unknown = true,
				  .at_ns = 6 * S_NS };
	struct recording_writer *w = create(0);
	const struct snap_leaks *l;
	struct recording *r;
	struct snapshot *s, *early;
	struct program p;

	program_init(&p, 3, 4);
	for (unsigned i = 1; i <= 10; i++) {
		program_tick(&p, S_NS, 30);
		p.head.leaks = i < 3 ? NULL : i < 7 ? &first : &second;
		add(w, &p);
	}
	CHECK_INT(recording_close(w), 0);
	r = reopen(path);
	s = recording_last(r, 0);
	early = past(r, 0, s, 4 * S_NS);
	CHECK_STR(early->leaks->failed, "no access");
	snapshot_unref(early);
	early = past(r, 0, s, S_NS);
	CHECK(early->leaks == NULL);
	snapshot_unref(early);
	recording_free(r);
	l = s->leaks;
	CHECK(l && !l->failed && l->unknown && l->nsites == 2 && l->nrounds == 1);
	CHECK_STR(l->how, "process_vm_readv");
	CHECK_STR(l->heuristic_name[2], "stdstring");
	CHECK_INT(l->heuristic[2].bytes, 30);
	CHECK_INT(l->sum[SNAP_LEAK_REACHABLE].bytes, 10000);
	CHECK_INT(l->stop_ns, 12345);
	CHECK_INT(l->sites[0].before.bytes, 100);
	CHECK_INT(l->sites[0].indirect.bytes, 5);
	CHECK(l->sites[1].suppressed && l->sites[1].class == SNAP_LEAK_POSSIBLE);
	CHECK_INT(l->rounds[0].sum[0].bytes, 2);
	snapshot_unref(s);
	program_free(&p);
}

/* ---- files that are not whole ---- */

/* Reads all there is; how many ticks there are. */
static size_t read_all(const char *file)
{
	struct recording *r = recording_open(file, message);
	struct snapshot *last, *s;
	size_t ticks = 0;

	if (!r) {
		CHECK(message[0] && !strchr(message, '\n'));
		return 0;
	}
	for (size_t i = 0; i < recording_streams(r); i++) {
		const struct timeline *t = history_timeline(recording_history(r, i));

		ticks += t->npoints;
		last = recording_last(r, i);
		for (size_t k = 0; last && k < t->npoints; k += 1 + t->npoints / 4) {
			s = past(r, i, last, t->points[k].ns);
			snapshot_unref(s);
		}
		snapshot_unref(last);
	}
	recording_free(r);
	return ticks;
}

/* A small file with some of everything, and where its ticks end in it. */
static char *small_file(size_t *len, size_t *tick_end, size_t ticks, bool closed)
{
	struct snap_mark mark = { .number = 1, .name = "m", .ns = 2 * S_NS };
	struct snap_leaks leaks = { .how = "h", .at_ns = 3 * S_NS };
	struct recording_writer *w = create(0);
	struct program p;

	program_init(&p, 8, 6);
	for (size_t i = 0; i < ticks; i++) {
		program_tick(&p, 3 * S_NS, 40);
		p.head.moments = i > 2 ? &mark : NULL;
		p.head.leaks = i > 3 ? &leaks : NULL;
		p.frames[3 * (i % 6)].function = "named";
		add(w, &p);
		tick_end[i] = file_size(path);
	}
	if (closed) {
		end(w, &p);
		recording_close(w);
	}
	program_free(&p);
	if (closed)
		return file_load(path, len);
	char *data = file_load(path, len);

	recording_close(w);
	return data;
}

TEST(a_cut_file_has_all_that_was_flushed)
{
	enum { SMALL = 12 };
	size_t len, at[SMALL], want = 0;
	char *data = small_file(&len, at, SMALL, true);

	for (size_t n = 0; n < len; n++) {
		size_t got;

		file_save(other, data, n);
		while (want < SMALL && at[want] <= n)
			want++;
		got = read_all(other);
		/* A tick may be followed by names, so it may be complete earlier. */
		CHECK(got == want || got == want + 1);
		if (got != want && got != want + 1)
			break;
	}
	CHECK_INT(want, SMALL);
	free(data);
}

static void flip_and_read(const char *data, size_t len, unsigned rounds)
{
	uint64_t seed = 88172645463325252u;
	char *copy = malloc(len);

	for (unsigned i = 0; i < rounds; i++) {
		memcpy(copy, data, len);
		for (unsigned k = 0; k < 1 + i % 4; k++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			copy[seed % len] ^= (char)(1 << (seed >> 32) % 8);
		}
		file_save(other, copy, len);
		CHECK(read_all(other) <= 12);
	}
	free(copy);
}

TEST(flipped_bits_are_found)
{
	size_t len, at[12];
	char *data = small_file(&len, at, 12, true);

	flip_and_read(data, len, 1500);
	free(data);
	data = small_file(&len, at, 12, false);
	flip_and_read(data, len, 1500);
	free(data);
}

TEST(files_that_are_no_recordings)
{
	static const char newer[] = RECORDING_MAGIC "\nformat 9, heaptop 3.0\nxxxxxxxxxx";
	static const char empty[] = RECORDING_MAGIC "\nformat 1, heaptop 0.1\n";

	CHECK(recording_open("/nowhere/at/all", message) == NULL);
	CHECK(strstr(message, "No such file"));
	CHECK(recording_open("/tmp", message) == NULL);
	file_save(other, "", 0);
	CHECK(recording_open(other, message) == NULL);
	CHECK_STR(message, "not a recording");
	file_save(other, newer, sizeof(newer) - 1);
	CHECK(recording_open(other, message) == NULL);
	CHECK(strstr(message, "newer heaptop (format 9"));
	file_save(other, empty, sizeof(empty) - 1);
	CHECK(recording_open(other, message) == NULL);
	CHECK(strstr(message, "no complete tick"));
	CHECK(recording_create("/nowhere/at/all", &(struct recording_options){ .version = "1" },
		      message) == NULL);
	CHECK(strstr(message, "No such file"));
	CHECK(recording_create(
		      "/dev/full", &(struct recording_options){ .version = "1" }, message) == NULL);
	CHECK(strstr(message, "not a regular file"));
}

TEST(two_recorders_of_a_file_exclude_each_other)
{
	struct recording_writer *w = create(0);

	CHECK(recording_create(path, &(struct recording_options){ .version = "1" }, message) ==
		NULL);
	CHECK(strstr(message, "another heaptop"));
	CHECK_INT(recording_close(w), 0);
}

/* ---- the end of the disk ---- */

/* Writes until it fails; all that was accepted is there. */
static void fill_up(int error)
{
	struct recording_writer *w = create(0);
	struct timeline t = { 0 };
	struct recording *r;
	struct program p;
	size_t added = 0;
	int rc = 0;

	program_init(&p, 8, 100);
	while (rc == 0 && added < 10000) {
		struct snapshot *s;

		program_tick(&p, S_NS, 50);
		s = program_snapshot(&p);
		rc = recording_add(w, s);
		snapshot_unref(s);
		added += rc == 0;
	}
	CHECK_INT(rc, error);
	CHECK(added > 10);
	recording_fill(w, &t);
	CHECK(t.trouble && strstr(t.trouble, "recording stopped"));
	CHECK_STR(t.file, path);
	/* It is said once. */
	program_tick(&p, S_NS, 50);
	add(w, &p);
	end(w, &p);
	CHECK_INT(recording_close(w), 0);
	r = reopen(path);
	CHECK_INT(history_timeline(recording_history(r, 0))->npoints, added);
	recording_free(r);
	program_free(&p);
}

TEST(a_limit_on_files_ends_the_recording)
{
	struct rlimit was, small;

	getrlimit(RLIMIT_FSIZE, &was);
	small = (struct rlimit){ 60000, was.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	fill_up(-EFBIG);
	setrlimit(RLIMIT_FSIZE, &was);
	signal(SIGXFSZ, SIG_DFL);
	CHECK(file_size(path) <= 60000);
}

TEST(a_full_disk_ends_the_recording)
{
	char disk[64], was[80];

	snprintf(disk, sizeof(disk), "%s/disk", folder);
	mkdir(disk, 0700);
	if (mount("none", disk, "tmpfs", 0, "size=128k") != 0) {
		rmdir(disk);
		SKIP("a small disk needs root");
	}
	strcpy(was, path);
	snprintf(path, sizeof(path), "%s/file", disk);
	fill_up(-ENOSPC);
	strcpy(path, was);
	CHECK_INT(umount(disk), 0);
	rmdir(disk);
}

/* ---- the limit of a recording ---- */

static uint64_t sum_of(const struct snapshot *s)
{
	uint64_t sum = s->totals.allocs * 31 + s->proc.rss;

	for (size_t i = 0; i < s->nsites; i++)
		sum = (sum ^ s->sites[i].id) * 0x100000001b3u + s->sites[i].live_bytes * 7 +
		      s->sites[i].allocs;
	return sum;
}

static bool has_ns(const struct timeline *t, uint64_t ns)
{
	return t->points[timeline_index(t, ns)].ns == ns;
}

TEST(a_limit_thins_but_keeps_the_end)
{
	enum { LONG = 3000, LIMIT = 400 << 10 };
	struct snap_mark mark = { .number = 1, .ns = 777 * S_NS };
	struct recording_writer *w = create(LIMIT);
	uint64_t *sum = calloc(LONG, sizeof(*sum)), most = 0;
	const struct timeline *t;
	struct recording *r;
	struct snapshot *s, *last;
	struct program p, q;
	size_t recent = 0;

	program_init(&p, 8, 40);
	program_init(&q, 9, 10);
	for (size_t i = 0; i < LONG; i++) {
		program_tick(&p, S_NS, 20);
		program_tick(&q, S_NS, 5);
		if (i == 100)
			site_allocate(&p, &p.sites[0], 1, 1 << 30);
		if (i == 101)
			site_release(&p, &p.sites[0], p.sites[0].live_blocks);
		p.head.moments = i >= 777 ? &mark : NULL;
		s = program_snapshot(&p);
		sum[i] = sum_of(s);
		CHECK_INT(recording_add(w, s), 0);
		snapshot_unref(s);
		add(w, &q);
		most = file_size(path) > most ? file_size(path) : most;
	}
	CHECK(most <= LIMIT);
	CHECK(most > LIMIT / 2);
	r = reopen(path);
	CHECK_INT(recording_streams(r), 2);
	t = history_timeline(recording_history(r, 0));
	CHECK_INT(t->points[t->npoints - 1].ns, LONG * S_NS);
	CHECK(has_ns(t, 101 * S_NS) && has_ns(t, 778 * S_NS));
	last = recording_last(r, 0);
	for (size_t i = 0; i < t->npoints; i++) {
		s = past(r, 0, last, t->points[i].ns);
		if (!s || sum_of(s) != sum[t->points[i].ns / S_NS - 1])
			CHECK(!"a tick changed");
		recent += t->points[i].ns > (LONG - 100) * S_NS;
		snapshot_unref(s);
	}
	CHECK(recent > 90);
	CHECK(t->npoints < LONG && t->npoints > 200);
	CHECK(last->moments && last->moments->number == 1);
	snapshot_unref(last);
	recording_free(r);
	end(w, &p);
	end(w, &q);
	CHECK_INT(recording_close(w), 0);
	CHECK(read_all(path) > 200);
	free(sum);
	program_free(&p);
	program_free(&q);
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

int main(void)
{
	if (!mkdtemp(folder))
		return 2;
	snprintf(path, sizeof(path), "%s/file", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	RUN(every_tick_comes_back);
	RUN(who_it_is_and_how_it_ended);
	RUN(a_program_that_was_not_seen_to_end_is_a_copy);
	RUN(one_tick_is_a_saved_snapshot);
	RUN(names_are_written_when_they_are_known);
	RUN(what_the_file_says_is_cleaned);
	RUN(streams_of_several_images);
	RUN(marks_come_back);
	RUN(leak_scans_come_back);
	RUN(a_cut_file_has_all_that_was_flushed);
	RUN(flipped_bits_are_found);
	RUN(files_that_are_no_recordings);
	RUN(two_recorders_of_a_file_exclude_each_other);
	RUN(a_limit_on_files_ends_the_recording);
	RUN(a_full_disk_ends_the_recording);
	RUN(a_limit_thins_but_keeps_the_end);
	RUN(size_and_rate_are_told);
	unlink(path);
	unlink(other);
	rmdir(folder);
	return check_end();
}
