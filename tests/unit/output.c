/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program's terminal: what it shows of logs, prompts, progress bars and full-screen programs, and
 * what it says to the program. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include "src/target/output.h"
#include "tests/check.h"

static int ends[2];
static struct output *output;

static void begin(void)
{
	CHECK_INT(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	output = output_new(ends[0], 5, 20);
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

static const char *line_text(struct output *o, size_t i)
{
	struct term_line line;

	output_line(o, i, &line);
	return line.text;
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
			line_text(output, i));
	end();
	return all;
}

static const struct {
	const char *in, *out;
} cases[] = {
	{ "a\r\nb\r\n", "a|b" }, { "a\r\nb", "a|b" }, { "\r\n\r\nc", "||c" },
	{ "down\nward", "down|    ward" }, /* what a program in raw mode means by it */
	/* Progress bars: what was overwritten is gone, what stands stays. */
	{ "10%\r20%\r30%\r\n", "30%" }, { "10%\r", "10%" }, { "100%\r9%\033[K", "9%" },
	{ "abc\b\bX", "aXc" }, { "\b\b\bx", "x" }, { "na\xc3\xafve\b\b\bx", "naxve" },
	{ "\xe2\x82\xac\b$", "$" }, { "a\tb", "a       b" }, { "\rx\ty", "x       y" },
	/* Colours, cursor movement, titles. */
	{ "\033[1;31mred\033[0m", "red" }, { "\033[?25l\033[2K\033[1Gx", "x" },
	{ "\033[2;3Hthere\033[1;1Hx", "x|  there" }, { "\033]0;title\007shell", "shell" },
	{ "\033[00000000000000000002Cx", "  x" }, { "\033[4294967297Cx", "                   x" },
	{ "\033[18446744073709551615Cx", "                   x" }, { "a\033[1 2bb", "ab" },
	{ "a\033[?2bb", "ab" }, { "a\033[2;9bb", "aaab" }, { "\033]0;title\033\\shell", "shell" },
	{ "\033P1$r0m\033\\x", "x" }, { "\033_Gf=100\033\\x", "x" }, { "\033(Bx", "x" },
	{ "12345678901234567890x", "12345678901234567890|x" }, /* the next row */
	/* Control bytes are no text, and bytes that are none cannot reach the screen. */
	{ "a\007b\001c", "abc" },
	{ "\xe2\x80\xae"
	  "x",
		"x" }, /* right-to-left override */
};

TEST(lines)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_STR(lines_of(cases[i].in, strlen(cases[i].in)), cases[i].out);
}

/* A NUL is dropped wherever it stands; it ends no escape and begins no title. */
TEST(nul_bytes)
{
	CHECK_STR(lines_of("a\0b", 3), "ab");
	CHECK_STR(lines_of("\033\0[1mx\r\ny", 9), "x|y");
}

/* However it is cut into pieces, it reads the same. */
TEST(byte_by_byte)
{
	const char *text = "\033[1mo\xc3\xa9\033]2;t\007k\r\n20%\r100%\r\n";

	begin();
	for (const char *p = text; *p; p++)
		feed_bytes(p, 1);
	CHECK_INT(output_lines(output), 2);
	CHECK_STR(line_text(output, 0), "o\xc3\xa9k");
	CHECK_STR(line_text(output, 1), "100%");
	end();
}

/* "Repeat the last character", from which the emulator never returns where that has no width. */
TEST(repeated_characters)
{
	begin();
	feed("\033[2b\033[2\021b");
	feed("\033]0;x\033[9b\007\033[3b");
	feed("\xcc\x81\033[4bx\033[3b\r\n");
	CHECK_STR(line_text(output, 0), "xxxx");
	feed("\xe2\x80\x8b\033[5b\033[31mab\033[0m\033[2bc\033Pq1\033[2b\033\\");
	CHECK(strstr(line_text(output, 1), "abbbc") != NULL);
	end();
}

/* Parameters after the 15th, which the emulator would store over its own memory, whatever the
 * sequence begins with; those before them count. */
