/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An invented program for the tests of src/record: sites, threads and totals that change at random,
 * tick by tick, from a seed; its snapshots; and their comparison, field by field.
 */
#ifndef TESTS_UNIT_RECORD_FIXTURE_H
#define TESTS_UNIT_RECORD_FIXTURE_H

#include <stdlib.h>
#include <string.h>
#include "src/model/snapshot.h"
#include "tests/check.h"

#define S_NS 1000000000ull

#define PROGRAM_WRONG 6u

struct program {
	uint64_t seed;
	size_t nsites, nthreads;
	struct snap_site *sites;
	struct snap_thread threads[8];
	bool *gone; /* by site */
	struct stack *stacks;
	struct frame *frames; /* three each */
	struct snap_wrong_free wrong[PROGRAM_WRONG];
	size_t nwrong;
	bool has_wrong; /* program_unusual */
	struct snapshot head;
};

static inline uint64_t dice(struct program *p)
{
	p->seed ^= p->seed << 13;
	p->seed ^= p->seed >> 7;
	p->seed ^= p->seed << 17;
	return p->seed;
}

static const struct snap_module program_app = {
	.path = "/opt/app/server", .name = "server", .build_id = "aabb01"
};
static const struct snap_module program_lib = {
	.path = "/usr/lib/libfoo.so.3", .name = "libfoo.so.3", .build_id = ""
};
static const char *const program_argv[] = { "./server", "--port", "80" };

static inline void program_stack(struct program *p, size_t i)
{
	struct frame *f = &p->frames[3 * i];

	f[0] = (struct frame){
		.pc = 0x555500001000 + i * 16, .offset = 0x1000 + i * 16, .module = &program_app
	};
	f[1] = (struct frame){
		.pc = 0x7f0000002000 + i % 7, .offset = 0x2000 + i % 7, .module = &program_lib
	};
	f[2] = (struct frame){ .pc = 0x555500000040, .offset = 0x40, .module = &program_app };
	p->stacks[i] = (struct stack){ .frames = f, .nframes = 3 };
	p->sites[i].stack = &p->stacks[i];
}

static inline void program_init(struct program *p, uint64_t seed, size_t nsites)
{
	*p = (struct program){ .seed = seed * 0x9e3779b97f4a7c15u + 1, .nsites = nsites };
	p->sites = calloc(nsites, sizeof(*p->sites));
	p->gone = calloc(nsites, sizeof(*p->gone));
	p->stacks = calloc(nsites, sizeof(*p->stacks));
	p->frames = calloc(3 * nsites, sizeof(*p->frames));
	for (size_t i = 0; i < nsites; i++) {
		p->sites[i].id = (uint32_t)(3 * i + dice(p) % 3);
		p->sites[i].alloc_function = i % 2 ? "malloc" : "operator new";
		program_stack(p, i);
	}
	p->head = (struct snapshot){ .owner = p,
		.pid = 4211,
		.command = "./server --port 80",
		.argv = program_argv,
		.argc = 3,
		.exe = "/opt/app/server",
		.state = SNAP_RUNNING,
		.exit_status = -1,
		.start_realtime_ns = 1700000000000000000ull };
	p->head.totals.has_at_peak = true;
	p->head.sampling.most = seed % 2 ? 512 << 10 : 0;
	p->head.proc.valid = true;
}

/* Some of its sites are not the heap's, and it frees wrongly; `sites` is 12 or more. */
static inline void program_unusual(struct program *p)
{
	for (size_t i = 0; i < p->nsites; i++)
		if (i % 5 == 3)
			p->sites[i].kind = i % 2 ? SNAP_MMAP : SNAP_POOL;
	for (uint32_t i = 0; i < PROGRAM_WRONG; i++) {
		p->wrong[i] = (struct snap_wrong_free){ .kind = (enum snap_wrong_kind)(i % 5),
			.addr = 0x7000000000 + i,
			.site = 100000 + i,
			.stack = &p->stacks[i],
			.freed_by = "free" };
		if (i % 2 == 0)
			continue;
		p->wrong[i].alloc_site = p->sites[i].id;
		p->wrong[i].alloc_stack = p->sites[i].stack;
		p->wrong[i].allocated_by = p->sites[i].alloc_function;
		p->wrong[i].first_site = 200000 + i;
		p->wrong[i].first_stack = &p->stacks[i + 1];
		p->wrong[i].first_freed_by = "operator delete";
	}
	p->has_wrong = p->head.totals.has_wrong = true;
}

static inline void program_free(struct program *p)
{
	free(p->sites);
	free(p->gone);
	free(p->stacks);
	free(p->frames);
}

