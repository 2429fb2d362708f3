/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Call sites summed up by what they are named after. */
#include <string.h>
#include "src/model/columns.h"
#include "src/model/groups.h"
#include "tests/check.h"

static const struct snap_module app = {
	.path = "/srv/server", .name = "server", .build_id = "ab12"
};
static const struct snap_module again = {
	.path = "/srv/server", .name = "server", .build_id = "ab12"
}; /* loaded twice */
static const struct snap_module ssl = {
	.path = "/lib/libssl.so.3", .name = "libssl.so.3", .build_id = ""
};

#define FRAME(m, f, path, at)                                                                      \
	{                                                                                          \
		.module = &(m), .function = (f), .file = (path), .line = (at), .offset = (at)      \
	}
static const struct frame get_7[] = { FRAME(ssl, "CRYPTO_malloc", NULL, 1),
	FRAME(app, "get", "/src/a.c", 7) };
static const struct frame get_9[] = { FRAME(app, "get", "/src/a.c", 9) };
static const struct frame get_7_again[] = { FRAME(again, "get", "/src/a.c", 7) };
static const struct frame put[] = { FRAME(app, "put", "/src/a.c", 20) };
static const struct frame other_get[] = { FRAME(ssl, "get", "/src/ssl.c", 7) };
static const struct frame bare[] = { FRAME(ssl, NULL, NULL, 0x4f1) };
static const struct frame bare_2[] = { FRAME(ssl, NULL, NULL, 0x500) };

#define STACK(f, at)                                                                               \
	{                                                                                          \
		.frames = (f), .nframes = sizeof(f) / sizeof((f)[0]), .title = (at)                \
	}
static const struct stack stacks[] = { STACK(get_7, 1), STACK(get_9, 0), STACK(get_7_again, 0),
	STACK(put, 0), STACK(other_get, 0), STACK(bare, 0), STACK(bare_2, 0) };
#define SITES (sizeof(stacks) / sizeof(stacks[0]))

static struct snap_site sites[SITES];
static struct snapshot snap = { .sites = sites, .nsites = SITES };

/* Site i has id 10 + i and 100 << i bytes in i + 1 blocks. */
static void prepare(void)
{
	snap.totals.live_bytes = 0;
	for (unsigned i = 0; i < SITES; i++) {
		sites[i] = (struct snap_site){ .id = 10 + i,
			.alloc_function = i == 1 ? "calloc" : "malloc",
			.stack = &stacks[i],
			.live_bytes = 100u << i,
			.live_blocks = i + 1,
			.allocs = 10,
			.frees = 9 - i,
			.alloc_bytes = 1000,
			.peak_live_bytes = 500u << i,
			.at_peak_bytes = 7u << i,
			.at_peak_blocks = i,
			.rate_bytes_per_s = i,
			.growth = { .sure = 0.5, .bytes_per_s = 100 - i },
			.since = { .bytes = 5 - (int)i, .kept_blocks = i, .kept_of = 10 },
			.error.live_bytes = i < 2 ? 3 + i : 0,
			.trend_points = (uint8_t)(i == 0 ? 2 : 1) };
		sites[i].trend[SNAP_TREND_POINTS - 1] = sites[i].live_bytes;
		sites[i].trend[SNAP_TREND_POINTS - 2] = 7; /* of the first only */
		snap.totals.live_bytes += sites[i].live_bytes;
	}
}

static struct groups groups;

static const struct snap_site *group_of(uint32_t id)
{
	for (size_t i = 0; i < groups.snap.nsites; i++)
		if (groups.snap.sites[i].id == id)
			return &groups.snap.sites[i];
	return NULL;
}

static size_t make(enum group_by by, const char *text, bool show_hidden)
{
	char why[FILTER_WHY_MAX];
	struct filter *f = text ? filter_parse(text, why) : NULL;
	struct groups_request request = { .by = by, .filter = f, .show_hidden = show_hidden };

	prepare();
	CHECK_INT(groups_make(&groups, &snap, &request), 0);
	filter_free(f);
	return groups.snap.nsites;
}

