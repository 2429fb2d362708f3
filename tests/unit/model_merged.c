/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several processes as one: invented snapshots, in which each figure is known. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/model/merged.h"
#include "tests/check.h"

#define SITES	 3
#define SECOND	 UINT64_C(1000000000)
#define BUILD_ID "c0ffee"

/* A process: its code is at `bias`, and its snapshots are made and dropped as a session's are. */
struct process {
	struct snap_module program, library;
	struct frame frame[SITES][4];
	struct stack stack[SITES];
	struct snap_site site[SITES], mapped;
	const char *exe;
	unsigned references;
};

static struct merged *m;
static uint64_t clock_ns;

static void process_release(void *owner)
{
	((struct process *)owner)->references--;
}

/* Site i: main calls a library, at offsets that depend on i. Names are not known yet. */
static void process_make(struct process *p, const char *exe, uint64_t bias)
{
	memset(p, 0, sizeof(*p));
	p->exe = exe;
	p->program = (struct snap_module){ .path = exe, .name = exe + 1, .build_id = "" };
	p->library = (struct snap_module){
		.path = "/lib/libx.so", .name = "libx.so", .build_id = BUILD_ID
	};
	for (uint32_t i = 0; i < SITES; i++) {
		p->frame[i][0] = (struct frame){
			.pc = bias * 3 + i, .offset = 0x100 + i, .module = &p->library
		};
		p->frame[i][1] = (struct frame){
			.pc = bias + 0x40 + i, .offset = 0x40 + i, .module = &p->program
		};
		p->stack[i] = (struct stack){ .frames = p->frame[i], .nframes = 2 };
		p->site[i] = (struct snap_site){
			.id = i + 7, .alloc_function = "malloc", .stack = &p->stack[i]
		};
	}
}

/* Its frames have names; the library's code has another function inlined. */
static void process_name(struct process *p)
{
	for (uint32_t i = 0; i < SITES; i++) {
		struct frame outer = p->frame[i][0], program = p->frame[i][p->stack[i].nframes - 1];

		p->frame[i][0] = (struct frame){
			.function = "inner", .module = &p->library, .inlined = true
		};
		outer.function = "outer";
		program.function = "main";
		program.file = "main.c";
		program.line = 10 + i;
		p->frame[i][1] = outer;
		p->frame[i][2] = program;
		p->stack[i].nframes = 3;
		p->stack[i].resolved = true;
		p->stack[i].title = 2;
		p->frame[i][0].hidden = p->frame[i][1].hidden = true;
	}
}

/* `live` bytes in blocks of one byte at each site, of twice as many. */
static struct snapshot *process_tick(struct process *p, uint64_t live)
{
	struct snapshot *s = calloc(1, sizeof(*s));

	for (uint32_t i = 0; i < SITES; i++) {
		struct snap_site *t = &p->site[i];

		t->live_bytes = t->live_blocks = live * (i + 1);
		t->allocs = t->alloc_bytes = 2 * t->live_bytes;
		t->frees = t->live_bytes;
		t->peak_live_bytes = t->live_bytes + 5;
		t->temporary = 1;
		s->totals.live_bytes += t->live_bytes;
		s->totals.live_blocks += t->live_blocks;
		s->totals.allocs += t->allocs;
		s->totals.frees += t->frees;
		s->totals.alloc_bytes += t->alloc_bytes;
		s->totals.free_bytes += t->frees;
	}
	s->refs = 1;
	s->owner = p;
	s->release = process_release;
	p->references++;
	s->exe = p->exe;
	s->command = p->exe;
	s->argv = &p->exe;
	s->argc = 1;
	s->pid = 100;
	s->uptime_ns = clock_ns;
	s->state = SNAP_RUNNING;
	s->totals.peak_live_bytes = s->totals.live_bytes + 5;
	s->sizes[0] = (struct snap_size){ live, live, 2 * live };
	s->lifetimes[1] = live;
	s->proc = (struct snap_proc){ .rss = 1000,
		.pss = 500,
		.have_pss = true,
		.threads = 2,
		.minor_faults = 7,
		.valid = true };
	s->sites = p->site;
	s->nsites = SITES;
	return s;
}

static void add(struct process *p, uint64_t live, bool gone)
{
	struct snapshot *s = process_tick(p, live);

	CHECK_INT(merged_add(m, s, gone), 0);
	snapshot_unref(s);
}

static struct process one, two, other, launched;

static struct snapshot *end(void)
{
	struct snapshot *s = process_tick(&launched, 0), *made;

	made = merged_end(m, s, clock_ns += SECOND);
	snapshot_unref(s);
	return made;
}

static const struct snap_site *with_offset(const struct snapshot *s, uint64_t offset)
{
	for (size_t i = 0; i < s->nsites; i++)
		if (snapshot_frame(s->sites[i].stack, s->sites[i].stack->nframes - 1)->offset ==
			offset)
			return &s->sites[i];
	return NULL;
}

