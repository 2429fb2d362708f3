/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text report of a small program, letter by letter, and what its parts do when there is less.
 */
#include <locale.h>
#include <stdlib.h>
#include "src/export/export.h"
#include "src/model/processes.h"
#include "tests/unit/canned.h"
#include "tests/check.h"

static const char golden[] =
	"heaptop 0.1.0 report\n"
	"\n"
	"command   ./server --port 80\n"
	"process   pid 4211, killed by SIGSEGV after 12m41s\n"
	"started   2023-11-14T22:13:20Z\n"
	"\n"
	"unfreed   134,606,848 bytes in 101,242 blocks\n"
	"peak      141,000,000 bytes at 9m12s\n"
	"traffic   197,615 allocs, 96,373 frees, 230,904,677 bytes allocated, 5 reallocs\n"
	"temporary 17 allocs (0.0%)\n"
	"memory    peak RSS 701.4M; faults 137,801 minor, 2 major\n"
	"\n"
	"size       blocks   bytes  allocs\n"
	"  <=     64  101.2k   96.4M  197.6k  ████████████████████\n"
	"  <=    256       0       0       7  ▏\n"
	"   >  32.0M       9   32.0M       8  ▏\n"
	"\n"
	"lifetime    frees\n"
	"   <   65us  90,000   93.4%  ██████████████████▋\n"
	"   <    1ms   6,000    6.2%  █▎\n"
	"   >  4h53m     373    0.4%  ▏\n"
	"\n"
	"2 of 4 call sites, by live\n"
	"\n"
	"  1. 101,048,320 bytes in 101,233 blocks (75.1%)\n"
	"     peak 97.0M, 197,600 allocs, 96,367 frees, 12 temporary\n"
	"     grows +1.1M/s over 9m36s, sure: rose all along; blocks over 4m48s old stay\n"
	"      at operator new\n"
	"      by std::allocator<int>::allocate(unsigned long) (new_allocator.h:137) [inlined]\n"
	"      by cache::Shard::insert(int) (cache.cc:214)\n"
	"      by main (main.cc:12)\n"
	"\n"
	"  2. 33,554,432 bytes in 8 blocks (24.9%)\n"
	"     peak 32.0M, 8 allocs, 0 frees, 0 temporary\n"
	"      at malloc\n"
	"      by arena_new (arena.c:118)\n"
	"      .. (outer frames are missing)\n";

static struct strbuf report;

static const char *text(const struct snapshot *s, const struct export_options *o)
{
	strbuf_reset(&report);
	export_text(&report, s, o);
	CHECK(!report.failed);
	return strbuf_text(&report);
}

static const struct export_options options = {
	.sort = COL_LIVE, .top = 2, .names = NAMES_FULL, .version = "0.1.0"
};

TEST(whole_report)
{
	CHECK_STR(text(&canned, &options), golden);
}

/* The time 0 of a program that was attached to is not its start. */
TEST(attached)
{
	struct snapshot s = canned;

	s.attach.how = SNAP_ATTACH_DONE;
	CHECK(strstr(text(&s, &options), "killed by SIGSEGV, recorded for 12m41s\n"
					 "attached  2023-11-14T22:13:20Z\n"));
	s.attach.how = SNAP_ATTACH_NOT;
	s.totals.has_before = true; /* by another viewer */
	CHECK(strstr(text(&s, &options), "\nattached  2023-"));
}

TEST(sampling)
{
	struct snap_site sites[2] = { canned_sites[0], canned_sites[1] };
	struct export_options o = options;
	struct snapshot s = canned;
	const char *t;

	sites[0].error = (struct snap_error){ 3000000, 4000, 5000, 6000 };
	s.sites = sites;
	s.nsites = 2;
	s.sampling = (struct snap_sampling){ .bytes = 512 << 10,
		.most = 512 << 10,
		.mark = { { 2000000000, 512 << 10 } },
		.marks = 1,
		.measured = true,
		.overhead = 0.0123,
		.passing = 0.005 };
	s.totals.error = (struct snap_error){ 4000000, 5000, 6000, 7000000 };
	t = text(&s, &o);
	CHECK(strstr(t, "\nsampling  sampled 1/512k ±3.0%; figures are estimates\n"
			"          from 2.0s on one block in 512k\n"
			"cost      recording takes 1.2% of the program's own time, of which "
			"unrecorded calls 0.5%\n") != NULL);
	CHECK(strstr(t, "\nunfreed   134,606,848 ±4,000,000 bytes in 101,242 ±5,000 blocks\n") !=
		NULL);
	CHECK(strstr(t, "\ntraffic   197,615 ±6,000 allocs, 96,373 frees, 230,904,677 ±7,000,000 "
			"bytes allocated") != NULL);
	CHECK(strstr(t, "\n  1. 101,048,320 ±3,000,000 bytes in 101,233 ±4,000 blocks (75.1%)\n") !=
		NULL);
	o.ascii = true;
	CHECK(strstr(text(&s, &o), "134,606,848 +-4,000,000 bytes") != NULL);
	CHECK(strstr(text(&s, &o), "sampled 1/512k +-3.0%") != NULL);
	/* Exact again, and before. */
	s.sampling.bytes = 0;
	CHECK(strstr(text(&s, &o), "exact, was sampled +-3.0%") != NULL);
	s.sampling = (struct snap_sampling){ .most = 0 };
	CHECK(strstr(text(&s, &o), "sampl") == NULL);
}

