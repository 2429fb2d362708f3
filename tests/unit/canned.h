/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small program's snapshot for the tests of columns and exporters: four sites, one of each kind
 * that prints differently (C++ below an allocator, plain C growing, no debug info, code outside any
 * object).
 */
#ifndef TESTS_UNIT_CANNED_H
#define TESTS_UNIT_CANNED_H

#include "src/model/snapshot.h"

static const struct snap_module canned_app = {
	.path = "/opt/app/server", .name = "server", .build_id = "aabb01"
};
static const struct snap_module canned_lib = {
	.path = "/usr/lib/libfoo.so.3", .name = "libfoo.so.3", .build_id = ""
};
static const struct snap_module canned_none = { .path = "", .name = "", .build_id = "" };

static const struct frame canned_cxx[] = {
	{ .offset = 0,
		.module = &canned_app,
		.function = "std::allocator<int>::allocate(unsigned long)",
		.file = "/usr/include/c++/12/bits/new_allocator.h",
		.line = 137,
		.inlined = true,
		.hidden = true },
	{ .pc = 0x555500001234,
		.offset = 0x1234,
		.module = &canned_app,
		.function = "cache::Shard::insert(int)",
		.file = "/src/cache.cc",
		.line = 214 },
	{ .pc = 0x555500002000,
		.offset = 0x2000,
		.module = &canned_app,
		.function = "main",
		.file = "/src/main.cc",
		.line = 12 },
};
static const struct frame canned_c[] = {
	{ .pc = 0x555500003000,
		.offset = 0x3000,
		.module = &canned_app,
		.function = "arena_new",
		.mangled = "arena_new",
		.file = "arena.c",
		.line = 118 },
};
static const struct frame canned_bare[] = {
	{ .pc = 0x7f000004f1c0, .offset = 0x4f1c0, .module = &canned_lib },
};
static const struct frame canned_jit[] = {
	{ .pc = 0x7f1122334455, .offset = 0x7f1122334455, .module = &canned_none },
};

static const struct stack canned_stacks[] = {
	{ canned_cxx, 3, 1, false, true, false, NULL },
	{ canned_c, 1, 0, true, true, false, NULL },
	{ canned_bare, 1, 0, false, true, false, NULL },
	{ canned_jit, 1, 0, false, true, false, NULL },
};

static const struct snap_site canned_sites[] = {
	{ .id = 17,
		.alloc_function = "operator new",
		.stack = &canned_stacks[0],
		.live_bytes = 101048320,
		.live_blocks = 101233,
		.allocs = 197600,
		.frees = 96367,
		.alloc_bytes = 197342003,
		.peak_live_bytes = 101711872,
		.temporary = 12,
		.growth = { .sure = 0.875,
			.bytes_per_s = 1153434,
			.over_ns = 576000000000,
			.parts = 8,
			.old = { 576000000000, 288000000000, 332000000 },
			.has_kept = true,
			.kept = 0.984 },
		.rate_bytes_per_s = 1153434,
		.trend = { [12] = 10, [13] = 20, [14] = 40, [15] = 80 },
		.trend_points = 4 },
	{ .id = 3,
		.alloc_function = "malloc",
		.stack = &canned_stacks[1],
		.live_bytes = 33554432,
		.live_blocks = 8,
		.allocs = 8,
		.peak_live_bytes = 33554432,
		.alloc_bytes = 33554432,
		.trend = { [15] = 33554432 },
		.trend_points = 1 },
	{ .id = 4,
		.alloc_function = "calloc",
		.stack = &canned_stacks[2],
		.live_bytes = 4096,
		.live_blocks = 1,
		.allocs = 2,
		.frees = 1,
		.alloc_bytes = 8192,
		.peak_live_bytes = 8192,
		.rate_bytes_per_s = -98304 },
	{ .id = 9,
		.alloc_function = "realloc",
		.stack = &canned_stacks[3],
		.allocs = 5,
		.frees = 5,
		.alloc_bytes = 50,
		.peak_live_bytes = 10,
		.temporary = 5 },
};

/* Sites that map memory: a copy of the snapshot gets them by canned_mapped_add. */
static const struct snap_site canned_mapped[] = {
	{ .id = 21,
		.kind = SNAP_MMAP,
		.alloc_function = "mmap",
		.stack = &canned_stacks[0],
		.live_bytes = 8192,
		.live_blocks = 2,
		.allocs = 3,
		.frees = 1,
		.alloc_bytes = 1056768,
		.peak_live_bytes = 1052672 },
	{ .id = 22,
		.kind = SNAP_SHM,
		.alloc_function = "shmat",
		.stack = &canned_stacks[1],
		.live_bytes = 16384,
		.live_blocks = 1,
		.allocs = 1,
		.alloc_bytes = 16384,
		.peak_live_bytes = 16384 },
};

static inline void canned_mapped_add(struct snapshot *s)
{
	s->mapped = canned_mapped;
	s->nmapped = 2;
	s->totals.has_mapped = true;
	s->totals.maps = 4;
	s->totals.unmaps = 1;
	s->totals.map_bytes = 1073152;
	s->totals.unmap_bytes = 1048576;
	s->totals.mapped_bytes = 24576;
	s->totals.mapped_blocks = 3;
	s->totals.mapped_peak_bytes = 1069056;
}

static const char *const canned_argv[] = { "./server", "--port", "80" };

/* A killed program's; tests change their copy. */
static const struct snapshot canned = {
	.refs = 1,
	.pid = 4211,
	.command = "./server --port 80",
	.argv = canned_argv,
	.argc = 3,
	.exe = "/opt/app/server",
	.state = SNAP_KILLED,
	.signal = 11,
	.signal_name = "SIGSEGV",
	.start_realtime_ns = 1700000000000000000ull,
	.now_realtime_ns = 1700000761000000000ull,
	.uptime_ns = 761000000000ull,
	.totals = { .allocs = 197615,
		.frees = 96373,
		.reallocs = 5,
		.alloc_bytes = 230904677,
		.free_bytes = 96297829,
		.live_blocks = 101242,
		.live_bytes = 134606848,
		.peak_live_bytes = 141000000,
		.peak_ns = 552000000000ull,
		.temporary = 17,
		.allocs_per_s = 184000,
		.frees_per_s = 183000,
		.reallocs_per_s = 0.3,
		.growth_bytes_per_s = 1887436,
		.stacks_bytes = 155648,
		.stacks_forgotten = 3 },
	.proc = { .rss = 564343603,
		.hwm = 735470387,
		.pss = 555745280,
		.have_pss = true,
		.minor_faults = 137801,
		.major_faults = 2,
		.minor_faults_per_s = 1200,
		.threads = 14,
		.valid = true },
	.segment_bytes = 8388608,
	.viewer_cpu_ns = 2000000,
	.viewer_cpu_percent = 0.3,
	.viewer_rss = 9437184,
	.sizes = { [3] = { 101233, 101048320, 197600 },
		[5] = { 0, 0, 7 },
		[23] = { 9, 33558528, 8 } },
	.lifetimes = { [0] = 90000, [2] = 6000, [15] = 373 },
	.sites = canned_sites,
	.nsites = 4,
};

#endif
