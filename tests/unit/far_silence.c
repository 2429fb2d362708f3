/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a report waits for an agent that sends nothing. */
#include "src/run/far_silence.h"

#include "tests/check.h"

#define BEGUN_NS UINT64_C(1000000000000)
#define SECOND	 UINT64_C(1000000000)

/* When the agent's last bytes came; by another clock than BEGUN_NS. */
#define HEARD UINT64_C(77)
#define LATER UINT64_C(78)

static struct far_silence begun(void)
{
	struct far_silence s = { 0 };

	far_silence_begin(&s, HEARD, BEGUN_NS);
	return s;
}

TEST(an_agent_that_never_answers)
{
	struct far_silence s = begun();

	CHECK(!far_silence_is_over(&s, HEARD, BEGUN_NS, false));
	CHECK(!far_silence_is_over(&s, HEARD, BEGUN_NS + FAR_SILENCE_MOST_NS - 1, false));
	CHECK(far_silence_is_over(&s, HEARD, BEGUN_NS + FAR_SILENCE_MOST_NS, false));
}

TEST(a_signal_is_answered_soon)
{
	struct far_silence s = begun();

	CHECK(!far_silence_is_over(&s, HEARD, BEGUN_NS + FAR_SILENCE_LAST_NS - 1, true));
	CHECK(far_silence_is_over(&s, HEARD, BEGUN_NS + FAR_SILENCE_LAST_NS, true));
	s = begun();
	CHECK(!far_silence_is_over(&s, HEARD, BEGUN_NS + 20 * SECOND, false));
	CHECK(far_silence_is_over(&s, HEARD, BEGUN_NS + 20 * SECOND, true));
}

/* It works for minutes, and sends that it does. */
TEST(an_agent_that_sends_is_waited_for)
{
	struct far_silence s = begun();

	for (unsigned i = 1; i < 300; i++)
		CHECK(!far_silence_is_over(&s, HEARD + i, BEGUN_NS + i * SECOND, i % 2));
}

TEST(one_that_was_given_up_is_not_waited_for_again)
{
	struct far_silence s = begun();
	uint64_t now = BEGUN_NS + 31 * SECOND;

	CHECK(far_silence_is_over(&s, HEARD, now, false));
	far_silence_begin(&s, HEARD, now);
	CHECK(far_silence_is_over(&s, HEARD, now, false));
	/* Until it sends something, which a wait or what is between two waits takes. */
	far_silence_begin(&s, HEARD, now);
	CHECK(!far_silence_is_over(&s, LATER, now, false));
	s = begun();
	CHECK(far_silence_is_over(&s, HEARD, now, false));
	far_silence_begin(&s, LATER, now);
	CHECK(!far_silence_is_over(&s, LATER, now + 29 * SECOND, false));
}

int main(void)
{
	RUN(an_agent_that_never_answers);
	RUN(a_signal_is_answered_soon);
	RUN(an_agent_that_sends_is_waited_for);
	RUN(one_that_was_given_up_is_not_waited_for_again);
	return check_end();
}
