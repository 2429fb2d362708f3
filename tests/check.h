/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The harness of the C tests. A test program prints one line per test, "ok - NAME", "not ok - NAME:
 * why" or "skip - NAME: why", which tests/run.sh counts; it ends 0 when nothing failed.
 *
 *	TEST(name) { CHECK(x == 1); CHECK_INT(x, 1); CHECK_STR(s, "a"); }
 *	int main(void) { RUN(name); return check_end(); }
 */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A directory for files, in memory where possible: of all tests of a run, which removes it. */
static inline const char *check_memory(void)
{
	const char *dir = getenv("TEST_MEMORY");

	return dir ? dir : access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

static int check_failed_here, check_failed_total;
static const char *check_skipped;

#define TEST(name) static void test_##name(void)
#define RUN(name)  check_run(#name, test_##name)
#define SKIP(why)                                                                                  \
	do {                                                                                       \
		check_skipped = (why);                                                             \
		return;                                                                            \
	} while (0)

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			check_fail(__FILE__, __LINE__, #cond);                                     \
	} while (0)
#define CHECK_INT(got, want)                                                                       \
	do {                                                                                       \
		long long check_g = (long long)(got), check_w = (long long)(want);                 \
		if (check_g != check_w) {                                                          \
			check_fail(__FILE__, __LINE__, #got " == " #want);                         \
			fprintf(stderr, "  got %lld, want %lld\n", check_g, check_w);              \
		}                                                                                  \
	} while (0)
#define CHECK_STR(got, want)                                                                       \
	do {                                                                                       \
		const char *check_g = (got), *check_w = (want);                                    \
		if (!check_g || strcmp(check_g, check_w) != 0) {                                   \
			check_fail(__FILE__, __LINE__, #got " == " #want);                         \
			fprintf(stderr, "  got  \"%s\"\n  want \"%s\"\n",                          \
				check_g ? check_g : "(null)", check_w);                            \
		}                                                                                  \
	} while (0)

static inline void check_fail(const char *file, int line, const char *what)
{
	check_failed_here++;
	fprintf(stderr, "%s:%d: %s\n", file, line, what);
}

static inline void check_run(const char *name, void (*test)(void))
{
	check_failed_here = 0;
	check_skipped = NULL;
	test();
	if (check_failed_here)
		printf("not ok - %s: %d check(s) failed\n", name, check_failed_here);
	else if (check_skipped)
		printf("skip - %s: %s\n", name, check_skipped);
	else
		printf("ok - %s\n", name);
	fflush(stdout);
	check_failed_total += check_failed_here;
}

static inline int check_end(void)
{
	return check_failed_total != 0;
}

#endif
