/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A source of canned snapshots: a server with a handful of sites that everybody can follow, plus as
 * many invented ones as a test wants. Time is a number that the test moves; nothing is random. A
 * snapshot is one allocation, as the model's are. Long because a whole program is made up.
 */
#ifndef TESTS_TUI_CANNED_H
#define TESTS_TUI_CANNED_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/tui/cannedleaks.h"
#include "tests/tui/cannedmap.h"
#include "tests/tui/cannedsource.h"
#include "src/model/mark_list.h"
#include "src/model/moment.h"
#include "tui/tui.h"

#define CANNED_S	1000000000ull
#define CANNED_START_NS 1700000000000000000ull /* when the program was started */

struct canned {
	struct cannedleaks leaks; /* the first: its functions get it for the whole */
	size_t nsites;
	uint64_t seconds; /* since the program's start: the data are a function of it */
	bool still; /* tick does not move the time */
	uint64_t now_ns; /* the screen's clock */
	enum snap_state state;
	const char *notice;
	const char *error; /* tick fails with it */
	uint64_t untracked;
	unsigned wrong; /* rows of wrong frees, of CANNED_WRONG */
	size_t lines; /* of output, */
	uint64_t lines_dropped; /* after so many that are no longer kept */
	char typed[64]; /* to the program; keys as <number> */
	int rows, cols; /* the screen told the program */
	unsigned saved;
	struct settings kept; /* the last that were saved */
	unsigned rules; /* of the user */
	bool ages;
	int exit_status;
	enum group_by saved_group;
	size_t saved_sites; /* of the last */
	bool sampled;
	char asked[32]; /* how to record */
	bool no_detail;
	bool source_is_late, source_is_newer;
	struct mark_list moments;
	unsigned since, until; /* marks, by number */
	bool maps; /* two sites have mapped memory */
	void *image; /* owner of its snapshots, */
	uint64_t image_start_ns; /* and when it began */
	struct map *map; /* made when it is first asked for */
	bool no_map; /* not yet */
	pid_t other_pid; /* that is shown; 0: the server */
	bool fewer_processes; /* of them */
	bool same_commands; /* two of them are of one program and differ at the end */
	bool all; /* all of the launch are shown as one */
	struct snap_launch launch; /* what the others hold */
	bool past; /* is kept: a tick for each second */
	bool replayed; /* it is a recording */
	struct moment moment; /* that snapshots are of */
	struct timeline line;
	struct timeline_point *points; /* owned */
	size_t few; /* keep only this many of the latest; 0: all */
	bool none; /* of them: only the recording is known */
	bool no_peak; /* what was live then is unknown */
	uint32_t followed; /* site; 0: none */
	size_t events; /* that were followed so far; the last CANNED_EVENTS are kept */
	const char *events_end; /* why no more are read; or NULL */
	uint64_t missed;
	struct event_lines tail;
	uint64_t between; /* within the second before this one live bytes were four times as high */
};

static const struct snap_module canned_app = {
	.path = "/srv/bin/server", .name = "server", .build_id = "ab12"
};
static const struct snap_module canned_cxx = {
	.path = "/lib/libstdc++.so.6", .name = "libstdc++.so.6", .build_id = ""
};
static const struct snap_module canned_ssl = {
	.path = "/lib/libssl.so.3", .name = "libssl.so.3", .build_id = ""
};
static const struct snap_module canned_libc = {
	.path = "/lib/libc.so.6", .name = "libc.so.6", .build_id = ""
};

#define CANNED_OUTER                                                                               \
	{ .pc = 0x4010,                                                                            \
		.module = &canned_app,                                                             \
		.function = "ev::Loop::run()",                                                     \
		.file = "/src/ev.cc",                                                              \
		.line = 71 },                                                                      \
		{ .pc = 0x4020,                                                                    \
			.module = &canned_app,                                                     \
			.function = "main",                                                        \
			.file = "/src/main.cc",                                                    \
			.line = 18 },                                                              \
	{                                                                                          \
		.pc = 0x7010, .offset = 0x27249, .module = &canned_libc,                           \
		.function = "__libc_start_main"                                                    \
	}

static const struct frame canned_shard[] = { { .pc = 0x7000,
						     .module = &canned_cxx,
						     .function = "operator new(unsigned long)",
						     .hidden = true },
	{ .pc = 0,
		.module = &canned_app,
		.inlined = true,
		.hidden = true,
		.file = "/usr/include/c++/12/bits/hashtable.h",
		.line = 2151,
		.function = "std::_Hashtable<std::string, std::pair<std::string const, Blob> "
			    ">::_M_insert(std::string const&)" },
	{ .pc = 0x4000,
		.module = &canned_app,
		.file = "/src/cache.cc",
		.line = 214,
		.function = "cache::Shard::insert(std::string const&, Blob&&)" },
	{ .pc = 0x4001,
		.module = &canned_app,
		.file = "/src/cache.cc",
		.line = 97,
		.function = "cache::Cache::put(std::string const&, Blob)" },
	CANNED_OUTER };
