/* SPDX-License-Identifier: GPL-3.0-or-later */
/* No view is a dead end: from each one a key leads to the site, and Esc and Backspace lead back the
 * way one came, with the cursor where it was. */
#include "tests/check.h"
#include "tests/tui/paper.h"
#include "tui/refresh.h"

static struct paper p;

static void begin(void)
{
	paper_open(&p, 30, 100, false);
	refresh_tick(&p.ui);
	paper_draw(&p);
}

static bool in_front(enum view_id id)
{
	paper_draw(&p);
	return ui_view(&p.ui) == view_table[id];
}

/* A scan that is through. */
static void scan(void)
{
	paper_keys(&p, "L");
	cannedleaks_end(&p.canned.leaks, p.canned.seconds * CANNED_S);
	refresh_tick(&p.ui);
	paper_draw(&p);
}

/* At any moment the way that led here is said before tabs that have no part in it. */
TEST(the_way_is_whole_before_other_tabs)
{
	paper_open(&p, 12, 40, false);
	p.canned.past = true;
	for (int i = 0; i < 4; i++)
		refresh_tick(&p.ui);
	paper_keys(&p, ",\r");
	CHECK(in_front(VIEW_DETAIL) && ui_moment(&p.ui) == SNAP_PAST);
	CHECK(paper_find(&p, "[Sites > Site detail] Tree") >= 0);
	paper_close(&p);
}

TEST(a_site_leads_to_its_line_in_the_tree_and_back)
{
	uint32_t site;
	size_t row;

	begin();
	paper_keys(&p, "jjj");
	site = p.ui.sites.selected;
	row = p.ui.sites.list.cursor;
	screen_key(&p.ui, KEY_F(5));
	CHECK(in_front(VIEW_TREE));
	CHECK(p.ui.tree.selected ==
		p.ui.tree.tree[0][0].node[tree_leaf_of(&p.ui.tree.tree[0][0], site)].id);
	screen_key(&p.ui, KEY_BACKSPACE);
	CHECK(in_front(VIEW_SITES));
	CHECK_INT(p.ui.sites.selected, site);
	CHECK_INT(p.ui.sites.list.cursor, row);
	/* The same key leads back, too. */
	paper_keys(&p, "tt");
	CHECK(in_front(VIEW_SITES) && p.ui.sites.selected == site);
	paper_close(&p);
}

TEST(a_leak_leads_to_its_source_and_tree_and_back)
{
	uint32_t leak;

	begin();
	scan();
	paper_keys(&p, "j");
	leak = p.ui.leaks.selected;
	paper_keys(&p, "\r");
	CHECK(in_front(VIEW_WHY));
	paper_keys(&p, "\r");
	CHECK(in_front(VIEW_DETAIL));
	CHECK_INT(p.ui.detail.site, leak);
	CHECK(paper_find(&p, "SOURCE") >= 0);
	paper_keys(&p, "t");
	CHECK(in_front(VIEW_TREE));
	paper_keys(&p, "jj\033");
	CHECK(in_front(VIEW_DETAIL));
	CHECK_INT(p.ui.detail.site, leak);
	screen_key(&p.ui, KEY_BACKSPACE);
	CHECK(in_front(VIEW_WHY));
	screen_key(&p.ui, KEY_BACKSPACE);
	CHECK(in_front(VIEW_LEAKS));
	CHECK_INT(p.ui.leaks.selected, leak);
	CHECK_INT(p.ui.leaks.list.cursor, 1);
	paper_keys(&p, "\033");
	CHECK(in_front(VIEW_SITES)); /* where L was pressed */
	paper_close(&p);
}

TEST(a_site_leads_to_its_leaks_and_back)
{
	uint32_t leak;

	begin();
	scan();
	leak = p.ui.leaks.selected;
	paper_keys(&p, "\r\r");
	CHECK(in_front(VIEW_DETAIL));
	screen_key(&p.ui, KEY_F(9));
	CHECK(in_front(VIEW_LEAKS));
	CHECK_INT(p.ui.leaks.selected, leak);
	paper_keys(&p, "\033");
	CHECK(in_front(VIEW_DETAIL));
	CHECK_INT(p.ui.detail.site, leak);
	/* The leak of another site would be taken for one of this. */
	p.ui.detail.site = 9999;
	screen_key(&p.ui, KEY_F(9));
	CHECK(in_front(VIEW_DETAIL));
	CHECK(paper_find(&p, "no leak of this site") >= 0);
	paper_close(&p);
}

TEST(a_thread_leads_to_its_sites_and_back)
{
	uint32_t slot;

	begin();
	ui_tab(&p.ui, VIEW_THREADS);
	refresh_tick(&p.ui);
	slot = p.ui.threads.selected;
	paper_keys(&p, "\r");
	refresh_tick(&p.ui);
	CHECK(in_front(VIEW_SITES));
	CHECK(p.ui.group.is_inside && p.ui.group.inside == (slot | GROUPS_THREAD_ID));
	paper_keys(&p, "\033");
	CHECK(in_front(VIEW_THREADS));
	CHECK_INT(p.ui.threads.selected, slot);
	/* A filter set after the way is undone first. */
	paper_keys(&p, "\r\\live>1\r\033");
	CHECK(in_front(VIEW_SITES) && !p.ui.filter);
	paper_keys(&p, "\033");
	CHECK(in_front(VIEW_THREADS));
	CHECK_INT(p.ui.group.by, GROUP_STACK);
	paper_close(&p);
}