TEST(sites_are_in_one_group_each)
{
	static const size_t count[GROUP_COUNT] = { 7, 6, 5, 3, 2 };

	for (int by = GROUP_CALLER; by <= GROUP_MODULE; by++) {
		uint64_t bytes = 0, at_peak = 0;
		uint32_t members = 0;

		CHECK_INT(make((enum group_by)by, NULL, false), count[by]);
		for (size_t i = 0; i < groups.snap.nsites; i++) {
			bytes += groups.snap.sites[i].live_bytes;
			members += groups.snap.sites[i].group->sites;
			at_peak += groups.snap.sites[i].at_peak_bytes;
		}
		CHECK_INT(bytes, snap.totals.live_bytes);
		CHECK_INT(members, SITES);
		CHECK_INT(at_peak, (7u << SITES) - 7);
		CHECK_INT(groups.snap.totals.live_bytes, snap.totals.live_bytes);
	}
	groups_free(&groups);
}

/* Site 10 is of two threads, 11 of the second alone; nobody is known of the others. */
static struct snap_share shares[] = {
	{ .site = 10, .slot = 1, .allocs = 6, .live_blocks = 1, .live_bytes = 60 },
	{ .site = 10, .slot = 7, .allocs = 4, .live_bytes = 40, .live_blocks = 2 },
	{ .site = 11, .slot = 7, .allocs = 10, .live_bytes = 200, .live_blocks = 2 }
};
static const struct snap_thread threads[] = {
	{ .slot = 1, .tid = 100, .owners = 1, .name = "main", .live_bytes_per_s = 5 },
	{ .slot = 7, .tid = 107, .owners = 1, .name = "worker", .live_bytes_per_s = -3 }
};

static size_t make_threads(bool has_alive, const char *text, uint64_t inside)
{
	char why[FILTER_WHY_MAX];
	struct filter *f = text ? filter_parse(text, why) : NULL;
	struct groups_request request = { .by = GROUP_THREAD, .filter = f, .inside = inside };

	prepare();
	snap.has_alive = has_alive;
	snap.alive_bytes = 400;
	snap.threads = threads;
	snap.nthreads = 2;
	sites[0].share = shares;
	sites[0].shares = 2;
	sites[1].share = &shares[2];
	sites[1].shares = 1;
	CHECK_INT(groups_make(&groups, &snap, &request), 0);
	filter_free(f);
	return groups.snap.nsites;
}

static void cell_is(const struct snap_site *site, enum column c, const char *want)
{
	struct row_style style = { .glyphs = GLYPHS_ASCII, .site_cells = 60, .line_cells = 60 };
	char text[COLUMN_TEXT_MAX];

	column_text(c, &groups.snap, site, &style, text);
	CHECK_STR(text, want);
}

TEST(a_thread_is_what_it_allocated)
{
	const struct snap_site *worker;

	CHECK_INT(make_threads(false, NULL, 0), 0); /* not counted yet */
	CHECK_INT(make_threads(true, NULL, 0), 2);
	worker = group_of(GROUPS_THREAD_ID | 7);
	CHECK(worker && group_of(GROUPS_THREAD_ID | 1));
	CHECK_INT(worker->live_bytes, 240);
	groups.snap.sampling.most = 1 << 16;
	cell_is(worker, COL_ERROR, "-"); /* not 0: it is an estimate */
	groups.snap.sampling.most = 0;
	cell_is(worker, COL_PERCENT, "60.0"); /* of what was alive when that was counted */
	CHECK_INT(worker->live_blocks, 4);
	CHECK_INT(worker->allocs, 14);
	CHECK_INT(worker->frees, 10);
	CHECK_INT(worker->group->sites, 2);
	cell_is(worker, COL_SITE, "worker");
	cell_is(worker, COL_LINE, "107");
	cell_is(worker, COL_RATE, "-3B/s");
	cell_is(worker, COL_PEAK, "-");
	groups.snap.totals.has_at_peak = true;
	cell_is(worker, COL_AT_PEAK, "-"); /* nor is this kept by thread */
	groups.snap.totals.has_at_peak = false;
	cell_is(worker, COL_SINCE, "-");
	/* Its sites, as far as they are its own. */
	CHECK_INT(make_threads(true, NULL, groups_thread_key(GROUPS_THREAD_ID | 7)), 2);
	CHECK_INT(group_of(10)->live_bytes, 40);
	CHECK_INT(group_of(11)->live_bytes, 200);
	CHECK(!group_of(10)->group);
	cell_is(group_of(10), COL_SITE, "get");
	cell_is(group_of(10), COL_RATE, "-");
	CHECK_INT(make_threads(true, "b.c", 0), 0);
	CHECK_INT(make_threads(true, "live>100", 0), 1);
	groups_free(&groups);
}

