/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings that are cut off, damaged or too large, and disks that are full: what was written
 * before is there, and nothing else happens. */
#include <errno.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include "tests/unit/record_file_fixture.h"

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

/* How far a recording goes whose tick `at` of 12 has a flipped bit in its payload. */
static size_t ticks_before_damage(const char *data, size_t len, size_t end)
{
	char *copy = memcpy(malloc(len), data, len);
	struct recording *r;
	struct snapshot *last;
	size_t ticks;

	copy[end - 1] ^= 1;
	file_save(other, copy, len);
	free(copy);
	r = recording_open(other, message);
	ticks = history_timeline(recording_history(r, 0))->npoints;
	CHECK(recording_notice(r) && strstr(recording_notice(r), "damaged"));
	last = recording_last(r, 0);
	CHECK(last && last->uptime_ns == ticks * 3 * S_NS && last->state == SNAP_COPY);
	snapshot_unref(last);
	recording_free(r);
	return ticks;
}

/* All of a stream is derived from its last tick, which therefore has to be whole. */
TEST(a_damaged_end_takes_no_more_with_it)
{
	enum { SMALL = 12 };
	size_t len, at[SMALL];
	char *data = small_file(&len, at, SMALL, true);

	CHECK_INT(ticks_before_damage(data, len, at[SMALL - 1]), SMALL - 1);
	CHECK_INT(ticks_before_damage(data, len, at[SMALL - 2]), SMALL - 2);
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

	flip_and_read(data, len, 600);
	free(data);
	data = small_file(&len, at, 12, false);
	flip_and_read(data, len, 600);
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
	program_unusual(&p);
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
	char disk[sizeof(folder) + 8], was[80];

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
	enum { LONG = 2200, LIMIT = 400 << 10 };
	struct snap_mark mark = { .number = 1, .ns = 777 * S_NS };
	struct recording_writer *w = create(LIMIT);
	uint64_t *sum = calloc(LONG, sizeof(*sum)), most = 0;
	const struct timeline *t;
	struct recording *r;
	struct snapshot *s, *last;
	struct program p, q;
	size_t recent = 0;

	program_init(&p, 8, 40);
	program_unusual(&p);
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

int main(void)
{
	folder_make();
	RUN(a_cut_file_has_all_that_was_flushed);
	RUN(a_damaged_end_takes_no_more_with_it);
	RUN(flipped_bits_are_found);
	RUN(files_that_are_no_recordings);
	RUN(two_recorders_of_a_file_exclude_each_other);
	RUN(a_limit_on_files_ends_the_recording);
	RUN(a_full_disk_ends_the_recording);
	RUN(a_limit_thins_but_keeps_the_end);
	folder_remove();
	return check_end();
}
