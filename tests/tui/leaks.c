/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Leaks: scanning, ending a scan, choosing kinds, suppressing, what grows, and the details
 * of a row. The canned sites 17, 18 and 19 grow. */
#include "tests/check.h"
#include "tests/tui/alike.h"
#include "tests/tui/paper.h"
#include "tui/leak_list.h"

static struct paper p;
static uint32_t still[4], kept[4]; /* sites that do not grow now; of which no block was freed */

static bool is_in(const uint32_t sites[4], uint32_t site)
{
	for (size_t i = 0; i < 4; i++)
		if (sites[i] == site)
			return true;
	return false;
}

static struct snapshot *tick(void *ctx, const char **error)
{
	struct snapshot *s = canned_tick(ctx, error);

	for (size_t i = 0; s && i < s->nsites; i++) {
		struct snap_site *site = (struct snap_site *)(uintptr_t)&s->sites[i];

		if (is_in(still, site->id))
			site->growth.sure = 0;
		if (is_in(kept, site->id))
			site->frees = 0;
	}
	alike_make(s);
	return s;
}

static void begin(int height, int width)
{
	paper_open(&p, height, width, false);
	p.source.tick = tick;
	memset(still, 0, sizeof(still));
	memset(kept, 0, sizeof(kept));
	refresh_tick(&p.ui);
}

static void begin_still(int height, int width)
{
	begin(height, width);
	for (uint32_t i = 0; i < 3; i++)
		still[i] = 17 + i;
	refresh_tick(&p.ui);
}

static void scan(void)
{
	paper_keys(&p, "L");
	cannedleaks_end(&p.canned.leaks, p.canned.seconds * CANNED_S);
	refresh_tick(&p.ui);
	paper_draw(&p);
}

static bool sees(const char *what)
{
	paper_draw(&p);
	return paper_find(&p, what) >= 0;
}

/* The row of the table that has it is selected. */
static void select_row(uint32_t site)
{
	paper_keys(&p, "gg");
	for (size_t i = 0; i < p.ui.leaks.list.count && p.ui.leaks.selected != site; i++)
		paper_keys(&p, "j");
	CHECK_INT(p.ui.leaks.selected, site);
}

TEST(l_scans_from_everywhere_and_esc_ends_it)
{
	begin(30, 100);
	paper_keys(&p, "\r"); /* from the detail, too */
	paper_keys(&p, "L");
	CHECK(ui_view(&p.ui) == view_table[VIEW_LEAKS]);
	CHECK(sees("reading: 340.0M of 740.0M at most") && sees("Esc cancels"));
	paper_keys(&p, "L");
	CHECK(sees("a scan is running; Esc cancels it"));
	screen_key(&p.ui, KEY_ESC);
	CHECK_INT(p.canned.leaks.state.phase, LEAKS_IDLE);
	CHECK(sees("scan cancelled"));
	CHECK(sees("L scans for leaks"));
	/* Only then is Esc the way back again. */
	screen_key(&p.ui, KEY_ESC);
	CHECK(ui_view(&p.ui) == view_table[VIEW_DETAIL]);
	paper_close(&p);
}

/* It takes a moment until nothing stands still any more. */
TEST(one_that_is_about_to_end_cannot_be_ended_again)
{
	begin(30, 100);
	paper_keys(&p, "L");
	p.canned.leaks.state.phase = LEAKS_ENDING;
	CHECK(sees("cancelling the scan") && sees("the scan is being cancelled"));
	CHECK(!sees("reading") && !sees("Esc cancels"));
	screen_key(&p.ui, KEY_ESC);
	CHECK(ui_view(&p.ui) == view_table[VIEW_SITES]);
	paper_close(&p);
}

TEST(a_refusal_is_told)
{
	begin(30, 100);
	ui_tab(&p.ui, VIEW_LEAKS);
	p.canned.leaks.state.failed = "4211 cannot be scanned: it is traced by 99";
	CHECK(sees("cannot be scanned: it is traced by 99"));
	paper_close(&p);
	begin(30, 100);
	p.ui.options.readonly = true;
	paper_keys(&p, "L");
	CHECK(sees("refused: heaptop was started with --readonly"));
	CHECK_INT(p.canned.leaks.state.phase, LEAKS_IDLE);
	paper_close(&p);
	begin(30, 100);
	p.source.leaks = NULL;
	p.source.no_leaks.why = "The file has no scan.";
	paper_keys(&p, "L");
	CHECK(ui_view(&p.ui) == view_table[VIEW_LEAKS]);
	CHECK(sees("The file has no scan."));
	paper_close(&p);
}

