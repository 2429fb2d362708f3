/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all holders of a snapshot share: bucket bounds, the words for its state, references. */
#include <stdlib.h>
#include "src/model/snapshot.h"
#include "tests/check.h"

TEST(bounds)
{
	CHECK_INT(snap_size_le(0), 8);
	CHECK_INT(snap_size_le(1), 16);
	CHECK_INT(snap_size_le(SNAP_SIZE_BUCKETS - 2), 1 << 25);
	CHECK(snap_size_le(SNAP_SIZE_BUCKETS - 1) == UINT64_MAX);
	CHECK(snap_size_le(4000) == UINT64_MAX);
	CHECK_INT(snap_life_le_ns(0), 65536);
	CHECK_INT(snap_life_le_ns(1), 262144);
	CHECK_INT(snap_life_le_ns(SNAP_LIFE_BUCKETS - 2), 65536ll << 28);
	CHECK(snap_life_le_ns(SNAP_LIFE_BUCKETS - 1) == UINT64_MAX);
	CHECK(snap_life_le_ns(4000) == UINT64_MAX);
}

TEST(words)
{
	static const struct {
		struct snapshot s;
		const char *text, *word;
	} row[] = {
		{ { .state = SNAP_STARTING }, "starting", "running" },
		{ { .state = SNAP_RUNNING }, "running", "running" },
		{ { .state = SNAP_EXITED, .exit_status = 3 }, "exited 3", "exited" },
		{ { .state = SNAP_EXITED, .exit_status = -1 }, "exited", "exited" },
		{ { .state = SNAP_KILLED, .signal = 11, .signal_name = "SIGSEGV" },
			"killed by SIGSEGV", "exited" },
		{ { .state = SNAP_KILLED, .signal = 40 }, "killed by signal 40", "exited" },
		{ { .state = SNAP_GONE }, "gone", "gone" },
		{ { .state = SNAP_COPY }, "copied", "copy" },
	};
	char buf[48];

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		CHECK_STR(snapshot_state_text(&row[i].s, buf), row[i].text);
		CHECK_STR(snapshot_state_word(&row[i].s), row[i].word);
	}
}

TEST(references)
{
	struct snapshot *s = calloc(1, sizeof(*s));

	s->refs = 1;
	snapshot_ref(s);
	CHECK_INT(s->refs, 2);
	snapshot_unref(s);
	CHECK_INT(s->refs, 1);
	snapshot_unref(s); /* a sanitizer sees a leak or a second free */
	snapshot_unref(NULL);
}

int main(void)
{
	RUN(bounds);
	RUN(words);
	RUN(references);
	return check_end();
}
