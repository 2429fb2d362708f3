/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Foreign text: nothing but allowed characters ever comes out, whatever goes in; and cutting to
 * cells never cuts a character, leaves the buffer, or takes more cells than it was given.
 */
#include <locale.h>
#include <limits.h>
#include <stdlib.h>
#include <wchar.h>
#include "src/util/text.h"
#include "tests/check.h"

static const char *clean(const char *in)
{
	static char out[256];

	text_clean(out, sizeof(out), in, strlen(in));
	return out;
}

TEST(clean_keeps_text)
{
	CHECK_STR(clean("operator new(unsigned long)"), "operator new(unsigned long)");
	CHECK_STR(clean("größe 日本 e\xcc\x81 😀"), "größe 日本 e\xcc\x81 😀");
	CHECK_STR(clean("\xf4\x8f\xbf\xbd \xef\xbf\xbd \xc2\xa0"),
		"\xf4\x8f\xbf\xbd \xef\xbf\xbd \xc2\xa0");
}

TEST(clean_replaces_controls)
{
	CHECK_STR(clean("a\x1b[2Jb\r\nc\td\x7f"), "a?[2Jb??c?d?");
	CHECK_STR(clean("\xc2\x9b"
			"31m\xc2\x80"),
		"?31m?");
	CHECK_STR(clean("\xe2\x80\xae"
			"evil\xe2\x80\xac"),
		"?evil?");
	CHECK_STR(clean("\xe2\x81\xa6\xe2\x81\xa9\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c"), "?????");
	CHECK_STR(clean("a\xe2\x80\x8b"
			"b\xef\xbb\xbf"
			"c\xe2\x81\xa0"),
		"a?b?c?");
	CHECK_STR(clean("\xe2\x80\xa8\xe2\x80\xa9"), "??");
}

TEST(clean_keeps_nul_out)
{
	char out[8];

	CHECK_INT(text_clean(out, sizeof(out), "a\0b", 3), 3);
	CHECK_STR(out, "a?b");
}

TEST(clean_replaces_bad_utf8)
{
	CHECK_STR(clean("\xff\xfe"), "??");
	CHECK_STR(clean("\xc0\xaf"), "??"); /* overlong */
	CHECK_STR(clean("\xe0\x80\xaf"), "???");
	CHECK_STR(clean("\xf0\x80\x80\xaf"), "????");
	CHECK_STR(clean("\xed\xa0\x80"), "???"); /* surrogate */
	CHECK_STR(clean("\xf4\x90\x80\x80"), "????"); /* above U+10FFFF */
	CHECK_STR(clean("x\xe2\x82"), "x??"); /* cut off */
	CHECK_STR(clean("\xe2\x28\xa1"), "?(?");
	CHECK_STR(clean("\x80"), "?");
}

TEST(clean_respects_capacity)
{
	char out[8];

	memset(out, 'z', sizeof(out));
	CHECK_INT(text_clean(out, 0, "abc", 3), 0);
	CHECK_INT(out[0], 'z');
	CHECK_INT(text_clean(out, 1, "abc", 3), 0);
	CHECK_STR(out, "");
	CHECK_INT(text_clean(out, 4, "ab\xe2\x82\xac", 5), 2); /* no half of the euro sign */
	CHECK_STR(out, "ab");
	CHECK_INT(text_clean(out, 6, "ab\xe2\x82\xac", 5), 5);
	CHECK_STR(out, "ab\xe2\x82\xac");
}

/* Written apart from the code under test: C's own decoder, and the forbidden ranges spelled out. */
static bool allowed(wchar_t c)
{
	if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		return false;
	if (c == 0x61c || c == 0x200e || c == 0x200f || c == 0x2028 || c == 0x2029)
		return false;
	if ((c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069))
		return false;
	return c != 0x200b && c != 0x200c && c != 0x200d && c != 0x2060 && c != 0xfeff;
}

static bool all_allowed(const char *text, size_t len)
{
	mbstate_t state = { 0 };

	while (len) {
		wchar_t c;
		size_t n = mbrtowc(&c, text, len, &state);

		if (n == 0 || n > len || !allowed(c))
			return false;
		text += n;
		len -= n;
	}
	return true;
}