TEST(rows_are_the_lost_ones_and_since_the_scan_before)
{
	begin_still(40, 120);
	scan();
	CHECK_INT(p.ui.leaks.list.count, 5);
	CHECK(sees("definite 1.7M in 22,072   indirect 4.0k in 12   possible 204.1k in 330"));
	CHECK(sees("paused for 21ms") && sees("scan 1, ") && sees("medium"));
	CHECK(!sees("high"));
	scan();
	CHECK(sees("high") && sees("medium") && sees("low") && sees("+2.0k") && sees("new"));
	paper_keys(&p, "j2"); /* the second stays selected */
	CHECK_INT(p.ui.leaks.row[p.ui.leaks.list.cursor].leak->site, 22);
	paper_keys(&p, "2");
	CHECK_INT(p.ui.leaks.row[p.ui.leaks.list.cursor].leak->site, 22);
	CHECK(sees(">definite"));
	paper_close(&p);
}

TEST(rows_of_one_name_say_what_differs)
{
	alike[0] = 17, alike[1] = 18;
	begin(30, 140);
	scan();
	CHECK(sees("open_one ‹make_shared<Conn>›"));
	CHECK(sees("open_one ‹make_shared<Session>›"));
	paper_close(&p);
	/* Where there is little room, the line is what differs. */
	alike_lines = true;
	begin(14, 40);
	scan();
	CHECK(sees("open_one  conn.cc:88") && sees("open_one  conn.cc:89"));
	CHECK(!sees("BLOCKS")); /* the names need the room */
	paper_close(&p);
	alike_lines = false;
	alike[0] = alike[1] = 0;
}

TEST(k_chooses_kinds)
{
	static const struct {
		const char *keys, *shown;
		size_t rows;
	} choices[] = {
		{ "Kd", "definite", 3 },
		{ "Ki", "indirect", 1 },
		{ "Kp", "possible", 1 },
		{ "Kg", "growing", 0 },
		{ "Kr", "reachable", 2 },
		{ "Ks", "suppressed", 0 },
		{ "Ka", "all", 7 },
		{ "Kh", "by head", 3 },
		{ "KK", "lost, growing", 5 },
	};
	char said[64];

	begin_still(40, 120);
	scan();
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		paper_keys(&p, choices[i].keys);
		CHECK_INT(p.ui.leaks.list.count, choices[i].rows);
		snprintf(said, sizeof(said), "shown: %s", choices[i].shown);
		CHECK(sees(said));
	}
	paper_keys(&p, "Ks");
	CHECK(sees("none of the kinds shown"));
	paper_close(&p);
}

TEST(k_lists_its_choices)
{
	begin_still(24, 80);
	scan();
	paper_keys(&p, "K");
	CHECK(sees("d definite  i indirect  p possible") && sees("a all  h by head  K lost"));
	screen_key(&p.ui, KEY_ESC);
	CHECK(!sees("d definite") && !sees("shown: ") && p.ui.depth == 1);
	paper_keys(&p, "Kjd"); /* no choice: the key does what it does, and the next one, too */
	CHECK(p.ui.leaks.list.cursor == 1 && !sees("shown: "));
	paper_close(&p);
}

/* 200 of the definite blocks of sites 18 and 22 lead cycles of both; the others are by themselves.
 */