TEST(a_module_leads_to_its_sites_and_back)
{
	begin();
	paper_keys(&p, "\\live>1\r");
	ui_tab(&p.ui, VIEW_MODULES);
	paper_keys(&p, "j\r");
	CHECK(in_front(VIEW_SITES));
	CHECK(strstr(filter_text(p.ui.filter), "module:") != NULL);
	paper_keys(&p, "\033");
	CHECK(in_front(VIEW_MODULES));
	CHECK_STR(filter_text(p.ui.filter), "live>1"); /* as it was */
	paper_close(&p);
}

/* The way ends where one goes on by Tab; and it is not endless. */
TEST(the_way_ends)
{
	begin();
	paper_keys(&p, "jt\t\033");
	CHECK(!in_front(VIEW_SITES));
	ui_tab(&p.ui, VIEW_SITES);
	for (int i = 0; i < 3 * TRAIL_PLACES; i++) {
		paper_keys(&p, "jt");
		screen_key(&p.ui, KEY_F(8));
		screen_key(&p.ui, KEY_F(9));
	}
	CHECK_INT(p.ui.trail.count, TRAIL_PLACES);
	for (int i = 0; i < TRAIL_PLACES; i++)
		paper_keys(&p, "\033");
	CHECK_INT(p.ui.trail.count, 0);
	paper_close(&p);
}

static bool refused(int key, const char *view)
{
	const struct view *front = ui_view(&p.ui);
	char words[64];

	snprintf(words, sizeof(words), "%s does not open: 6 views are open", view);
	screen_key(&p.ui, key);
	paper_draw(&p);
	return ui_view(&p.ui) == front && p.ui.depth == UI_STACK_MAX && paper_find(&p, words) >= 0;
}

/* Keys that would open one view too many say so, and change nothing. */
TEST(no_more_views_open_than_there_is_room_for)
{
	begin();
	scan();
	/* Why, Holders, the detail of a site there, and these two again. */
	ui_tab(&p.ui, VIEW_LEAKS);
	paper_keys(&p, "\rO\rj\rO\r");
	CHECK(in_front(VIEW_DETAIL) && p.ui.depth == UI_STACK_MAX);
	CHECK(refused('?', "Help") && refused('`', "Marks") && refused('O', "Holders"));
	CHECK(refused('U', "Contents") && refused(KEY_F(2), "Settings"));
	CHECK(refused('E', "Events"));
	CHECK_INT(p.canned.followed, 0);
	/* Holders and the detail of a site there, in turn. */
	ui_tab(&p.ui, VIEW_SITES);
	paper_keys(&p, "O\rO\rO");
	CHECK(in_front(VIEW_HOLDERS) && p.ui.depth == UI_STACK_MAX);
	CHECK_INT(p.ui.detail.site, 17);
	paper_keys(&p, "G\rj");
	CHECK(refused('\r', "Site detail"));
	CHECK_INT(p.ui.detail.site, 17);
	paper_close(&p);
}

/* In each view one of these keys does something: F5 or Enter or Esc never says "does nothing". */
TEST(no_view_is_a_dead_end)
{
	for (int id = 0; id < VIEW_TABS; id++) {
		begin();
		scan();
		ui_tab(&p.ui, (enum view_id)id);
		refresh_tick(&p.ui);
		screen_key(&p.ui, KEY_F(5));
		paper_draw(&p);
		CHECK(paper_find(&p, "does nothing") < 0);
		paper_keys(&p, "\033");
		CHECK(id == VIEW_TREE || in_front((enum view_id)id));
		paper_close(&p);
	}
}

TEST(the_editor_opens_from_everywhere)
{
	begin();
	p.ui.has_terminal = true;
	p.ui.editor = "vi";
	paper_keys(&p, "je");
	CHECK(p.ui.edit_line != 0);
	p.ui.edit_line = 0;
	paper_keys(&p, "te");
	CHECK(p.ui.edit_line != 0);
	p.ui.edit_line = 0;
	screen_key(&p.ui, KEY_HOME);
	paper_keys(&p, "e");
	CHECK_INT(p.ui.edit_line, 0);
	CHECK(in_front(VIEW_TREE) && paper_find(&p, "no frame is selected") >= 0);
	paper_close(&p);
}

int main(void)
{
	RUN(the_way_is_whole_before_other_tabs);
	RUN(a_site_leads_to_its_line_in_the_tree_and_back);
	RUN(a_leak_leads_to_its_source_and_tree_and_back);
	RUN(a_site_leads_to_its_leaks_and_back);
	RUN(a_thread_leads_to_its_sites_and_back);
	RUN(a_module_leads_to_its_sites_and_back);
	RUN(the_way_ends);
	RUN(no_more_views_open_than_there_is_room_for);
	RUN(no_view_is_a_dead_end);
	RUN(the_editor_opens_from_everywhere);
	return check_end();
}
