/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Questions that the message line asks: before it leaves a program (q), before it detaches (D), and
 * which leaks to show (K). A key that answers one has its usual meaning once the line is gone.
 */
#include "tests/check.h"
#include "tests/tui/paper.h"

static struct paper p;
static unsigned ended, detached;

static void end(void *ctx)
{
	ended++;
}

static int detach(void *ctx, bool all, char *msg, size_t cap)
{
	detached++;
	snprintf(msg, cap, "detached");
	return 0;
}

/* Asks by a key. */
static void ask(const char *key, const char *question)
{
	paper_open(&p, 30, 100, false);
	ended = detached = 0;
	p.source.end = end;
	p.source.detach = detach;
	p.ui.options.launched = true;
	refresh_tick(&p.ui);
	if (*key == 'K')
		screen_key(&p.ui, KEY_F(9));
	paper_keys(&p, key);
	paper_draw(&p);
	CHECK(paper_find(&p, question) >= 0);
}

static void ask_leaving(void)
{
	ask("q", "t ends it");
}

static void ask_detaching(void)
{
	ask("D", "D again ends the recording");
}

static void ask_kind(void)
{
	ask("K", "show  ");
}

/* ---- ways in which the line goes ---------------------------------------------------------- */

static void time_passes(void)
{
	p.canned.now_ns += 60 * CANNED_S;
	paper_draw(&p);
}

static void time_passes_on_a_small_screen(void)
{
	paper_resize(&p, 5, 20);
	time_passes();
}

static void click(void)
{
	screen_mouse(&p.ui, SCREEN_CLICK, p.ui.layout.y[ROW_BODY] + 2, 5);
}

static void wheel(void)
{
	screen_mouse(&p.ui, SCREEN_WHEEL_DOWN, p.ui.layout.y[ROW_BODY] + 2, 5);
}

static void wheel_on_the_timeline(void)
{
	p.canned.past = true;
	refresh_tick(&p.ui);
	paper_draw(&p);
	screen_mouse(&p.ui, SCREEN_WHEEL_DOWN, p.ui.layout.y[ROW_HISTORY], 40);
}

/* That of a tick, say. */
static void another_message(void)
{
	ui_message(&p.ui, "something happened");
}

static void (*const ways[])(void) = { time_passes, time_passes_on_a_small_screen, click, wheel,
	wheel_on_the_timeline, another_message };
#define WAYS (sizeof(ways) / sizeof(ways[0]))

/* ---- tests -------------------------------------------------------------------------------- */

TEST(q_asks_again)
{
	for (size_t i = 0; i < WAYS; i++) {
		ask_leaving();
		ways[i]();
		paper_keys(&p, "q");
		CHECK(!p.ui.quit);
		paper_keys(&p, "q");
		CHECK(p.ui.quit);
		paper_close(&p);
	}
}

TEST(t_ends_nothing)
{
	for (size_t i = 0; i < WAYS; i++) {
		ask_leaving();
		ways[i]();
		paper_keys(&p, "t");
		CHECK(!p.ui.quit && !ended);
		paper_close(&p);
	}
}

TEST(D_asks_again)
{
	for (size_t i = 0; i < WAYS; i++) {
		ask_detaching();
		ways[i]();
		paper_keys(&p, "D");
		CHECK_INT(detached, 0);
		paper_keys(&p, "D");
		CHECK_INT(detached, 1);
		paper_close(&p);
	}
}

TEST(a_letter_chooses_no_leaks)
{
	unsigned shown;

	for (size_t i = 0; i < WAYS; i++) {
		ask_kind();
		shown = p.ui.leaks.choice;
		ways[i]();
		paper_keys(&p, "a");
		CHECK_INT(p.ui.leaks.choice, shown);
		if (ui_view(&p.ui) == view_table[VIEW_WHY])
			ui_pop(&p.ui); /* the click opened it */
		paper_keys(&p, "FKa"); /* F: the wheel left now */
		CHECK(p.ui.leaks.choice != shown);
		paper_close(&p);
	}
}

/* A tick that says nothing leaves the question. */
TEST(a_tick_leaves_it)
{
	ask_leaving();
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(paper_find(&p, "t ends it") >= 0);
	paper_keys(&p, "q");
	CHECK(p.ui.quit);
	paper_close(&p);
}

int main(void)
{
	RUN(q_asks_again);
	RUN(t_ends_nothing);
	RUN(D_asks_again);
	RUN(a_letter_chooses_no_leaks);
	RUN(a_tick_leaves_it);
	return check_end();
}
