/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/leak/suppress: both syntaxes, and what they match. */
#include <stdint.h>
#include <stdlib.h>

#include "src/leak/analysis/suppressions.h"
#include "tests/check.h"

static const struct suppressions_frame stack[] = { { .function = "malloc", .symbol = "malloc" },
	{ "strdup", NULL, "/lib/libc.so.6", NULL, 0 },
	{ "config_read", "config_read", "/usr/bin/app", "/src/config.c", 12 },
	{ "std::vector<int>::grow()", "_ZNSt6vectorIiE4growEv", "/usr/bin/app", "/src/grow.cc", 7 },
	{ "main", "main", "/usr/bin/app", "/src/main.c", 40 } };
#define FRAMES (sizeof(stack) / sizeof(stack[0]))

static char message[SUPPRESSIONS_MESSAGE_MAX];

static bool matches_kind(const char *text, unsigned kind)
{
	struct suppressions *s = suppressions_new();
	bool yes;

	CHECK_INT(suppressions_parse(s, text, strlen(text), "t", message), 0);
	yes = suppressions_matches(s, kind, stack, FRAMES);
	suppressions_free(s);
	return yes;
}

static bool matches(const char *text)
{
	return matches_kind(text, 1);
}

static bool is_refused(const char *text, const char *why)
{
	struct suppressions *s = suppressions_new();
	int rc = suppressions_parse(s, text, strlen(text), "file.supp", message);

	suppressions_free(s);
	return rc < 0 && strstr(message, why) && strstr(message, "file.supp");
}

TEST(sanitizers)
{
	CHECK(matches("leak:config_read\n"));
	CHECK(matches("# known\n\nleak:config"));
	CHECK(matches("leak:config.c"));
	CHECK(matches("leak:libc.so"));
	CHECK(matches("leak:con*ead"));
	CHECK(matches("leak:^config_read$"));
	CHECK(matches("leak:vector<*>::grow"));
	CHECK(!matches("leak:^onfig"));
	CHECK(!matches("leak:config_rea$"));
	CHECK(!matches("leak:nothing"));
	CHECK(matches("leak:nothing\nleak:main"));
	CHECK(matches_kind("leak:main", 8));
	CHECK(matches(" \tleak:*config*read*\r\n"));
	CHECK(!matches("leak:^confi?_read$")); /* no wildcard there */
}

static bool is_sanitizers(const char *text)
{
	struct suppressions *s = suppressions_new();
	bool yes;

	CHECK_INT(suppressions_parse(s, text, strlen(text), "t", message), 0);
	yes = suppressions_is_sanitizers(s);
	suppressions_free(s);
	return yes;
}

TEST(whose_a_file_is)
{
	CHECK(is_sanitizers("# known\nleak:a\n"));
	CHECK(!is_sanitizers("# none\n"));
	CHECK(!is_sanitizers("{\n n\n Helgrind:Race\n fun:x\n}\nleak:a\n"));
	CHECK(!is_sanitizers("{\n n\n Memcheck:Leak\n fun:x\n}\n"));
}

#define RULE(lines) "{\n name\n Memcheck:Leak\n" lines "}\n"

TEST(valgrinds)
{
	CHECK(matches(RULE(" fun:malloc\n fun:strdup\n fun:config_read\n")));
	CHECK(matches(RULE(" fun:malloc\n")));
	CHECK(!matches(RULE(" fun:strdup\n")));
	CHECK(matches(RULE(" ...\n fun:_ZNSt6vectorIiE*\n"))); /* as valgrind writes it */
	CHECK(matches(RULE(" ...\n fun:std::vector<int>::*\n"))); /* as the report does */
	CHECK(!matches(RULE(" ...\n fun:_ZNSt6vectorIcE*\n")));
	CHECK(matches(RULE(" ...\n fun:config_*\n")));
	CHECK(matches(RULE(" ...\n fun:main\n")));
	CHECK(matches(RULE(" fun:malloc\n ...\n obj:*/app\n fun:main\n")));
	CHECK(matches(RULE(" fun:mall?c\n obj:*libc*\n ...\n")));
	CHECK(!matches(RULE(" fun:malloc\n ...\n fun:strdup\n fun:main\n")));
	CHECK(!matches(RULE(" ...\n fun:main\n fun:main\n")));
	CHECK(!matches(RULE(" fun:*\n fun:*\n fun:*\n fun:*\n fun:*\n fun:*\n")));
	CHECK(matches(RULE(" match-leak-kinds: definite,possible\n fun:malloc\n")));
	CHECK(!matches_kind(RULE(" match-leak-kinds: definite,possible\n fun:malloc\n"), 8));
	CHECK(matches_kind(RULE(" match-leak-kinds:all\n fun:malloc\n"), 8));
	CHECK(!matches(RULE(" match-leak-kinds: none\n fun:malloc\n")));
	CHECK(matches(RULE(" ...\n fun:main\n ...\n")));
	CHECK(matches("# a\n\n{\n # b\n name\n\n Memcheck:Leak\n # c\n\n fun:malloc\n}\n"));
	CHECK(matches("{\r\n name\r\n Memcheck:Leak\r\n fun:malloc\r\n}\r\n"));
}

