/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules of allocators: what is read, and what is refused. */
#include <stdlib.h>

#include "shm/allocator_rule.h"
#include "tests/check.h"

static struct allocator_rule rule;

static const char *read_line(const char *line)
{
	return allocator_rule_read(line, strlen(line), &rule);
}

TEST(reads)
{
	CHECK(!read_line("pool_alloc size=arg2 result=ret"));
	CHECK_INT(rule.name_bytes, strlen("pool_alloc"));
	CHECK_INT(rule.size_arg, 2);
	CHECK_INT(rule.size_factor, 0);
	CHECK_INT(rule.result, ALLOCATOR_RETURNED);
	CHECK_INT(rule.free_arg, 0);
	CHECK(!read_line("\tresize  free=arg1\tsize=arg2*arg3 result=ret # it moves\r"));
	CHECK(strncmp(rule.name, "resize", rule.name_bytes) == 0);
	CHECK_INT(rule.free_arg, 1);
	CHECK_INT(rule.size_factor, 3);
	CHECK(!read_line("get size=arg3 result=*arg1 when ret=0"));
	CHECK_INT(rule.result, ALLOCATOR_POINTED);
	CHECK_INT(rule.result_arg, 1);
	CHECK_INT(rule.when, ALLOCATOR_EQUAL);
	CHECK_INT(rule.when_number, 0);
	CHECK(!read_line("xallocx free=arg1 size=arg2 result=arg1 when ret>=arg2"));
	CHECK_INT(rule.result, ALLOCATOR_ARGUMENT);
	CHECK_INT(rule.when, ALLOCATOR_AT_LEAST);
	CHECK_INT(rule.when_arg, 2);
	CHECK(!read_line("node size=48 result=ret when ret!=12"));
	CHECK_INT(rule.size_number, 48);
	CHECK_INT(rule.when, ALLOCATOR_NOT_EQUAL);
	CHECK_INT(rule.when_number, 12);
	CHECK(!read_line("dup size=string result=ret"));
	CHECK(rule.size_string);
}

TEST(empty_lines)
{
	static const char *const lines[] = { "", "   \t", "# all of it", "  # free=arg9" };

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		CHECK(!read_line(lines[i]));
		CHECK_INT(rule.name_bytes, 0);
	}
}

TEST(refuses)
{
	static const char *const lines[] = { "f", "f size=arg1", "f result=ret",
		"f size=arg7 result=ret", "f size=arg0 result=ret", "f size=arg1* result=ret",
		"f size=arg1*5 result=ret", "f size= result=ret", "f size=12x result=ret",
		"f size=strings result=ret", "f size=9999999999999999999 result=ret",
		"f size=arg1 result=return", "f size=arg1 result=*ret", "f free=ret",
		"f free=arg1x", "f free=arg1 when ret=0", "f size=arg1 result=ret when",
		"f size=arg1 result=ret when ret<5", "f size=arg1 result=ret when arg1=0",
		"f sise=arg1 result=ret", "f free = arg1" };

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (!read_line(lines[i]))
			fprintf(stderr, "  \"%s\" is taken\n", lines[i]);
		CHECK(read_line(lines[i]) != NULL);
		CHECK_INT(rule.name_bytes, 0);
	}
}

/* A name of any length is one, or too long; nothing beyond the line is read. */
TEST(lengths)
{
	static const char end[] = " free=arg1";
	for (size_t n = 1; n < 300; n++) {
		char *exact = malloc(n + sizeof(end) - 1);

		memset(exact, 'f', n);
		memcpy(exact + n, end, sizeof(end) - 1);
		CHECK((allocator_rule_read(exact, n + sizeof(end) - 1, &rule) == NULL) ==
			(n <= ALLOCATOR_RULE_NAME_MAX));
		CHECK_INT(rule.name_bytes, n <= ALLOCATOR_RULE_NAME_MAX ? n : 0);
		free(exact);
	}
}

int main(void)
{
	RUN(reads);
	RUN(empty_lines);
	RUN(refuses);
	RUN(lengths);
	return check_end();
}
