/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What reports say of a leak scan: that of a small program, letter by letter, and of one that could
 * not be scanned. */
#include <locale.h>
#include <stdlib.h>

#include "src/export/export.h"
#include "tests/check.h"
#include "tests/unit/canned.h"

#define SITE_UNKNOWN 12345 /* none of the snapshot's */

static struct snap_leaks leaks;
static struct snapshot snapshot;
static struct snap_leak_site sites[4];
static struct strbuf out;

static void make(void)
{
	sites[0] = (struct snap_leak_site){ .class = SNAP_LEAK_DEFINITE,
		.site = canned_sites[1].id,
		.sum = { 2, 1500 },
		.indirect = { 3, 90 } };
	sites[1] = (struct snap_leak_site){ .class = SNAP_LEAK_DEFINITE,
		.site = SITE_UNKNOWN,
		.sum = { 1, 7 },
		.suppressed = true };
	sites[2] = (struct snap_leak_site){
		.class = SNAP_LEAK_INDIRECT, .site = canned_sites[0].id, .sum = { 3, 90 }
	};
	sites[3] = (struct snap_leak_site){
		.class = SNAP_LEAK_POSSIBLE, .site = SITE_UNKNOWN, .sum = { 1, 24 }
	};
	leaks = (struct snap_leaks){ .how = "stop and read",
		.sum = { { 2, 1500 }, { 3, 90 }, { 1, 24 }, { 101235, 134605227 } },
		.suppressed = { 1, 7 },
		.heuristic = { { 0, 0 }, { 5, 4000 }, [4] = { 1001, 64000 }, [6] = { 2, 90 } },
		.behind = { [4] = { 3, 33 } },
		.heuristic_name = { "stdstring", "length64", "newarray", "multipleinheritance",
			"header", "sds", "backlink", "loader" },
		.moved = { 1003, 64090 },
		.sites = sites,
		.nsites = 4,
		.stop_ns = 21000000,
		.scanned_bytes = 735470387,
		.devices = 2,
		.unknown = true,
		.threads = 14,
		.running = 1 };
	snapshot = canned;
	snapshot.leaks = &leaks;
}

static const char *text(unsigned top)
{
	const struct export_options o = {
		.sort = COL_LIVE, .top = top, .names = NAMES_FULL, .version = "0.1.0"
	};

	strbuf_reset(&out);
	export_text(&out, &snapshot, &o);
	CHECK(!out.failed);
	return strbuf_text(&out);
}

static const char *json(void)
{
	const struct export_options o = { .version = "0.1.0" };

	strbuf_reset(&out);
	export_json(&out, &snapshot, &o);
	CHECK(!out.failed);
	return strbuf_text(&out);
}

TEST(text_of_a_scan)
{
	make();
	CHECK(strstr(text(0),
		"\n"
		"leaks     definite   1,500 bytes in 2 blocks\n"
		"          indirect   90 bytes in 3 blocks\n"
		"          possible   24 bytes in 1 block\n"
		"          reachable  134,605,227 bytes in 101,235 blocks\n"
		"          by rule    length64 4,000 bytes in 5 blocks, header 64,000 bytes in "
		"1,001 "
		"blocks, backlink 90 bytes in 2 blocks; 1,003 of these by rules that memcheck does "
		"not have\n"
		"          suppressed 7 bytes in 1 block\n"
		"scan      stop and read: the program was stopped for 21ms, 701.4M read\n"
		"          some blocks are not recorded, such as those from before a fork: words "
		"between blocks count as roots\n"
		"          2 device mappings were not read\n"
		"          1 of 14 threads did not stop: their registers are unknown\n"
		"\n"
		"  1. definite: 1,500 bytes in 2 blocks, with 90 bytes in 3 blocks lost "
		"indirectly\n"
		"      at malloc\n"
		"      by arena_new (arena.c:118)\n"
		"      .. (outer frames are missing)\n"
		"\n"
		"  2. possible: 24 bytes in 1 block\n"
		"\n"
		"size "));
}

