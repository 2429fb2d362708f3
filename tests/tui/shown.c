/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of the sites is shown and exported, and what is said when it is not the table that explains.
 */
#include "tests/check.h"
#include "tests/tui/paper.h"
#include "tui/view_sites.h"

static struct paper p;

static void begin(int height, int width)
{
	paper_open(&p, height, width, false);
	refresh_tick(&p.ui);
	paper_draw(&p);
}

TEST(what_is_saved_is_what_the_filter_shows)
{
	begin(30, 100);
	paper_keys(&p, "\\libssl\rx");
	CHECK_INT(p.canned.saved_sites, 1);
	screen_key(&p.ui, KEY_ESC);
	paper_keys(&p, "x");
	CHECK_INT(p.canned.saved_sites, p.canned.nsites);
	paper_close(&p);
}

TEST(what_ended_badly_has_said_why_in_output)
{
	begin(24, 80);
	p.canned.state = SNAP_EXITED;
	p.canned.exit_status = 127;
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(paper_find(&p, "the program exited 127; its output is in the Output tab") >= 0);
	ui_tab(&p.ui, VIEW_OUTPUT);
	paper_draw(&p);
	CHECK_INT(paper_find(&p, "its output is in"), -1);
	ui_tab(&p.ui, VIEW_SITES);
	p.canned.lines = 0;
	paper_draw(&p);
	CHECK_INT(paper_find(&p, "its output is in"), -1);
	p.canned.lines = 1;
	p.canned.exit_status = 0;
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK_INT(paper_find(&p, "its output is in"), -1);
	paper_close(&p);
}

TEST(v_goes_through_the_styles_of_names)
{
	static const char *const said[] = { "full names", "mangled names", "addresses",
		"short names" };

	begin(30, 120);
	for (int i = 0; i < NAMES_COUNT; i++) {
		paper_keys(&p, "v");
		paper_draw(&p);
		CHECK(paper_find(&p, said[i]) >= 0);
		if (p.ui.names == NAMES_ADDRESS)
			CHECK(paper_find(&p, "server+0x0") >= 0);
	}
	paper_close(&p);
}

TEST(ages_are_asked_for_by_who_looks_at_them)
{
	begin(30, 120);
	refresh_tick(&p.ui);
	CHECK(!p.canned.ages);
	paper_keys(&p, "\\age>60s\r");
	refresh_tick(&p.ui);
	CHECK(p.canned.ages);
	screen_key(&p.ui, KEY_ESC);
	refresh_tick(&p.ui);
	CHECK(!p.canned.ages);
	p.ui.columns_off = 0;
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(p.canned.ages);
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_HEAD]), "AGE") != NULL);
	paper_close(&p);
}

/* ---- groups ------------------------------------------------------------------------------- */

static const struct snap_site *row(size_t i)
{
	return &p.ui.listed->sites[p.ui.sites.order[i]];
}

TEST(g_asks_and_sums_up)
{
	uint64_t live = 0;

	begin(30, 120);
	paper_keys(&p, "g");
	paper_draw(&p);
	CHECK(paper_find(&p, "by:  s stack  c caller") >= 0);
	paper_keys(&p, "f");
	paper_draw(&p);
	CHECK_INT(p.ui.sites.list.count, 11); /* ten of their own, and 2,307 of worker::step */
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_HEAD]), "7FUNCTION") != NULL);
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_HEAD]), "SITES") != NULL);
	CHECK(paper_find(&p, "by function (g)") >= 0);
	CHECK(paper_find(&p, "1-11 of 11 functions") >= 0);
	for (size_t i = 0; i < p.ui.sites.list.count; i++)
		live += row(i)->live_bytes;
	CHECK_INT(live, p.ui.shown->totals.live_bytes);
	/* Esc in the middle of it means nothing else, g again the first row, others what they do.
	 */
	paper_keys(&p, "jjg\033");
	CHECK_INT(p.ui.group.by, GROUP_FUNCTION);
	CHECK_INT(p.ui.sites.list.cursor, 2);
	paper_keys(&p, "gg");
	CHECK_INT(p.ui.sites.list.cursor, 0);
	paper_keys(&p, "gj");
	CHECK_INT(p.ui.sites.list.cursor, 1);
	paper_keys(&p, "gs");
	CHECK_INT(p.ui.sites.list.count, p.canned.nsites);
	paper_close(&p);
}

TEST(a_group_is_followed_held_and_found)
{
	begin(30, 120);
	paper_keys(&p, "gfjjj");
	CHECK_INT(p.ui.sites.selected, row(3)->id);
	paper_keys(&p, "I"); /* another order: it goes along, and keeps its line */
	CHECK_INT(row(p.ui.sites.list.cursor)->id, p.ui.sites.selected);
	CHECK(p.ui.sites.list.cursor != 3);
	paper_keys(&p, "o");
	refresh_tick(&p.ui);
	CHECK_INT(row(p.ui.sites.list.cursor)->id, p.ui.sites.selected);
	paper_keys(&p, "o/worker::step\r");
	CHECK_INT(row(p.ui.sites.list.cursor)->group->sites, p.canned.nsites - CANNED_ROWS);
	/* A site that is selected is so in its group, and a group by its first site. */
	paper_keys(&p, "gsgg/index::load\rgf");
	CHECK_INT(p.ui.sites.selected, 20);
	CHECK_STR(snapshot_frame(row(p.ui.sites.list.cursor)->stack, 0)->function,
		"index::load(char const*)");
	paper_close(&p);
}