TEST(heads_are_what_frees_would_give_back)
{
	static const struct snap_cycle cycle = { { 18, 22 }, 2, 200, { 400, 40000 },
		{ 600, 600 << 10 } };
	struct cannedleaks *c = &p.canned.leaks;

	begin_still(40, 160);
	scan();
	c->row[0].retained = (struct snap_leak_sum){ 21882, 1405100 };
	c->row[0].cyclic = (struct snap_leak_sum){ 150, 9600 };
	c->row[0].cyclic_retained = (struct snap_leak_sum){ 450, 30000 };
	c->row[1].retained = (struct snap_leak_sum){ 201, 402000 };
	c->row[1].cyclic = c->row[1].sum; /* none is by itself */
	c->row[1].cyclic_retained = c->row[1].retained;
	c->row[0].type = "Session";
	c->row[1].type = "Conn";
	c->result.cycles = &cycle;
	c->result.ncycles = 1;
	c->result.typed.blocks = 1;
	refresh_tick(&p.ui);
	CHECK(sees("KEEPS") && sees("1.3M") && sees(" Conn "));
	paper_keys(&p, "Kh");
	CHECK(sees("shown: by head"));
	CHECK_INT(p.ui.leaks.list.count, 3);
	CHECK(sees("cycle        39.1k     400    560.9k  600.0k"));
	CHECK(sees("Session <-> Conn, 200 times"));
	/* 1,401,000 bytes and 4,100 lost with them, without what the cycles have of both. */
	CHECK(sees("definite      1.3M  21,720"));
	CHECK_INT(leak_list_keeps(&p.ui.leaks.row[0]).bytes, 1405100 - 30000);
	CHECK(p.ui.leaks.row[1].cycle == &cycle); /* which keeps more than the last */
	paper_keys(&p, "j");
	CHECK(p.ui.leaks.row[p.ui.leaks.list.cursor].cycle == &cycle);
	refresh_tick(&p.ui);
	CHECK(p.ui.leaks.row[p.ui.leaks.list.cursor].cycle == &cycle);
	c->row[0].suppressed = c->row[1].suppressed = true;
	refresh_tick(&p.ui);
	CHECK_INT(p.ui.leaks.list.count, 1);
	paper_close(&p);
}

TEST(what_is_suppressed_is_gone_and_can_be_seen)
{
	begin_still(40, 140);
	scan();
	paper_keys(&p, "!");
	CHECK_INT(p.ui.leaks.list.count, 4);
	CHECK(sees("suppressed 2 blocks for this session") && sees("suppressed 1.3M in 21,870"));
	paper_keys(&p, "Ks");
	CHECK_INT(p.ui.leaks.list.count, 1);
	CHECK(sees("Suppressed: not counted in its class"));
	paper_keys(&p, "!");
	CHECK(sees("this is already suppressed"));
	paper_close(&p);
}

/* What every path goes through is shown if a single path does not show it. */
TEST(what_keeps_a_block_alive)
{
	begin_still(60, 120);
	scan();
	p.canned.leaks.row[5].retained = (struct snap_leak_sum){ 97000, 200000000 };
	p.canned.leaks.row[5].blocks = cannedleaks_held;
	p.canned.leaks.row[5].nblocks = 3;
	p.canned.leaks.state.version++;
	paper_keys(&p, "KaG\r");
	CHECK(sees("still reach these 96,593 blocks."));
	CHECK(sees("They keep alive: 190.7M in 97,000 blocks, themselves included."));
	CHECK(sees("keeps alive 91.9M"));
	CHECK(sees("every path from the roots goes through") && sees("quotes (server.c:12)"));
	CHECK(sees("reached, from the root down, through"));
	CHECK(sees("reached, from the root down, only through"));
	CHECK(sees("held by several roots: none of them alone keeps it alive"));
	paper_close(&p);
}

TEST(why_tells_who_points_to_it)
{
	begin_still(40, 120);
	scan();
	CHECK(sees("WHY http::Conn::Conn") && sees("No root, stack, register or reachable block"));
	CHECK(sees("12 blocks (4.0k) reachable only through them are lost as well."));
	paper_keys(&p, "Ka");
	paper_keys(&p, "G\r");
	CHECK(ui_view(&p.ui) == view_table[VIEW_WHY]);
	CHECK(sees("The program can still reach these 96,593 blocks."));
	CHECK(sees("Allocated with operator new by:"));
	screen_key(&p.ui, KEY_ESC);
	paper_keys(&p, "gg");
	for (int i = 0; i < 7 && !sees("data of server at 0x30048"); i++)
		paper_keys(&p, "j");
	paper_keys(&p, "\r");
	CHECK(sees("9,999,990 more blocks") && sees("of index::load") && sees("cache::Shard"));
	paper_close(&p);
}

