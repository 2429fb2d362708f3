/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program's output as lines: what a terminal would show of logs, prompts and progress bars. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "src/target/output.h"
#include "tests/check.h"

static int ends[2];
static struct output *output;

static void begin(void)
{
	CHECK_INT(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	output = output_new(ends[0]);
	CHECK(output != NULL);
}

static void end(void)
{
	output_free(output);
	close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
}

static void feed_bytes(const char *text, size_t len)
{
	bool ended;

	CHECK_INT(write(ends[1], text, len), len);
	CHECK(output_read(output, &ended));
	CHECK(!ended);
}

static void feed(const char *text)
{
	feed_bytes(text, strlen(text));
}

/* What one piece of output becomes: its lines, joined by '|'. */
static const char *lines_of(const char *text, size_t len)
{
	static char all[1024];

	begin();
	feed_bytes(text, len);
	all[0] = '\0';
	for (size_t i = 0; i < output_lines(output); i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? "|" : "",
			output_line(output, i));
	end();
	return all;
}

static const struct {
	const char *in, *out;
} cases[] = {
	{ "a\nb\n", "a|b" }, { "a\nb", "a|b" }, { "\n\n", "|" },
	{ "dos\r\nlines\r\n", "dos|lines" },
	/* Progress bars: what was overwritten is gone, what stands stays. */
	{ "10%\r20%\r30%\n", "30%" }, { "10%\r", "10%" }, { "10%\r\n", "10%" },
	{ "abc\b\bX\n", "aX" }, { "\b\b\bx\n", "x" },
	{ "na\xc3\xafve\b\b\bx\n", "nax" }, /* a character, not a byte */
	{ "\xe2\x82\xac\b$\n", "$" }, { "a\tb\n", "a       b" },
	{ "12345678\tb\n", "12345678        b" }, { "\rx\ty\n", "x       y" },
	/* Colours, cursor movement, titles. */
	{ "\033[1;31mred\033[0m\n", "red" }, { "\033[?25l\033[2K\033[1Gx\n", "x" },
	{ "\033]0;title\007shell\n", "shell" }, { "\033]0;title\033\\shell\n", "shell" },
	{ "\033P1$r0m\033\\x\n", "x" }, { "\033(Bx\033)0y\n", "xy" }, { "\033=\033>x\n", "x" },
	/* An escape begins anew wherever it comes. */
	{ "\033\033[31mx\n", "x" }, { "\033[3\033[1mx\n", "x" },
	/* Control bytes are dropped; bytes that are no text cannot reach the screen. */
	{ "a\007b\001c\n", "abc" }, { "a\177b\n", "a?b" }, { "\xff\xc3\n", "??" },
	{ "\xc2\x9b"
	  "31m\n",
		"?31m" }, /* the one-character form of ESC [ */
};

TEST(lines)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_STR(lines_of(cases[i].in, strlen(cases[i].in)), cases[i].out);
}

/* A NUL is dropped wherever it stands; it ends no escape and begins no title. */
TEST(nul_bytes)
{
	CHECK_STR(lines_of("a\0b\n", 4), "ab");
	CHECK_STR(lines_of("\033\0[1mx\ny\n", 9), "x|y");
}

/* However it is cut into pieces, it reads the same. */
TEST(byte_by_byte)
{
	const char *text = "\033[1mo\xc3\xa9\033]2;t\007k\r\n20%\r100%\n";

	begin();
	for (const char *p = text; *p; p++)
		feed_bytes(p, 1);
	CHECK_INT(output_lines(output), 2);
	CHECK_STR(output_line(output, 0), "o\xc3\xa9k");
	CHECK_STR(output_line(output, 1), "100%");
	end();
}

TEST(unfinished_line)
{
	begin();
	CHECK_INT(output_lines(output), 0);
	feed("password: ");
	CHECK_INT(output_lines(output), 1);
	CHECK_STR(output_line(output, 0), "password: ");
	feed("x\nmore");
	CHECK_INT(output_lines(output), 2);
	CHECK_STR(output_line(output, 0), "password: x");
	CHECK_STR(output_line(output, 1), "more");
	end();
}

/* The last ten thousand lines are kept, in order. */
TEST(scrollback)
{
	char line[32];

	begin();
	for (int i = 0; i < 10250; i++) {
		snprintf(line, sizeof(line), "line %d\n", i);
		feed(line);
	}
	CHECK_INT(output_lines(output), 10000);
	CHECK_STR(output_line(output, 0), "line 250");
	CHECK_STR(output_line(output, 9999), "line 10249");
	end();
}

/* A line without an end is cut into pieces, with nothing lost and no character torn. */
TEST(endless_line)
{
	char piece[1000];
	size_t total = 0, odd = 0;

	begin();
	for (size_t i = 0; i < sizeof(piece); i++)
		piece[i] = i % 2 ? '\xa9' : '\xc3';
	feed("x");
	for (int i = 0; i < 20; i++)
		feed_bytes(piece, sizeof(piece));
	feed("\n");
	for (size_t i = 0; i < output_lines(output); i++) {
		total += strlen(output_line(output, i));
		odd += strchr(output_line(output, i), '?') != NULL;
	}
	CHECK_INT(total, 20 * sizeof(piece) + 1);
	CHECK_INT(odd, 0);
	end();
}

TEST(end_of_output)
{
	bool ended = true;

	begin();
	CHECK(!output_read(output, &ended)); /* nothing there, and open */
	CHECK(!ended);
	CHECK_INT(write(ends[1], "last", 4), 4);
	close(ends[1]);
	ends[1] = -1;
	CHECK(output_read(output, &ended));
	CHECK(ended);
	CHECK_STR(output_line(output, 0), "last");
	end();
	output_free(NULL);
}

/* The master side of a terminal whose program has gone says so by an error. */
TEST(terminal)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;
	struct output *o;
	bool ended = false;

	if (master < 0 || grantpt(master) || unlockpt(master))
		SKIP("no pseudo-terminals here");
	fcntl(master, F_SETFL, O_NONBLOCK);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	o = output_new(master);
	CHECK_INT(write(slave, "hello\n", 6), 6);
	close(slave);
	CHECK(output_read(o, &ended));
	CHECK(ended);
	CHECK_INT(output_lines(o), 1);
	CHECK_STR(output_line(o, 0), "hello");
	output_free(o);
	close(master);
}

int main(void)
{
	RUN(lines);
	RUN(nul_bytes);
	RUN(byte_by_byte);
	RUN(unfinished_line);
	RUN(scrollback);
	RUN(endless_line);
	RUN(end_of_output);
	RUN(terminal);
	return check_end();
}