static inline void site_allocate(
	struct program *p, struct snap_site *s, uint64_t blocks, uint64_t size)
{
	s->allocs += blocks;
	s->live_blocks += blocks;
	s->alloc_bytes += blocks * size;
	s->live_bytes += blocks * size;
	if (s->live_bytes > s->peak_live_bytes)
		s->peak_live_bytes = s->live_bytes;
	p->head.totals.allocs += blocks;
	p->head.totals.live_blocks += blocks;
	p->head.totals.alloc_bytes += blocks * size;
	p->head.totals.live_bytes += blocks * size;
}

static inline void site_release(struct program *p, struct snap_site *s, uint64_t blocks)
{
	uint64_t bytes = s->live_blocks ? s->live_bytes / s->live_blocks * blocks : 0;

	if (blocks > s->live_blocks)
		return;
	if (blocks == s->live_blocks)
		bytes = s->live_bytes;
	s->frees += blocks;
	s->live_blocks -= blocks;
	s->live_bytes -= bytes;
	p->head.totals.frees += blocks;
	p->head.totals.live_blocks -= blocks;
	p->head.totals.free_bytes += bytes;
	p->head.totals.live_bytes -= bytes;
}

static inline void program_peak(struct program *p)
{
	struct snap_totals *t = &p->head.totals;

	if (t->live_bytes <= t->peak_live_bytes)
		return;
	t->peak_live_bytes = t->at_peak_bytes = t->live_bytes;
	t->at_peak_blocks = t->live_blocks;
	t->peak_ns = p->head.uptime_ns;
	for (size_t i = 0; i < p->nsites; i++) {
		p->sites[i].at_peak_bytes = p->sites[i].live_bytes;
		p->sites[i].at_peak_blocks = p->sites[i].live_blocks;
	}
}

static inline void program_threads(struct program *p)
{
	if (dice(p) % 8 == 0)
		p->nthreads = dice(p) % 9;
	for (size_t i = 0; i < p->nthreads; i++) {
		struct snap_thread *t = &p->threads[i];

		t->slot = (uint32_t)i + 1;
		t->tid = (uint32_t)(dice(p) % 3 ? t->tid : dice(p) % 99999);
		t->allocs += dice(p) % 1000;
		t->frees += dice(p) % 900;
		t->alloc_bytes += dice(p) % 100000;
		t->foreign_bytes += dice(p) % 2;
		if (dice(p) % 5 == 0)
			snprintf(t->name, sizeof(t->name), "worker-%u", (unsigned)(dice(p) % 50));
	}
}

static inline void program_wrong(struct program *p)
{
	size_t i = p->has_wrong ? dice(p) % (4 * PROGRAM_WRONG) : PROGRAM_WRONG;

	if (i >= PROGRAM_WRONG)
		return;
	p->nwrong = p->nwrong > i ? p->nwrong : i + 1;
	p->wrong[i].count++;
	p->wrong[i].bytes += dice(p) % 100;
	p->wrong[i].want = dice(p) % 1000;
	p->head.totals.wrong_frees[p->wrong[i].kind]++;
}

/* One tick: of 100 sites, `busy` change. */
static inline void program_tick(struct program *p, uint64_t step_ns, unsigned busy)
{
	p->head.uptime_ns += step_ns;
	p->head.tick_ns = step_ns;
	p->head.now_realtime_ns = p->head.start_realtime_ns + p->head.uptime_ns;
	for (size_t i = 0; i < p->nsites; i++) {
		if (dice(p) % 100 >= busy)
			continue;
		site_allocate(p, &p->sites[i], dice(p) % 50, 1 + dice(p) % 300);
		if (p->sites[i].live_blocks)
			site_release(p, &p->sites[i], dice(p) % (p->sites[i].live_blocks + 1));
		p->sites[i].temporary += dice(p) % 2;
		if (dice(p) % 400 == 0)
			p->gone[i] = !p->gone[i];
		if (p->head.sampling.most && dice(p) % 50 == 0)
			p->sites[i].error.live_bytes = dice(p) % 1000;
	}
	p->head.totals.lost_events += dice(p) % 4 == 0;
	p->head.proc.rss = 1 << 20 | dice(p) % (1 << 20);
	p->head.proc.minor_faults += dice(p) % 100;
	p->head.proc.threads = 1 + (uint32_t)(dice(p) % 4);
	p->head.sizes[dice(p) % SNAP_SIZE_BUCKETS].allocs += dice(p) % 100;
	p->head.lifetimes[dice(p) % SNAP_LIFE_BUCKETS] += dice(p) % 100;
	if (dice(p) % 20 == 0)
		p->head.notice = dice(p) % 2 ? "tracking ended: the segment is full" : NULL;
	program_threads(p);
	program_peak(p);
	program_wrong(p);
}

