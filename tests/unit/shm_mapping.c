/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much of the address space a segment takes, and what happens where there is none: limits,
 * something of the program's in the way, functions that a signal handler leaves for good, threads
 * that all need the next step at once.
 */
#include "tests/unit/shm_fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <ucontext.h>
#include "shm/live_direct.h"
#include "shm/live_overflow.h"
#include "shm/live.h"
#include "shm/private.h"
#include "shm/mapping.h"
#include "shm/stack.h"

#define MB (1ull << 20)

/* A sanitizer's shadow is larger than any limit, and grows by itself; and its run-time library
 * cannot be left by a handler. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* VmSize. */
static uint64_t address_space(void)
{
	char line[256];
	unsigned long long kilobytes = 0;
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmSize: %llu", &kilobytes) == 1)
			break;
	fclose(f);
	return kilobytes * 1024;
}

/* What is mapped of the fixture's file, by the kernel's word. */
static uint64_t file_mapped(void)
{
	unsigned long long start, end;
	uint64_t bytes = 0;
	char line[512];
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "/memfd:segment") && sscanf(line, "%llx-%llx", &start, &end) == 2)
			bytes += end - start;
	fclose(f);
	return bytes;
}

static uint64_t known_mapped(const struct segment *s)
{
	struct mapping_range range[HT_REGION_COUNT];
	unsigned n = mapping_ranges(s, range);
	uint64_t bytes = 0;

	for (unsigned i = 0; i < n; i++)
		bytes += range[i].bytes;
	return bytes;
}

static uint64_t address(uint64_t i)
{
	return 0x10000000 + i * 64;
}

static unsigned put(const struct segment *s, uint64_t i)
{
	struct live_block b = { .size = 40, .tick = i % 1000, .counter = 7 };
	struct live_block old[LIVE_MISSED_MAX];

	return live_insert(s, address(i), &b, old);
}

static bool take(const struct segment *s, uint64_t i)
{
	struct live_block b;

	return live_remove(s, address(i), &b) && b.size == 40 && b.tick == i % 1000;
}

static uint64_t blocks_in(const struct segment *s)
{
	struct live_overflow_probe p;

	live_overflow_probe_length(s, &p);
	return p.blocks + live_direct_count(s);
}

static uint32_t intern(const struct segment *s, uint64_t seed)
{
	uint64_t pcs[20];
	uint32_t modules[20];
	struct stack_trace t = { HT_FN_MALLOC, 20, false, pcs, modules, NULL, 0 };

	for (uint32_t i = 0; i < 20; i++) {
		pcs[i] = seed << 12 | i;
		modules[i] = 1;
	}
	return stack_intern(s, &t);
}

/* The same; 0 unless the stack has a site of its own. */
static uint32_t intern_own(const struct segment *s, uint64_t seed)
{
	uint32_t site = intern(s, seed);

	return stack_site(s, site)->flags & HT_SITE_ANCESTOR ? 0 : site;
}

/* ---- how much ---- */

TEST(a_small_program_pays_little)
{
	uint64_t before = address_space(), after;
	struct fixture f;

	fixture_open(&f, SEGMENT_FULL);
	for (uint64_t i = 0; i < 1000; i++)
		CHECK_INT(put(&f.s, i), 0);
	after = address_space();
	CHECK(SANITIZED || after - before < 20 * MB);
	CHECK_INT(file_mapped(), known_mapped(&f.s));
	fixture_close(&f);
	CHECK_INT(file_mapped(), 0);
	CHECK(SANITIZED || address_space() <= before);
}

/* A file that small programs do not fill stays as large as it was: offsets and limits have not
 * changed. What is in use is mapped, and at most a quarter more. */