TEST(more_parameters_than_the_emulator_has_places_for)
{
	static const char *const begins[] = { "\033[", "\033[?", "\033\177[", "\033 [",
		"\033]0;x\033[", "\033[1 \033[", "\033[1;2\007;;;;;\177" };
	struct term_line line;

	begin();
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		feed(begins[i]);
		for (unsigned n = 0; n < 5000; n++)
			feed_bytes(n % 3 ? ";7" : ":5", 2);
		feed("m\033[m");
	}
	feed("\033[H\033[2J\033[0;0;0;0;0;0;0;0;0;0;0;0;0;0;31;32mred\033[m");
	output_line(output, 0, &line);
	CHECK_STR(line.text, "red");
	CHECK_INT(line.run[0].style.fore, 1);
	end();
}

TEST(unfinished_line)
{
	begin();
	CHECK_INT(output_lines(output), 0);
	feed("password: ");
	CHECK_INT(output_lines(output), 1);
	CHECK_STR(line_text(output, 0), "password:");
	feed("x\r\nmore");
	CHECK_INT(output_lines(output), 2);
	CHECK_STR(line_text(output, 0), "password: x");
	CHECK_STR(line_text(output, 1), "more");
	end();
}

/* The last ten thousand lines that left the screen are kept, in order. */
TEST(scrollback)
{
	char line[32];

	begin();
	for (int i = 0; i < 10250; i++) {
		snprintf(line, sizeof(line), "line %d\r\n", i);
		feed(line);
	}
	CHECK_INT(output_lines(output), 10004);
	CHECK_INT(output_dropped(output), 246);
	CHECK_STR(line_text(output, 0), "line 246");
	CHECK_STR(line_text(output, 9999), "line 10245");
	CHECK_STR(line_text(output, 10003), "line 10249");
	end();
}

TEST(styles)
{
	struct term_line line;

	begin();
	feed("plain \033[1;31mred\033[0m\033[48;5;200m \033[38;2;255;0;0mx\033[0m   ");
	output_line(output, 0, &line);
	CHECK_STR(line.text, "plain red x");
	CHECK_INT(line.runs, 4);
	CHECK_INT(line.run[0].style.fore, TERM_LINE_DEFAULT);
	CHECK_INT(line.run[1].at, 6);
	CHECK_INT(line.run[1].cells, 3);
	CHECK_INT(line.run[1].style.fore, 1);
	CHECK(line.run[1].style.bold);
	CHECK_INT(line.run[2].style.back, 200);
	CHECK_INT(line.run[3].style.fore, 16 + 36 * 5); /* the cube's red */
	end();
}

/* A full-screen program has the screen to itself, and leaves what was there before. */
TEST(alternate_screen)
{
	size_t row;
	unsigned cell;

	begin();
	feed("1\r\n2\r\n3\r\n4\r\n5\r\n6");
	CHECK_INT(output_lines(output), 6);
	feed("\033[?1049h\033[2J\033[3;2Hmiddle");
	CHECK_INT(output_lines(output), 5);
	CHECK_STR(line_text(output, 2), " middle");
	CHECK_STR(line_text(output, 4), "");
	CHECK(output_cursor(output, &row, &cell));
	CHECK_INT(row, 2);
	CHECK_INT(cell, 7);
	feed("\033[?25l");
	CHECK(!output_cursor(output, &row, &cell));
	feed("\033[?25h\033[?1049l");
	CHECK_INT(output_lines(output), 6);
	CHECK_STR(line_text(output, 0), "1");
	CHECK_STR(line_text(output, 5), "6");
	end();
}

static void cursor_is(size_t row, unsigned cell)
{
	size_t at_row;
	unsigned at_cell;

	CHECK(output_cursor(output, &at_row, &at_cell));
	CHECK_INT(at_row, row);
	CHECK_INT(at_cell, cell);
}

/* A smaller window, where the emulator's cursor, saved cursor and margins are outside of it. */
TEST(smaller_window)
{
	begin();
	feed("1\r\n2\r\n3\r\n4\r\n5\033[1;2H"); /* above what stays */
	output_resize(output, 2, 20);
	feed("x");
	CHECK_STR(line_text(output, output_lines(output) - 2), "4x");
	end();
	begin();
	feed("\033[4;18H\0337\033[Ha");
	output_resize(output, 2, 10);
	cursor_is(0, 1);
	feed("\0338b");
	CHECK_STR(line_text(output, 1), "         b");
	end();
	begin();
	feed("\033[4;5r\033[5;1H");
	output_resize(output, 3, 20);
	feed("a\r\nb\r\nc\r\nd\r\n");
	CHECK_STR(line_text(output, output_lines(output) - 1), "d");
	end();
	begin();
	feed("\033[?1049h\033[5;20H\033[?1049l\033[5;20H\033[?1049h");
	output_resize(output, 2, 4);
	feed("\033[?1049lx");
	cursor_is(output_lines(output) - 1, 3);
	end();
}