/* No way leads from a root to what is lost. */
TEST(why_names_no_way_to_lost_blocks)
{
	begin_still(60, 120);
	scan();
	paper_keys(&p, "\r");
	CHECK(sees("definite") && sees("0x7f12a40c1f40") && !sees("every path"));
	paper_close(&p);
}

/* A sentence goes on in the next line, also after the terminal has become another size. */
TEST(why_breaks_its_sentences)
{
	begin_still(40, 120);
	scan();
	paper_keys(&p, "\r");
	CHECK(sees("No root, stack, register or reachable block points to these 21,870 blocks."));
	paper_resize(&p, 8, 40);
	CHECK(sees("No root, stack, register or reachable") &&
		sees("  block points to these 21,870"));
	paper_resize(&p, 40, 120);
	CHECK(sees("No root, stack, register or reachable block points to these 21,870 blocks."));
	paper_close(&p);
}

/* Secrets stay where they are until they are asked for, and then control bytes are none. */
TEST(contents_only_after_h)
{
	begin(60, 120);
	scan();
	paper_keys(&p, "j\r");
	CHECK(!sees("user=alice"));
	paper_keys(&p, "H");
	CHECK(sees("75 73 65 72 3d 61 6c 69 63 65 1b 5b 32 4a 00 00  user=alice.[2J.."));
	paper_keys(&p, "H");
	CHECK(!sees("user=alice"));
	paper_close(&p);
}

TEST(a_scans_by_itself)
{
	begin(30, 100);
	ui_tab(&p.ui, VIEW_LEAKS);
	paper_keys(&p, "A30s\r");
	CHECK_INT(p.canned.leaks.state.every_ns / CANNED_S, 30);
	CHECK(sees("next scan in 15s"));
	paper_keys(&p, "A10ms\r");
	CHECK_INT(p.canned.leaks.state.every_ns / CANNED_S, 30);
	CHECK(sees("is neither 0 nor a time of 0.1 s or more"));
	paper_keys(&p, "A100ms\r"); /* as --leak-check=every: */
	CHECK_INT(p.canned.leaks.state.every_ns, 100000000);
	paper_keys(&p, "A0\r");
	CHECK_INT(p.canned.leaks.state.every_ns, 0);
	paper_close(&p);
}

/* A result may come, and take the place of the one before, between two frames. */
TEST(rows_are_never_of_an_old_result)
{
	begin_still(40, 120);
	scan();
	paper_keys(&p, "G");
	p.canned.leaks.none = true;
	paper_keys(&p, "L");
	cannedleaks_end(&p.canned.leaks, 1);
	paper_draw(&p);
	CHECK_INT(p.ui.leaks.list.count, 0);
	CHECK(sees("no leaks: every block is reachable"));
	paper_keys(&p, "\r!");
	CHECK(sees("nothing to suppress"));
	/* Another image: nothing of it is left. */
	p.canned.image = &p;
	p.canned.leaks = (struct cannedleaks){ .state.version = 99 };
	refresh_tick(&p.ui);
	CHECK(ui_view(&p.ui) == view_table[VIEW_LEAKS] && !p.ui.leaks.last);
	CHECK(sees("L scans for leaks"));
	paper_close(&p);
}

TEST(what_grows_is_there_before_any_scan)
{
	begin(30, 100);
	paper_keys(&p, "L");
	screen_key(&p.ui, KEY_ESC);
	CHECK_INT(p.ui.leaks.list.count, 3);
	/* Ages are requested at the next refresh, and only while they are shown. */
	CHECK(!p.canned.ages && refresh_is_due(&p.ui));
	refresh_tick(&p.ui);
	CHECK(p.canned.ages && !refresh_is_due(&p.ui));
	CHECK(sees("  12m42s"));
	CHECK(sees("L scans for leaks") && sees("for how long."));
	CHECK(sees("not scanned yet (L)   growing 3") && sees(">growing") && sees("sure"));
	CHECK(sees("WHY cache::Shard") && sees("Grows +1.0M/s over 9m36s, sure: rose all along"));
	CHECK(sees("Growth alone is not a leak") && sees("is unknown: L scans"));
	CHECK(!sees(" definite ") && !sees("  new "));
	paper_keys(&p, "!");
	CHECK(sees("not suppressed: this is not a leak"));
	paper_keys(&p, "\r");
	CHECK(sees("Grows +1.0M/s over 9m36s, sure") && sees("Allocated with operator new by:"));
	ui_tab(&p.ui, VIEW_TREE);
	refresh_tick(&p.ui);
	CHECK(!p.canned.ages);
	paper_close(&p);
}

