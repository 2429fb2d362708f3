/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Command lines as programs show them: arguments, titles written over them, and many of these. */
#include "src/session/command_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

static struct read_identity id;

static int load(struct command_line **list, const char *command, size_t bytes)
{
	strcpy(id.exe, "/bin/x");
	memcpy(id.command, command, bytes);
	id.command_bytes = (uint32_t)bytes;
	return command_line_load(list, &id);
}

#define LOAD(list, text) load(list, text, sizeof(text) - 1)

TEST(arguments)
{
	struct command_line *c = NULL;

	CHECK_INT(LOAD(&c, "a\0b c\0\0"), 0);
	CHECK_INT(c->argc, 3);
	CHECK_STR(c->argv[0], "a");
	CHECK_STR(c->argv[1], "b c");
	CHECK_STR(c->argv[2], "");
	CHECK_STR(c->line, "a b c ");
	CHECK_STR(c->exe, "/bin/x");
	CHECK_INT(LOAD(&c, "a\0last has no end  "), 0);
	CHECK_INT(c->argc, 2);
	CHECK_STR(c->argv[1], "last has no end  ");
	CHECK_INT(LOAD(&c, ""), 0);
	CHECK_INT(c->argc, 0);
	CHECK_STR(c->line, "");
	command_line_free(c);
}

TEST(a_title_is_padded)
{
	struct command_line *c = NULL;

	CHECK_INT(LOAD(&c, "x: worker     \0"), 0);
	CHECK_INT(c->argc, 1);
	CHECK_STR(c->argv[0], "x: worker");
	CHECK_STR(c->line, "x: worker");
	CHECK_INT(LOAD(&c, "x: idle  "), 0); /* the kernel found no end */
	CHECK_STR(c->line, "x: idle");
	CHECK_INT(LOAD(&c, "    \0"), 0);
	CHECK_STR(c->line, "");
	command_line_free(c);
}

/* Snapshots point to each, so none is copied again, and none goes. */
TEST(each_is_once)
{
	struct command_line *c = NULL, *idle, *busy;

	CHECK_INT(LOAD(&c, "idle\0"), 0);
	idle = c;
	CHECK_INT(LOAD(&c, "busy\0"), 0);
	busy = c;
	CHECK(busy != idle && busy->before == idle);
	CHECK_INT(LOAD(&c, "idle\0"), 0);
	CHECK(c == idle && c->before == busy && !busy->before);
	CHECK_INT(LOAD(&c, "idle\0"), 0);
	CHECK(c == idle && c->before == busy && !busy->before);
	CHECK_INT(LOAD(&c, "idle\0x\0"), 0);
	CHECK(c != idle && c->before == idle);
	command_line_free(c);
}

TEST(a_counter_takes_no_end_of_memory)
{
	struct command_line *c = NULL, *last = NULL;
	char text[32];
	int rc = 0, n = 0;

	for (; rc == 0 && n < 100000; n++) {
		last = c;
		rc = load(&c, text, (size_t)snprintf(text, sizeof(text), "x: %d", n) + 1);
	}
	CHECK_INT(rc, -E2BIG);
	CHECK(n > 100 && n < 1000);
	CHECK(c == last); /* no change */
	CHECK_INT(LOAD(&c, "x: 7\0"), 0); /* a known one is no new one */
	CHECK_STR(c->line, "x: 7");
	command_line_free(c);
}

int main(void)
{
	RUN(arguments);
	RUN(a_title_is_padded);
	RUN(each_is_once);
	RUN(a_counter_takes_no_end_of_memory);
	return check_end();
}