/* The classes add up to what is live, or a line says why not. */
static const char *unclassed(int64_t blocks, int64_t bytes, bool at_exit)
{
	static char line[200];
	const char *found, *end;

	make();
	leaks.at_exit = at_exit;
	snapshot.totals.live_blocks = leaks.suppressed.blocks + (uint64_t)blocks;
	snapshot.totals.live_bytes = leaks.suppressed.bytes + (uint64_t)bytes;
	for (unsigned i = 0; i < SNAP_LEAK_CLASSES; i++) {
		snapshot.totals.live_blocks += leaks.sum[i].blocks;
		snapshot.totals.live_bytes += leaks.sum[i].bytes;
	}
	found = strstr(text(0), "unclassed  ");
	end = found ? strchr(found, '\n') : NULL;
	snprintf(line, sizeof(line), "%.*s", end ? (int)(end - found) : 0, found ? found : "");
	return line;
}

TEST(text_of_what_is_in_no_class)
{
	CHECK_STR(unclassed(0, 0, false), "");
	CHECK_STR(unclassed(2, 300, false),
		"unclassed  300 bytes in 2 blocks, allocated after the scan");
	CHECK_STR(
		unclassed(-1, -24, false), "unclassed  24 bytes in 1 block, freed after the scan");
	CHECK_STR(unclassed(2, -24, false),
		"unclassed  some blocks: allocated and freed after the scan");
	CHECK_STR(unclassed(0, -100, true),
		"unclassed  100 bytes in 0 blocks: threads were killed inside malloc or free");
}

TEST(text_of_the_top)
{
	make();
	CHECK(strstr(text(1), "  1. definite: 1,500"));
	CHECK(!strstr(text(1), "  2. possible: 24"));
	CHECK(strstr(text(1), "\n1 more call sites of definite and possible leaks\n"));
}

TEST(text_without_a_scan)
{
	make();
	leaks = (struct snap_leaks){ .failed = "no leak scan: it was not to be" };
	CHECK(strstr(text(0), "\n\nleaks     no leak scan: it was not to be\n\nsize "));
	snapshot.leaks = NULL;
	CHECK(!strstr(text(0), "leaks"));
}

/* Blocks that were never freed are reported then, and not called leaks. */
TEST(text_of_suspects)
{
	struct snap_site some[3] = { canned_sites[0], canned_sites[1], canned_sites[0] };

	make();
	leaks = (struct snap_leaks){ .failed = "1 cannot be scanned", .refused = "EPERM" };
	some[0].frees = 1;
	some[1].frees = 0;
	some[1].allocs = some[1].live_blocks = 3;
	some[1].live_bytes = 4000;
	some[1].growth.sure = 0.5;
	some[2].frees = 0;
	some[2].allocs = 1;
	snapshot.sites = some;
	snapshot.nsites = 3;
	CHECK(strstr(text(0), "leaks     1 cannot be scanned\n"
			      "suspects  by age alone; pointers to them were not checked:\n"
			      "  4,000 bytes in 3 blocks, none was freed, and it grows: "));
	CHECK(!strstr(strstr(text(0), "none was freed") + 1, "none was freed"));
	CHECK(strstr(
		json(), "\"leaks\": { \"failed\": \"1 cannot be scanned\", \"suspects\": [\n"));
	CHECK(strstr(json(), "\"blocks\": 3, \"bytes\": 4000, \"grows\": true }"));
	leaks.refused = NULL;
	CHECK(!strstr(text(0), "suspects") && !strstr(json(), "suspects"));
}

static const char *round_text(void)
{
	const struct export_options o = { .top = 2, .names = NAMES_FULL };

	strbuf_reset(&out);
	export_leak_round(&out, &snapshot, &o, false);
	CHECK(!out.failed);
	return strbuf_text(&out);
}

static const struct snap_leak_round rounds[] = {
	{ .number = 1, .ns = 1000000000, .sum = { { 3, 1700 }, { 3, 90 } }, .stop_ns = 5 },
	{ .number = 2,
		.ns = 61000000000,
		.sum = { { 2, 1500 }, { 3, 90 }, { 1, 24 } },
		.stop_ns = 21000000 },
};