/* What is lost and grows is one row; a way to what is not lost is known after a scan. */
TEST(what_grows_is_one_row_of_its_site)
{
	begin(40, 140);
	scan();
	CHECK_INT(p.ui.leaks.list.count, 6);
	CHECK(sees("growing +1.5M/s at 3 sites"));
	for (size_t i = 0; i < 6; i++) {
		uint32_t site = p.ui.leaks.row[i].kind == KIND_GROWING
					? p.ui.leaks.row[i].site->id
					: p.ui.leaks.row[i].leak->site;

		CHECK_INT(p.ui.leaks.row[i].kind == KIND_GROWING, i == 5);
		CHECK_INT(site == 17, i == 5);
	}
	select_row(18);
	CHECK(sees("No root, stack, register") && sees("Grows +393k/s over"));
	select_row(17);
	CHECK(sees("The last scan could reach all of them; there were 96,593 then."));
	paper_keys(&p, "j\r");
	CHECK(sees("data of server at 0x30048") && sees("growing"));
	screen_key(&p.ui, KEY_ESC);
	paper_keys(&p, "Kg");
	CHECK_INT(p.ui.leaks.list.count, 3);
	CHECK(sees("shown: growing (K)"));
	select_row(17);
	/* What can be reached has a row of its own where such are shown. */
	paper_keys(&p, "Kr");
	CHECK(sees(">reachable") && !sees("growing  "));
	CHECK_INT(p.ui.leaks.selected, 17);
	paper_keys(&p, "Ka");
	CHECK_INT(p.ui.leaks.list.count, 7);
	for (size_t i = 0; i < p.ui.leaks.list.count; i++)
		CHECK(p.ui.leaks.row[i].kind != KIND_GROWING);
	paper_close(&p);
}

TEST(what_grows_and_turns_out_lost_stays_selected)
{
	begin(40, 140);
	ui_tab(&p.ui, VIEW_LEAKS);
	select_row(18);
	CHECK(sees(">growing"));
	scan();
	CHECK_INT(p.ui.leaks.selected, 18);
	CHECK(sees(">definite"));
	/* It is no longer to be reported. */
	paper_keys(&p, "!");
	CHECK(sees("growing +1.1M/s at 2 sites"));
	for (size_t i = 0; i < p.ui.leaks.list.count; i++)
		CHECK(p.ui.leaks.row[i].site != NULL && p.ui.leaks.row[i].site->id != 18);
	paper_close(&p);
}

TEST(what_grows_no_more_is_not_another_row_s_why)
{
	begin(40, 140);
	ui_tab(&p.ui, VIEW_LEAKS);
	select_row(18);
	paper_keys(&p, "\r");
	CHECK(sees("http::Conn"));
	still[0] = 18;
	refresh_tick(&p.ui);
	CHECK(sees("no longer among the kinds shown") && !sees("Allocated with"));
	refresh_tick(&p.ui);
	CHECK(!sees("Allocated with"));
	paper_keys(&p, "!");
	CHECK(sees("nothing to suppress"));
	still[0] = 0;
	refresh_tick(&p.ui);
	CHECK(sees("http::Conn") && sees("Allocated with"));
	paper_close(&p);
}

