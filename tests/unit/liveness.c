/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said of a recording: with each end, and whatever is known of it. */
#include <string.h>
#include "shm/layout.h"
#include "src/session/liveness.h"
#include "tests/check.h"

/* What is said of an end has room on a screen of 100 columns. */
TEST(ends_are_told_in_a_line)
{
	static const enum snap_state states[] = { SNAP_STARTING, SNAP_RUNNING, SNAP_EXITED,
		SNAP_KILLED, SNAP_GONE, SNAP_COPY };
	static const uint32_t recorded[] = { HT_STATE_PREPARED, HT_STATE_RUNNING, HT_STATE_EXITED };
	struct liveness ends[] = { { .without = 0 }, { .without = 1000 }, { .fork_alone = true },
		{ .forked_by = 4194304 }, { .unrecorded = 99999, .unrecorded_most = 99999 } };

	for (size_t e = 0; e < sizeof(ends) / sizeof(ends[0]); e++)
		for (size_t i = 0; i < 6; i++)
			for (size_t r = 0; r < 3; r++) {
				const struct read_totals t = { .state = recorded[r] };
				const char *said = liveness_notice(&ends[e], states[i], &t);

				CHECK(!said || strlen(said) <= 96);
			}
}

int main(void)
{
	RUN(ends_are_told_in_a_line);
	return check_end();
}
