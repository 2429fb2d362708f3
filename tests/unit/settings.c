/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings as text: what is written is read back, and what is wrong is reported and harms nothing.
 */
#include <string.h>
#include "src/model/settings.h"
#include "tests/check.h"

static char told[4096];

static void trouble(void *ctx, unsigned line, const char *words)
{
	size_t used = strlen(told);

	snprintf(told + used, sizeof(told) - used, "%u %s\n", line, words);
}

static unsigned parse(struct settings *s, const char *text)
{
	told[0] = 0;
	return settings_parse(s, text, strlen(text), trouble, NULL);
}

static void check_round(const struct settings *s)
{
	struct strbuf text = STRBUF_INIT;
	struct settings back;

	settings_format(s, &text);
	settings_default(&back);
	CHECK_INT(parse(&back, strbuf_text(&text)), s->kept[0] != 0);
	CHECK(memcmp(&back, s, sizeof(back)) == 0);
	strbuf_free(&text);
}

TEST(what_is_written_is_read)
{
	struct settings s;

	settings_default(&s);
	check_round(&s);
	for (unsigned i = 0; i < 200; i++) {
		settings_default(&s);
		s.sort = i % COL_COUNT;
		s.reverse = i % 2;
		s.group = i % GROUP_COUNT;
		s.set = i % COLUMNS_SETS;
		s.names = i % NAMES_COUNT;
		s.show_hidden = i / 2 % 2;
		s.glyphs = i % 4;
		s.color = i % 3;
		s.theme = i / 3 % 4;
		s.mouse = i / 4 % 2;
		s.header = i / 5 % 2;
		s.delay_ms = 100 + i * 297;
		s.least_permille = i * 5;
		s.follow = i / 6 % 2;
		s.debuginfod = i / 7 % 2;
		s.depth = 1 + i * 5;
		s.history_mb = i * 7;
		for (unsigned c = 0; c < COL_COUNT; c++)
			if ((i + c) % 5 == 0)
				settings_switch(&s, SETTINGS_SITES, column_table[c].key, true);
		settings_rule_add(&s, "my_malloc*");
		if (i % 3)
			settings_rule_add(&s, &"ns::alloc<int> = x"[i % 2 ? 0 : 3]);
		check_round(&s);
	}
}

/* Line by line: what stays is the default. */
TEST(broken_lines)
{
	static const struct {
		const char *text, *said;
	} wrong[] = {
		{ "sort = size", "1 \"sort = size\": no such value\n" },
		{ "names", "1 \"names\": no \"key = value\"\n" },
		{ "delay = 1h", "1 \"delay = 1h\": no such value\n" },
		{ "delay = 50ms", "1 \"delay = 50ms\": no such value\n" },
		{ "depth = 0", "1 \"depth = 0\": no such value\n" },
		{ "depth = 2000", "1 \"depth = 2000\": no such value\n" },
		{ "history = 1K", "1 \"history = 1K\": no such value\n" },
		{ "history = 9x", "1 \"history = 9x\": no such value\n" },
		{ "history = 2000000G", "1 \"history = 2000000G\": no such value\n" },
		{ "depth = 12x", "1 \"depth = 12x\": no such value\n" },
		{ "tree-least = nan", "1 \"tree-least = nan\": no such value\n" },
		{ "mouse = maybe", "1 \"mouse = maybe\": no such value\n" },
		{ "= 3", "1 \"= 3\": no such key\n" },
		{ "colour = never", "1 \"colour = never\": no such key\n" },
		{ "hide = *", "1 \"hide = *\": no rule\n" },
		{ "hide =", "1 \"hide =\": no rule\n" },
		{ "ignore = live>1M", "1 \"ignore = live>1M\": no filter by name\n" },
		{ "only =", "1 \"only =\": no filter by name\n" },
		{ "version = x", "1 \"version = x\": no version\n" },
		{ "\x1b[31m = 1", "1 \"?[31m = 1\": no such key\n" },
	};
	struct settings s, plain;

	settings_default(&plain);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		settings_default(&s);
		CHECK_INT(parse(&s, wrong[i].text), 1);
		if (i != sizeof(wrong) / sizeof(wrong[0]) - 1)
			CHECK_STR(told, wrong[i].said);
		CHECK(!strchr(told, 0x1b));
		CHECK_INT(s.lost_line, s.kept[0] == 0);
		s.lost_line = 0;
		memset(s.kept, 0, sizeof(s.kept));
		CHECK(memcmp(&s, &plain, sizeof(s)) == 0);
	}
}