static const struct frame canned_ssl_frames[] = {
	{ .pc = 0x7100, .offset = 0x4f1c0, .module = &canned_ssl }, CANNED_OUTER
};
#define CANNED_PLAIN(name, func, path, at)                                                         \
	static const struct frame name[] = { { .pc = 0x4100 + (at),                                \
						     .module = &canned_app,                        \
						     .function = (func),                           \
						     .file = (path),                               \
						     .line = (at) },                               \
		CANNED_OUTER }
CANNED_PLAIN(canned_conn, "http::Conn::Conn(int, std::chrono::milliseconds)", "/src/conn.cc", 88);
CANNED_PLAIN(canned_json, "json::Parser<json::Utf8, 64ul>::object(json::Token const&)",
	"/src/json.cc", 512);
CANNED_PLAIN(canned_index, "index::load(char const*)", "/src/index.cc", 40);
CANNED_PLAIN(canned_arena, "arena_new", "/src/arena.c", 118);
CANNED_PLAIN(canned_store, "session::Store::touch(unsigned int)", "/src/session.cc", 133);
CANNED_PLAIN(canned_zlib, "zlib::inflate_window", "/src/inflate.cc", 301);
CANNED_PLAIN(canned_iobuf, "iobuf_get", "/src/iobuf.c", 57);
CANNED_PLAIN(canned_cjk, "表::追加する(整数)", "/src/hyo.cc", 7);
CANNED_PLAIN(canned_other, "worker::step(unsigned int)", "/src/worker.cc", 21);

#define CANNED_STACK(frames_, title_, truncated_)                                                  \
	{                                                                                          \
		.frames = (frames_), .nframes = sizeof(frames_) / sizeof((frames_)[0]),            \
		.title = (title_), .truncated = (truncated_), .resolved = true                     \
	}

static const struct canned_row {
	struct stack stack;
	const char *how;
	double base, slope; /* bytes, bytes/s */
	uint64_t block;
} canned_rows[] = {
	{ CANNED_STACK(canned_shard, 2, false), "operator new", 96.4e6, 1.1e6, 998 },
	{ CANNED_STACK(canned_conn, 0, false), "operator new", 41e6, 402e3, 4000 },
	{ CANNED_STACK(canned_json, 0, true), "realloc", 12.7e6, 88e3, 10800 },
	{ CANNED_STACK(canned_index, 0, false), "malloc", 131e6, 0, 131000000 },
	{ CANNED_STACK(canned_arena, 0, false), "aligned_alloc", 33.5e6, 0, 4200000 },
	{ CANNED_STACK(canned_ssl_frames, 0, false), "malloc", 14.8e6, 0, 268 },
	{ CANNED_STACK(canned_store, 0, false), "operator new[]", 11.2e6, -96e3, 266 },
	{ CANNED_STACK(canned_iobuf, 0, false), "calloc", 8.8e6, -14e3, 4100 },
	{ CANNED_STACK(canned_zlib, 0, false), "malloc", 7.9e6, 0, 124000 },
	{ CANNED_STACK(canned_cjk, 0, false), "operator new", 2.4e6, 0, 131 },
};
#define CANNED_ROWS (sizeof(canned_rows) / sizeof(canned_rows[0]))
static const struct stack canned_filler = CANNED_STACK(canned_other, 0, false);

static inline uint64_t canned_bytes(size_t i, uint64_t t)
{
	double v;

	if (i >= CANNED_ROWS) /* every fourth of the invented ones breathes */
		return 90000 / (i % 97 + 1) + (i % 4 ? 0 : (t + i) % 7 * 512);
	v = canned_rows[i].base + canned_rows[i].slope * ((double)t - 760);
	if (i == 8 && t % 2) /* a sawtooth */
		v /= 3;
	return v > 0 ? (uint64_t)v : 0;
}

static inline void canned_site(struct snap_site *s, size_t i, uint64_t t)
{
	const struct canned_row *r = i < CANNED_ROWS ? &canned_rows[i] : NULL;
	uint64_t block = r ? r->block : 48;

	*s = (struct snap_site){ .id = (uint32_t)(17 + i), .live_bytes = canned_bytes(i, t) };
	s->alloc_function = r ? r->how : "malloc";
	s->stack = r ? &r->stack : &canned_filler;
	s->live_blocks = s->live_bytes / block;
	s->allocs = s->live_blocks * 2 + t;
	s->frees = s->allocs - s->live_blocks;
	s->alloc_bytes = s->allocs * block;
	s->peak_live_bytes = s->live_bytes + s->live_bytes / 50;
	s->temporary = s->frees / 10;
	s->rate_bytes_per_s = r ? r->slope : i % 4 ? 0 : 100;
	s->allocs_per_s = r ? 120 : 0;
	s->alloc_bytes_per_s = s->allocs_per_s * block;
	s->temporary_per_s = s->allocs_per_s / 10;
	if (r && r->slope > 0)
		s->growth = (struct snap_growth){ .sure = 0.92 - 0.1 * (double)i,
			.bytes_per_s = r->slope,
			.over_ns = 576 * CANNED_S,
			.parts = 8,
			.old = { 576 * CANNED_S, 288 * CANNED_S, (uint64_t)(288 * r->slope) },
			.has_kept = true,
			.kept = 1 - 0.3 * (double)i };
	s->trend_points = SNAP_TREND_POINTS;
	for (unsigned p = 0; p < SNAP_TREND_POINTS; p++)
		s->trend[p] = canned_bytes(i, t > 15 - p ? t - (15 - p) : 0);
}