TEST(a_function_is_the_sum_of_its_sites)
{
	const struct snap_site *get;

	make(GROUP_FUNCTION, NULL, false);
	get = group_of(10);
	CHECK(get != NULL);
	CHECK_INT(get->group->sites, 3);
	CHECK_INT(get->live_bytes, 100 + 200 + 400);
	CHECK_INT(get->live_blocks, 1 + 2 + 3);
	CHECK_INT(get->allocs, 30);
	CHECK_INT(get->frees, 9 + 8 + 7);
	CHECK(get->rate_bytes_per_s == 3);
	CHECK_INT(get->since.bytes, 5 + 4 + 3);
	CHECK_INT(get->since.kept_blocks, 3);
	CHECK_INT(get->since.kept_of, 30);
	CHECK(get->growth.bytes_per_s > 99.9); /* its worst site's */
	CHECK_INT(get->error.live_bytes, 5); /* of 3 and 4 */
	CHECK_INT(get->trend_points, 2);
	CHECK_INT(get->trend[SNAP_TREND_POINTS - 1], 700);
	CHECK_INT(get->trend[SNAP_TREND_POINTS - 2], 7);
	CHECK_STR(get->alloc_function, "several functions");
	/* Not the other library's function of that name, nor a site alone, which keeps its peak. */
	CHECK_INT(group_of(14)->group->sites, 1);
	CHECK_INT(group_of(14)->peak_live_bytes, 500 << 4);
	CHECK_INT(get->peak_live_bytes, 0);
	groups_free(&groups);
}

static void check_cells(uint32_t id, const char *site, const char *place)
{
	struct row_style style = { .glyphs = GLYPHS_ASCII, .site_cells = 60, .line_cells = 60 };
	char text[COLUMN_TEXT_MAX];

	column_text(COL_SITE, &groups.snap, group_of(id), &style, text);
	CHECK_STR(text, site);
	column_text(COL_LINE, &groups.snap, group_of(id), &style, text);
	CHECK_STR(text, place);
	column_text(COL_PEAK, &groups.snap, group_of(id), &style, text);
	CHECK_INT(!strcmp(text, "-"), group_of(id)->group->sites > 1);
}

TEST(rows_are_called_after_what_they_sum_up)
{
	make(GROUP_CALLER, NULL, false);
	check_cells(10, "get", "a.c:7");
	CHECK_INT(group_of(10)->group->sites, 2);
	check_cells(15, "?? libssl.so.3+0x4f1", "libssl.so.3");
	make(GROUP_FUNCTION, NULL, false);
	check_cells(10, "get", "a.c");
	make(GROUP_FILE, NULL, false);
	check_cells(10, "/src/a.c", "server");
	check_cells(15, "?? in /lib/libssl.so.3", "libssl.so.3");
	CHECK_INT(group_of(15)->group->sites, 2);
	make(GROUP_MODULE, NULL, false);
	check_cells(10, "/srv/server", "ab12");
	check_cells(14, "/lib/libssl.so.3", "");
	/* With the frames that rules hide the first is the library's. */
	make(GROUP_MODULE, NULL, true);
	CHECK_INT(group_of(11)->group->sites, 3);
	CHECK_INT(group_of(10)->group->sites, 4);
	groups_free(&groups);
}

