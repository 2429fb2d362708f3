/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The site table: rows of the same name, and sets of columns. */
#include "tests/check.h"
#include "tests/tui/paper.h"
#include "tui/refresh.h"

static struct paper p;

static void begin(int height, int width)
{
	paper_open(&p, height, width, false);
	refresh_tick(&p.ui);
	paper_draw(&p);
}

/* Two of the many workers are called by others. */
static struct snapshot *twins_tick(void *ctx, const char **error)
{
	static const struct snap_module module = {
		.path = "/srv/bin/server", .name = "server", .build_id = ""
	};
	static const struct frame frames[2][2] = {
		{ { .module = &module, .function = "f", .file = "/f.c", .line = 1 },
			{ .module = &module, .function = "read_all", .line = 7 } },
		{ { .module = &module, .function = "f", .file = "/f.c", .line = 1 },
			{ .module = &module, .function = "write_all", .line = 9 } },
	};
	static const struct stack stacks[2] = { { .frames = frames[0], .nframes = 2 },
		{ .frames = frames[1], .nframes = 2 } };
	struct snapshot *s = canned_tick(ctx, error);

	for (size_t i = 0; i < 2; i++) {
		struct snap_site *site = (struct snap_site *)(uintptr_t)&s->sites[i];

		site->stack = &stacks[i];
	}
	return s;
}

TEST(rows_of_the_same_name_say_what_differs)
{
	begin(30, 100);
	CHECK(paper_find(&p, "←") < 0);
	p.source.tick = twins_tick;
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(paper_find(&p, "f ← read_all ") >= 0 && paper_find(&p, "f ← write_all ") >= 0);
	/* A group has one name. */
	paper_keys(&p, "gf");
	paper_draw(&p);
	CHECK(paper_find(&p, "←") < 0);
	paper_close(&p);
}

TEST(sets_of_columns)
{
	begin(24, 80);
	paper_keys(&p, "c");
	CHECK_INT(p.ui.sort, COL_GROWTH);
	paper_keys(&p, "c");
	paper_draw(&p);
	CHECK(paper_find(&p, "ALLOC/S▼ BYTES/S   TEMP/S") >= 0 && paper_find(&p, "churn") >= 0);
	CHECK(paper_find(&p, "RATE") < 0);
	paper_keys(&p, "ccc");
	CHECK_INT(p.ui.sort, COL_FREED_SHARE);
	paper_draw(&p);
	CHECK(paper_find(&p, "FREED%▼") >= 0 && paper_find(&p, "turnover") >= 0);
	paper_keys(&p, "c");
	CHECK_INT(p.ui.sort, COL_LIVE);
	paper_draw(&p);
	CHECK(paper_find(&p, "3RATE") >= 0);
	paper_keys(&p, "tccc");
	paper_draw(&p);
	CHECK(paper_find(&p, "temporary allocations") >= 0);
	paper_keys(&p, "c"); /* the peak's composition is unknown */
	CHECK_INT(p.ui.tree.value, VALUE_LIVE);
	paper_close(&p);
}

/* A tall screen shows the whole stack of the selected site; the usual one keeps its rows. */
TEST(tall_screens_show_the_selected_stack)
{
	int y;

	begin(30, 100);
	CHECK(paper_find(&p, "SELECTED") < 0);
	paper_resize(&p, 60, 200);
	paper_keys(&p, "j");
	paper_draw(&p);
	y = paper_find(&p, "SELECTED");
	CHECK(y > 30);
	CHECK(strstr(paper_line(&p, y + 1), "cache::Shard::insert(std::string const&, Blob&&)") !=
		NULL);
	CHECK(strstr(paper_line(&p, y + 1), "live 9") != NULL);
	CHECK(strstr(paper_line(&p, y + 4), "  2 ► cache::Shard::insert") != NULL);
	CHECK(strstr(paper_line(&p, y + 4), "cache.cc:214") != NULL);
	CHECK(strstr(paper_line(&p, y + 8), "__libc_start_main") != NULL);
	paper_keys(&p, "G"); /* the last row is above it */
	paper_draw(&p);
	CHECK_INT(p.ui.sites.list.cursor, p.ui.sites.list.count - 1);
	CHECK(paper_line(&p, y - 1)[0] == '>');
	paper_keys(&p, "gf");
	paper_draw(&p);
	CHECK(paper_find(&p, "several call sites in one row") >= 0);
	/* It is narrow and tall as well. */
	for (int w = 40; w < 250; w += 7) {
		paper_keys(&p, "gs");
		paper_resize(&p, 70, w);
		paper_draw(&p);
		CHECK(paper_find(&p, "SELECTED") > 0 && paper_find(&p, ">") > 0);
	}
	paper_close(&p);
}

int main(void)
{
	RUN(rows_of_the_same_name_say_what_differs);
	RUN(sets_of_columns);
	RUN(tall_screens_show_the_selected_stack);
	return check_end();
}
