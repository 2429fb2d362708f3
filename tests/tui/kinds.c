/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kinds of memory on the screen: the heap, mapped memory, both. */
#include "tests/check.h"
#include "tests/tui/paper.h"

static struct paper p;

static bool sees(const char *text)
{
	paper_draw(&p);
	return paper_find(&p, text) >= 0;
}

static void begin(bool maps)
{
	paper_open(&p, 30, 100, false);
	p.canned.maps = maps;
	refresh_tick(&p.ui);
}

TEST(m_goes_through_the_kinds)
{
	size_t heap;

	begin(true);
	heap = p.ui.shown->nsites;
	CHECK(!sees(" mapped "));
	paper_keys(&p, "M");
	CHECK(sees(" mapped ") && sees("5.0G") && sees("mapped memory: what the program took"));
	CHECK_INT(p.ui.shown->nsites, 2);
	CHECK_INT(p.ui.rows->sites[p.ui.sites.order[0]].live_bytes, 3ull << 30);
	refresh_tick(&p.ui);
	CHECK(sees(" mapped "));
	paper_keys(&p, "M");
	CHECK(sees(" heap + mapped "));
	CHECK_INT(p.ui.shown->nsites, heap + 2);
	paper_keys(&p, "M");
	CHECK_INT(p.ui.shown->nsites, heap);
	CHECK(!sees(" heap "));
	paper_close(&p);
}

/* Every view works on what is shown. */
TEST(all_views_show_them)
{
	begin(true);
	paper_keys(&p, "M\r");
	CHECK(sees("SITE 9001"));
	paper_keys(&p, "q");
	for (int i = 0; i < VIEW_TABS; i++) {
		paper_keys(&p, "\t");
		CHECK(sees(" mapped "));
	}
	paper_close(&p);
}

/* What only the heap has is not said of mapped memory. */
TEST(threads_and_history_are_the_heaps)
{
	begin(true);
	paper_resize(&p, 24, 80);
	CHECK(!sees(" heap "));
	paper_keys(&p, "M\t\t\t");
	CHECK(sees("threads are counted in the heap only") && sees(" heap "));
	paper_keys(&p, "\t\t\t\t\tgt");
	CHECK(sees("threads are counted in the heap only"));
	paper_close(&p);
}

/* What is not counted of mappings has no box, and the stack has the room. */
TEST(a_mapping_has_no_histograms)
{
	begin(true);
	paper_resize(&p, 60, 100);
	paper_keys(&p, "\r");
	CHECK(sees("BLOCK SIZE"));
	CHECK(sees("AGE: "));
	CHECK(sees("THREADS"));
	paper_keys(&p, "\177Mgg\r");
	CHECK(sees("by mmap"));
	CHECK(!sees("BLOCK SIZE") && !sees("AGE: ") && !sees("THREADS"));
	CHECK(sees("SIBLINGS"));
	paper_close(&p);
}

TEST(nothing_is_mapped)
{
	begin(false);
	paper_keys(&p, "M");
	CHECK(sees("the program has mapped no memory itself"));
	CHECK_INT(p.ui.kinds, KINDS_HEAP);
	paper_close(&p);
}

/* Mapped memory is not part of the past: there the heap is shown, and now the choice again. */
TEST(a_moment_without)
{
	begin(true);
	paper_keys(&p, "M");
	p.canned.maps = false;
	refresh_tick(&p.ui);
	CHECK_INT(p.ui.shown->kinds, KINDS_HEAP);
	CHECK(!sees(" mapped   peak"));
	p.canned.maps = true;
	refresh_tick(&p.ui);
	CHECK(sees(" mapped   peak"));
	paper_close(&p);
}

/* What is exported has everything once, whatever is shown. */
TEST(an_export_is_whole)
{
	begin(true);
	paper_keys(&p, "M");
	CHECK_INT(p.ui.shown->base->kinds, KINDS_HEAP);
	CHECK_INT(p.ui.shown->base->nmapped, 2);
	paper_close(&p);
}

TEST(rows_that_were_frozen_go_on)
{
	begin(true);
	paper_keys(&p, " M");
	CHECK(!p.ui.frozen && sees(" mapped "));
	paper_close(&p);
}

int main(void)
{
	RUN(m_goes_through_the_kinds);
	RUN(all_views_show_them);
	RUN(threads_and_history_are_the_heaps);
	RUN(a_mapping_has_no_histograms);
	RUN(nothing_is_mapped);
	RUN(a_moment_without);
	RUN(an_export_is_whole);
	RUN(rows_that_were_frozen_go_on);
	return check_end();
}