/* A site that another view opened has no neighbours among the groups. */
TEST(the_next_of_a_site_is_no_group)
{
	begin(30, 120);
	paper_keys(&p, "gf");
	p.ui.detail.site = 17;
	ui_push(&p.ui, VIEW_DETAIL);
	paper_keys(&p, "]");
	paper_draw(&p);
	CHECK_INT(p.ui.detail.site, 17);
	CHECK(paper_find(&p, "the rows of Sites are groups: there is no next site") >= 0);
	paper_close(&p);
}

TEST(a_group_opens)
{
	begin(30, 120);
	paper_keys(&p, "gm");
	ui_tab(&p.ui, VIEW_SIZES);
	paper_draw(&p);
	CHECK(paper_find(&p, "site 17, one of 2316  cache::Shard::insert") >= 0);
	ui_tab(&p.ui, VIEW_SITES);
	paper_keys(&p, "gm\r");
	CHECK_INT(p.ui.sites.list.count, p.canned.nsites - 1); /* all but libssl's */
	CHECK(!row(0)->group);
	paper_draw(&p);
	CHECK(paper_find(&p, "in /srv/bin/server (Esc)") >= 0);
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_HEAD]), "7CALL SITE") != NULL);
	paper_keys(&p, "j\r");
	CHECK(ui_view(&p.ui) == view_table[VIEW_DETAIL]);
	paper_keys(&p, "\033");
	CHECK_INT(p.ui.sites.list.count, p.canned.nsites - 1);
	paper_keys(&p, "\033");
	CHECK_INT(p.ui.sites.list.count, 2);
	/* Another image of the program has no such group. */
	paper_keys(&p, "\r");
	p.canned.image = &p;
	refresh_tick(&p.ui);
	CHECK(!p.ui.group.is_inside);
	CHECK_INT(p.ui.sites.list.count, 2);
	paper_close(&p);
}

/* A thread that holds nothing: no filter hides its call sites, unless there is one. */
TEST(an_empty_group_says_that_it_is)
{
	begin(30, 120);
	ui_tab(&p.ui, VIEW_THREADS);
	paper_keys(&p, "\r");
	paper_draw(&p);
	CHECK_INT(p.ui.sites.list.count, 0);
	CHECK(paper_find(&p, "no call site is in this group now: Esc goes back") >= 0);
	CHECK_INT(paper_find(&p, "filter:"), -1);
	paper_keys(&p, "\\live>1\r");
	paper_draw(&p);
	CHECK(paper_find(&p, "no call site of this group matches the filter") >= 0);
	paper_close(&p);
}

TEST(groups_are_filtered_frozen_and_saved)
{
	begin(30, 120);
	paper_keys(&p, "gf\\live>40M\r");
	CHECK_INT(p.ui.sites.list.count, 2);
	paper_keys(&p, "x");
	CHECK_INT(p.canned.saved_sites, 2);
	CHECK_INT(p.canned.saved_group, GROUP_FUNCTION);
	paper_keys(&p, "\\\x15!step\r"); /* ^U: instead of what stands there */
	CHECK_INT(p.ui.sites.list.count, 10);
	screen_key(&p.ui, KEY_ESC);
	paper_keys(&p, " ");
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK_INT(p.ui.sites.list.count, 11);
	paper_close(&p);
}

/* At all sizes, in the middle of choosing and with a group open. */
TEST(groups_draw_at_every_size)
{
	begin(24, 80);
	paper_keys(&p, "gf");
	for (int i = 0; i < 120; i++) {
		paper_resize(&p, 1 + i * 7 % 60, 1 + i * 13 % 200);
		paper_draw(&p);
		paper_keys(&p, i % 5 == 0 ? "g" : i % 5 == 1 ? "c" : i % 5 == 2 ? "\r" : "\033");
		paper_draw(&p);
	}
	paper_close(&p);
}

static char saved_as[32];

static int save_as(void *ctx, const struct tui_shown *shown, char *msg, size_t cap)
{
	snprintf(saved_as, sizeof(saved_as), "%s", shown->format);
	snprintf(msg, cap, "saved as %s", saved_as);
	return 0;
}

