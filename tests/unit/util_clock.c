/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clocks: the right ones, in nanoseconds, and the one spelling of a date. */
#include <time.h>
#include "src/util/clock.h"
#include "tests/check.h"

/* Between two readings of the kernel's clock lies ours. */
static void bracketed(clockid_t id, uint64_t (*read)(void))
{
	struct timespec a, b;
	uint64_t ns;

	clock_gettime(id, &a);
	ns = read();
	clock_gettime(id, &b);
	CHECK(ns >= (uint64_t)a.tv_sec * 1000000000u + (uint64_t)a.tv_nsec);
	CHECK(ns <= (uint64_t)b.tv_sec * 1000000000u + (uint64_t)b.tv_nsec);
}

TEST(clocks)
{
	bracketed(CLOCK_MONOTONIC, clock_monotonic_ns);
	bracketed(CLOCK_REALTIME, clock_realtime_ns);
	bracketed(CLOCK_PROCESS_CPUTIME_ID, clock_process_cpu_ns);
	bracketed(CLOCK_THREAD_CPUTIME_ID, clock_thread_cpu_ns);
}

TEST(dates)
{
	char buf[32];

	CHECK_STR(clock_iso8601(buf, 0), "1970-01-01T00:00:00Z");
	CHECK_STR(clock_iso8601(buf, 951782399999999999ull), "2000-02-28T23:59:59Z");
	CHECK_STR(clock_iso8601(buf, 951782400000000000ull), "2000-02-29T00:00:00Z");
	CHECK_STR(clock_iso8601(buf, UINT64_MAX), "2554-07-21T23:34:33Z");
}

int main(void)
{
	RUN(clocks);
	RUN(dates);
	return check_end();
}
