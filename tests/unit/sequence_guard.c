/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a terminal emulator gets of a program's output, byte by byte. */
#include "src/target/sequence_guard.h"
#include "tests/check.h"

static char got[4096];
static size_t got_bytes;

static void pass(struct sequence_guard *g, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t given = sequence_guard_pass(g, bytes[i], got + got_bytes);

		CHECK(given <= SEQUENCE_PASS_MOST);
		got_bytes += given;
		for (unsigned k = 0; k < g->repeat; k++)
			got[got_bytes++] = g->glyph;
	}
	got[got_bytes] = '\0';
}

static const char *passed(const char *bytes, size_t n)
{
	struct sequence_guard g = { 0 };

	got_bytes = 0;
	pass(&g, bytes, n);
	return got;
}

#define CASE(in, out)                                                                              \
	{                                                                                          \
		in, sizeof(in) - 1, out                                                            \
	}
#define SAME(text) CASE(text, text)

static const struct {
	const char *in;
	size_t bytes;
	const char *out;
} cases[] = {
	SAME("text\r\n\ttab"),
	SAME("\033[1;31mred\033[0m"),
	SAME("\033[38:2::1:2:3m"),
	SAME("\033[?1049h\033[>c\033[!p\033[2 q"),
	SAME("\033(0\033#8\033c\0337\033\\"),
	/* Characters: whole ones, or a question mark for what is not one. */
	SAME("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80 \xc2\xa0"),
	CASE("\xc3x", "?x"),
	CASE("\xf0\x9f\x98\n", "?\n"),
	CASE("\xe2\x82\033[m", "?\033[m"),
	CASE("\xc3\xc3\xa9", "?\xc3\xa9"),
	CASE("\x80\xff\xfe\xf8\xf5\xc0\xc1", "???????"),
	CASE("\xe0\x80\x80\xed\xa0\x80\xf4\x90\x80\x80", "???"),
	CASE("a\0b\x7f", "ab"),
	CASE("\xe2\0\x82\xac", "\xe2\x82\xac"),
	CASE("\xc3\030x", "?x"),
	/* Controls, joiners, selectors; marks that the emulator takes for wide ones. */
	CASE("\xc2\x85\xc2\x9b", ""),
	CASE("\xe2\x9d\xa4\xef\xb8\x8f!", "\xe2\x9d\xa4!"),
	CASE("x\xe2\x80\x8d\xe2\x80\xaey", "xy"),
	CASE("\xe3\x81\x8b\xe3\x82\x99\xe3\x80\xaa!", "\xe3\x81\x8b!"),
	CASE("\xc2\xad\xe3\x85\xa4|", "   |"),
	CASE("\xf0\x9f\xbf\xbe|", "|"),
	/* Sequences of fifteen parameters, and numbers of six digits. */
	CASE("\033[1;;;;;;;;;;;;;;15;16:17m", "\033[1;;;;;;;;;;;;;;15m"),
	CASE("\033[?;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;h", "\033[?;;;;;;;;;;;;;;h"),
	CASE("\033[::::::::::::::::::1\033[::::::::::::::::::2m", "\033[::::::::::::::m"),
	CASE("\033\x7f[\0;;;;;;;;;;\a;;;;;;;;;;m", "\a\033[;;;;;;;;;;;;;;m"),
	CASE("\033]0;;;;;\033[;;;;;;;;;;;;;;;;;;;;;m", "\033[;;;;;;;;;;;;;;m"),
	CASE("\033[737769;99999999999999999999;00000000001C", "\033[737769;999999;1C"),
	CASE("\033[1;"
	     "999999;999999;999999;999999;999999;999999;999999;999999;999999;999999;999999;999999;"
	     "999999;999999 q",
		"\033[1;"
		"999999;999999;999999;999999;999999;999999;999999;999999;999999;999999;999999;"
		"999999;999999;999999 q"),
	CASE("\033[????????????????????????????????????????????????????????????????????????????????"
	     "????????????????????????????????????????????????????????????????????????????????hx",
		"x"),
	CASE("\033                                                                                "
	     "                                                                                [mx",
		"\033[mx"),
	/* What does not belong in a sequence, and what cuts it off. */
	CASE("\033[1\xc3\xa9m", "\xc3\xa9m"),
	CASE("\033\xc3[;m", "?[;m"),
	CASE("\033[1 2mx", "x"),
	CASE("\033[1<mx", "x"),
	CASE("\033[1\030m\033[2\032x", "mx"),
	CASE("\033[1\033[mx", "\033[mx"),
	CASE("\033[1\n;2mx", "\n\033[1;2mx"),
	/* "Repeat", of a character that is known. */
	CASE("a\033[3b", "aaaa"),
	CASE("a\033[b\033[0b", "aaa"),
	CASE("a\033[2;3b", "aaa"),
	CASE("a\033[?2b\033[2 b\033[2<b", "a"),
	CASE("\033[2b", ""),
	CASE("\xc3\xa9\033[2b", "\xc3\xa9"),
	CASE("a\033[31m\033[2b", "a\033[31maa"),
	CASE("a\033]0;\007\033[2b", "a"),
	/* The cursor returns to the screen. */
	CASE("\0338", "\0338\033[0n"),
	/* Strings: questions reach the emulator. */
	CASE("\033]0;t\xc3\xa9\007\033]0;title\033\\x", "\033\\x"),
	CASE("\033P$qm\033\\", "\033P$qm\033\\\033\\"),
	CASE("\033P$qm\030\033P$qm\032x", "x"),
	CASE("\033P$q q\007", "\033P$q q\033\\"),
	CASE("\033P$qm\n\007\033P$q\007\033P1$r0m\007\033P$q123\007", ""),
	CASE("a\033_Gf=100;\xff\r\n\033\\b", "a\033\\b"),
	CASE("\033Xx\030b", "b"),
	CASE("\033^x\033[1m", "\033[1m"),
	CASE("\033ktitle\033\\b", "\033\\b"),
	SAME("\033(k"),
};

TEST(bytes)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_STR(passed(cases[i].in, cases[i].bytes), cases[i].out);
}

/* Five combining characters are shown, wherever the output is cut. */
TEST(marks)
{
	struct sequence_guard g = { 0 };
	size_t rest;

	got_bytes = 0;
	pass(&g, "a", 1);
	for (int i = 0; i < 1000; i++)
		pass(&g, "\xcc\x81", 2);
	CHECK_STR(got, "a\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81");
	rest = got_bytes;
	pass(&g, "\xc3\xa9\xcc\x81", 4);
	CHECK_STR(got + rest, "\xc3\xa9\xcc\x81");
	/* One that is not a combining character for libc, but for the emulator; and one after none.
	 */
	rest = got_bytes;
	for (int i = 0; i < 1000; i++)
		pass(&g, "\xd8\x80\xcc\x81", 4);
	CHECK_STR(got + rest, "\xd8\x80\xcc\x81\xd8\x80\xcc\x81");
	rest = got_bytes;
	pass(&g, "\xff\xcc\x81", 3);
	CHECK_STR(got + rest, "?\xcc\x81");
}

int main(void)
{
	RUN(bytes);
	RUN(marks);
	return check_end();
}
