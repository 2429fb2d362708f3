/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What --help prints: a summary of one screen, groups, and all. */
#include "tests/unit/options_fixture.h"

/* The options that a help lists, each on a line of at most 80 columns. */
static unsigned help_options(const char *text)
{
	unsigned n = 0;

	CHECK(!strstr(text, "(null)"));
	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		CHECK(strcspn(line, "\n") <= 80);
		if (strncmp(line, "  -", 3) != 0 && strncmp(line, "      --", 8) != 0)
			continue;
		CHECK(line[29] == ' ' && line[30] != ' ');
		n++;
	}
	return n;
}

TEST(help_lists_what_works)
{
	struct parsed p = PARSE("--help", "all");

	CHECK_INT(p.status, 0);
	CHECK_STR(p.err, "");
	CHECK(strstr(p.out, "  -a, --attach PID"));
	CHECK(strstr(p.out, "      --fail-on CLASS"));
	CHECK(strstr(p.out, "--report"));
	CHECK(strstr(p.out, "--leak-check"));
	CHECK(strstr(p.out, "? lists the keys") && strstr(p.out, "man heaptop"));
	CHECK(help_options(p.out) > 60);
	/* It is asked for, so it wins over a line that makes no sense yet. */
	CHECK_INT(PARSE("-b", "-h").status, 0);
}

/* A summary of one screen; the rest by groups, which together are all. */
TEST(help_comes_in_groups)
{
	static const char *const words[] = { "watch", "past", "screen", "report", "leaks",
		"recording", "names", "general" };
	struct parsed p = PARSE("--help");
	unsigned lines = 0, options = 0, all;

	CHECK_INT(p.status, 0);
	CHECK_INT(help_options(p.out), 6);
	for (const char *c = p.out; *c; c++)
		lines += *c == '\n';
	CHECK(lines <= 35);
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		char line[64];

		snprintf(line, sizeof(line), "\n  heaptop --help %s ", words[i]);
		p = PARSE("-h");
		CHECK(strstr(p.out, line) != NULL);
		options += help_options(PARSE("--help", words[i]).out);
	}
	p = PARSE("--help", "all");
	all = help_options(p.out);
	CHECK_INT(options, all);
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		char heading[64];

		snprintf(heading, sizeof(heading), "%.*s",
			(int)strcspn(PARSE("-h", words[i]).out, "\n"), PARSE("-h", words[i]).out);
		p = PARSE("--help", "all");
		CHECK(strstr(p.out, heading) != NULL);
	}
	p = PARSE("--help");
	CHECK_STR(PARSE("--help", "./app").out, p.out);
}

TEST(help_of_one_option)
{
	struct parsed p = PARSE("--help", "record-limit");

	CHECK_INT(help_options(p.out), 1);
	CHECK(strstr(p.out, "--record-limit ") && strstr(p.out, "\nWith it: heaptop --help past "));
	p = PARSE("--help", "--fail-on");
	CHECK(strstr(p.out, "--fail-on ") && strstr(p.out, "\nWith it: heaptop --help report "));
	/* A group's name asks for the group. */
	CHECK(help_options(PARSE("--help", "report").out) > 5);
}

int main(void)
{
	RUN(help_lists_what_works);
	RUN(help_comes_in_groups);
	RUN(help_of_one_option);
	return check_end();
}