/* What grew, what is new, what is gone; the reachable and the suppressed are none of it. */
TEST(text_of_a_round)
{
	struct snap_leak_site gone = {
		.class = SNAP_LEAK_DEFINITE, .site = canned_sites[0].id, .sum = { 1, 700 }
	};

	make();
	snapshot.start_realtime_ns = 0;
	sites[0].seen = 2;
	sites[0].before = (struct snap_leak_sum){ 1, 1000 };
	leaks.rounds = rounds;
	leaks.nrounds = 2;
	leaks.gone = &gone;
	leaks.ngone = 1;
	CHECK(strstr(round_text(),
		      "leak scan 2 at 1970-01-01T00:01:01Z, 1m01s after the start; the program "
		      "was stopped for 21ms\n"
		      "  definite  1,500 bytes in 2 blocks (-200 bytes, -1 block)\n"
		      "  indirect  90 bytes in 3 blocks\n"
		      "  possible  24 bytes in 1 block (+24 bytes, +1 block)\n"
		      "  +500 bytes, +1 block: definite, now 1,500 bytes in 2 blocks: ") ==
		out.data);
	CHECK(strstr(out.data, "\n  +24 bytes, +1 block: possible, new: ?\n"
			       "  1 more call sites changed\n\n"));
	leaks.nsites = 0;
	CHECK(strstr(round_text(), "\n  -700 bytes, -1 block: definite, none left: "));
	leaks.ngone = 0;
	CHECK(strstr(round_text(), "\n  no call site changed since the previous scan\n"));
	CHECK(strstr(text(0), "          it is the last of 2, "));
	CHECK(strstr(json(), "\"history\": ["));
	CHECK(strstr(json(), "\"number\": 2, \"ns\": 61000000000, "));
	leaks.failed = "no leak scan: it was not to be";
	snapshot.now_realtime_ns = 0;
	CHECK_STR(round_text(),
		"leak scan at 1970-01-01T00:00:00Z: no leak scan: it was not to be\n\n");
	make();
	CHECK(!strstr(json(), "history"));
	CHECK(!strstr(text(0), "it is the last"));
}

TEST(text_with_suppressions)
{
	const struct export_options o = {
		.sort = COL_LIVE, .names = NAMES_FULL, .version = "0.1.0", .suppressions = true
	};

	make();
	strbuf_reset(&out);
	export_text(&out, &snapshot, &o);
	CHECK(strstr(strbuf_text(&out), "      .. (outer frames are missing)\n"
					"{\n"
					"   <a name for it>\n"
					"   Memcheck:Leak\n"
					"   match-leak-kinds: definite\n"
					"   fun:malloc\n"
					"   fun:arena_new\n"
					"}\n"));
	/* An unknown stack has no suppression. */
	CHECK(!strstr(text(0), "match-leak-kinds: possible"));
}

/* What was deeper than an ancestor may be any frames, and any function. */
TEST(text_with_suppression_of_an_ancestor)
{
	const struct export_options o = {
		.sort = COL_LIVE, .names = NAMES_FULL, .version = "0.1.0", .suppressions = true
	};
	struct snap_site changed[sizeof(canned_sites) / sizeof(canned_sites[0])];
	struct stack stack = canned_stacks[1];

	make();
	memcpy(changed, canned_sites, sizeof(changed));
	stack.ancestor = true;
	changed[1].stack = &stack;
	snapshot.sites = changed;
	strbuf_reset(&out);
	export_text(&out, &snapshot, &o);
	snapshot.sites = canned_sites;
	CHECK(strstr(strbuf_text(&out), "   match-leak-kinds: definite\n"
					"   ...\n"
					"   fun:arena_new\n"
					"}\n"));
}

static struct export_limit limits[2];
static unsigned nlimits;

static const char *junit(unsigned failures, const struct snapshot *whole)
{
	const struct export_options o = { .sort = COL_LIVE,
		.names = NAMES_FULL,
		.version = "0.1.0",
		.whole = whole,
		.limits = limits,
		.nlimits = nlimits,
		.failures = failures };

	strbuf_reset(&out);
	export_junit(&out, &snapshot, &o);
	CHECK(!out.failed);
	return strbuf_text(&out);
}

TEST(junit_of_a_scan)
{
	make();
	CHECK_STR(junit(1u << SNAP_LEAK_DEFINITE, NULL),
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites>\n"
		"  <testsuite name=\"heaptop\" tests=\"1\" failures=\"1\" errors=\"0\" "
		"time=\"761.000\">\n"
		"    <testcase classname=\"./server --port 80\" "
		"name=\"definite leak: arena_new arena.c:118\">\n"
		"      <failure type=\"definite\" message=\"1,500 bytes in 2 blocks, "
		"with 90 bytes in 3 blocks lost indirectly\">\n"
		"      at malloc\n"
		"      by arena_new (arena.c:118)\n"
		"      .. (outer frames are missing)\n"
		"</failure>\n"
		"    </testcase>\n"
		"  </testsuite>\n"
		"</testsuites>\n");
	/* Classes that are not failures are not reported; a class without leaks has passed. */
	leaks.nsites = 0;
	CHECK(strstr(junit(1u << SNAP_LEAK_DEFINITE | 1u << SNAP_LEAK_POSSIBLE, NULL),
		"tests=\"2\" failures=\"0\""));
	CHECK(strstr(strbuf_text(&out), "name=\"no definite leaks\"/>"));
	CHECK(strstr(strbuf_text(&out), "name=\"no possible leaks\"/>"));
}