/* What was live at the program's peak. */
TEST(at_the_peak)
{
	struct snap_site sites[3] = { canned_sites[0], canned_sites[1], canned_sites[2] };
	struct snapshot s = canned;
	struct export_options o = options;
	const char *t;

	s.sites = sites;
	s.nsites = 3;
	sites[0].at_peak_bytes = 41000000;
	sites[0].at_peak_blocks = 12345;
	sites[2].at_peak_bytes = 100000000;
	sites[2].at_peak_blocks = 7;
	CHECK(strstr(text(&s, &o), "at the ") == NULL);
	s.totals.has_at_peak = true;
	s.totals.at_peak_bytes = 141000000;
	s.totals.at_peak_blocks = 12352;
	t = text(&s, &o);
	CHECK(strstr(t, "\npeak      141,000,000 bytes at 9m12s, in 12,352 blocks\n") != NULL);
	CHECK(strstr(t, "\nat the peak, 9m12s\n"
			"       bytes   share  blocks  call site\n"
			"  1.   95.4M   70.9%       7  ?? libfoo.so.3+0x4f1c0\n"
			"  2.   39.1M   29.1%  12,345  cache::Shard::insert(int) (cache.cc:214)\n"
			"\n2 of 3 call sites") != NULL);
	CHECK(strstr(t, "     at the program's peak 41,000,000 bytes in 12,345 blocks (29.1%)\n") !=
		NULL);
	CHECK(strstr(t, "     at the program's peak nothing\n") != NULL);
	/* Rows of one name say what differs. */
	sites[1] = sites[0];
	sites[1].alloc_function = "calloc";
	sites[1].at_peak_bytes = 1000000;
	o.top = 3;
	t = text(&s, &o);
	CHECK(strstr(t, "cache::Shard::insert(int) ‹operator new› (cache.cc:214)\n") != NULL);
	CHECK(strstr(t, "cache::Shard::insert(int) ‹calloc› (cache.cc:214)\n") != NULL);
	sites[1] = canned_sites[1];
	o.top = 1;
	CHECK(strstr(text(&s, &o), "  2.   39.1M") == NULL);
	/* Several threads made it. */
	s.totals.at_peak_bytes = 140000000;
	t = text(&s, &o);
	CHECK(strstr(t, "\npeak      141,000,000 bytes at 9m12s\n") != NULL);
	CHECK(strstr(t, "\nat the peak, 9m12s: the composition of 133.5M; the peak was 134.5M\n") !=
		NULL);
	/* What one thread had then is not known. */
	o.group = GROUP_THREAD;
	CHECK(strstr(text(&s, &o), "at the peak") == NULL);
}

TEST(top_and_order)
{
	struct export_options o = options;
	const char *t;

	o.top = 0;
	o.sort = COL_TEMP;
	o.reverse = true;
	t = text(&canned, &o);
	CHECK(strstr(t, "4 of 4 call sites, by temp, reversed") != NULL);
	CHECK(strstr(t, "  4. 101,048,320 bytes") != NULL);
	CHECK(strstr(t, "      by ?? libfoo.so.3+0x4f1c0\n") != NULL);
	CHECK(strstr(t, "      by ?? 0x7f1122334455\n") != NULL);
	o.top = 99;
	CHECK(strstr(text(&canned, &o), "4 of 4 call sites") != NULL);
}

