/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What reports say of resident memory, letter by letter. */
#include <stdlib.h>
#include "src/export/memory.h"
#include "tests/check.h"

static const struct snap_module app = { .path = "/app", .name = "app", .build_id = "" };
static const struct frame frames[] = {
	{ .pc = 1, .module = &app, .function = "keep", .file = "/src/a.c", .line = 7 }
};
static const struct stack stack = { .frames = frames, .nframes = 1, .resolved = true };
static const struct snap_site sites[] = {
	{ .id = 3, .alloc_function = "malloc", .stack = &stack }
};
static const struct snapshot snap = { .sites = sites, .nsites = 1 };
static const struct snapshot filtered = { .nsites = 0 };

static struct map_account account(void)
{
	return (struct map_account){ .known = true,
		.glibc = true,
		.rss_bytes = 100 << 20,
		.part = { [MAP_PART_LIVE] = 10 << 20,
			[MAP_PART_FREE] = 80 << 20,
			[MAP_PART_OWN] = 10 << 20 },
		.live_bytes = 11 << 20,
		.trim_bytes = 5 << 20,
		.pinned_pages = 1200,
		.pinned_bytes = 4 << 20,
		.pin = { { 3, 1100, 1000, 2048, 3 << 20 }, { 99, 1, 1, 16, 16 } },
		.pins = 2,
		.read_realtime_ns = 1000000000ull,
		.took_ns = 12000000 };
}

static char *text_of(const struct snapshot *s, const struct export_options *o)
{
	struct strbuf out = STRBUF_INIT;

	memory_text(&out, s, o);
	return out.data;
}

static void check_text(const struct snapshot *s, const struct export_options *o, const char *want)
{
	char *got = text_of(s, o);

	CHECK_STR(got ? got : "", want);
	free(got);
}

static void check_json(const struct map_account *a, const char *want)
{
	struct strbuf out = STRBUF_INIT;
	struct writer w = { .out = &out };
	struct export_options o = { .memory = a };

	writer_object(&w, NULL);
	memory_json(&w, &snap, &o);
	writer_end(&w);
	CHECK_STR(strbuf_text(&out), want);
	strbuf_free(&out);
}

#define TEXT                                                                                       \
	"\nrss       100.0M\n"                                                                     \
	"    10.0M   10.0%  live     live blocks, requested bytes\n"                               \
	"    80.0M   80.0%  free     held by the allocator, in no live block\n"                    \
	"    10.0M   10.0%  heaptop  heaptop's own: segment and library\n"                         \
	"  5.0M of the free memory is in whole pages: malloc_trim(0) could return about as much\n" \
	"  1,200 pages are less than half full, 4.0M is free in them; pinned by:\n"                \
	"     3.0M  free in 1,100 pages with 2.0k of keep (a.c:7)\n"                               \
	"  as of 1970-01-01T00:00:01Z, read in 12ms\n"

/* A site that is not among the snapshot's is not named; that of all sites tells more. */
TEST(paragraph)
{
	struct map_account a = account();
	struct export_options o = { .memory = &a };

	check_text(&snap, &o, TEXT);
	o.whole = &snap;
	check_text(&filtered, &o, TEXT);
	o.memory = NULL;
	check_text(&snap, &o, "");
}

TEST(one_page)
{
	struct map_account a = account();
	struct export_options o = { .memory = &a };
	char *got;

	a.pinned_pages = a.pin[0].pages = 1;
	got = text_of(&snap, &o);
	CHECK(got &&
		strstr(got, "  1 page is less than half full, 4.0M is free in it; pinned by:\n"));
	CHECK(got && strstr(got, "  free in 1 page with 2.0k of keep"));
	free(got);
}

TEST(what_cannot_be_had)
{
	struct map_account a = { .why = "the process is gone" };
	struct export_options o = { .memory = &a };

	check_text(&snap, &o, "\nrss       unknown: the process is gone\n");
	check_json(&a, "{ \"memory\": { \"failed\": \"the process is gone\", \"pins\": [], "
		       "\"mapped_sites\": [] } }");
	check_json(NULL, "{ \"memory\": null }");
}

/* A parent's site is nowhere else in the report, so its stack is here. */
TEST(mapped_before_the_fork)
{
	const uint32_t id = SNAP_INHERITED_FIRST + 1;
	const struct snap_site parents = {
		.id = id, .kind = SNAP_MMAP, .alloc_function = "mmap", .stack = &stack
	};
	const struct snapshot child = { .inherited = &parents, .ninherited = 1 };
	struct map_account a = { .known = true,
		.forked = true,
		.site = { { id, false, 3 << 20, 8 << 20 } },
		.sites = 1 };
	struct strbuf out = STRBUF_INIT;
	struct writer w = { .out = &out };
	struct export_options o = { .memory = &a };
	char *text = text_of(&child, &o);

	CHECK(text && strstr(text, "   3.0M  of 8.0M, before the fork, by keep"));
	free(text);
	writer_object(&w, NULL);
	memory_json(&w, &child, &o);
	writer_end(&w);
	CHECK(strstr(strbuf_text(&out),
		"{ \"site\": 0, \"rss_bytes\": 3145728, "
		"\"size_bytes\": 8388608, \"shared\": false, "
		"\"inherited\": true, \"function\": \"mmap\", \"stack\": ["));
	CHECK(strstr(strbuf_text(&out), "\"function\": \"keep\""));
	strbuf_free(&out);
}

/* An estimate leaves out the figures that sampling cannot give. */
TEST(sampled)
{
	struct map_account a = { .known = true, .sampled = true, .note = "estimate" };
	struct strbuf out = STRBUF_INIT;
	struct writer w = { .out = &out };
	struct export_options o = { .memory = &a };

	writer_object(&w, NULL);
	memory_json(&w, &snap, &o);
	writer_end(&w);
	CHECK(strstr(strbuf_text(&out), "\"free_bytes\": null") != NULL);
	CHECK(strstr(strbuf_text(&out), "\"slack_bytes\": null") != NULL);
	CHECK(strstr(strbuf_text(&out), "\"live_bytes\": 0") != NULL);
	CHECK(strstr(strbuf_text(&out), "\"note\": \"estimate\"") != NULL);
	strbuf_free(&out);
}

int main(void)
{
	RUN(paragraph);
	RUN(one_page);
	RUN(what_cannot_be_had);
	RUN(mapped_before_the_fork);
	RUN(sampled);
	return check_end();
}