/* The snapshot that a filter left may not have the site; a failure keeps its stack. */
TEST(junit_beside_a_filter)
{
	struct snapshot whole;

	make();
	whole = snapshot;
	snapshot.nsites = 0;
	CHECK(strstr(
		junit(1u << SNAP_LEAK_DEFINITE, &whole), "      by arena_new (arena.c:118)\n"));
}

TEST(junit_of_what_is_unfreed)
{
	make();
	snapshot.leaks = NULL;
	CHECK(strstr(junit(EXPORT_FAILURE_UNFREED, NULL), "tests=\"1\" failures=\"1\""));
	CHECK(strstr(
		strbuf_text(&out), "message=\"134,606,848 bytes in 101,242 blocks not freed\""));
	CHECK(strstr(strbuf_text(&out), "      by cache::Shard::insert(int) (cache.cc:214)\n"));
	CHECK(strstr(strbuf_text(&out), "std::allocator&lt;int&gt;::allocate"));
	snapshot.totals.live_blocks = 0;
	CHECK(strstr(junit(EXPORT_FAILURE_UNFREED, NULL), "name=\"all freed\"/>"));
	CHECK(strstr(strbuf_text(&out), "tests=\"1\" failures=\"0\" errors=\"0\""));
}

/* What fails and what passes is there, whatever --fail-on names. */
TEST(junit_of_wrong_frees)
{
	const struct snap_wrong_free wrong = { .kind = SNAP_WRONG_MISMATCHED,
		.count = 2,
		.bytes = 32,
		.freed_by = "free",
		.allocated_by = "operator new[]",
		.alloc_site = 1,
		.stack = canned_sites[0].stack,
		.alloc_stack = canned_sites[1].stack };

	make();
	snapshot.leaks = NULL;
	snapshot.wrong = &wrong;
	snapshot.nwrong = 1;
	snapshot.totals.wrong_frees[SNAP_WRONG_MISMATCHED] = 2;
	snapshot.totals.has_wrong = true;
	CHECK(strstr(junit(EXPORT_FAILURE_BADFREE | EXPORT_FAILURE_MISMATCH, NULL),
		"tests=\"2\" failures=\"1\" errors=\"0\""));
	CHECK(strstr(strbuf_text(&out), "name=\"no bad frees\"/>"));
	CHECK(strstr(strbuf_text(&out), "name=\"mismatched free: "));
	CHECK(strstr(strbuf_text(&out), "<failure type=\"mismatched\" message=\"mismatched: 2 "
					"blocks, 32 bytes, of operator new[] freed by free\">"));
	CHECK(strstr(strbuf_text(&out), "     the block was allocated\n"));
	/* There was no room for the third's place. */
	snapshot.totals.wrong_frees[SNAP_WRONG_SIZED] = 1;
	CHECK(strstr(junit(EXPORT_FAILURE_MISMATCH, NULL), "tests=\"2\" failures=\"2\""));
	CHECK(strstr(strbuf_text(&out), "message=\"1 at places that did not fit into the table\""));
	snapshot.totals.has_wrong = false;
	CHECK(strstr(junit(EXPORT_FAILURE_MISMATCH, NULL), "failures=\"0\" errors=\"1\""));
}

TEST(junit_of_limits)
{
	make();
	snapshot.leaks = NULL;
	limits[0] = (struct export_limit){ "peak>1K", "peak>1K: 9,216 peak bytes", true };
	limits[1] = (struct export_limit){ "live>1M", "live>1M: 7 live bytes", false };
	nlimits = 2;
	CHECK(strstr(junit(0, NULL), "tests=\"2\" failures=\"1\" errors=\"0\""));
	CHECK(strstr(strbuf_text(&out), "name=\"peak&gt;1K\">\n      <failure type=\"limit\" "
					"message=\"peak&gt;1K: 9,216 peak bytes\"></failure>"));
	CHECK(strstr(strbuf_text(&out), "name=\"live&gt;1M\"/>"));
	nlimits = 0;
}