TEST(the_rest_of_a_broken_text_holds)
{
	struct settings s;
	char long_line[2048];

	memset(long_line, 'x', sizeof(long_line));
	strcpy(long_line + 1500, "\nnames=full");
	settings_default(&s);
	CHECK_INT(parse(&s, "# remark\n\n  sort =  blocks \r\nwhat\nnames=mangled"), 1);
	CHECK_STR(told, "4 \"what\": no \"key = value\"\n");
	CHECK_INT(s.sort, COL_BLOCKS);
	CHECK_INT(s.names, NAMES_MANGLED);
	CHECK_INT(parse(&s, long_line), 1);
	CHECK(strstr(told, "too long") != NULL);
	CHECK_INT(s.names, NAMES_FULL);
	CHECK_INT(parse(&s, ""), 0);
}

TEST(newer_versions_are_kept)
{
	struct strbuf text = STRBUF_INIT;
	struct settings s;

	settings_default(&s);
	CHECK_INT(parse(&s, "version = 7\nhologram = 3d\nsort = peak\nmore = a = b\n"), 0);
	CHECK_INT(s.sort, COL_PEAK);
	settings_format(&s, &text);
	CHECK(strstr(strbuf_text(&text), "\nhologram = 3d\nmore = a = b\n") != NULL);
	strbuf_free(&text);
	/* In a text of our own version it is a slip, and told; it is not lost either. */
	settings_default(&s);
	CHECK_INT(parse(&s, "hologram = 3d"), 1);
	CHECK_STR(s.kept, "hologram = 3d\n");
	for (int i = 0; i < 1000; i++)
		parse(&s, "hologram = 3333333333333333333333333333333333333d");
	CHECK(strlen(s.kept) < sizeof(s.kept));
}

/* A zero byte ends nothing: it is reported with its line, and the text after it is valid. */
TEST(zero_byte)
{
	static const char text[] =
		"version = 1\nsort = peak\n\x00\x01\nfuture-key = 5\nhide = x*\n\0";
	struct settings s;

	settings_default(&s);
	told[0] = 0;
	CHECK_INT(settings_parse(&s, text, sizeof(text) - 1, trouble, NULL), 3);
	CHECK_STR(told, "3 \"??\": a zero byte\n4 \"future-key = 5\": no such key\n"
			"6 \"?\": a zero byte\n");
	CHECK_INT(s.lost_line, 3);
	CHECK_INT(s.sort, COL_PEAK);
	CHECK_STR(s.kept, "future-key = 5\n");
	CHECK_INT(s.rules, 1);
}

/* All lines from the first section on are kept as they are, up to a limit. */
TEST(sections)
{
	struct strbuf text = STRBUF_INIT;
	struct settings s;
	unsigned wrong = 0;

	settings_default(&s);
	CHECK_INT(parse(&s, "sort = peak\n [profile a b]\nsort = avg\nwhat\n\n"), 0);
	CHECK_INT(s.sort, COL_PEAK);
	CHECK_STR(s.profiles, "[profile a b]\nsort = avg\nwhat\n\n");
	check_round(&s);
	settings_format(&s, &text);
	CHECK(strstr(strbuf_text(&text), "\n[profile a b]\nsort = avg\nwhat\n") != NULL);
	strbuf_free(&text);
	for (int i = 0; i < 1000; i++)
		wrong += parse(&s, "delay = 1\n");
	CHECK(wrong > 500 && strlen(s.profiles) < sizeof(s.profiles));
	CHECK_INT(s.lost_line, 1);
	settings_default(&s);
	CHECK_INT(parse(&s, "[profile x\n[]\n[\n"), 3);
	CHECK_STR(s.profiles, "");
}