static void begin(void)
{
	clock_ns = SECOND;
	process_make(&one, "/bin/one", 0x1000000);
	process_make(&two, "/bin/one", 0x7770000);
	process_make(&launched, "/bin/one", 0);
	process_make(&other, "/bin/other", 0x1000000);
	m = merged_new();
}

static void finish(void)
{
	merged_close(m);
	CHECK_INT(one.references, 0);
	CHECK_INT(two.references, 0);
	CHECK_INT(other.references, 0);
}

/* Code is wherever the loader puts it; another program's is another's, at the same offsets, too. */
TEST(sites_of_one_program_are_one)
{
	const struct snap_site *site;
	struct snapshot *s;

	begin();
	merged_begin(m);
	add(&one, 10, false);
	add(&two, 100, false);
	add(&other, 1000, false);
	s = end();
	CHECK_INT(s->nsites, 2 * SITES);
	CHECK_INT(s->processes, 3);
	CHECK_INT(s->totals.live_bytes, 6 * 1110);
	CHECK_INT(s->totals.allocs, 12 * 1110);
	CHECK_INT(s->proc.rss, 3000);
	CHECK_INT(s->proc.pss, 1500);
	CHECK(s->proc.have_pss);
	CHECK_INT(s->proc.threads, 6);
	CHECK_INT(s->sizes[0].live_bytes, 1110);
	CHECK_INT(s->lifetimes[1], 1110);
	site = with_offset(s, 0x41);
	CHECK(site != NULL);
	if (site) {
		CHECK_INT(site->live_bytes, 2 * 110);
		CHECK_INT(site->live_blocks, 2 * 110);
		CHECK_INT(site->allocs, 4 * 110);
		CHECK_INT(site->temporary, 2);
		CHECK_STR(site->alloc_function, "malloc");
		CHECK_INT(site->stack->nframes, 2);
		CHECK(site->peak_live_bytes >= 2 * 110);
	}
	snapshot_unref(s);
	finish();
}

/* What it had allocated stays counted, what it held is freed; at its last tick and after it. */
TEST(one_that_ends_frees_what_it_held)
{
	struct snapshot *s;

	begin();
	merged_begin(m);
	add(&one, 10, false);
	add(&two, 100, false);
	snapshot_unref(end());
	for (int round = 0; round < 2; round++) {
		merged_begin(m);
		add(&one, 10, false);
		if (round == 0)
			add(&two, 100, true);
		s = end();
		CHECK_INT(s->processes, 1);
		CHECK_INT(s->totals.live_bytes, 6 * 10);
		CHECK_INT(s->totals.allocs, 12 * 110);
		CHECK_INT(s->totals.frees, 12 * 110 - 6 * 10);
		CHECK_INT(s->totals.peak_live_bytes, 6 * 110);
		CHECK_INT(s->sizes[0].allocs, 220);
		CHECK_INT(s->sizes[0].live_blocks, 10);
		CHECK_INT(s->proc.minor_faults, 14);
		CHECK_INT(with_offset(s, 0x42)->live_bytes, 30);
		CHECK_INT(with_offset(s, 0x42)->live_blocks, 30);
		CHECK_INT(with_offset(s, 0x42)->allocs, 6 * 110);
		CHECK_INT(with_offset(s, 0x42)->peak_live_bytes, 3 * 110);
		snapshot_unref(s);
	}
	CHECK_INT(two.references, 0); /* nothing holds it any more */
	finish();
}

/* Each process has a clock of its own, and the first of equal peaks is the peak. */
TEST(the_peak_is_on_the_launchs_clock)
{
	struct snapshot *s;

	begin();
	for (int round = 0; round < 3; round++) {
		merged_begin(m);
		s = process_tick(&one, 100);
		s->start_realtime_ns = 70 * SECOND;
		s->totals.peak_ns = 4 * SECOND;
		s->totals.peak_live_bytes = 5000;
		CHECK_INT(merged_add(m, s, false), 0);
		snapshot_unref(s);
		s = end();
		CHECK_INT(s->totals.peak_live_bytes, 5000);
		CHECK_INT(s->totals.peak_ns, 74 * SECOND);
		snapshot_unref(s);
	}
	merged_begin(m);
	add(&one, 2000, false);
	s = end();
	CHECK_INT(s->totals.peak_live_bytes, 12005);
	snapshot_unref(s);
	finish();
}