/* Only the last image of a child leaves something, and only when it has ended. */
TEST(junit_of_children)
{
	struct snapshot child[3];
	const struct snapshot *all[3] = { &child[0], &child[1], &child[2] };

	make();
	snapshot.leaks = NULL;
	for (unsigned i = 0; i < 3; i++)
		child[i] = (struct snapshot){ .pid = i < 2 ? 77 : 78,
			.command = "child",
			.state = i < 2 ? SNAP_EXITED : SNAP_RUNNING,
			.start_realtime_ns = 10 + i,
			.totals = { .live_blocks = 1 + i, .live_bytes = 500 } };
	snapshot.totals.live_blocks = 0;
	snapshot.children = all;
	snapshot.nchildren = 3;
	CHECK(strstr(junit(EXPORT_FAILURE_UNFREED, NULL), "name=\"all freed\"/>"));
	CHECK(strstr(strbuf_text(&out), "message=\"500 bytes in 2 blocks not freed\""));
	CHECK(!strstr(strbuf_text(&out), "in 1 block not freed"));
	CHECK(!strstr(strbuf_text(&out), "in 3 blocks not freed"));
	CHECK(snapshot_child_left(&snapshot, 1));
	CHECK(!snapshot_child_left(&snapshot, 0) && !snapshot_child_left(&snapshot, 2));
}

TEST(junit_without_a_scan)
{
	make();
	leaks = (struct snap_leaks){ .failed = "a < b & \"c\" \xef\xbf\xbf" };
	CHECK(strstr(
		junit(1u << SNAP_LEAK_DEFINITE, NULL), "tests=\"1\" failures=\"0\" errors=\"1\""));
	CHECK(strstr(strbuf_text(&out),
		"<error type=\"scan\" message=\"a &lt; b &amp; &quot;c&quot; ?\"></error>"));
}

TEST(json_of_a_scan)
{
	make();
	CHECK(strstr(json(), "\"leaks\": { \"failed\": null, "
			     "\"definite\": { \"blocks\": 2, \"bytes\": 1500 }, "
			     "\"indirect\": { \"blocks\": 3, \"bytes\": 90 }, "
			     "\"possible\": { \"blocks\": 1, \"bytes\": 24 }, "
			     "\"reachable\": { \"blocks\": 101235, \"bytes\": 134605227 }, "
			     "\"suppressed\": { \"blocks\": 1, \"bytes\": 7 }, "));
	CHECK(strstr(json(), "\"stop_ns\": 21000000, "));
	CHECK(strstr(json(), "\"scanned_bytes\": 735470387, "));
	CHECK(strstr(json(), "{ \"class\": \"definite\", \"kind\": \"definite\", "
			     "\"blocks\": 2, \"bytes\": 1500, "
			     "\"indirect\": { \"blocks\": 3, \"bytes\": 90 }, "
			     "\"retained\": null, \"type\": null, \"type_blocks\": 0, "
			     "\"suppressed\": false, "));
	CHECK(strstr(
		json(), "{ \"class\": \"suppressed\", \"kind\": \"definite\", \"blocks\": 1, "));
	/* A site that the snapshot does not know has no stack. */
	CHECK(strstr(json(), "\"suppressed\": true, \"site\": 12345, \"function\": null, "
			     "\"stack\": [] }"));
}

TEST(json_without_a_scan)
{
	make();
	leaks = (struct snap_leaks){ .failed = "why" };
	CHECK(strstr(json(), "\"leaks\": { \"failed\": \"why\" }"));
	snapshot.leaks = NULL;
	CHECK(!strstr(json(), "\"leaks\""));
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	RUN(text_of_a_scan);
	RUN(text_of_what_is_in_no_class);
	RUN(text_of_the_top);
	RUN(text_without_a_scan);
	RUN(text_of_suspects);
	RUN(text_of_a_round);
	RUN(text_with_suppressions);
	RUN(text_with_suppression_of_an_ancestor);
	RUN(junit_of_a_scan);
	RUN(junit_beside_a_filter);
	RUN(junit_of_what_is_unfreed);
	RUN(junit_of_wrong_frees);
	RUN(junit_of_limits);
	RUN(junit_of_children);
	RUN(junit_without_a_scan);
	RUN(json_of_a_scan);
	RUN(json_without_a_scan);
	strbuf_free(&out);
	return check_end();
}