static uint32_t random_state = 12345;

static uint32_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state;
}

/* Random bytes, mostly such that they nearly are UTF-8: plain noise hardly ever gets past byte one.
 */
static size_t random_bytes(char *out, size_t max)
{
	static const char *const seeds[] = {
		"\xe2\x80\xae",
		"\xe2\x80\x8b",
		"\xc2\x9b",
		"\xf0\x9f\x98\x80",
		"\xed\xa0\x80",
		"\xe2\x81\xa6",
		"\x1b[",
		"\xcc\x81",
		"\xef\xbb\xbf",
		"a",
		"\xe6\x97\xa5",
		"\xf4\x90",
		"\xf3\xa0\x80\x81",
	};
	size_t len = 0;

	while (len + 4 < max && random_next() % 24) {
		const char *seed = seeds[random_next() % (sizeof(seeds) / sizeof(seeds[0]))];

		if (random_next() % 3 == 0) {
			out[len++] = (char)random_next();
			continue;
		}
		memcpy(out + len, seed, strlen(seed));
		len += strlen(seed);
		if (random_next() % 4 == 0)
			len--;
	}
	return len;
}

TEST(clean_anything)
{
	char in[128], out[130], again[130];

	if (!setlocale(LC_ALL, "C.UTF-8"))
		SKIP("no C.UTF-8 locale to decode with");
	for (int i = 0; i < 200000; i++) {
		size_t len = random_bytes(in, sizeof(in)), cap = 1 + random_next() % sizeof(out), n;

		memset(out, 0x55, sizeof(out));
		n = text_clean(out, cap, in, len);
		CHECK(n < cap && out[n] == '\0' && all_allowed(out, n));
		CHECK(n + 1 >= sizeof(out) || out[n + 1] == 0x55);
		CHECK_INT(text_clean(again, sizeof(again), out, n), n);
		CHECK(memcmp(again, out, n) == 0);
		if (check_failed_here)
			return;
	}
}

/* Every character there is, alone. What a terminal gives no cell and is no combining mark is gone.
 */
TEST(clean_every_character)
{
	char in[MB_LEN_MAX + 1], out[MB_LEN_MAX + 1];

	if (!setlocale(LC_ALL, "C.UTF-8"))
		SKIP("no C.UTF-8 locale to encode with");
	for (wchar_t c = 1; c < 0x110000; c++) {
		mbstate_t state = { 0 };
		size_t n = wcrtomb(in, c, &state);
		uint32_t code;

		if (n == (size_t)-1)
			continue;
		CHECK_INT(text_decode(in, n, &code), n);
		CHECK_INT(code, c);
		text_clean(out, sizeof(out), in, n);
		CHECK(allowed(c) || strcmp(out, "?") == 0);
		if (check_failed_here)
			return;
	}
}

TEST(cells)
{
	if (!setlocale(LC_ALL, "C.UTF-8"))
		SKIP("no C.UTF-8 locale to measure with");
	CHECK_INT(text_cells(""), 0);
	CHECK_INT(text_cells("abc"), 3);
	CHECK_INT(text_cells("größe"), 5);
	CHECK_INT(text_cells("日本"), 4);
	CHECK_INT(text_cells("e\xcc\x81"), 1);
	CHECK_INT(text_cells("\xff\xff"), 2);
}

TEST(fit)
{
	size_t used = 99;

	if (!setlocale(LC_ALL, "C.UTF-8"))
		SKIP("no C.UTF-8 locale to measure with");
	CHECK_INT(text_fit("abc", 2, &used), 2);
	CHECK_INT(used, 2);
	CHECK_INT(text_fit("abc", 9, NULL), 3);
	CHECK_INT(text_fit("a日本", 2, &used), 1); /* half of a wide character is none */
	CHECK_INT(used, 1);
	CHECK_INT(text_fit("a日本", 3, &used), 4);
	CHECK_INT(text_fit("xe\xcc\x81y", 2, &used), 4); /* the mark goes with its letter */
	CHECK_INT(text_fit("abc", 0, &used), 0);
	CHECK_INT(used, 0);
}