static inline void canned_words(struct snapshot *s, const struct canned *c)
{
	static const char *const argv[] = { "./server", "--port", "80" };

	s->refs = 1;
	s->pid = c->other_pid ? c->other_pid : 4211;
	s->launch = c->launch;
	s->processes = c->all ? 8 : 0;
	if (c->all)
		s->pid = 0;
	s->command = "./server --port 80";
	s->argv = argv;
	s->argc = 3;
	s->exe = "/srv/bin/server";
	s->state = c->state;
	s->exit_status = c->exit_status;
	s->signal = c->state == SNAP_KILLED ? 11 : 0;
	s->signal_name = c->state == SNAP_KILLED ? "SIGSEGV" : NULL;
	s->uptime_ns = c->seconds * CANNED_S;
	s->start_realtime_ns = c->image_start_ns;
	s->now_realtime_ns = CANNED_START_NS + s->uptime_ns;
	s->tick_ns = CANNED_S;
	s->viewer_cpu_percent = 0.3;
	s->viewer_rss = 9 << 20;
	s->notice = c->notice;
}

/* As the model has it once nothing runs any more. */
static inline void canned_stop(struct snapshot *s)
{
	struct snap_site *sites = (struct snap_site *)(uintptr_t)s->sites;
	struct snap_totals *t = &s->totals;

	t->allocs_per_s = t->frees_per_s = t->reallocs_per_s = t->growth_bytes_per_s = 0;
	s->proc.minor_faults_per_s = 0;
	s->rates_ns = 0;
	for (size_t i = 0; i < s->nsites; i++)
		sites[i].rate_bytes_per_s = sites[i].allocs_per_s = 0,
		sites[i].alloc_bytes_per_s = sites[i].temporary_per_s = 0;
}

#define CANNED_WRONG 4
static inline void canned_wrong_fill(struct snapshot *s, unsigned rows)
{
	static const struct snap_wrong_free wrong[CANNED_WRONG] = {
		{ .kind = SNAP_WRONG_MISMATCHED,
			.count = 12,
			.bytes = 3192,
			.addr = 0x5000,
			.site = 90,
			.alloc_site = 23,
			.stack = &canned_rows[1].stack,
			.alloc_stack = &canned_rows[6].stack,
			.freed_by = "free",
			.allocated_by = "operator new[]" },
		{ .kind = SNAP_WRONG_SIZED,
			.count = 2,
			.bytes = 512,
			.addr = 0x6000,
			.want = 320,
			.site = 91,
			.alloc_site = 24,
			.stack = &canned_rows[0].stack,
			.alloc_stack = &canned_rows[9].stack,
			.freed_by = "operator delete",
			.allocated_by = "operator new" },
		{ .kind = SNAP_WRONG_UNKNOWN,
			.count = 1,
			.addr = 0x7ffc1230,
			.site = 92,
			.stack = &canned_rows[4].stack,
			.freed_by = "free" },
		{ .kind = SNAP_WRONG_DOUBLE,
			.count = 1,
			.bytes = 40,
			.addr = 0x7000,
			.site = 91,
			.alloc_site = 24,
			.first_site = 90,
			.stack = &canned_rows[0].stack,
			.alloc_stack = &canned_rows[9].stack,
			.first_stack = &canned_rows[1].stack,
			.freed_by = "free",
			.allocated_by = "malloc",
			.first_freed_by = "free" },
	};

	s->wrong = wrong;
	s->nwrong = rows;
	for (unsigned i = 0; i < rows; i++)
		s->totals.wrong_frees[wrong[i].kind] += wrong[i].count;
}

static inline void canned_numbers(struct snapshot *s, const struct canned *c)
{
	uint64_t t = c->seconds;

	for (size_t i = 0; i < s->nsites; i++) {
		s->totals.live_bytes += s->sites[i].live_bytes;
		s->totals.live_blocks += s->sites[i].live_blocks;
	}
	s->totals.peak_live_bytes = 655ull << 20;
	s->totals.peak_ns = 552 * CANNED_S;
	s->totals.allocs = t * 184000;
	s->totals.frees = t * 183000;
	s->totals.reallocs = t * 2100;
	s->totals.allocs_per_s = 184000 + (double)(t % 5) * 1000;
	s->totals.frees_per_s = 183000 + (double)(t % 3) * 1000;
	s->totals.reallocs_per_s = 2100;
	s->totals.growth_bytes_per_s = 1.48e6;
	s->rates_ns = 10 * CANNED_S;
	canned_wrong_fill(s, c->wrong);
	s->totals.untracked_blocks = c->untracked;
	s->totals.untracked_bytes = c->untracked * 100;
	s->proc = (struct snap_proc){ .rss = 538ull << 20,
		.hwm = 701ull << 20,
		.pss = 530ull << 20,
		.have_pss = true,
		.minor_faults_per_s = 1200,
		.threads = 14,
		.valid = c->state == SNAP_RUNNING };
	if (snapshot_ended(s))
		canned_stop(s);
	for (unsigned i = 1; i < 14; i++)
		s->sizes[i] =
			(struct snap_size){ .live_blocks = s->totals.live_blocks / (i * i + 2),
				.live_bytes = s->totals.live_bytes / (20 - i),
				.allocs = s->totals.allocs / (i + 3) };
	for (unsigned i = 0; i < 12; i++)
		s->lifetimes[i] = s->totals.frees / (3 + (i > 5 ? i - 5 : 5 - i));
	s->history_points = 200;
	s->history_step_ns = t * CANNED_S / 200;
	for (unsigned i = 0; i < 200; i++)
		s->history[i] = 1000000ull * (i * 2 + (i / 20 % 3) * 30);
}

