/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When a recording without a screen takes its moments. */
#include "src/run/headless.h"
#include "tests/check.h"

#define MS UINT64_C(1000000)

TEST(first_moments_are_close_together)
{
	uint64_t at = 0;
	int moments = 0;

	CHECK_INT(headless_pace_ns(0, 1000 * MS), 100 * MS);
	CHECK_INT(headless_pace_ns(500 * MS, 1000 * MS), 100 * MS);
	CHECK_INT(headless_pace_ns(2000 * MS, 1000 * MS), 400 * MS);
	CHECK_INT(headless_pace_ns(5000 * MS, 1000 * MS), 1000 * MS);
	CHECK_INT(headless_pace_ns(3600000 * MS, 1000 * MS), 1000 * MS);
	/* Those who want more moments have them at once. */
	CHECK_INT(headless_pace_ns(0, 20 * MS), 20 * MS);
	for (; at < 1000 * MS; at += headless_pace_ns(at, 10000 * MS))
		moments++;
	CHECK(moments >= 8);
	for (; at < 60000 * MS; at += headless_pace_ns(at, 10000 * MS))
		moments++;
	CHECK(moments < 50);
}

int main(void)
{
	RUN(first_moments_are_close_together);
	return check_end();
}
