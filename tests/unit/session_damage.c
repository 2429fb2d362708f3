/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sessions over what is no segment, or is damaged: a sentence or figures, never a crash. */
#include <errno.h>
#include "tests/unit/session_fixture.h"

TEST(not_a_segment)
{
	char message[READ_MESSAGE_MAX] = "";

	CHECK(!session_open("/dev/null", &(struct session_options){ 0 }, message));
	CHECK_STR(message, "/dev/null: not a regular file");
	session_close(NULL);
}

/* The file is emptied under us: the tick says so, and what was shown stays. */
TEST(cut_off)
{
	struct snapshot *s;

	begin(0, HT_STATE_RUNNING);
	s = tick();
	CHECK_INT(ftruncate(made.fd, 0), 0);
	errno = 0;
	CHECK(session_tick(session) == NULL);
	CHECK_INT(errno, EIO);
	CHECK_STR(s->command, "made --fast");
	snapshot_unref(s);
	end();
}

/* A command line of nothing but ends, one without an end, and one of control bytes. */
TEST(command_lines)
{
	struct snapshot *s;
	const struct session_options o = { 0 };
	char message[READ_MESSAGE_MAX];

	for (int round = 0; round < 3; round++) {
		begin(PID_NONE, HT_STATE_EXITED);
		session_close(session);
		memset(made.s.header->command, "\0x\033"[round], HT_COMMAND_MAX);
		made.s.header->command_bytes = UINT32_MAX;
		session = session_open(made.path, &o, message);
		s = tick();
		CHECK_INT(s->argc, round == 0 ? HT_COMMAND_MAX - 1 : 1);
		CHECK_INT(strspn(s->command, round == 0	  ? " "
					     : round == 1 ? "x"
							  : "?"),
			strlen(s->command));
		CHECK_INT(strlen(s->command), HT_COMMAND_MAX - (round == 0 ? 2 : 1));
		snapshot_unref(s);
		end();
	}
}

static void break_tables(uint64_t *seed)
{
	struct ht_header *h = made.s.header;

	for (int region = HT_REGION_THREADS; region < HT_REGION_LIVE; region++) {
		uint64_t *words = segment_at(&made.s, h->region[region].offset);

		CHECK_INT(commit_range(&made.s, h->region[region].offset, HT_COMMIT_BYTES), 0);
		for (size_t i = 0; i < HT_COMMIT_BYTES / sizeof(*words); i++)
			if (fixture_random(seed) % 4 == 0)
				words[i] = fixture_random(seed) >> fixture_random(seed) % 64;
	}
	h->sites = 900;
	h->sample_most = fixture_random(seed);
	h->sample_bytes = fixture_random(seed);
	h->rate_changes = (uint32_t)fixture_random(seed);
	for (unsigned i = 0; i < HT_RATE_CHANGES; i++)
		h->rate_change[i] =
			(struct ht_rate_change){ fixture_random(seed), fixture_random(seed) };
	h->history.points = UINT32_MAX;
	h->history.step_ns = fixture_random(seed);
	h->clock_ns = fixture_random(seed);
	h->created_ns = fixture_random(seed);
}

/* A stack that cannot be read: what was counted there is listed all the same. */
TEST(unreadable_stack)
{
	struct snapshot *s;
	uint64_t allocs = 0, live = 0;

	begin(0, HT_STATE_RUNNING);
	stack_node(&made.s, stack_site(&made.s, 2)->node)->parent = UINT32_MAX;
	s = tick();
	for (size_t i = 0; i < s->nsites; i++) {
		allocs += s->sites[i].allocs;
		live += s->sites[i].live_bytes;
	}
	CHECK_INT(s->nsites, MADE_SITES - 1); /* the catch-all, and the others */
	CHECK_INT(allocs, s->totals.allocs);
	CHECK_INT(live, s->totals.live_bytes);
	CHECK(s->notice && strstr(s->notice, "not all call stacks can be read"));
	snapshot_unref(s);
	end();
}

/* Ticks over tables of noise: whatever comes out is inside its bounds. */
TEST(broken_tables)
{
	uint64_t seed = 42;

	for (int round = 0; round < 12; round++) {
		struct snapshot *s;

		begin(round % 2 ? PID_NONE : 0, HT_STATE_RUNNING);
		for (int i = 0; i < 3; i++) {
			break_tables(&seed);
			s = tick();
			CHECK(s->nsites <= 900);
			CHECK(s->history_points <= SNAP_HISTORY_POINTS);
			for (size_t k = 0; k < s->nsites; k++)
				CHECK(s->sites[k].stack->nframes >= 1 &&
					s->sites[k].stack->title < s->sites[k].stack->nframes);
			snapshot_unref(s);
		}
		end();
	}
}

int main(void)
{
	RUN(not_a_segment);
	RUN(cut_off);
	RUN(command_lines);
	RUN(unreadable_stack);
	RUN(broken_tables);
	return check_end();
}
