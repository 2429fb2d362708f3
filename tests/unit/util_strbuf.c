/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The growable string: always terminated, exact over many growths, and safe when memory is out. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "src/util/strbuf.h"
#include "tests/check.h"

TEST(empty_is_text)
{
	struct strbuf s = STRBUF_INIT;

	CHECK_STR(strbuf_text(&s), "");
	strbuf_add(&s, NULL, 0);
	CHECK_STR(strbuf_text(&s), "");
	strbuf_free(&s);
	strbuf_free(NULL);
}

TEST(appends)
{
	struct strbuf s = STRBUF_INIT;

	strbuf_puts(&s, "ab");
	strbuf_putc(&s, 'c');
	strbuf_add(&s, "defg", 2);
	strbuf_printf(&s, "%d-%s", 42, "x");
	strbuf_fill(&s, '.', 3);
	strbuf_fill(&s, '!', 0);
	CHECK_STR(strbuf_text(&s), "abcde42-x...");
	CHECK_INT(s.len, 12);
	strbuf_free(&s);
	CHECK(s.data == NULL && s.len == 0 && s.cap == 0);
}

TEST(grows_over_every_boundary)
{
	struct strbuf s = STRBUF_INIT;

	for (int i = 0; i < 5000; i++) {
		strbuf_putc(&s, (char)('a' + i % 26));
		CHECK(s.data[s.len] == '\0' && s.len < s.cap);
	}
	CHECK_INT(s.len, 5000);
	CHECK_INT(s.data[4999], 'a' + 4999 % 26);
	strbuf_free(&s);
}

TEST(printf_longer_than_the_buffer)
{
	struct strbuf s = STRBUF_INIT;

	strbuf_printf(&s, "%1000d|", 7);
	CHECK_INT(s.len, 1001);
	CHECK_STR(s.data + 998, " 7|");
	strbuf_free(&s);
}

TEST(spills_what_is_long)
{
	char line[64];
	struct strbuf s = STRBUF_INIT;
	FILE *f = tmpfile();
	size_t most = 0, lines = 0;

	CHECK(f != NULL);
	strbuf_spill(&s); /* does not flow */
	strbuf_flow(&s, fileno(f));
	for (int i = 0; i < 300000; i++) {
		strbuf_printf(&s, "line %d\n", i);
		strbuf_spill(&s);
		most = s.cap > most ? s.cap : most;
	}
	CHECK(most <= 4u << 20);
	CHECK_INT(strbuf_write(&s, fileno(f)), 0);
	rewind(f);
	for (; fgets(line, sizeof(line), f); lines++)
		CHECK(atoi(line + 5) == (int)lines);
	CHECK_INT(lines, 300000);
	fclose(f);
	strbuf_free(&s);
}

TEST(a_failed_spill_is_reported)
{
	struct strbuf s = STRBUF_INIT;

	strbuf_flow(&s, -1);
	strbuf_fill(&s, 'x', 2u << 20);
	strbuf_spill(&s);
	CHECK(s.failed);
	strbuf_puts(&s, "more");
	CHECK_INT(strbuf_write(&s, -1), -EBADF);
	strbuf_free(&s);
}

TEST(reset_keeps_memory)
{
	struct strbuf s = STRBUF_INIT;
	size_t cap;

	strbuf_fill(&s, 'x', 1000);
	cap = s.cap;
	strbuf_reset(&s);
	CHECK_STR(strbuf_text(&s), "");
	CHECK_INT(s.cap, cap);
	strbuf_free(&s);
}

TEST(too_large_is_remembered)
{
	struct strbuf s = STRBUF_INIT;

	strbuf_puts(&s, "kept");
	strbuf_fill(&s, 'x', SIZE_MAX - 2);
	CHECK(s.failed);
	strbuf_puts(&s, "more");
	CHECK_STR(strbuf_text(&s), "kept");
	strbuf_reset(&s);
	strbuf_puts(&s, "again");
	CHECK(!s.failed);
	CHECK_STR(strbuf_text(&s), "again");
	strbuf_free(&s);
}

int main(void)
{
	RUN(empty_is_text);
	RUN(appends);
	RUN(grows_over_every_boundary);
	RUN(printf_longer_than_the_buffer);
	RUN(spills_what_is_long);
	RUN(a_failed_spill_is_reported);
	RUN(reset_keeps_memory);
	RUN(too_large_is_remembered);
	return check_end();
}