/* As valgrind 3.19 does with each of these. */
TEST(source_lines)
{
	CHECK(matches(RULE(" fun:malloc\n fun:strdup\n src:config.c:12\n")));
	CHECK(!matches(RULE(" fun:malloc\n fun:strdup\n src:config.c:13\n")));
	CHECK(!matches(RULE(" fun:malloc\n fun:strdup\n src:config.cc:12\n")));
	CHECK(matches(RULE(" ...\n src:config.c\n src:grow.cc:7\n obj:*app\n")));
	CHECK(matches(RULE(" ...\n src:con*.?\n")));
	CHECK(matches(RULE(" ...\n src:*.c:40\n")));
	CHECK(matches(RULE(" ...\n src:main.c:\n")));
	CHECK(matches(RULE(" ...\n src:main.c:0\n")));
	CHECK(matches(RULE(" ...\n src:main.c:*\n")));
	CHECK(matches(RULE(" ...\n src:main.c:40:2\n")));
	CHECK(!matches(RULE(" ...\n src:main.c:99999999999999999999\n")));
	CHECK(!matches(RULE(" ...\n src:\n")));
	CHECK(!matches(RULE(" src:*\n"))); /* of malloc nothing is known */
	CHECK(matches(RULE(" ...\n src:/src/main.c:40\n"))); /* it would not */
}

TEST(others_are_passed_over)
{
	CHECK(!matches("{\n name\n Memcheck:Cond\n fun:malloc\n}\n"));
	CHECK(!matches("{\n name\n Helgrind:Race\n fun:malloc\n}\n"));
	CHECK(!matches("{\n name\n Memcheck:Param\n write(buf)\n fun:malloc\n}\n"));
	CHECK(matches("{\n n\n Helgrind,Memcheck:Leak\n fun:malloc\n}\n"));
	CHECK(matches("{\n n\n Memcheck,Addrcheck:Leak\n fun:malloc\n}\n"));
	CHECK(!matches("{\n n\n Addrcheck:Leak\n fun:malloc\n}\n"));
	CHECK(!matches("{\n n\n Helgrind:Race\n odd line\n gun:x\n}\n"));
	CHECK(!matches(""));
}

TEST(mistakes)
{
	CHECK(is_refused("leak\n", "line 1"));
	CHECK(is_refused("leak:\n", "line 1"));
	CHECK(is_refused("\n#\nfun:malloc\n", "line 3"));
	CHECK(is_refused("{\n name\n Memcheck:Leak\n fun:malloc\n", "no }"));
	CHECK(is_refused("{\n name\n Memcheck:Leak\n gun:malloc\n}\n", "line 4"));
	CHECK(is_refused("{\n name\n Memcheck:Leak\n gun:malloc\n}\n", "src:"));
	CHECK(is_refused(
		"{\n name\n Memcheck:Leak\n match-leak-kinds: odd\n fun:x\n}\n", "kinds are"));
}

TEST(files)
{
	struct suppressions *s = suppressions_new();

	CHECK(suppressions_load(s, "/nowhere/at/all", message) < 0);
	CHECK(strstr(message, "/nowhere/at/all: No such file") != NULL);
	CHECK_INT(suppressions_load(s, "/dev/null", message), 0);
	suppressions_free(s);
	suppressions_free(NULL);
}

int main(void)
{
	RUN(sanitizers);
	RUN(whose_a_file_is);
	RUN(valgrinds);
	RUN(source_lines);
	RUN(others_are_passed_over);
	RUN(mistakes);
	RUN(files);
	return check_end();
}