/* Words choose what is summed up, numbers the sums. */
TEST(filters)
{
	CHECK_INT(make(GROUP_FUNCTION, "file:a.c live>600", false), 2);
	CHECK_INT(group_of(10)->live_bytes, 700);
	CHECK_INT(make(GROUP_FUNCTION, "stack:CRYPTO", false), 1);
	CHECK_INT(group_of(10)->live_bytes, 100);
	CHECK_INT(make(GROUP_FUNCTION, "sites>1", false), 1);
	CHECK_INT(
		make(GROUP_FUNCTION, "peak>0 file:a.c", false), 1); /* of the sum it is not known */
	groups_free(&groups);
}

TEST(the_sites_of_one)
{
	struct groups_request request = { .by = GROUP_FUNCTION };

	prepare();
	request.inside = groups_key(GROUP_FUNCTION, &sites[1], false);
	CHECK_INT(groups_make(&groups, &snap, &request), 0);
	CHECK_INT(groups.snap.nsites, 3);
	CHECK(group_of(10) && group_of(11) && group_of(12));
	CHECK(!group_of(10)->group);
	groups_free(&groups);
}

TEST(orders)
{
	uint32_t order[SITES];

	make(GROUP_FILE, NULL, false);
	sites_sort(&groups.snap, COL_SITE, false, order);
	CHECK_INT(groups.snap.sites[order[0]].id, 10); /* a.c, ssl.c, and what has no name last */
	CHECK_INT(groups.snap.sites[order[2]].id, 15);
	sites_sort(&groups.snap, COL_SITES, false, order);
	CHECK_INT(groups.snap.sites[order[0]].group->sites, 4);
	groups_free(&groups);
}

/* Sites without a type are in one group, and a group of another kind has a type only if all its
 * sites have it. */
TEST(by_type)
{
	struct row_style style = { .names = NAMES_SHORT };
	struct groups_request request = { .by = GROUP_TYPE };
	char text[COLUMN_TEXT_MAX];

	prepare();
	sites[0].type = (struct snap_type){ "Session", 4, 4 };
	sites[3].type = (struct snap_type){ "Session", 1, 6 };
	sites[4].type = (struct snap_type){ "Conn", 1, 1 };
	CHECK_INT(groups_make(&groups, &snap, &request), 0);
	CHECK_INT(groups.snap.nsites, 3);
	CHECK_INT(group_of(10)->live_bytes, 100 + 800);
	CHECK_INT(group_of(10)->group->sites, 2);
	site_name(group_of(10), &style, text, sizeof(text));
	CHECK_STR(text, "Session (50 %)");
	site_place(group_of(10), &style, text, sizeof(text));
	CHECK_STR(text, "");
	site_name(group_of(11), &style, text, sizeof(text));
	CHECK_STR(text, "(no type known)");
	CHECK_INT(group_of(11)->group->sites, 4);
	site_name(group_of(14), &style, text, sizeof(text));
	CHECK_STR(text, "Conn");
	request.by = GROUP_MODULE;
	CHECK_INT(groups_make(&groups, &snap, &request), 0);
	CHECK(group_of(10)->type.name == NULL);
	groups_free(&groups);
}

TEST(words)
{
	CHECK_INT(group_find("function"), GROUP_FUNCTION);
	CHECK_INT(group_find("stack"), GROUP_STACK);
	CHECK_INT(group_find("nothing"), -1);
	for (int i = 0; i < GROUP_COUNT; i++)
		CHECK_INT(group_table[i].choice[0], group_table[i].letter);
}

int main(void)
{
	RUN(sites_are_in_one_group_each);
	RUN(a_thread_is_what_it_allocated);
	RUN(a_function_is_the_sum_of_its_sites);
	RUN(rows_are_called_after_what_they_sum_up);
	RUN(filters);
	RUN(the_sites_of_one);
	RUN(orders);
	RUN(by_type);
	RUN(words);
	return check_end();
}