/* Names come later, and outlive the process that they came from. */
TEST(names)
{
	const struct snap_site *site;
	struct snapshot *s;

	begin();
	merged_begin(m);
	add(&one, 10, false);
	s = end();
	site = with_offset(s, 0x40);
	CHECK(!site->stack->resolved && !snapshot_frame(site->stack, 0)->function);
	snapshot_unref(s);
	process_name(&one);
	merged_begin(m);
	add(&one, 10, false);
	snapshot_unref(end());
	merged_begin(m);
	s = end();
	process_make(&one, "/gone", 0); /* and its memory */
	memset(one.frame, 0x5a, sizeof(one.frame));
	site = with_offset(s, 0x40);
	CHECK(site && site->stack->resolved);
	if (site) {
		CHECK_INT(site->stack->nframes, 3);
		CHECK(snapshot_frame(site->stack, 0)->inlined);
		CHECK_STR(snapshot_frame(site->stack, 0)->function, "inner");
		CHECK_STR(snapshot_frame(site->stack, 1)->function, "outer");
		CHECK_STR(snapshot_frame(site->stack, 2)->function, "main");
		CHECK_STR(snapshot_frame(site->stack, 2)->file, "main.c");
		CHECK_INT(snapshot_frame(site->stack, 2)->line, 10);
		CHECK_STR(snapshot_frame(site->stack, 2)->module->path, "/bin/one");
		CHECK_STR(snapshot_frame(site->stack, 1)->module->build_id, BUILD_ID);
		CHECK_INT(site->stack->title, 2);
	}
	snapshot_unref(s);
	finish();
}

/* A process whose names are there already comes to a site that was named without them. */
TEST(named_at_first)
{
	struct snapshot *s;

	begin();
	process_name(&two);
	merged_begin(m);
	add(&one, 10, false);
	add(&two, 10, false);
	s = end();
	CHECK_INT(s->nsites, SITES);
	CHECK(with_offset(s, 0x40)->stack->resolved);
	snapshot_unref(s);
	finish();
}

/* Without an object file, functions are the same that have the same name. */
TEST(code_outside_any_file)
{
	static const struct snap_module none = { .path = "", .name = "", .build_id = "" };
	struct snapshot *s;

	begin();
	for (uint32_t i = 0; i < SITES; i++) {
		one.frame[i][0].module = two.frame[i][0].module = &none;
		one.frame[i][0].function = two.frame[i][0].function = "(stack not recorded)";
		one.frame[i][0].offset = 1;
	}
	merged_begin(m);
	add(&one, 1, false);
	add(&two, 1, false);
	s = end();
	CHECK_INT(s->nsites, SITES);
	snapshot_unref(s);
	finish();
}

struct visits {
	const struct snapshot *of[4];
	uint32_t site[4], count;
};

static void visit(void *ctx, const struct snapshot *of, uint32_t site)
{
	struct visits *v = ctx;

	v->of[v->count] = of;
	v->site[v->count++] = site;
}

TEST(which_sites_are_in_it)
{
	struct visits v = { .count = 0 };
	struct snapshot *s;

	begin();
	merged_begin(m);
	add(&one, 1, false);
	add(&two, 1, false);
	s = end();
	merged_visit(m, with_offset(s, 0x41)->id, visit, &v);
	CHECK_INT(v.count, 2);
	CHECK_INT(v.site[0], 8);
	CHECK_INT(v.site[1], 8);
	CHECK(v.of[0]->owner == &one && v.of[1]->owner == &two);
	snapshot_unref(s);
	finish();
}

/* A snapshot may outlive it, as it may outlive a session. */
TEST(it_is_a_snapshot_like_others)
{
	struct snapshot *s, *next;

	begin();
	merged_begin(m);
	add(&one, 10, false);
	s = end();
	merged_begin(m);
	add(&one, 30, false);
	next = end();
	CHECK(s->owner == next->owner);
	CHECK_INT(with_offset(s, 0x41)->id, with_offset(next, 0x41)->id);
	CHECK_INT(next->tick_ns, SECOND);
	CHECK(next->totals.growth_bytes_per_s > 0);
	CHECK(with_offset(next, 0x41)->rate_bytes_per_s > 0);
	CHECK_INT(next->pid, 0);
	CHECK_STR(next->command, "/bin/one");
	CHECK_INT(next->argc, 1);
	CHECK_STR(next->argv[0], "/bin/one");
	CHECK(next->argv == s->argv && next->argv != &launched.exe);
	merged_close(m);
	snapshot_unref(s);
	CHECK_INT(with_offset(next, 0x41)->live_bytes, 60);
	CHECK(one.references > 0);
	snapshot_unref(next);
	CHECK_INT(one.references, 0);
	merged_close(NULL);
}

int main(void)
{
	RUN(sites_of_one_program_are_one);
	RUN(one_that_ends_frees_what_it_held);
	RUN(the_peak_is_on_the_launchs_clock);
	RUN(names);
	RUN(named_at_first);
	RUN(code_outside_any_file);
	RUN(which_sites_are_in_it);
	RUN(it_is_a_snapshot_like_others);
	return check_end();
}
