/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The built-in profiles; those of the settings file are tested with it (config.c). */
#include "tests/unit/options_fixture.h"

/* Their options stand in front, wherever --profile is. */
TEST(profiles)
{
	struct parsed p = PARSE("-d", "1", "--profile", "server", "x");

	CHECK_INT(p.status, -1);
	CHECK(p.o.delay_ns == 1000000000u && p.o.history_limit == 256u << 20);
	CHECK(p.o.sample.given && p.o.sample.limit == 0.05);
	CHECK(options_given(&p.o, "history") && options_given(&p.o, "delay"));
	CHECK_STR(p.o.command[0], "x");
	p = PARSE("--profile", "server", "--sample", "exact", "--leak-check", "-a", "1");
	CHECK(p.status == -1 && p.o.leak_check && p.o.sample.limit == 0 && p.o.pid == 1);
	p = PARSE("--profile", "tiny", "-a", "1", "--profile=tiny");
	CHECK(p.status == -1 && p.o.depth == 32 && p.o.leak_copying == 0 && p.o.nprofiles == 1);
	CHECK(p.o.sample.bytes == 64 << 10);
	p = PARSE("--profile", "tiny", "--sample", "exact", "--leak-check", "x");
	CHECK(p.status == -1 && p.o.sample.bytes == 0 && p.o.depth == 32);
	CHECK_INT(PARSE("--profile", "server", "--diff", "a", "b").status, -1);
	p = PARSE("-r", "f", "--profile", "tiny", "-D", "9");
	CHECK(p.status == -1 && p.o.depth == 9 && p.o.history_limit == 2u << 20);
	p = PARSE("--profile", "ci", "--fail-on", "unfreed", "x");
	CHECK_INT(p.status, -1);
	CHECK_INT(p.o.fail_on, OPTIONS_FAIL_DEFINITE | OPTIONS_FAIL_BADFREE | OPTIONS_FAIL_UNFREED);
	CHECK(p.o.report && p.o.leak_check && p.o.no_config);
	p = PARSE("--profile", "tiny", "--sample=exact", "--profile", "ci", "x");
	CHECK(p.status == -1 && p.o.report && p.o.depth == 32);
}

TEST(profiles_refused)
{
	CHECK(refused(PARSE("--profile", "nosuch", "x"), "--profile nosuch: no such profile"));
	CHECK(refused(PARSE("--profile", "server", "--leak-check", "x"),
		"with --profile server: --leak-check requires every block"));
	CHECK(refused(PARSE("--profile", "ci"), "with --profile ci: nothing to watch"));
	CHECK(refused(PARSE("--profile"), "requires a value (PROFILE)"));
	CHECK(refused(PARSE("--profile", "a", "--profile", "b", "--profile", "c", "--profile", "d",
			      "--profile", "e", "x"),
		"one profile too many"));
	CHECK_INT(PARSE("--profile", "help").status, 0);
	CHECK(strstr(PARSE("--profile", "help").out, "\ntiny       --sample=64K --depth=32 ") !=
		NULL);
}

int main(void)
{
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	RUN(profiles);
	RUN(profiles_refused);
	return check_end();
}