TEST(ignored)
{
	struct strbuf text = STRBUF_INIT;
	struct settings s, again;

	settings_default(&s);
	CHECK_INT(parse(&s, "ignore = module:libX11\nonly = /^app::/\nignore = \"two words\""), 0);
	CHECK_INT(s.ignore.rules, 2);
	CHECK_STR(s.ignore.rule[1], "\"two words\"");
	CHECK_INT(s.only.rules, 1);
	settings_format(&s, &text);
	settings_default(&again);
	CHECK_INT(parse(&again, strbuf_text(&text)), 0);
	CHECK_INT(again.ignore.rules, 2);
	CHECK_STR(again.ignore.rule[0], "module:libX11");
	CHECK_STR(again.only.rule[0], "/^app::/");
	for (unsigned i = 2; i < SETTINGS_IGNORED; i++)
		CHECK_INT(parse(&s, "ignore = more"), 0);
	CHECK_INT(parse(&s, "ignore = more"), 1);
	CHECK_STR(told, "1 \"ignore = more\": too many rules\n");
	strbuf_free(&text);
}

/* An unknown name in a list is reported and written again; in a file of a newer version it is not
 * reported. */
TEST(lists)
{
	struct strbuf text = STRBUF_INIT;
	struct settings s;

	settings_default(&s);
	CHECK_INT(parse(&s, "columns-off.sites = live, nonsense"), 1);
	CHECK_STR(told, "1 \"columns-off.sites = live, nonsense\": not all of these are columns\n");
	CHECK_INT(s.lost_line, 0);
	CHECK(settings_is_off(&s, SETTINGS_SITES, "live"));
	settings_format(&s, &text);
	CHECK(strstr(strbuf_text(&text), "columns-off.sites = live nonsense\n") != NULL);
	CHECK_INT(parse(&s, "version = 2\ncolumns-off.tree = self colour"), 0);
	CHECK(settings_is_off(&s, SETTINGS_TREE, "self"));
	strbuf_reset(&text);
	settings_format(&s, &text);
	CHECK(strstr(strbuf_text(&text), "version = 2\n") != NULL); /* it stays that */
	strbuf_free(&text);
}

TEST(columns)
{
	struct settings s;

	settings_default(&s);
	CHECK(settings_is_off(&s, SETTINGS_SITES, "age")); /* the only one at first */
	settings_switch(&s, SETTINGS_SITES, "age", false);
	CHECK_STR(s.off[SETTINGS_SITES], "");
	CHECK(!settings_is_off(&s, SETTINGS_SITES, "avg"));
	CHECK_INT(settings_switch(&s, SETTINGS_SITES, "avg", true), 0);
	CHECK_INT(settings_switch(&s, SETTINGS_SITES, "peak", true), 0);
	CHECK_INT(settings_switch(&s, SETTINGS_SITES, "avg", true), 0);
	CHECK_INT(settings_switch(&s, SETTINGS_SITES, "%", true), 0);
	CHECK_STR(s.off[SETTINGS_SITES], "avg peak %");
	CHECK(settings_is_off(&s, SETTINGS_SITES, "peak") &&
		settings_is_off(&s, SETTINGS_SITES, "%"));
	CHECK(!settings_is_off(&s, SETTINGS_SITES, "pea") &&
		!settings_is_off(&s, SETTINGS_TREE, "avg"));
	settings_switch(&s, SETTINGS_SITES, "peak", false);
	CHECK_STR(s.off[SETTINGS_SITES], "avg %");
	settings_switch(&s, SETTINGS_SITES, "%", false);
	settings_switch(&s, SETTINGS_SITES, "avg", false);
	CHECK_STR(s.off[SETTINGS_SITES], "");
	for (int i = 0; i < 30; i++) {
		char key[16];

		snprintf(key, sizeof(key), "column%d", i);
		CHECK(settings_switch(&s, SETTINGS_TREE, key, true) == 0 || i > 15);
	}
}