TEST(losses_are_said_when_there_are_any)
{
	struct snapshot s = canned;
	const char *t;

	s.totals.lost_events = 1234; /* no figure here is made from events */
	CHECK(strstr(text(&s, &options), "loss") == NULL);
	s.totals.failed = 1;
	s.totals.unknown_frees = 2;
	s.totals.missed_frees = 6;
	s.totals.untracked_blocks = 3;
	s.totals.untracked_bytes = 4000;
	s.totals.truncated_stacks = 5;
	s.totals.ancestor_allocs = 70;
	t = text(&s, &options);
	CHECK(strstr(t, "\nloss      1 allocations failed") != NULL);
	CHECK(strstr(t, "\nloss      2 frees of blocks unknown to heaptop") != NULL);
	CHECK(strstr(t, "\nloss      6 frees were missed") != NULL);
	CHECK(strstr(t, "events") == NULL);
	CHECK(strstr(t, "\nloss      3 blocks could not be recorded") != NULL);
	CHECK(strstr(t, "\nloss      4,000 bytes in blocks") != NULL);
	CHECK(strstr(t, "\nloss      5 stacks are missing") != NULL);
	CHECK(strstr(t, "\nloss      70 allocations are counted at a caller") != NULL);
}

TEST(before_attach)
{
	struct snapshot s = canned;

	CHECK(strstr(text(&s, &options), "\nbefore") == NULL);
	s.totals.has_before = true;
	s.totals.before_found_blocks = 12695;
	s.totals.before_found_bytes = 9220216;
	s.totals.before_blocks = 1;
	s.totals.before_bytes = 2305054;
	CHECK(strstr(text(&s, &options),
		      "\nbefore    9,220,216 bytes in 12,695 blocks were there at attach; "
		      "2,305,054 in 1 still are (75.0% freed since)\n") != NULL);
}

TEST(mapped)
{
	struct snapshot s = canned;
	const char *t;

	s.totals.has_mapped = true; /* and nothing is mapped */
	CHECK(strstr(text(&s, &options), "mapped") == NULL);
	canned_mapped_add(&s);
	t = text(&s, &options);
	CHECK(strstr(
		t, "\nmapped    24,576 bytes in 3 mappings (peak 1.0M); 4 mapped, 1 unmapped\n"));
	CHECK(strstr(t, "\nmappings, by live bytes\n"
			"     live  blocks     peak    maps  kind  call site\n"
			"    16.0k       1    16.0k       1  shm   arena_new (arena.c:118)\n"
			"     8.0k       2     1.0M       3  mmap  cache::Shard::insert(int) "
			"(cache.cc:214)\n"));
	CHECK(strstr(t, "loss") == NULL);
	s.totals.mapped_blocks = 1;
	CHECK(strstr(text(&s, &options), "\nmapped    24,576 bytes in 1 mapping (peak "));
	s.totals.untracked_maps = 5;
	s.totals.untracked_map_bytes = 20480;
	s.totals.missed_unmap_bytes = 4096;
	t = text(&s, &options);
	CHECK(strstr(t, "\nloss      5 mappings of 20.0k could not be recorded\n"));
	CHECK(strstr(t, "\nloss      the unmapping of 4.0k was not recorded until the address was "
			"reused\n"));
}

TEST(pools)
{
	struct snapshot s = canned;
	struct snap_site site = canned_mapped[0];
	const char *t;

	site.kind = SNAP_POOL;
	s.mapped = &site;
	s.nmapped = 1;
	s.totals.has_mapped = true;
	s.totals.pool_bytes = 8192;
	s.totals.pool_blocks = 2;
	s.totals.pool_peak_bytes = 1052672;
	t = text(&s, &options);
	CHECK(strstr(t, "\npools     8,192 bytes in 2 blocks (peak 1.0M)\n") != NULL);
	CHECK(strstr(t, "\npools, by live bytes\n"
			"     live  blocks     peak  allocs  kind  call site\n"
			"     8.0k       2     1.0M       3  pool  cache::Shard::insert(int) "
			"(cache.cc:214)\n") != NULL);
	CHECK(strstr(t, "mapp") == NULL);
	s.totals.pool_untracked = 3;
	s.totals.pool_untracked_bytes = 4096;
	CHECK(strstr(text(&s, &options),
		"\nloss      3 reports of blocks of pools, 4.0k, could not be recorded\n"));
	s.totals.pool_untracked = s.totals.pool_bytes = s.totals.pool_blocks = 1;
	t = text(&s, &options);
	CHECK(strstr(t, "\npools     1 byte in 1 block (peak 1.0M)\n"));
	CHECK(strstr(t, "\nloss      1 report of blocks of pools, "));
}

