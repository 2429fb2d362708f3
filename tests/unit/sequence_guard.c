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
	SAME("\033(0\033#8\033c\0337"),
	SAME("\033]0;title\007\033]0;title\033\\\033P$qm\033\\"),
	/* Characters: whole ones, or a mark for what is none. */
	SAME("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80 \xc2\xa0"),
	CASE("\xc3x", "?x"),
	CASE("\xf0\x9f\x98\n", "?\n"),
	CASE("\xe2\x82\033[m", "?\033[m"),
	CASE("\xc3\xc3\xa9", "?\xc3\xa9"),
	CASE("\x80\xff\xfe\xf8\xf5\xc0\xc1", "???????"),
	CASE("\xc2\x85\xc2\x9b", "??"),
	CASE("\xe0\x80\x80\xed\xa0\x80\xf4\x90\x80\x80", "???"),
	CASE("a\0b\x7f", "ab"),
	CASE("\xe2\0\x82\xac", "\xe2\x82\xac"),
	CASE("\033]0;\xc3\xa9\007", "\033]0;??\007"),
	/* Sixteen parameters, and numbers of four digits. */
	CASE("\033[1;;;;;;;;;;;;;;;16;17:18m", "\033[1;;;;;;;;;;;;;;;16m"),
	CASE("\033[?;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;h", "\033[?;;;;;;;;;;;;;;;h"),
	CASE("\033[::::::::::::::::::1\033[::::::::::::::::::2m",
		"\033[:::::::::::::::\033[:::::::::::::::m"),
	CASE("\033\x7f[\0;;;;;;;;;;\a;;;;;;;;;;m", "\033[;;;;;;;;;;\a;;;;;m"),
	CASE("\033]0;;;;;\033[;;;;;;;;;;;;;;;;;;;;;m", "\033]0;;;;;\033[;;;;;;;;;;;;;;;m"),
	CASE("\033[12345;99999999999999999999;00000000001C", "\033[1234;9999;00000000001C"),
	/* What does not belong into a sequence ends it. */
	CASE("\033[1\xc3\xa9m", "\033[1\030?m"),
	CASE("\033\xc3[;m", "\033\030[;m"),
	CASE("\033[1 2m", "\033[1 \030m"),
	CASE("\033[1<m", "\033[1\030m"),
	SAME("\033[1\030m\033[2\032x"),
	/* "Repeat", of a character that is known. */
	CASE("a\033[3b", "a\033[3zaaa"),
	CASE("a\033[b\033[0b", "a\033[za\033[0za"),
	CASE("a\033[2;3b", "a\033[2;3zaa"),
	CASE("a\033[?2b\033[2 b", "a\033[?2z\033[2 z"),
	CASE("\033[2b", "\033[2z"),
	CASE("\xc3\xa9\033[2b", "\xc3\xa9\033[2z"),
	CASE("a\033[31m\033[2b", "a\033[31m\033[2zaa"),
	CASE("a\033]0;\007\033[2b", "a\033]0;\007\033[2z"),
	/* The cursor returns to the screen. */
	CASE("\0338", "\0338\033[0n"),
	/* Strings that no emulator shows. */
	CASE("a\033_Gf=100;\xff\r\n\033\\b", "a\033\030\033\\b"),
	CASE("\033Xx\030b", "\033\030\030b"),
	CASE("\033^x\033[1m", "\033\030\033[1m"),
};

TEST(bytes)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_STR(passed(cases[i].in, cases[i].bytes), cases[i].out);
}

/* The caller writes a sequence of its own, wherever the output is; the rest of the output's has no
 * effect, and what comes behind it has. */
TEST(cut)
{
	static const struct {
		const char *before, *behind, *out;
	} cuts[] = {
		{ "a", "b", "a|b" },
		{ "\033", "[1mb", "\033\030|b" },
		{ "\033[", "1mb", "\033[\030|b" },
		{ "\033[1;", "2;3 qb", "\033[1;\030|b" },
		{ "\033[1 ", "qb", "\033[1 \030|b" },
		{ "a\033[1", "bb", "a\033[1\030|b" },
		{ "\033]0;t", "itle\007b", "\033]0;t\030|b" },
		{ "\033]0;t", "itle\033\\b", "\033]0;t\030|\033\\b" },
		{ "\033_x", "y\033\\b", "\033\030|\033\\b" },
		{ "\033", "]0;title\007b", "\033\030|b" },
		{ "\033[1", "\033[2mb", "\033[1\030|\033[2mb" },
		{ "\033[1", "\030b", "\033[1\030|b" },
		{ "\xc3", "\xa9", "|\xc3\xa9" },
	};

	for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		struct sequence_guard g = { 0 };

		got_bytes = 0;
		pass(&g, cuts[i].before, strlen(cuts[i].before));
		got_bytes += sequence_guard_cut(&g, got + got_bytes);
		CHECK_INT(sequence_guard_cut(&g, got + got_bytes), 0);
		got[got_bytes++] = '|';
		pass(&g, cuts[i].behind, strlen(cuts[i].behind));
		CHECK_STR(got, cuts[i].out);
	}
}

int main(void)
{
	RUN(bytes);
	RUN(cut);
	return check_end();
}