/* In the middle of a sequence. */
TEST(other_window_in_a_sequence)
{
	struct term_line line;

	begin();
	feed("a\033[3");
	output_resize(output, 4, 10);
	feed("1mb\033[mc");
	output_line(output, 0, &line);
	CHECK_STR(line.text, "abc");
	CHECK_INT(line.run[1].style.fore, 1);
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
	CHECK_STR(line_text(output, 0), "last");
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
	o = output_new(master, 5, 20);
	CHECK_INT(write(slave, "hello\n", 6), 6);
	close(slave);
	CHECK(output_read(o, &ended));
	CHECK(ended);
	CHECK_INT(output_lines(o), 1);
	CHECK_STR(line_text(o, 0), "hello");
	output_free(o);
	close(master);
}

/* A pair of terminal sides; the program's passes bytes on at once, and does not show them. */
static int raw_terminal(int *slave)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct termios t;

	if (master < 0 || grantpt(master) || unlockpt(master))
		return -1;
	fcntl(master, F_SETFL, O_NONBLOCK);
	*slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	tcgetattr(*slave, &t);
	cfmakeraw(&t);
	tcsetattr(*slave, TCSANOW, &t);
	return master;
}

static const char *typed(int slave)
{
	static char got[64];
	ssize_t n = read(slave, got, sizeof(got) - 1);

	got[n > 0 ? n : 0] = '\0';
	return got;
}

/* Keys come as the program asked for them, and its questions are answered. */
TEST(keyboard)
{
	int slave, master = raw_terminal(&slave);
	struct output *o;
	struct winsize size;
	bool ended;

	if (master < 0)
		SKIP("no pseudo-terminals here");
	o = output_new(master, 5, 20);
	output_type(o, "x\003", 2);
	CHECK_STR(typed(slave), "x\003");
	output_press(o, TERM_PRESS_UP);
	CHECK_STR(typed(slave), "\033[A");
	output_press(o, (enum term_press)(TERM_PRESS_F + 2));
	CHECK_STR(typed(slave), "\033OQ");
	output_press(o, TERM_PRESS_BACK_TAB);
	CHECK_STR(typed(slave), "\033[Z");
	CHECK_INT(write(slave, "\033[?1h\033[6n", 9), 9);
	CHECK(output_read(o, &ended));
	CHECK_STR(typed(slave), "\033[1;1R");
	output_press(o, TERM_PRESS_UP);
	CHECK_STR(typed(slave), "\033OA");
	output_resize(o, 7, 30);
	CHECK_INT(ioctl(slave, TIOCGWINSZ, &size), 0);
	CHECK_INT(size.ws_row, 7);
	CHECK_INT(size.ws_col, 30);
	output_free(o);
	close(slave);
	close(master);
}

/* Stands for libc's: the process that stays is slow. */
int close_range(unsigned first, unsigned last, int flags)
{
	poll(NULL, 0, 100);
	return (int)syscall(SYS_close_range, first, last, flags);
}

/* Locks of the viewer's files end with the viewer, though a process of it stays. */
TEST(left)
{
	int pty[2], file = open(".", O_RDONLY | O_CLOEXEC), again = open(".", O_RDONLY | O_CLOEXEC);

	CHECK_INT(pipe2(pty, O_CLOEXEC), 0);
	CHECK_INT(flock(file, LOCK_SH), 0);
	errno = EAGAIN; /* of an earlier call */
	output_leave(pty[0], getpid());
	close(file);
	CHECK_INT(flock(again, LOCK_EX | LOCK_NB), 0);
	close(again);
	close(pty[0]);
	close(pty[1]); /* so that process ends */
	CHECK(waitpid(-1, NULL, 0) > 0);
}

int main(void)
{
	RUN(lines);
	RUN(nul_bytes);
	RUN(byte_by_byte);
	RUN(repeated_characters);
	RUN(more_parameters_than_the_emulator_has_places_for);
	RUN(unfinished_line);
	RUN(scrollback);
	RUN(styles);
	RUN(alternate_screen);
	RUN(smaller_window);
	RUN(other_window_in_a_sequence);
	RUN(end_of_output);
	RUN(terminal);
	RUN(keyboard);
	RUN(left);
	return check_end();
}