/* Exact for five minutes, then one block in 512 KiB. */
static inline void canned_sampling(struct snapshot *s, struct snap_site *sites)
{
	s->sampling = (struct snap_sampling){ .bytes = 512 << 10,
		.most = 512 << 10,
		.mark = { { 300 * CANNED_S, 512 << 10 } },
		.marks = 1,
		.measured = true,
		.overhead = 0.0123 };
	s->totals.error = (struct snap_error){ .live_bytes = s->totals.live_bytes / 30,
		.live_blocks = s->totals.live_blocks / 20 };
	for (size_t i = 0; i < s->nsites; i++)
		sites[i].error = (struct snap_error){ .live_bytes = 2 << 20 | i,
			.live_blocks = sites[i].live_blocks / 3 };
}

#define CANNED_THREADS 5

/* A main thread, two workers of which one frees what the other allocates, and a place of many. */
static inline void canned_threads(struct snapshot *s, struct snap_thread *out, uint64_t t)
{
	static const struct snap_thread threads[CANNED_THREADS] = {
		{ .slot = 1, .tid = 4211, .owners = 1, .name = "server", .allocs_per_s = 900 },
		{ .slot = 2,
			.tid = 4212,
			.owners = 1,
			.name = "parser",
			.allocs_per_s = 90000,
			.live_bytes_per_s = 3e6 },
		{ .slot = 3, .tid = 4213, .owners = 1, .name = "writer", .frees_per_s = 90000 },
		{ .slot = 4, .tid = 5120, .owners = 41, .name = "job-17" },
		{ .slot = 5, .owners = 3 },
	};
	uint64_t of_parser = t * 1000;

	for (unsigned i = 0; i < CANNED_THREADS; i++) {
		out[i] = threads[i];
		out[i].has_rate = true;
		out[i].allocs = t * (i == 1 ? 90000 : 100 * (5 - i));
		out[i].frees = t * (i == 2 ? 89000 : 90 * (5 - i));
		out[i].alloc_bytes = out[i].allocs * (32 + i);
		out[i].free_bytes = out[i].frees * (32 + (i == 2 ? 1 : i));
		out[i].live_blocks = i == 1 ? of_parser : t * 10 * (5 - i);
		out[i].live_bytes = out[i].live_blocks * (32 + i);
		out[i].foreign_frees = i == 2 ? out[i].frees : i;
		s->totals.alloc_bytes += out[i].alloc_bytes;
	}
	s->threads = out;
	s->nthreads = CANNED_THREADS;
	s->has_alive = true;
	s->alive_bytes = s->totals.live_bytes;
}

/* A third of the allocations since the mark is live. */
static inline void canned_marks(struct snapshot *s, struct snap_site *sites, const struct canned *c)
{
	s->moments = c->moments.last;
	s->since = mark_list_find(&c->moments, c->since);
	s->until = mark_list_find(&c->moments, c->until);
	s->kept = s->since != NULL;
	s->kept_until = s->moments;
	s->newest = mark_list_between(s, s->moments, NULL);
	s->newest.kept_of = s->newest.allocs;
	s->newest.kept_blocks = s->newest.allocs / 3;
	s->newest.kept_bytes = 12 << 20;
	mark_list_apply(s, sites);
	for (size_t i = 0; s->since && i < s->nsites; i++) {
		sites[i].since.kept_of = sites[i].since.allocs;
		sites[i].since.kept_blocks = sites[i].since.allocs / 3;
	}
}

/* Two sites of mapped memory, the stacks of the first two. */
static inline void canned_maps(struct snapshot *s, const struct canned *c)
{
	static struct snap_site mapped[2];
	struct snap_totals *t = &s->totals;

	t->has_mapped = true;
	for (size_t i = 0; c->maps && i < 2; i++) {
		mapped[i] = (struct snap_site){ .id = (uint32_t)(9001 + i),
			.kind = i ? SNAP_SHM : SNAP_MMAP,
			.alloc_function = i ? "shmat" : "mmap",
			.stack = &canned_rows[i].stack,
			.allocs = 4,
			.frees = 1,
			.live_blocks = 3,
			.live_bytes = (uint64_t)(3 - i) << 30,
			.alloc_bytes = 4ull << 30,
			.peak_live_bytes = 4ull << 30 };
		t->mapped_bytes += mapped[i].live_bytes;
		t->mapped_blocks += 3;
		t->maps += 4;
		t->unmaps += 1;
		t->map_bytes += 4ull << 30;
	}
	t->unmap_bytes = t->map_bytes - t->mapped_bytes;
	t->mapped_peak_bytes = t->map_bytes;
	s->mapped = c->maps ? mapped : NULL;
	s->nmapped = c->maps ? 2 : 0;
}