/* By age, and never called leaks; what is suspected and grows is one row. */
TEST(where_no_scan_was_possible_there_are_suspects)
{
	begin(30, 100);
	kept[0] = 18, kept[1] = 24;
	ui_tab(&p.ui, VIEW_LEAKS);
	refresh_tick(&p.ui);
	CHECK_INT(p.ui.leaks.list.count, 3); /* they grow; nobody has tried to scan */
	p.canned.leaks.state.failed = "4211 cannot be scanned: no permission to stop it";
	p.canned.leaks.state.by_age = true;
	refresh_tick(&p.ui);
	CHECK_INT(p.ui.leaks.list.count, 4);
	CHECK(sees("4211 cannot be scanned: no permission to stop it"));
	CHECK(sees("suspects, growing (K)   no scan was possible   suspects by age 2   growing 3"));
	CHECK(sees(">suspect      4") && sees(" suspect       8.4M") && sees(" growing "));
	CHECK(sees("Not a known leak") && sees("what points to these 10,"));
	CHECK(sees("Grows +393k/s") && sees("No block of this call site was ever freed"));
	CHECK(!sees("definite") && !sees("lost") && !sees("not scanned yet"));
	paper_keys(&p, "!");
	CHECK(sees("not suppressed: this is not a leak"));
	paper_keys(&p, "Kg");
	CHECK_INT(p.ui.leaks.list.count, 3);
	CHECK(sees("shown: growing"));
	paper_keys(&p, "Ks");
	CHECK_INT(p.ui.leaks.list.count, 2);
	CHECK(sees("shown: suspects"));
	/* When a scan was possible after all, there are none. */
	p.canned.leaks.state.by_age = false;
	scan();
	CHECK_INT(p.ui.leaks.list.count, 0);
	paper_keys(&p, "Ks");
	CHECK(sees("shown: suppressed"));
	paper_close(&p);
}

/* Above the rows, in lines: what stood there before stays. */
TEST(why_there_was_no_scan_stands_above_the_rows)
{
	static const char why[] = "4211 cannot be scanned: no permission to stop it; nothing that "
				  "it called within two seconds made a copy: it may sleep";

	begin(30, 80);
	scan();
	p.canned.leaks.state.failed = why;
	CHECK(sees("cannot be scanned: no permission to stop it") && sees("copy: it may sleep"));
	CHECK(sees(" definite "));
	/* A click is on what is seen there. */
	screen_mouse(&p.ui, SCREEN_CLICK, p.ui.layout.y[ROW_BODY], 5);
	CHECK(ui_view(&p.ui) == view_table[VIEW_LEAKS]);
	screen_mouse(&p.ui, SCREEN_CLICK, p.ui.layout.y[ROW_BODY] + 3, 5);
	CHECK_INT(p.ui.leaks.list.cursor, 1);
	paper_close(&p);
}

TEST(every_size_draws)
{
	begin(30, 100);
	scan();
	for (int h = 1; h <= 80; h += h < 26 ? 1 : 9) {
		for (int w = 1; w <= 250; w += w < 90 ? 1 : 23) {
			paper_resize(&p, h, w);
			screen_draw(&p.ui);
			paper_keys(&p, "KKKKKKKj\rH");
			screen_draw(&p.ui);
			paper_keys(&p, "qK");
		}
	}
	CHECK_INT(p.ui.depth, 1);
	paper_close(&p);
}

TEST(still_leaks_send_little)
{
	long before;

	begin(30, 100);
	scan();
	before = paper_bytes(&p);
	for (int i = 0; i < 20; i++) {
		refresh_tick(&p.ui);
		paper_draw(&p);
	}
	CHECK((paper_bytes(&p) - before) / 20 <= 1024);
	paper_close(&p);
}

int main(void)
{
	RUN(l_scans_from_everywhere_and_esc_ends_it);
	RUN(one_that_is_about_to_end_cannot_be_ended_again);
	RUN(a_refusal_is_told);
	RUN(rows_are_the_lost_ones_and_since_the_scan_before);
	RUN(rows_of_one_name_say_what_differs);
	RUN(k_chooses_kinds);
	RUN(k_lists_its_choices);
	RUN(heads_are_what_frees_would_give_back);
	RUN(what_is_suppressed_is_gone_and_can_be_seen);
	RUN(what_keeps_a_block_alive);
	RUN(why_tells_who_points_to_it);
	RUN(why_names_no_way_to_lost_blocks);
	RUN(why_breaks_its_sentences);
	RUN(contents_only_after_h);
	RUN(a_scans_by_itself);
	RUN(rows_are_never_of_an_old_result);
	RUN(what_grows_is_there_before_any_scan);
	RUN(what_grows_is_one_row_of_its_site);
	RUN(what_grows_and_turns_out_lost_stays_selected);
	RUN(what_grows_no_more_is_not_another_row_s_why);
	RUN(where_no_scan_was_possible_there_are_suspects);
	RUN(why_there_was_no_scan_stands_above_the_rows);
	RUN(every_size_draws);
	RUN(still_leaks_send_little);
	return check_end();
}
