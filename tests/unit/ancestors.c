/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sites without a stack in the viewer: their counts are those of site 0, once. */
#include "src/session/ancestors.h"
#include "src/session/totals.h"
#include "tests/check.h"

TEST(folded_sites_count_once)
{
	const struct read_site used = {
		.allocs = 10, .frees = 4, .live_bytes = 60, .at_peak_bytes = 80, .at_peak_blocks = 8
	};
	struct read_site sites[] = { { .allocs = 1 }, used, { .allocs = 0 }, used };
	struct model *model = model_new();
	struct snap_totals totals = { 0 };
	struct ancestors a = { 0 };
	uint64_t allocs = 0;

	ancestors_fold(&a, model, sites, 4);
	CHECK_INT(a.folded, 2);
	CHECK(sites[0].allocs == 21 && sites[0].frees == 8 && sites[0].live_bytes == 120);
	for (unsigned i = 0; i < 4; i++)
		allocs += sites[i].allocs;
	CHECK_INT(allocs, 21);
	totals_at_peak_fill(&totals, sites, 4);
	CHECK(totals.at_peak_bytes == 160 && totals.at_peak_blocks == 16);
	CHECK_INT(totals.peak_live_bytes, 160);
	model_free(model);
}

int main(void)
{
	RUN(folded_sites_count_once);
	return check_end();
}