static inline struct snapshot *canned_snapshot(const struct canned *c)
{
	struct snapshot *s = calloc(1, sizeof(*s) + c->nsites * sizeof(struct snap_site) +
					       CANNED_THREADS * sizeof(struct snap_thread));
	struct snap_site *sites = (struct snap_site *)(s + 1);

	for (size_t i = 0; i < c->nsites; i++) {
		canned_site(&sites[i], i, c->seconds);
		sites[i].has_ages = c->ages;
		sites[i].oldest_ns = c->ages ? (c->seconds - i % 300) * CANNED_S : 0;
	}
	s->sites = sites;
	s->nsites = c->nsites;
	s->owner = c->image;
	canned_words(s, c);
	canned_numbers(s, c);
	canned_threads(s, (struct snap_thread *)(sites + c->nsites), c->seconds);
	if (c->sampled)
		canned_sampling(s, sites);
	canned_marks(s, sites, c);
	canned_maps(s, c);
	return s;
}

/* ---- the past ------------------------------------------------------------------------------ */

#define CANNED_SPIKE 552 /* the second of the peak: a spike of one second */

/* The timelines of the server: as canned_bytes, and one spike. */
static inline uint64_t canned_live(const struct canned *c, uint64_t t)
{
	uint64_t sum = t == CANNED_SPIKE ? 300u << 20 : 0;

	for (size_t i = 0; i < CANNED_ROWS && i < c->nsites; i++)
		sum += canned_bytes(i, t);
	return sum;
}

static inline const struct timeline *canned_timeline(void *ctx)
{
	struct canned *c = ctx;
	size_t n = c->few && c->few < c->seconds + 1 ? c->few : (size_t)c->seconds + 1;

	if (!c->past)
		return NULL;
	free(c->points);
	c->points = calloc(n, sizeof(*c->points));
	for (size_t i = 0; i < n; i++) {
		uint64_t t = c->seconds + 1 - n + i, live = canned_live(c, t);

		c->points[i] = (struct timeline_point){ .ns = t * CANNED_S,
			.live_bytes = live,
			.low_bytes = live - live / 20,
			.high_bytes = c->between && t == c->between ? 4 * live : live + live / 50,
			.rss = 538ull << 20,
			.lost = t == 650 };
	}
	c->line.points = c->points;
	c->line.npoints = c->none ? 0 : n;
	c->line.bytes = c->seconds << 12;
	c->line.limit_bytes = 32u << 20;
	c->line.replay = c->replayed;
	return &c->line;
}

static inline int canned_moment_show(void *ctx, const struct moment *m, char *msg, size_t cap)
{
	struct canned *c = ctx;

	if (m->kind == SNAP_PEAK && (c->no_peak || !c->past)) {
		snprintf(msg, cap, "what was live at the peak is unknown");
		return -ENODATA;
	}
	if (m->kind != SNAP_NOW && m->kind != SNAP_PEAK && !c->past) {
		snprintf(msg, cap, "nothing is kept");
		return -ENODATA;
	}
	c->moment = *m;
	return 0;
}

static inline void canned_at_peak(const struct canned *c, struct snapshot *s)
{
	struct snap_site *sites = (struct snap_site *)(uintptr_t)s->sites;

	if (!c->past || c->no_peak)
		return;
	for (size_t i = 0; i < s->nsites; i++) {
		sites[i].at_peak_bytes = i % 2 ? 0 : sites[i].live_bytes * 3;
		sites[i].at_peak_blocks = i % 2 ? 0 : sites[i].live_blocks * 3;
		s->totals.at_peak_bytes += sites[i].at_peak_bytes;
		s->totals.at_peak_blocks += sites[i].at_peak_blocks;
	}
	s->totals.has_at_peak = true;
}