TEST(in_proportion_to_what_is_in_use)
{
	enum { BLOCKS = 4000000, STACKS = 100000 };
	struct fixture f;
	uint64_t used, bad = 0;
	struct stat st;

	fixture_open(&f, SEGMENT_FULL);
	for (uint64_t i = 0; i < BLOCKS; i++)
		bad += put(&f.s, i) != 0;
	for (uint64_t i = 1; i <= STACKS; i++)
		bad += intern(&f.s, i) != i;
	CHECK_INT(bad, 0);
	/* Two tables of a word for 64 bytes of address space, in whole pieces; nodes and sites. */
	used = (BLOCKS * 64ull / HT_PIECE_BYTES + 2) * sizeof(struct ht_piece) +
	       STACKS * (21 * sizeof(struct ht_node) + sizeof(struct ht_site));
	CHECK(known_mapped(&f.s) < used / 4 * 5 + 12 * MB);
	CHECK_INT(file_mapped(), known_mapped(&f.s));
	CHECK(fstat(f.fd, &st) == 0 && (uint64_t)st.st_size > 16000 * MB);
	for (uint64_t i = 0; i < BLOCKS; i++)
		bad += !take(&f.s, i);
	CHECK_INT(bad, 0);
	CHECK_INT(blocks_in(&f.s), 0);
	fixture_close(&f);
	CHECK_INT(file_mapped(), 0);
}

/* To the last byte of each region. */
TEST(every_region_can_be_had_whole)
{
	struct fixture f;

	fixture_open(&f, SEGMENT_FULL);
	for (unsigned i = 0; i < HT_REGION_COUNT; i++) {
		const struct ht_region *r = &f.s.header->region[i];

		CHECK_INT(mapping_take(&f.s, r->offset + r->bytes - 1, 1), 0);
		*(volatile char *)segment_at(&f.s, r->offset + r->bytes - 1) = 1;
	}
	CHECK_INT(known_mapped(&f.s), f.s.bytes);
	CHECK_INT(file_mapped(), f.s.bytes);
	fixture_close(&f);
	CHECK_INT(file_mapped(), 0);
}

/* More than there are places far away. */
TEST(many_at_once)
{
	enum { MANY = 24 };
	struct fixture f[MANY];

	for (unsigned i = 0; i < MANY; i++)
		fixture_open(&f[i], i % 2 ? SEGMENT_FULL : SEGMENT_SMALL);
	for (unsigned i = 0; i < MANY; i++)
		for (uint64_t k = 0; k < 2000; k++)
			CHECK_INT(put(&f[i].s, k * 1000), 0);
	for (unsigned i = 0; i < MANY; i++) {
		CHECK_INT(blocks_in(&f[i].s), 2000);
		fixture_close(&f[i]);
	}
	CHECK_INT(file_mapped(), 0);
}

/* ---- where there is none ---- */