/* A snapshot of now: one reference, the caller's. */
static inline struct snapshot *program_snapshot(struct program *p)
{
	struct snapshot *s = malloc(sizeof(*s) + p->nsites * sizeof(struct snap_site) +
				    p->nthreads * sizeof(struct snap_thread) + sizeof(p->wrong));
	struct snap_site *sites = (struct snap_site *)(s + 1);
	struct snap_thread *threads;

	*s = p->head;
	s->refs = 1;
	s->nsites = 0;
	for (size_t i = 0; i < p->nsites; i++)
		if (!p->gone[i] && p->sites[i].kind == SNAP_HEAP)
			sites[s->nsites++] = p->sites[i];
	s->sites = sites;
	s->mapped = sites + s->nsites;
	/* In no order of ids. */
	for (size_t i = p->nsites; i-- > 0;)
		if (!p->gone[i] && p->sites[i].kind != SNAP_HEAP)
			sites[s->nsites + s->nmapped++] = p->sites[i];
	threads = (struct snap_thread *)(sites + s->nsites + s->nmapped);
	s->threads = memcpy(threads, p->threads, p->nthreads * sizeof(*p->threads));
	s->nthreads = p->nthreads;
	if (p->has_wrong)
		s->wrong = memcpy(threads + p->nthreads, p->wrong, sizeof(p->wrong));
	s->nwrong = p->nwrong;
	return s;
}

#define SAME(member) CHECK_INT(a->member, b->member)

static inline uint64_t stack_pc(const struct stack *s)
{
	return s ? snapshot_frame(s, 0)->pc : 0;
}

static inline void wrong_compare(const struct snap_wrong_free *a, const struct snap_wrong_free *b)
{
	SAME(kind);
	SAME(count);
	SAME(bytes);
	SAME(addr);
	SAME(want);
	SAME(site);
	SAME(alloc_site);
	SAME(first_site);
	CHECK_INT(stack_pc(a->stack), stack_pc(b->stack));
	CHECK_INT(stack_pc(a->alloc_stack), stack_pc(b->alloc_stack));
	CHECK_INT(stack_pc(a->first_stack), stack_pc(b->first_stack));
	CHECK_STR(a->freed_by, b->freed_by);
	if (b->alloc_site)
		CHECK_STR(a->allocated_by, b->allocated_by);
	if (b->first_site)
		CHECK_STR(a->first_freed_by, b->first_freed_by);
}

static inline void site_compare(const struct snap_site *a, const struct snap_site *b)
{
	SAME(id);
	SAME(allocs);
	SAME(frees);
	SAME(alloc_bytes);
	SAME(live_bytes);
	SAME(live_blocks);
	SAME(temporary);
	SAME(peak_live_bytes);
	SAME(at_peak_bytes);
	SAME(at_peak_blocks);
	SAME(error.live_bytes);
	SAME(error.alloc_bytes);
	SAME(kind);
	CHECK_STR(a->alloc_function, b->alloc_function);
}

static inline void thread_compare(const struct snap_thread *a, const struct snap_thread *b)
{
	SAME(slot);
	SAME(tid);
	SAME(allocs);
	SAME(frees);
	SAME(alloc_bytes);
	SAME(foreign_bytes);
	CHECK_STR(a->name, b->name);
}

/* `a` is what came back of `b`. */
static inline void snapshot_compare(const struct snapshot *a, const struct snapshot *b)
{
	SAME(uptime_ns);
	SAME(now_realtime_ns);
	SAME(state);
	SAME(exit_status);
	SAME(totals.allocs);
	SAME(totals.live_bytes);
	SAME(totals.live_blocks);
	SAME(totals.free_bytes);
	SAME(totals.peak_live_bytes);
	SAME(totals.peak_ns);
	SAME(totals.at_peak_bytes);
	SAME(totals.has_at_peak);
	SAME(proc.rss);
	SAME(proc.minor_faults);
	SAME(proc.threads);
	SAME(proc.valid);
	CHECK(memcmp(a->sizes, b->sizes, sizeof(a->sizes)) == 0);
	CHECK(memcmp(a->lifetimes, b->lifetimes, sizeof(a->lifetimes)) == 0);
	CHECK_STR(a->notice ? a->notice : "", b->notice ? b->notice : "");
	SAME(nthreads);
	for (size_t i = 0; i < a->nthreads && i < b->nthreads; i++)
		thread_compare(&a->threads[i], &b->threads[i]);
	SAME(nsites);
	for (size_t i = 0; i < a->nsites && i < b->nsites; i++)
		site_compare(&a->sites[i], &b->sites[i]);
	SAME(nmapped);
	for (size_t i = 0; i < a->nmapped && i < b->nmapped; i++)
		site_compare(&a->mapped[i], &b->mapped[b->nmapped - 1 - i]);
	SAME(totals.has_wrong);
	SAME(totals.wrong_frees[SNAP_WRONG_DOUBLE]);
	CHECK_INT(a->wrong != NULL, b->wrong != NULL);
	SAME(nwrong);
	for (size_t i = 0; i < a->nwrong && i < b->nwrong; i++)
		wrong_compare(&a->wrong[i], &b->wrong[i]);
}

#endif