/* Sites that shrink have fewer allocations, which a program never has. */
static inline uint64_t canned_more(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* What happened between two seconds. */
static inline const struct snap_range *canned_range(uint64_t from, uint64_t to)
{
	static struct snap_thread threads[CANNED_THREADS], before[CANNED_THREADS];
	static struct snap_range range;
	struct snapshot ignored = { 0 };

	canned_threads(&ignored, threads, to);
	canned_threads(&ignored, before, from);
	for (unsigned i = 0; i < CANNED_THREADS; i++) {
		threads[i].allocs -= before[i].allocs;
		threads[i].frees -= before[i].frees;
		threads[i].alloc_bytes -= before[i].alloc_bytes;
		threads[i].free_bytes -= before[i].free_bytes;
		threads[i].foreign_frees -= before[i].foreign_frees;
	}
	range = (struct snap_range){ .threads = threads };
	for (unsigned i = 2; i < 8; i++)
		range.sizes[i].allocs = (to - from) * 100 * i;
	for (unsigned i = 1; i < 5; i++)
		range.lifetimes[i] = (to - from) * 90 * i;
	return &range;
}

/* The sites as they were at a second, without what only the present knows. */
static inline struct snapshot *canned_earlier(const struct canned *c, struct snapshot *now)
{
	uint64_t t = c->moment.ns / CANNED_S < c->seconds ? c->moment.ns / CANNED_S : c->seconds;
	uint64_t from = c->moment.from_ns / CANNED_S;
	struct canned then = *c;
	struct snapshot *s, *made;
	struct snap_site *sites, before;

	then.seconds = t;
	then.ages = false;
	made = canned_snapshot(&then);
	s = moment_derive(now, c->nsites, &sites);
	memcpy(sites, made->sites, c->nsites * sizeof(*sites));
	s->moment = c->moment.kind;
	s->range_from_ns = c->moment.from_ns;
	s->uptime_ns = t * CANNED_S;
	s->totals = made->totals;
	if (t < 552) /* the peak is of then */
		s->totals.peak_live_bytes = s->totals.live_bytes;
	s->has_alive = s->kept = false;
	s->threads = now->threads;
	s->range = c->moment.kind == SNAP_RANGE ? canned_range(from, t) : NULL;
	s->since = s->until = NULL;
	for (size_t i = 0; i < c->nsites; i++) {
		memset(&sites[i].growth, 0, sizeof(sites[i].growth));
		canned_site(&before, i, from);
		if (c->moment.kind == SNAP_RANGE)
			sites[i].since = (struct snap_since){
				.bytes = (int64_t)(sites[i].live_bytes - before.live_bytes),
				.blocks = (int64_t)(sites[i].live_blocks - before.live_blocks),
				.allocs = canned_more(sites[i].allocs, before.allocs),
				.alloc_bytes = canned_more(sites[i].alloc_bytes, before.alloc_bytes)
			};
	}
	snapshot_unref(made);
	return s;
}

static inline struct snapshot *canned_shown(const struct canned *c)
{
	struct snapshot *now = canned_snapshot(c), *s;

	canned_at_peak(c, now);
	if (c->moment.kind == SNAP_NOW)
		return now;
	s = c->moment.kind == SNAP_PEAK ? moment_peak(now) : canned_earlier(c, now);
	snapshot_unref(now);
	return s;
}

static inline struct snapshot *canned_moment_take(void *ctx)
{
	return canned_shown(ctx);
}

static inline void canned_free(struct canned *c)
{
	mark_list_free(&c->moments);
	map_unref(c->map);
	free(c->points);
}

/* ---- the source ---------------------------------------------------------------------------- */

static inline struct snapshot *canned_tick(void *ctx, const char **error)
{
	struct canned *c = ctx;

	*error = c->error;
	if (c->error)
		return NULL;
	if (!c->still) {
		c->seconds++;
		c->now_ns += CANNED_S;
	}
	return canned_shown(c);
}

static inline int canned_detail(
	void *ctx, const struct snapshot *of, uint32_t site, struct snap_detail *out)
{
	struct canned *c = ctx;

	*out = (struct snap_detail){ .id = site };
	if (c->no_detail)
		return -EIO;
	for (unsigned i = 1; i < 9; i++)
		out->sizes[i] = (struct snap_size){ .live_blocks = i * (9 - i) * 1200,
			.allocs = i * (9 - i) * 2100 };
	for (unsigned i = 2; i < 8; i++)
		out->lifetimes[i] = (10 - i) * i * 1000;
	cannedsource_ages(out);
	return 0;
}

static inline const struct source_text *canned_source_text(void *ctx, const struct frame *f)
{
	const struct canned *c = ctx;

	return c->source_is_late ? NULL : cannedsource_text(f->file, c->source_is_newer);
}

static inline size_t canned_output_lines(void *ctx)
{
	return ((struct canned *)ctx)->lines;
}

static inline uint64_t canned_output_dropped(void *ctx)
{
	return ((struct canned *)ctx)->lines_dropped;
}

static inline void canned_output_line(void *ctx, size_t i, struct term_line *out)
{
	static struct term_run run;
	static char line[128];

	*out = (struct term_line){ line, &run, 1 };
	i += (size_t)((struct canned *)ctx)->lines_dropped;
	snprintf(line, sizeof(line), "line %zu: GET /index.html 200 %s", i,
		i % 3 ? "from cache"
		      : "from disk, which took longer than one would have hoped for it to take");
	run = (struct term_run){ .cells = (unsigned)strlen(line),
		.bytes = strlen(line),
		.style = { .fore = TERM_LINE_DEFAULT, .back = TERM_LINE_DEFAULT } };
}

static inline bool canned_output_cursor(void *ctx, size_t *line, unsigned *cell)
{
	*line = ((struct canned *)ctx)->lines - 1;
	*cell = 7;
	return true;
}

static inline void canned_output_type(void *ctx, const char *bytes, size_t n)
{
	strncat(((struct canned *)ctx)->typed, bytes, n);
}

static inline void canned_output_press(void *ctx, enum term_press key)
{
	char *typed = ((struct canned *)ctx)->typed;

	sprintf(typed + strlen(typed), "<%d>", (int)key);
}

static inline void canned_output_resize(void *ctx, int rows, int cols)
{
	struct canned *c = ctx;

	c->rows = rows;
	c->cols = cols;
}

static inline int canned_save(void *ctx, const struct tui_shown *shown, char *msg, size_t cap)
{
	((struct canned *)ctx)->saved_group = shown->group;
	((struct canned *)ctx)->saved_sites = shown->rows->nsites;
	snprintf(msg, cap, "saved heaptop-snapshot-4211-%u.txt", ++((struct canned *)ctx)->saved);
	return 0;
}

#define CANNED_EVENTS 100 /* lines */

static inline int canned_events_follow(void *ctx, uint32_t site, char *msg, size_t cap)
{
	struct canned *c = ctx;

	if (c->error) {
		snprintf(msg, cap, "cannot follow events: %s", c->error);
		return -EIO;
	}
	c->followed = site;
	return 0;
}

static inline void canned_events_stop(void *ctx)
{
	((struct canned *)ctx)->followed = 0;
}

/* Every quarter of a second the parser allocates; one block in three is freed after a second, by
 * the writer if its number is even, and one in five at once. */
static inline const struct event_lines *canned_events(void *ctx)
{
	static struct event_line line[CANNED_EVENTS];
	struct canned *c = ctx;
	size_t gone = c->events > CANNED_EVENTS ? c->events - CANNED_EVENTS : 0;

	if (!c->followed)
		return NULL;
	for (size_t i = 0; i < c->events - gone; i++) {
		uint64_t n = gone + i + 1;

		line[i] = (struct event_line){ .number = n,
			.ns = 760 * CANNED_S + n * CANNED_S / 4,
			.slot = 2,
			.tid = 4212,
			.addr = 0x7f12a40c0000 + n * 4096,
			.size = n * n,
			.freed = n % 3 == 0 || n % 5 == 0,
			.freed_after_ns = n % 3 ? 0 : CANNED_S,
			.freed_by = n % 2 ? 2 : 3 };
	}
	c->tail = (struct event_lines){ c->followed, line, c->events - gone, c->missed,
		c->events_end };
	return &c->tail;
}

static inline int canned_sample(void *ctx, const char *text, char *msg, size_t cap)
{
	struct canned *c = ctx;

	snprintf(c->asked, sizeof(c->asked), "%s", text);
	snprintf(msg, cap, "asked for %s", text);
	return 0;
}

static inline struct map *canned_map(void *ctx)
{
	struct canned *c = ctx;

	if (c->no_map)
		return NULL;
	if (!c->map)
		c->map = cannedmap_new(c->maps);
	if (c->map)
		c->map->owner = c->image;
	return c->map;
}

static inline void canned_ages(void *ctx, bool wanted)
{
	((struct canned *)ctx)->ages = wanted;
}

static inline int canned_settings_save(void *ctx, const struct settings *s, char *msg, size_t cap)
{
	((struct canned *)ctx)->kept = *s;
	snprintf(msg, cap, "settings saved in /home/you/.config/heaptop/config");
	return 0;
}

static inline void canned_rules_set(void *ctx, const struct settings *s)
{
	((struct canned *)ctx)->rules = s->rules;
}

static inline int canned_mark(void *ctx, char *msg, size_t cap)
{
	struct canned *c = ctx;
	struct snapshot *s = canned_snapshot(c);
	struct snap_mark_site *sites = calloc(s->nsites + 1, sizeof(*sites));
	struct snap_mark m = { .number = 1,
		.ns = s->uptime_ns,
		.live_bytes = s->totals.live_bytes,
		.live_blocks = s->totals.live_blocks,
		.allocs = s->totals.allocs,
		.alive_blocks = s->totals.allocs / 4,
		.alive_bytes = s->totals.live_bytes / 4,
		.sites = sites,
		.nsites = s->nsites };

	for (size_t i = 0; i < s->nsites; i++)
		sites[i] = (struct snap_mark_site){ s->sites[i].id, s->sites[i].live_bytes,
			s->sites[i].live_blocks, s->sites[i].allocs, s->sites[i].alloc_bytes };
	mark_list_add(&c->moments, &m);
	free(sites);
	snapshot_unref(s);
	if (!c->since)
		c->since = c->moments.last->number;
	return (int)c->moments.last->number;
}

static inline void canned_mark_name(void *ctx, unsigned number, const char *name)
{
	mark_list_rename(mark_list_find(&((struct canned *)ctx)->moments, number), name);
}

static inline void canned_since(void *ctx, unsigned since, unsigned until)
{
	struct canned *c = ctx;

	c->since = since;
	c->until = until;
}

static inline uint64_t canned_now(void *ctx)
{
	return ((struct canned *)ctx)->now_ns;
}

static inline const char *const *canned_rules(void *ctx, size_t *count)
{
	static const char *const rules[] = { "operator new, operator new[]",
		"std:: and __gnu_cxx::" };

	*count = 2;
	return rules;
}

#define CANNED_PROCESSES 9
static const pid_t canned_pids[CANNED_PROCESSES] = { 4211, 4300, 4301, 4302, 977, 4303, 4305, 4306,
	4307 };

/* The server, a shell's family below it that comes and goes, two that are not recorded, somebody
 * else's, and two that have ended: of one nobody knows how. */
static inline size_t canned_processes(void *ctx, const struct process_row **rows, size_t *more)
{
	static struct process_row row[CANNED_PROCESSES + 2];
	static const char *const commands[CANNED_PROCESSES] = { "./server --port 80",
		"sh -c ./job --all", "./job --all", "gzip -9 a-log-with-a-name-that-is-long.log",
		"/opt/python/bin/python3 /srv/tools/report.py --every 60",
		"busybox tar cz -C /srv/data .",
		"/usr/libexec/helper --listen 127.0.0.1:8125 --verbose", "sh -c ./warm", "./warm" };
	static const char *const whys[CANNED_PROCESSES] = {
		[5] = "statically linked", [6] = "without LD_PRELOAD"
	};
	static const pid_t parents[CANNED_PROCESSES] = { 0, 4211, 4300, 4211, 0, 4301, 4211, 4211,
		4306 };
	struct canned *c = ctx;
	size_t n = c->fewer_processes ? 2 : CANNED_PROCESSES;

	for (size_t i = 0; i < n; i++) {
		row[i] = (struct process_row){ .id = 100 + i,
			.pid = canned_pids[i],
			.parent = parents[i],
			.group = i == 4 ? 1 : 0,
			.state = i == 3	  ? "stopped"
				 : i == 7 ? processes_ended(0)
				 : i == 8 ? processes_ended(-1)
					  : "running",
			.live_bytes = i < 7 ? (uint64_t)(c->seconds << 10) << (2 * i) : 700,
			.peak_bytes = 200000000u >> i,
			.has_peak = !whys[i],
			.ended = i >= 7,
			.rss_bytes = 40u << 20,
			.rate_bytes_per_s = 3000.0 * (double)i,
			.has_live = !whys[i],
			.has_rate = !whys[i],
			.has_rss = i != 4,
			.shown =
				!c->all && canned_pids[i] == (c->other_pid ? c->other_pid : 4211) };
		snprintf(row[i].command, sizeof(row[i].command), "%s", commands[i]);
		if (c->same_commands && (i == 3 || i == 7))
			snprintf(row[i].command, sizeof(row[i].command),
				"gzip -9 --name --rsyncable --verbose --suffix=.archive.gz %s.log",
				i == 3 ? "first" : "second");
		snprintf(row[i].why, sizeof(row[i].why), "%s", whys[i] ? whys[i] : "");
	}
	n = processes_heads(row, n, sizeof(row) / sizeof(row[0]));
	for (size_t i = 0; i < n; i++)
		if (row[i].kind == PROCESS_ALL)
			row[i].shown = c->all;
	processes_arrange(row, n, 4211);
	*rows = row;
	*more = c->fewer_processes ? 300 : 0;
	return n;
}

static inline int canned_process_show(void *ctx, uint64_t id, char *msg, size_t cap)
{
	static char image[CANNED_PROCESSES];
	struct canned *c = ctx;

	snprintf(msg, cap, "this process has ended");
	if (id == 105)
		snprintf(msg, cap, "process 4303 is not recorded: statically linked");
	if (id == 102 || id == 105)
		return -ESRCH;
	c->all = id == PROCESSES_ALL;
	if (c->all)
		id = 100;
	c->other_pid = canned_pids[id - 100];
	c->image = c->all ? &image[0] : id == 100 ? NULL : &image[id - 100];
	return 0;
}

static inline struct tui_source canned_source(struct canned *c)
{
	return (struct tui_source){ .ctx = c,
		.tick = canned_tick,
		.detail = canned_detail,
		.output_lines = canned_output_lines,
		.output_dropped = canned_output_dropped,
		.output_line = canned_output_line,
		.output_resize = canned_output_resize,
		.output_cursor = canned_output_cursor,
		.output_type = canned_output_type,
		.output_press = canned_output_press,
		.save = canned_save,
		.sample = canned_sample,
		.events_follow = canned_events_follow,
		.events_stop = canned_events_stop,
		.events = canned_events,
		.mark = canned_mark,
		.mark_name = canned_mark_name,
		.since = canned_since,
		.moment_show = canned_moment_show,
		.moment_take = canned_moment_take,
		.timeline = canned_timeline,
		.map = canned_map,
		CANNEDLEAKS_SOURCE,
		.processes = canned_processes,
		.process_show = canned_process_show,
		.source_text = canned_source_text,
		.now_ns = canned_now,
		.hide_rules = canned_rules,
		.ages = canned_ages,
		.settings_save = canned_settings_save,
		.rules_set = canned_rules_set };
}

static inline struct canned canned_default(void)
{
	return (struct canned){ .nsites = 2317,
		.seconds = 760,
		.now_ns = 5000 * CANNED_S,
		.state = SNAP_RUNNING,
		.lines = 300 };
}

#endif