TEST(rules)
{
	struct settings s;
	char long_rule[SETTINGS_RULE_MAX + 1], rule[16];

	settings_default(&s);
	CHECK_INT(settings_rule_add(&s, "a*"), 0);
	CHECK(settings_rule_add(&s, "a*") < 0);
	CHECK(settings_rule_add(&s, "") < 0);
	CHECK(settings_rule_add(&s, "**") < 0);
	CHECK(settings_rule_add(&s, "a,b") < 0);
	CHECK(settings_rule_add(&s, "a\nb") < 0);
	memset(long_rule, 'x', SETTINGS_RULE_MAX);
	long_rule[SETTINGS_RULE_MAX] = 0;
	CHECK(settings_rule_add(&s, long_rule) < 0);
	for (unsigned i = 1; i < SETTINGS_RULES; i++) {
		snprintf(rule, sizeof(rule), "r%u", i);
		CHECK_INT(settings_rule_add(&s, rule), 0);
	}
	CHECK(settings_rule_add(&s, "one more") < 0);
	settings_rule_remove(&s, 0);
	CHECK_STR(s.rule[0], "r1");
	settings_rule_remove(&s, 1000);
	CHECK_INT(s.rules, SETTINGS_RULES - 1);
}

TEST(order_and_widths_of_columns)
{
	unsigned char order[COL_COUNT];
	struct settings s;

	settings_default(&s);
	CHECK_INT(parse(&s, "widths.sites = line:30, live:8\ncolumns.sites = blocks rate\n"), 0);
	CHECK_INT(settings_width(&s, COL_LINE), 30);
	CHECK_INT(settings_width(&s, COL_LIVE), 8);
	CHECK_INT(settings_width(&s, COL_RATE), 0);
	CHECK_INT(settings_width_set(&s, COL_LINE, 31), 0);
	CHECK_STR(s.widths, "live:8 line:31");
	CHECK_INT(settings_width_set(&s, COL_LINE, 0), 0);
	CHECK_STR(s.widths, "live:8");
	for (unsigned i = 0; i < COL_COUNT; i++)
		order[i] = (unsigned char)i;
	settings_order(&s, order);
	CHECK_INT(order[COL_RATE], COL_BLOCKS);
	CHECK_INT(order[COL_BLOCKS], COL_RATE);
	CHECK_INT(order[COL_LIVE], COL_LIVE);
	settings_order_set(&s, order);
	check_round(&s);
	CHECK(strstr(s.order, "live error percent blocks") == s.order);
	CHECK_INT(parse(&s, "widths.sites = line:2\n"), 1);
	CHECK_INT(parse(&s, "widths.sites = line\n"), 1);
	CHECK_INT(parse(&s, "widths.sites = nonsense:9\n"), 1);
	/* All columns with the widest widths have room, and come back. */
	for (unsigned c = 0; c < COL_COUNT; c++)
		CHECK_INT(settings_width_set(&s, (enum column)c, SETTINGS_WIDTH_MAX), 0);
	check_round(&s);
}

int main(void)
{
	RUN(what_is_written_is_read);
	RUN(broken_lines);
	RUN(the_rest_of_a_broken_text_holds);
	RUN(newer_versions_are_kept);
	RUN(zero_byte);
	RUN(sections);
	RUN(ignored);
	RUN(lists);
	RUN(columns);
	RUN(order_and_widths_of_columns);
	RUN(rules);
	return check_end();
}