static const char *elided(const char *text, size_t cells, bool from_left, bool ascii)
{
	static char out[64];

	text_elide(out, sizeof(out), text, cells, from_left, ascii);
	return out;
}

TEST(elide)
{
	if (!setlocale(LC_ALL, "C.UTF-8"))
		SKIP("no C.UTF-8 locale to measure with");
	CHECK_STR(elided("abcdef", 6, false, false), "abcdef");
	CHECK_STR(elided("abcdef", 5, false, false), "abcd…");
	CHECK_STR(elided("abcdef", 5, true, false), "…cdef");
	CHECK_STR(elided("abcdef", 5, false, true), "abcd~"); /* no full stop: it was cut */
	CHECK_STR(elided("abcdef", 5, true, true), ".cdef");
	CHECK_STR(elided("abcdef", 1, true, false), "…");
	CHECK_STR(elided("abcdef", 0, false, false), "");
	CHECK_STR(elided("日本語", 4, false, false), "日…");
	CHECK_STR(elided("日本語", 4, true, false), "…語");
	CHECK_STR(elided("abe\xcc\x81z", 2, true, false), "…z");
}

static const char *parts(const char *text, size_t cells, bool ascii)
{
	static char out[256];

	text_elide_parts(out, sizeof(out), text, cells, ascii);
	return out;
}

/* A number that is cut would be another number. */
TEST(elide_parts)
{
	if (!setlocale(LC_ALL, "C.UTF-8"))
		SKIP("no C.UTF-8 locale to measure with");
	CHECK_STR(parts("live 12.4M   lost 500   kept 31", 31, false),
		"live 12.4M   lost 500   kept 31");
	CHECK_STR(parts("live 12.4M   lost 500   kept 31", 30, false), "live 12.4M   lost 500 …");
	CHECK_STR(parts("live 12.4M   lost 500   kept 31", 23, true), "live 12.4M   lost 500 ~");
	CHECK_STR(parts("live 12.4M   lost 500   kept 31", 22, false), "live 12.4M …");
	CHECK_STR(parts("live 12.4M  in all", 8, false), "live 12…");
	CHECK_STR(parts("日本  語", 7, false), "日本 …");
	CHECK_STR(parts("ab", 0, false), "");
}

TEST(lines)
{
	CHECK_INT(text_line("one two three", 13), 13);
	CHECK_INT(text_line("one two three", 12), 7);
	CHECK_INT(text_line("one two three", 7), 7);
	CHECK_INT(text_line("one two three", 6), 3);
	CHECK_INT(text_line("one two three", 2), 2);
	CHECK_INT(text_line("日", 1), 1);
	CHECK_INT(text_line("", 5), 0);
}

TEST(elide_anything)
{
	char in[128], text[130], out[130];

	if (!setlocale(LC_ALL, "C.UTF-8"))
		SKIP("no C.UTF-8 locale to measure with");
	for (int i = 0; i < 100000; i++) {
		size_t cells = random_next() % 20, cap = 1 + random_next() % sizeof(out), n;

		n = random_bytes(in, sizeof(in));
		text_clean(text, sizeof(text), in, n);
		memset(out, 0x55, sizeof(out));
		n = text_elide(out, cap, text, cells, random_next() & 1, random_next() & 1);
		CHECK(n <= cells && strlen(out) < cap && n == text_cells(out));
		CHECK(all_allowed(out, strlen(out)));
		if (check_failed_here)
			return;
	}
}

TEST(unfold)
{
	char line[] = "sh\0-c\0for i in 1 2\n\tdo :\r\ndone\033";

	text_unfold(line, sizeof(line) - 1);
	CHECK_STR(line, "sh -c for i in 1 2  do :  done\033");
}

int main(void)
{
	RUN(clean_keeps_text);
	RUN(clean_replaces_controls);
	RUN(clean_keeps_nul_out);
	RUN(clean_replaces_bad_utf8);
	RUN(clean_respects_capacity);
	RUN(clean_anything);
	RUN(clean_every_character);
	RUN(cells);
	RUN(fit);
	RUN(elide);
	RUN(elide_parts);
	RUN(lines);
	RUN(elide_anything);
	RUN(unfold);
	return check_end();
}