static void limit_now(uint64_t more)
{
	struct rlimit limit;

	CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
	limit.rlim_cur = more == RLIM_INFINITY ? limit.rlim_max : address_space() + more;
	CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

/* A program lowers its own limit while it runs, and raises it again. */
static void limited_while_it_runs(void)
{
	enum { BLOCKS = 3000000, STACKS = 300000 };
	static bool in[BLOCKS];
	struct fixture f;
	uint64_t held = 0, bad = 0, stacks = 0;

	fixture_open(&f, SEGMENT_FULL);
	limit_now(24 * MB);
	for (uint64_t i = 0; i < BLOCKS; i++) {
		unsigned rc = put(&f.s, i);

		bad += rc != 0 && rc != LIVE_REFUSED;
		in[i] = rc == 0;
		held += rc == 0;
	}
	CHECK(held > 500000 && held < BLOCKS);
	CHECK(f.s.header->space_refused > 0);
	CHECK(f.s.header->space_refused <= f.s.header->commit_failed);
	while (stacks < STACKS && intern_own(&f.s, stacks + 1) != 0)
		stacks++;
	CHECK(stacks < STACKS && f.s.header->nodes_refused > 0);
	CHECK_INT(file_mapped(), known_mapped(&f.s));
	for (uint64_t i = 0; i < BLOCKS; i++)
		bad += take(&f.s, i) != in[i];
	CHECK_INT(bad, 0);
	CHECK_INT(blocks_in(&f.s), 0);
	limit_now(RLIM_INFINITY);
	/* The kernel is not asked each time: not all of the next thousand need be kept. */
	for (uint64_t i = 0; i < 2048; i++)
		intern(&f.s, STACKS + i);
	CHECK(intern_own(&f.s, STACKS + 3000) != 0);
	fixture_close(&f);
}

TEST(a_limit_that_comes_later)
{
	if (SANITIZED)
		SKIP("a sanitizer's shadow is larger than the limit");
	fixture_in_child(limited_while_it_runs);
}

/* One that was there first: a quarter of it, and no more, however much is needed. */
static void limited_from_the_start(void)
{
	struct rlimit limit = { 200 * MB, 200 * MB };
	uint64_t refused = 0;
	struct fixture f;

	CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
	fixture_open(&f, SEGMENT_FULL);
	for (uint64_t i = 0; i < 6000000; i++)
		refused += put(&f.s, i) == LIVE_REFUSED;
	CHECK(refused > 0);
	CHECK(known_mapped(&f.s) <= 50 * MB);
	CHECK(known_mapped(&f.s) > 35 * MB);
	CHECK_INT(blocks_in(&f.s), 6000000 - refused);
	fixture_close(&f);
}

TEST(a_quarter_of_a_limit)
{
	if (SANITIZED)
		SKIP("a sanitizer's shadow is larger than the limit");
	fixture_in_child(limited_from_the_start);
}

/* The end of what is mapped of a region. */
static char *end_of(const struct segment *s, enum ht_region_id region)
{
	return segment_at(s, s->part[region].mapped);
}

/* Something of the program's lies where a table would grow: it stays as it is, and the table has
 * the room that it has, while others grow. */
TEST(something_in_the_way)
{
	struct fixture f;
	uint64_t refused = 0, known = 0;
	char *theirs;

	fixture_open(&f, SEGMENT_FULL);
	theirs = mmap(end_of(&f.s, HT_REGION_NODES), 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	CHECK(theirs == end_of(&f.s, HT_REGION_NODES));
	memset(theirs, 0x5a, 4096);
	for (uint64_t i = 1; i < 5000; i++)
		if (intern_own(&f.s, i) != 0)
			known++;
		else
			refused++;
	CHECK(known > 100 && refused > 100);
	CHECK(f.s.header->space_refused > 0);
	for (uint64_t i = 0; i < 200000; i++)
		CHECK_INT(put(&f.s, i * 10), 0);
	for (unsigned i = 0; i < 4096; i++)
		CHECK(theirs[i] == 0x5a);
	CHECK_INT(mprotect(theirs, 4096, PROT_READ | PROT_WRITE), 0);
	munmap(theirs, 4096);
	fixture_close(&f);
	CHECK_INT(file_mapped(), 0);
}

/* ---- steps that nobody noted ---- */

/* The next step of a region, taken as by a thread that is then stopped for good. */
static uint64_t step_unnoted(struct segment *s, enum ht_region_id region)
{
	struct segment copy = *s;

	CHECK_INT(mapping_reach(&copy, copy.part[region].mapped, 1), 0);
	return copy.part[region].mapped;
}

TEST(a_step_that_nobody_noted)
{
	struct fixture f;
	uint64_t end, next;

	fixture_open(&f, SEGMENT_FULL);
	end = f.s.part[HT_REGION_NODES].mapped;
	next = step_unnoted(&f.s, HT_REGION_NODES);
	CHECK(next > end);
	CHECK_INT(f.s.part[HT_REGION_NODES].mapped, end);
	CHECK_INT(mapping_take(&f.s, end, 1), 0);
	*(volatile char *)segment_at(&f.s, end) = 1;
	CHECK_INT(f.s.part[HT_REGION_NODES].mapped, next);
	CHECK_INT(mapping_reach(&f.s, next, 1), 0);
	CHECK_INT(file_mapped(), known_mapped(&f.s));
	fixture_close(&f);
	CHECK_INT(file_mapped(), 0);
}

/* In a child of fork the parent's segment goes as a whole. */
TEST(a_step_that_nobody_noted_before_a_fork)
{
	struct mapping_range range[HT_REGION_COUNT];
	struct fixture f;

	fixture_open(&f, SEGMENT_FULL);
	step_unnoted(&f.s, HT_REGION_NODES);
	step_unnoted(&f.s, HT_REGION_RINGS);
	CHECK(file_mapped() > known_mapped(&f.s));
	CHECK_INT(mapping_ranges_forked(&f.s, range), HT_REGION_COUNT);
	CHECK_INT(file_mapped(), known_mapped(&f.s));
	fixture_close(&f);
	CHECK_INT(file_mapped(), 0);
}

#ifdef __x86_64__
/* The first visits of each instruction: of a loop's, not all. */
enum { STEPS_MAX = 1 << 16, VISITS = 8, FEW = 16, INT3 = 0xcc, TRAP_FLAG = 0x100 };

static sigjmp_buf way_out;
static uintptr_t step_at[STEPS_MAX]; /* the instruction at each step of one run */
static volatile uint32_t steps;
static uint8_t *volatile leave_at; /* has a breakpoint; NULL: each step is noted */
static volatile uint8_t leave_byte; /* that was there before */
static volatile uint32_t leave_visits;

static void breakpoint_set(uint8_t *at, bool set)
{
	uint8_t *page = (uint8_t *)((uintptr_t)at & ~(uintptr_t)4095);

	CHECK(mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
	*at = set ? INT3 : leave_byte;
}

/* Steps over the breakpoint's instruction, until the visit at which to leave. */
static void on_trap(int signal, siginfo_t *info, void *context)
{
	greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint8_t *at = leave_at;

	if (!at) {
		if (steps < STEPS_MAX)
			step_at[steps++] = (uintptr_t)reg[REG_RIP];
	} else if (*at == INT3) {
		*at = leave_byte;
		if (--leave_visits == 0)
			siglongjmp(way_out, 1);
		reg[REG_RIP] = (greg_t)(uintptr_t)at;
		reg[REG_EFL] |= TRAP_FLAG;
	} else {
		*at = INT3;
		reg[REG_EFL] &= ~TRAP_FLAG;
	}
}

/* Notes the address of each instruction that the first block of a piece takes. */
static void put_and_note(const struct segment *s, uint64_t i)
{
	leave_at = NULL;
	__asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" : : : "memory", "cc");
	put(s, i);
	__asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" : : : "memory", "cc");
}

/* The first block of a piece whose mapping has to grow. False: left on the way. */
static bool put_and_leave(const struct segment *s, uint64_t i, uint8_t *at, uint32_t visit)
{
	leave_at = at;
	leave_byte = *at;
	leave_visits = visit;
	if (sigsetjmp(way_out, 1) != 0)
		return false;
	breakpoint_set(at, true);
	put(s, i);
	breakpoint_set(at, false);
	return true;
}

/* How often a step's instruction was visited until then. */
static uint32_t visit_of(uint32_t step)
{
	uint32_t visits = 0;

	for (uint32_t i = 0; i <= step; i++)
		visits += step_at[i] == step_at[step];
	return visits;
}

/* The first block of a piece after a handler left it, and the next one. */
static uint64_t bad_after(const struct fixture *f, uint32_t piece)
{
	const uint64_t first = piece * (HT_PIECE_BYTES / 64) + 1;
	uint64_t bad = 0;

	bad += put(&f->s, first) > 1;
	bad += put(&f->s, first + 1) != 0;
	bad += f->s.header->pieces[piece] != 0;
	bad += !take(&f->s, first) || !take(&f->s, first + 1);
	return bad;
}

/* Whatever instruction a handler leaves at, all goes on, with what was there before. */
TEST(left_at_every_instruction)
{
	struct sigaction trap = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO }, before;
	uint64_t left = 0, bad = 0, chosen = 0;
	uint32_t piece = 1;
	struct fixture f;

	if (SANITIZED)
		SKIP("a sanitizer's functions cannot be left");
	sigaction(SIGTRAP, &trap, &before);
	fixture_open(&f, SEGMENT_FULL);
	put_and_note(&f.s, piece * (HT_PIECE_BYTES / 64) + 1);
	bad += bad_after(&f, piece);
	CHECK(steps > 0 && steps < STEPS_MAX);
	for (uint32_t i = 0; i < steps; i++) {
		uint32_t visit = visit_of(i);

		if (visit > VISITS)
			continue;
		if (++piece > FEW) { /* in a fresh one there is room for more */
			fixture_close(&f);
			fixture_open(&f, SEGMENT_FULL);
			piece = 1;
		}
		left += !put_and_leave(
			&f.s, piece * (HT_PIECE_BYTES / 64) + 1, (uint8_t *)step_at[i], visit);
		bad += bad_after(&f, piece);
		chosen++;
	}
	CHECK_INT(bad, 0);
	CHECK(left > chosen / 10 * 9); /* a later piece need not take each step of the first */
	CHECK_INT(blocks_in(&f.s), 0);
	CHECK_INT(f.s.header->commit_failed, 0);
	CHECK_INT(file_mapped(), known_mapped(&f.s));
	fixture_close(&f);
	sigaction(SIGTRAP, &before, NULL);
	CHECK_INT(file_mapped(), 0);
}
#endif

/* ---- threads ---- */

enum { THREADS = 8, EACH = 400000 };

struct worker {
	struct segment *s;
	pthread_barrier_t *start;
	uint64_t number, bad;
};

/* All take the next blocks, the next stacks, at the same time. */
static void *work(void *arg)
{
	struct worker *w = arg;

	pthread_barrier_wait(w->start);
	for (uint64_t i = 0; i < EACH; i++) {
		w->bad += put(w->s, i * THREADS + w->number) != 0;
		if (i % 16 == 0)
			w->bad += intern_own(w->s, 1 + i / 16 * THREADS + w->number) == 0;
	}
	return NULL;
}

TEST(threads_that_all_grow_it)
{
	pthread_barrier_t start;
	pthread_t thread[THREADS];
	struct worker worker[THREADS];
	uint64_t bad = 0;
	struct fixture f;

	fixture_open(&f, SEGMENT_FULL);
	pthread_barrier_init(&start, NULL, THREADS);
	for (unsigned i = 0; i < THREADS; i++) {
		worker[i] = (struct worker){ &f.s, &start, i, 0 };
		CHECK_INT(pthread_create(&thread[i], NULL, work, &worker[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		bad += worker[i].bad;
	}
	CHECK_INT(bad, 0);
	CHECK_INT(blocks_in(&f.s), (uint64_t)THREADS * EACH);
	CHECK_INT(f.s.header->commit_failed, 0);
	CHECK_INT(file_mapped(), known_mapped(&f.s));
	/* Each piece once. */
	for (uint32_t i = 0; f.s.header->pieces[i] != 0; i++)
		for (uint32_t k = 0; k < i; k++)
			bad += f.s.header->pieces[k] == f.s.header->pieces[i];
	for (uint64_t i = 0; i < (uint64_t)THREADS * EACH; i++)
		bad += !take(&f.s, i);
	CHECK_INT(bad, 0);
	pthread_barrier_destroy(&start);
	fixture_close(&f);
	CHECK_INT(file_mapped(), 0);
}

int main(void)
{
	RUN(a_small_program_pays_little);
	RUN(in_proportion_to_what_is_in_use);
	RUN(every_region_can_be_had_whole);
	RUN(many_at_once);
	RUN(a_limit_that_comes_later);
	RUN(a_quarter_of_a_limit);
	RUN(something_in_the_way);
	RUN(a_step_that_nobody_noted);
	RUN(a_step_that_nobody_noted_before_a_fork);
#ifdef __x86_64__
	RUN(left_at_every_instruction);
#endif
	RUN(threads_that_all_grow_it);
	return check_end();
}