/* Where there is a choice of formats, x asks for one; Enter takes the usual one. */
TEST(save_asks_for_the_format)
{
	static const char *const formats[] = { "text", "json", "heaptop", NULL };

	begin(30, 100);
	p.source.save = save_as;
	p.source.save_formats = formats;
	paper_keys(&p, "x");
	paper_draw(&p);
	CHECK(p.ui.prompt.open && saved_as[0] == '\0');
	CHECK(paper_find(&p, "export as (Enter: text):") >= 0);
	CHECK(paper_find(&p, "text json heaptop") >= 0);
	paper_keys(&p, "heaptop\r");
	CHECK_STR(saved_as, "heaptop");
	paper_draw(&p);
	CHECK(paper_find(&p, "saved as heaptop") >= 0);
	paper_keys(&p, "x\r");
	CHECK_STR(saved_as, "text");
	saved_as[0] = '\0';
	paper_keys(&p, "xjson\033");
	CHECK(!p.ui.prompt.open && saved_as[0] == '\0');
	paper_close(&p);
}

/* Sites 17 and 18 are ignored. */
static void begin_ignoring(void)
{
	struct ignored_rules rules = { .ignore = { "function:Conn", "function:cache" },
		.nignore = 2 };

	begin(40, 120);
	p.ui.ignored = ignored_new(&rules);
	refresh_tick(&p.ui);
	paper_draw(&p);
}

TEST(the_row_of_ignored_sites_is_in_every_view)
{
	begin_ignoring();
	CHECK(paper_find(&p, "(ignored)") >= 0 && paper_find(&p, "json::Parser") >= 0);
	CHECK_INT(paper_find(&p, "cache::Shard"), -1);
	ui_tab(&p.ui, VIEW_TREE);
	paper_draw(&p);
	CHECK(paper_find(&p, "(ignored)") >= 0 && paper_find(&p, "ev::Loop::run") >= 0);
	ui_tab(&p.ui, VIEW_LEAKS);
	paper_keys(&p, "L");
	cannedleaks_end(&p.canned.leaks, p.canned.seconds * CANNED_S);
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(paper_find(&p, "json::Parser") >= 0 && paper_find(&p, "iobuf_get") >= 0);
	paper_close(&p);
}

/* A source would answer for the one site that has the row's id. */
TEST(the_row_of_ignored_sites_is_no_site_of_the_program)
{
	begin_ignoring();
	view_sites_select(&p.ui, 17);
	paper_keys(&p, "\r");
	paper_draw(&p);
	CHECK(paper_find(&p, "SITE 17  (ignored)") >= 0);
	CHECK(!p.ui.detail.has_histograms);
	paper_keys(&p, "E");
	paper_draw(&p);
	CHECK(paper_find(&p, "events are those of one call site: these are several") >= 0);
	CHECK_INT(p.canned.followed, 0);
	ui_tab(&p.ui, VIEW_SIZES);
	paper_draw(&p);
	CHECK(!p.ui.sizes.has_site);
	view_sites_select(&p.ui, 19);
	refresh_tick(&p.ui);
	CHECK(p.ui.sizes.has_site);
	paper_close(&p);
}

/* A scan, or events, of the new image would be shown under the names of the old one's sites. */
TEST(frozen_rows_from_before_exec_have_no_scans)
{
	static int images[2];

	begin(30, 100);
	p.canned.image = &images[0];
	refresh_tick(&p.ui);
	paper_keys(&p, "Z");
	p.canned.image = &images[1];
	refresh_tick(&p.ui);
	cannedleaks_end(&p.canned.leaks, p.canned.seconds * CANNED_S);
	ui_tab(&p.ui, VIEW_LEAKS);
	paper_draw(&p);
	CHECK(p.ui.frozen && p.ui.shown->owner == &images[0]);
	CHECK_INT(paper_find(&p, "definite"), -1);
	CHECK(paper_find(&p, "Not available for the frozen rows.") >= 0);
	CHECK(paper_find(&p, "Space in Sites unfreezes them.") >= 0);
	paper_keys(&p, "L");
	paper_draw(&p);
	CHECK(paper_find(&p, "Space in Sites, then L") >= 0);
	CHECK_INT(p.canned.leaks.state.phase, LEAKS_IDLE);
	paper_keys(&p, "!");
	paper_draw(&p);
	CHECK(paper_find(&p, "not suppressed") >= 0);
	ui_tab(&p.ui, VIEW_SITES);
	paper_keys(&p, "ZL");
	CHECK_INT(p.canned.leaks.state.phase, LEAKS_READING);
	paper_close(&p);
}

int main(void)
{
	RUN(v_goes_through_the_styles_of_names);
	RUN(ages_are_asked_for_by_who_looks_at_them);
	RUN(g_asks_and_sums_up);
	RUN(a_group_is_followed_held_and_found);
	RUN(the_next_of_a_site_is_no_group);
	RUN(a_group_opens);
	RUN(an_empty_group_says_that_it_is);
	RUN(groups_are_filtered_frozen_and_saved);
	RUN(groups_draw_at_every_size);
	RUN(what_is_saved_is_what_the_filter_shows);
	RUN(what_ended_badly_has_said_why_in_output);
	RUN(save_asks_for_the_format);
	RUN(the_row_of_ignored_sites_is_in_every_view);
	RUN(the_row_of_ignored_sites_is_no_site_of_the_program);
	RUN(frozen_rows_from_before_exec_have_no_scans);
	return check_end();
}
