/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/util/oom_score: heaptop raises its own score and restores it. */
#include "src/util/oom_score.h"

#include <stdio.h>

#include "tests/check.h"

static int score(void)
{
	FILE *f = fopen("/proc/self/oom_score_adj", "re");
	int n = -1;

	CHECK(f && fscanf(f, "%d", &n) == 1);
	if (f)
		fclose(f);
	return n;
}

TEST(it_yields_while_any_pair_is_open)
{
	int before = score();

	oom_score_raise();
	CHECK(score() > before);
	oom_score_raise();
	oom_score_restore();
	CHECK(score() > before);
	oom_score_restore();
	CHECK_INT(score(), before);
}

TEST(a_process_that_is_started_meanwhile_does_not)
{
	int before = score();

	oom_score_spawn_begin();
	CHECK_INT(score(), before);
	oom_score_spawn_end();
	CHECK_INT(score(), before);
	oom_score_raise();
	oom_score_spawn_begin();
	CHECK_INT(score(), before);
	oom_score_spawn_end();
	CHECK(score() > before);
	oom_score_restore();
	CHECK_INT(score(), before);
}

int main(void)
{
	RUN(it_yields_while_any_pair_is_open);
	RUN(a_process_that_is_started_meanwhile_does_not);
	return check_end();
}
