/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One figure of a call site by its word (src/model/value.h). */
#include "src/model/value.h"
#include "tests/check.h"

static const struct snap_site site = { .live_bytes = 1,
	.live_blocks = 2,
	.alloc_bytes = 3,
	.allocs = 4,
	.temporary = 5,
	.at_peak_bytes = 6,
	.peak_live_bytes = 7 };

TEST(words)
{
	for (int v = 0; v < VALUE_COUNT; v++)
		CHECK_INT(value_find(value_table[v].word), v);
	CHECK_INT(value_find("liv"), -1);
	CHECK_INT(value_find(""), -1);
}

TEST(figures)
{
	for (int v = 0; v < VALUE_COUNT; v++)
		CHECK_INT(value_of(&site, (enum snap_value)v), v + 1);
}

TEST(totals)
{
	struct snap_totals t = { .live_bytes = 1,
		.live_blocks = 2,
		.alloc_bytes = 3,
		.allocs = 4,
		.temporary = 5,
		.at_peak_bytes = 6,
		.has_at_peak = true,
		.peak_live_bytes = 7 };

	for (int v = 0; v < VALUE_COUNT; v++)
		CHECK_INT(value_total(&t, (enum snap_value)v), v + 1);
	CHECK(value_known(&t, VALUE_PEAK));
	t.has_at_peak = false;
	CHECK_INT(value_total(&t, VALUE_PEAK), 7);
	CHECK(!value_known(&t, VALUE_PEAK));
	CHECK(value_known(&t, VALUE_LIVE));
}

int main(void)
{
	RUN(words);
	RUN(figures);
	RUN(totals);
	return check_end();
}