TEST(running_and_never_read)
{
	struct snapshot s = canned;
	const char *t;

	s.state = SNAP_RUNNING;
	s.proc.valid = false;
	s.notice = "tracking ended: table full";
	t = text(&s, &options);
	CHECK(strstr(t, "pid 4211, running after 12m41s") != NULL);
	CHECK(strstr(t, "\nlive      134,606,848 bytes") != NULL);
	CHECK(strstr(t, "unfreed") == NULL && strstr(t, "peak RSS") == NULL);
	CHECK(strstr(t, "\nnotice    tracking ended: table full\n") != NULL);
}

TEST(nothing_happened)
{
	static const struct snapshot nothing = { .command = "true", .state = SNAP_EXITED };
	const char *t = text(&nothing, &options);

	CHECK(strstr(t, "unfreed   0 bytes in 0 blocks\n") != NULL);
	CHECK(strstr(t, "\nsize") == NULL && strstr(t, "\nlifetime") == NULL);
	CHECK(strstr(t, "0 of 0 call sites") != NULL);
}

TEST(ascii_is_ascii)
{
	struct export_options o = options;

	o.ascii = true;
	o.top = 0;
	o.names = NAMES_SHORT;
	for (const char *p = text(&canned, &o); *p; p++)
		CHECK((*p >= ' ' && *p < 0x7f) || *p == '\n');
	CHECK(strstr(strbuf_text(&report), "197.6k  ||||||||||||||||||||\n") != NULL);
}

/* A make and two compilers, of which one runs. */
static struct export_launch launch_of(struct process_row row[3])
{
	memset(row, 0, 3 * sizeof(*row));
	for (unsigned i = 0; i < 3; i++) {
		row[i].id = row[i].pid = 10 + (int)i;
		row[i].parent = i ? 10 : 0;
		row[i].state = i == 1 ? processes_ended(3 << 8) : "running";
		row[i].ended = i == 1;
		row[i].wait_status = i == 1 ? 3 << 8 : -1;
		row[i].live_bytes = 1000 * (i + 1);
		row[i].peak_bytes = 5000 * (i + 1);
		row[i].has_live = row[i].has_peak = true;
		snprintf(row[i].command, sizeof(row[i].command), "%s", i ? "cc1 -quiet" : "make");
	}
	processes_arrange(row, 3, 10);
	return (struct export_launch){ .rows = row,
		.count = 3,
		.all = { .running = 2, .ended = 1, .live_bytes = 4000, .peak_bytes = 15000 } };
}

TEST(processes_of_the_launch)
{
	struct export_options o = options;
	struct process_row row[3];
	struct export_launch l = launch_of(row);
	const char *all, *at;

	o.launch = &l;
	all = text(&canned, &o);
	at = strstr(all, "\n----\n\nlaunch ");
	CHECK_STR(at, "\n----\n\n"
		      "launch    3 processes, at least 14.6k live at once\n\n"
		      "     peak     live  state           pid  command\n"
		      "     4.9k     1000  running          10  make\n"
		      "     9.8k     2.0k  exit 3           11    cc1 -quiet\n"
		      "    14.6k     2.9k  running          12    cc1 -quiet\n");
	l.sum = l.sum_rows = &canned;
	all = text(&canned, &o);
	CHECK(strstr(all, "\nall as one: 134,606,848 bytes in 101,242 blocks live at their ends") !=
		NULL);
	at = strstr(all, "2 of 4 call sites");
	CHECK(at && strstr(at + 1, "2 of 4 call sites")); /* the program's, and the sum's */
}

TEST(children_follow)
{
	struct snapshot child = canned, s = canned;
	const struct snapshot *const children[] = { &child };

	child.pid = 4212;
	child.state = SNAP_EXITED;
	s.children = children;
	s.nchildren = 1;
	CHECK(strstr(text(&s, &options), "\n----\n\nheaptop 0.1.0 report") != NULL);
	CHECK(strstr(strbuf_text(&report), "pid 4212, exited 0") != NULL);
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	RUN(whole_report);
	RUN(attached);
	RUN(sampling);
	RUN(at_the_peak);
	RUN(top_and_order);
	RUN(losses_are_said_when_there_are_any);
	RUN(before_attach);
	RUN(mapped);
	RUN(pools);
	RUN(running_and_never_read);
	RUN(nothing_happened);
	RUN(ascii_is_ascii);
	RUN(processes_of_the_launch);
	RUN(children_follow);
	strbuf_free(&report);
	return check_end();
}
