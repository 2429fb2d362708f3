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
		.heuristic = { { 0, 0 }, { 5, 4000 } },
		.heuristic_name = { "stdstring", "length64", "newarray", "multipleinheritance" },
		.sites = sites,
		.nsites = 4,
		.stop_ns = 21000000,
		.scanned_bytes = 735470387,
		.devices = 2,
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
		"          possible   24 bytes in 1 blocks\n"
		"          reachable  134,605,227 bytes in 101,235 blocks\n"
		"                     4,000 bytes in 5 blocks of them by a pointer inside "
		"(length64)\n"
		"          suppressed 7 bytes in 1 blocks\n"
		"scan      stop and read: the program stood still for 21ms, 701.4M read\n"
		"          2 mappings of devices were not read\n"
		"          1 of 14 threads did not stop: their registers are unknown\n"
		"\n"
		"  1. definite: 1,500 bytes in 2 blocks, with 90 bytes in 3 blocks behind\n"
		"      at malloc\n"
		"      by arena_new (arena.c:118)\n"
		"      .. (outer frames are missing)\n"
		"\n"
		"  2. possible: 24 bytes in 1 blocks\n"
		"\n"
		"size "));
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
	CHECK(strstr(json(), "{ \"class\": \"definite\", \"blocks\": 2, \"bytes\": 1500, "
			     "\"indirect\": { \"blocks\": 3, \"bytes\": 90 }, "
			     "\"suppressed\": false, "));
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
	RUN(text_of_the_top);
	RUN(text_without_a_scan);
	RUN(json_of_a_scan);
	RUN(json_without_a_scan);
	strbuf_free(&out);
	return check_end();
}
