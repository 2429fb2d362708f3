/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sampling on the screen: how it is switched, and how estimates differ from counts. */
#include <math.h>
#include "tests/check.h"
#include "tests/tui/paper.h"

static struct paper p;

static void begin(int height, int width)
{
	paper_open(&p, height, width, false);
	refresh_tick(&p.ui);
	paper_draw(&p);
}

TEST(sampling_is_switched)
{
	begin(30, 100);
	paper_keys(&p, "r64K\r");
	CHECK_STR(p.canned.asked, "64K");
	paper_draw(&p);
	CHECK(paper_find(&p, "asked for 64K") >= 0);
	/* Nothing typed is nothing asked. */
	paper_keys(&p, "r\rrexact\033");
	CHECK_STR(p.canned.asked, "64K");
	/* One that has ended is not switched. */
	p.canned.state = SNAP_EXITED;
	refresh_tick(&p.ui);
	paper_keys(&p, "r");
	CHECK(!p.ui.prompt.open);
	paper_draw(&p);
	CHECK(paper_find(&p, "no program is running") >= 0);
	p.canned.state = SNAP_RUNNING;
	refresh_tick(&p.ui);
	p.source.sample = NULL;
	paper_keys(&p, "r");
	CHECK(!p.ui.prompt.open);
	paper_close(&p);
}

/* The rows have an error each when the program is sampled, and the screen says so before all else.
 */
TEST(sampling_is_told)
{
	double sum = 0;

	begin(24, 80);
	paper_draw(&p);
	CHECK(paper_find(&p, "exact") >= 0);
	CHECK_INT(paper_find(&p, "ERROR"), -1);
	p.canned.sampled = true;
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(paper_find(&p, "sampled 1/512k") >= 0);
	CHECK(paper_find(&p, "ERROR") >= 0);
	CHECK(paper_find(&p, "  <2.1M  noise ") >= 0); /* rows that may be of nothing */
	/* So do the lines of the tree, whose errors are those of their sites, by their squares. */
	ui_tab(&p.ui, VIEW_TREE);
	paper_draw(&p);
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_HEAD]), "1TOTAL") != NULL);
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_HEAD]), "9ERROR") != NULL);
	for (size_t i = 0; i < p.canned.nsites; i++)
		sum += (double)p.ui.shown->sites[i].error.live_bytes *
		       (double)p.ui.shown->sites[i].error.live_bytes;
	CHECK(fabs(p.ui.tree.tree[0][0].node[0].error2 / sum - 1) < 1e-9);
	paper_keys(&p, "9");
	CHECK_INT(p.ui.tree.order.sort, TREE_ROWS_ERROR);
	ui_tab(&p.ui, VIEW_SITES);
	paper_resize(&p, 8, 40);
	paper_draw(&p);
	CHECK(paper_find(&p, "sampled 1/512k") >= 0);
	paper_close(&p);
}

int main(void)
{
	RUN(sampling_is_switched);
	RUN(sampling_is_told);
	return check_end();
}
