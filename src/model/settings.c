/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Settings as text (settings.h): one table has each key, its values and its explanation in the
 * file. Main thread.
 */
#include "src/model/settings.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/text.h"
#include "src/util/units.h"

const char *const settings_glyphs_words[] = { "auto", "blocks", "braille", "ascii", NULL };
const char *const settings_color_words[] = { "auto", "always", "never", NULL };
const char *const settings_theme_words[] = { "default", "safe", "dark", "light", NULL };
static const char *const yes_no[] = { "no", "yes", NULL };
static const char *const names_words[] = { "short", "full", "mangled", "address", NULL };

const char *const settings_set_words[COLUMNS_SETS + 1] = { "memory", "growth", "churn", "peak",
	"leaks", "turnover" };

enum kind {
	KIND_WORD,
	KIND_COLUMN,
	KIND_GROUP,
	KIND_DELAY,
	KIND_PERMILLE,
	KIND_NUMBER,
	KIND_SIZE,
	KIND_LIST,
	KIND_ORDER,
	KIND_WIDTHS
};

#define PERMILLE_MOST 1000u

static const struct setting {
	const char *key;
	enum kind kind;
	size_t at; /* in struct settings */
	const char *const *words; /* of KIND_WORD */
	const char *help;
} table[] = {
	{ "sort", KIND_COLUMN, offsetof(struct settings, sort), NULL,
		"column that sorts the call sites (heaptop -s help lists them)" },
	{ "reverse", KIND_WORD, offsetof(struct settings, reverse), yes_no, "reverse the order" },
	{ "columns", KIND_WORD, offsetof(struct settings, set), settings_set_words,
		"set of columns: memory, growth, churn, peak, leaks, turnover" },
	{ "group", KIND_GROUP, offsetof(struct settings, group), NULL,
		"what a row is: stack, caller, function, file, module, type, thread" },
	{ "names", KIND_WORD, offsetof(struct settings, names), names_words,
		"how functions are named: short, full, mangled, address" },
	{ "all-frames", KIND_WORD, offsetof(struct settings, show_hidden), yes_no,
		"name sites by their innermost frame, ignoring the rules" },
	{ "delay", KIND_DELAY, offsetof(struct settings, delay_ms), NULL,
		"time between refreshes: 0.1 to 60 seconds" },
	{ "tree-least", KIND_PERMILLE, offsetof(struct settings, least_permille), NULL,
		"smaller children in the tree are folded into one line" },
	{ "glyphs", KIND_WORD, offsetof(struct settings, glyphs), settings_glyphs_words,
		"characters of graphs: auto, blocks, braille, ascii" },
	{ "color", KIND_WORD, offsetof(struct settings, color), settings_color_words,
		"when to use color: auto, always, never" },
	{ "theme", KIND_WORD, offsetof(struct settings, theme), settings_theme_words,
		"default: by the terminal's background; dark, light; safe: no red next to green" },
	{ "mouse", KIND_WORD, offsetof(struct settings, mouse), yes_no, "use the mouse" },
	{ "header", KIND_WORD, offsetof(struct settings, header), yes_no, "show the header lines" },
	{ "columns.sites", KIND_ORDER, offsetof(struct settings, order), NULL,
		"order of the columns; those that are not listed stay where they are" },
	{ "widths.sites", KIND_WIDTHS, offsetof(struct settings, widths), NULL,
		"widths of columns in cells, 3 to 80: line:30" },
	{ "columns-off.sites", KIND_LIST, offsetof(struct settings, off[SETTINGS_SITES]), NULL,
		"columns that are never shown" },
	{ "columns-off.tree", KIND_LIST, offsetof(struct settings, off[SETTINGS_TREE]), NULL,
		NULL },
	{ "columns-off.threads", KIND_LIST, offsetof(struct settings, off[SETTINGS_THREADS]), NULL,
		NULL },
	{ "columns-off.modules", KIND_LIST, offsetof(struct settings, off[SETTINGS_MODULES]), NULL,
		NULL },
	{ "follow", KIND_WORD, offsetof(struct settings, follow), yes_no,
		"record the programs that a command starts, too" },
	{ "depth", KIND_NUMBER, offsetof(struct settings, depth), NULL,
		"frames kept of a call stack, 1 to 1024" },
	{ "history", KIND_SIZE, offsetof(struct settings, history_mb), NULL,
		"memory for the past of each process, 1M or more, or 0 for none" },
	{ "debuginfod", KIND_WORD, offsetof(struct settings, debuginfod), yes_no,
		"query debuginfod servers" },
};
#define SETTINGS (sizeof(table) / sizeof(table[0]))

/* Column keys of the tables other than the site table. */
static const char *const tree_columns[] = { "total", "%", "self", "rate", "blocks", "file:line",
	"error", "of-root", NULL };
static const char *const thread_columns[] = { "live", "%", "rate", "alloc/s", "free/s", "frees",
	"others'", "tid", NULL };
static const char *const module_columns[] = { "live", "%", "rate", "blocks", "sites", "names",
	"build-id", NULL };
static const char *const *const columns[SETTINGS_TABLES] = { NULL, tree_columns, thread_columns,
	module_columns };

void settings_default(struct settings *s)
{
	*s = (struct settings){ .version = SETTINGS_VERSION,
		.sort = COL_LIVE,
		.delay_ms = 1000,
		.least_permille = 10,
		.mouse = 1,
		.header = 1,
		.follow = 1,
		.depth = 128,
		.history_mb = 32 };
	strcpy(s->off[SETTINGS_SITES], "age"); /* reading ages costs extra */
}

static unsigned *number_of(struct settings *s, const struct setting *t)
{
	return (unsigned *)(void *)((char *)s + t->at);
}

/* ---- reading ------------------------------------------------------------------------------ */

static int word_read(const char *const *words, const char *value, unsigned *out)
{
	for (unsigned i = 0; words[i]; i++) {
		if (strcmp(words[i], value) != 0)
			continue;
		*out = i;
		return 0;
	}
	return -EINVAL;
}

static int delay_read(const char *value, unsigned *out)
{
	uint64_t ns;

	if (units_parse_duration(value, &ns) != 0 || ns < SETTINGS_DELAY_MIN_MS * 1000000ull ||
		ns > SETTINGS_DELAY_MAX_MS * 1000000ull)
		return -EINVAL;
	*out = (unsigned)(ns / 1000000);
	return 0;
}

/* A decimal number with `unit` or nothing after it; multiplied by `times` it must be in [least,
 * most]. */
static int scaled_read(
	const char *value, double times, double least, double most, const char *unit, unsigned *out)
{
	char *end;
	double v = strtod(value, &end) * times;

	if (end == value || (*end && strcmp(end, unit) != 0) || !(v >= least && v <= most))
		return -EINVAL;
	*out = (unsigned)(v + 0.5);
	return 0;
}

/* In MB, rounded up. */
static int size_read(const char *value, unsigned *out)
{
	uint64_t bytes;

	if (units_parse_bytes(value, &bytes) != 0 || (bytes && bytes < 1u << 20) ||
		bytes >> 20 > SETTINGS_HISTORY_MAX_MB)
		return -EINVAL;
	*out = (unsigned)((bytes + (1u << 20) - 1) >> 20);
	return 0;
}

static int found_read(int found, unsigned *out)
{
	if (found < 0)
		return -EINVAL;
	*out = (unsigned)found;
	return 0;
}

static bool is_column(enum settings_table of, const char *key)
{
	unsigned ignored;

	return of == SETTINGS_SITES ? column_find(key) >= 0
				    : word_read(columns[of], key, &ignored) == 0;
}

/* Keys separated by blanks or commas. -ENOENT: one is unknown; all are stored. */
static int list_read(char *out, const char *value, enum settings_table of)
{
	char text[SETTINGS_LIST_MAX], *rest;
	int rc = 0;

	if (strlen(value) >= sizeof(text))
		return -EINVAL;
	strcpy(text, value);
	*out = '\0';
	for (char *key = strtok_r(text, " \t,", &rest); key; key = strtok_r(NULL, " \t,", &rest)) {
		if (!is_column(of, key))
			rc = -ENOENT;
		sprintf(out + strlen(out), "%s%s", *out ? " " : "", key);
	}
	return rc;
}

/* "key:cells" separated by blanks or commas, as list_read. */
static int widths_read(struct settings *s, const char *value)
{
	char text[SETTINGS_LIST_MAX], *rest;
	int rc = 0;

	if (strlen(value) >= sizeof(text))
		return -EINVAL;
	strcpy(text, value);
	s->widths[0] = '\0';
	for (char *key = strtok_r(text, " \t,", &rest); key; key = strtok_r(NULL, " \t,", &rest)) {
		char *colon = strchr(key, ':');
		unsigned cells;
		int column;

		if (!colon || scaled_read(colon + 1, 1, SETTINGS_WIDTH_MIN, SETTINGS_WIDTH_MAX, "",
				      &cells))
			return -EINVAL;
		*colon = '\0';
		column = column_find(key);
		if (column < 0)
			rc = -ENOENT;
		else if (settings_width_set(s, (enum column)column, cells))
			return -EINVAL;
	}
	return rc;
}

static enum settings_table table_of(const struct setting *t)
{
	return (enum settings_table)((t->at - offsetof(struct settings, off)) / SETTINGS_LIST_MAX);
}

/* 0, -EINVAL, or -ENOENT: stored, but a part is unknown. */
static int value_read(struct settings *s, const struct setting *t, const char *value)
{
	unsigned *number = number_of(s, t);

	switch (t->kind) {
	case KIND_WORD:
		return word_read(t->words, value, number);
	case KIND_COLUMN:
		return found_read(column_find(value), number);
	case KIND_GROUP:
		return found_read(group_find(value), number);
	case KIND_DELAY:
		return delay_read(value, number);
	case KIND_PERMILLE:
		return scaled_read(value, 10, 0, PERMILLE_MOST, "%", number);
	case KIND_NUMBER:
		return scaled_read(value, 1, 1, SETTINGS_DEPTH_MAX, "", number);
	case KIND_SIZE:
		return size_read(value, number);
	case KIND_ORDER:
		return list_read((char *)s + t->at, value, SETTINGS_SITES);
	case KIND_WIDTHS:
		return widths_read(s, value);
	case KIND_LIST:
		break;
	}
	return list_read((char *)s + t->at, value, table_of(t));
}

/* Trims blanks at both ends, in place. */
static char *trimmed(char *text)
{
	size_t len;

	text += strspn(text, " \t");
	len = strlen(text);
	while (len && strchr(" \t\r", text[len - 1]))
		text[--len] = '\0';
	return text;
}

static const char *rule_read(struct settings *s, const char *value)
{
	int rc = settings_rule_add(s, value);

	return rc == -EINVAL ? "no rule" : rc == -ENOSPC ? "too many rules" : NULL;
}

static const char *ignored_read(struct settings_ignored *to, const char *value)
{
	char why[FILTER_WHY_MAX];

	if (to->rules == SETTINGS_IGNORED)
		return "too many rules";
	if (strlen(value) >= FILTER_TEXT_MAX || !ignored_is_rule(value, why))
		return "no filter by name";
	strcpy(to->rule[to->rules++], value);
	return NULL;
}

static void ignored_write(const struct settings_ignored *from, const char *key, struct strbuf *out)
{
	for (unsigned i = 0; i < from->rules; i++)
		strbuf_printf(out, "%s = %s\n", key, from->rule[i]);
}

static bool is_newer(const struct settings *s)
{
	return s->version > SETTINGS_VERSION;
}

/* The error in the line, or NULL. *kept: the line will be written back unchanged. */
static const char *line_read(struct settings *s, char *line, bool *kept)
{
	char *equals = strchr(line, '='), *key, *value;

	line = trimmed(line);
	if (*line == '[' || s->profiles[0])
		return settings_kept_section(s->profiles, line);
	if (!*line || *line == '#')
		return NULL;
	if (!equals)
		return "no \"key = value\"";
	*equals = '\0';
	key = trimmed(line);
	value = trimmed(equals + 1);
	if (!strcmp(key, "version"))
		return scaled_read(value, 1, SETTINGS_VERSION, 1e6, "", &s->version) ? "no version"
										     : NULL;
	if (!strcmp(key, "hide"))
		return rule_read(s, value);
	if (!strcmp(key, "ignore"))
		return ignored_read(&s->ignore, value);
	if (!strcmp(key, "only"))
		return ignored_read(&s->only, value);
	/* A newer version's file may have more keys; in our version it is an error. Keep the line
	 * in both cases. */
	for (size_t i = 0; i < SETTINGS; i++) {
		int rc;

		if (strcmp(table[i].key, key) != 0)
			continue;
		rc = value_read(s, &table[i], value);
		*kept = rc == -ENOENT;
		return rc == 0 || (*kept && is_newer(s)) ? NULL
		       : *kept				 ? "not all of these are columns"
							 : "no such value";
	}
	if (settings_kept_line(s->kept, key, value))
		return "too many unknown lines";
	*kept = true;
	return is_newer(s) ? NULL : "no such key";
}

unsigned settings_parse(struct settings *s, const char *text, size_t bytes,
	void (*trouble)(void *ctx, unsigned line, const char *words), void *ctx)
{
	const char *const end = text + bytes;
	unsigned troubles = 0;

	s->lost_line = 0;
	for (unsigned n = 1; text < end; n++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t len = (size_t)((newline ? newline : end) - text);
		char line[512], clean[80], words[SETTINGS_TROUBLE_MAX];
		const char *wrong = "too long";
		bool kept = false;

		text_clean(clean, sizeof(clean), text, len < 60 ? len : 60);
		if (len < sizeof(line)) {
			memcpy(line, text, len);
			line[len] = '\0';
			wrong = strlen(line) < len ? "a zero byte" : line_read(s, line, &kept);
		}
		text = newline ? newline + 1 : end;
		if (!wrong)
			continue;
		troubles++;
		if (!kept && !s->lost_line)
			s->lost_line = n;
		snprintf(words, sizeof(words), "\"%s\": %s", clean, wrong);
		trouble(ctx, n, words);
	}
	return troubles;
}

/* ---- writing ------------------------------------------------------------------------------ */

static void value_write(const struct settings *s, const struct setting *t, struct strbuf *out)
{
	unsigned number = *(const unsigned *)(const void *)((const char *)s + t->at);

	switch (t->kind) {
	case KIND_WORD:
		strbuf_puts(out, t->words[number]);
		break;
	case KIND_COLUMN:
		strbuf_puts(out, column_table[number].key);
		break;
	case KIND_GROUP:
		strbuf_puts(out, group_table[number].key);
		break;
	case KIND_DELAY:
		strbuf_printf(out, "%ums", number);
		break;
	case KIND_PERMILLE:
		strbuf_printf(out, "%u.%u%%", number / 10, number % 10);
		break;
	case KIND_NUMBER:
		strbuf_printf(out, "%u", number);
		break;
	case KIND_SIZE:
		strbuf_printf(out, number ? "%uM" : "%u", number);
		break;
	case KIND_LIST:
	case KIND_ORDER:
	case KIND_WIDTHS:
		strbuf_puts(out, (const char *)s + t->at);
		break;
	}
}

void settings_format(const struct settings *s, struct strbuf *out)
{
	strbuf_printf(out,
		"# heaptop's settings. The key W rewrites this file; your own comments are "
		"lost.\n"
		"version = %u\n",
		s->version);
	for (size_t i = 0; i < SETTINGS; i++) {
		if (table[i].help)
			strbuf_printf(out, "\n# %s\n", table[i].help);
		strbuf_printf(out, "%s = ", table[i].key);
		value_write(s, &table[i], out);
		strbuf_putc(out, '\n');
	}
	strbuf_puts(out, "\n# Functions that name no call site, in addition to the built-in "
			 "rules; \"*\"\n"
			 "# matches any text: hide = my_malloc*\n");
	for (unsigned i = 0; i < s->rules; i++)
		strbuf_printf(out, "hide = %s\n", s->rule[i]);
	strbuf_puts(
		out, "\n# Call sites in one row, as --ignore and --only: ignore = module:libX11\n");
	ignored_write(&s->ignore, "ignore", out);
	ignored_write(&s->only, "only", out);
	if (s->kept[0])
		strbuf_printf(out, "\n# unknown to this version\n%s", s->kept);
	if (s->profiles[0])
		strbuf_printf(out, "\n%s", s->profiles);
}

/* ---- rules and columns -------------------------------------------------------------------- */

int settings_rule_add(struct settings *s, const char *rule)
{
	size_t len = strlen(rule);

	if (len == 0 || len >= SETTINGS_RULE_MAX || strspn(rule, "* ") == len)
		return -EINVAL; /* a rule that hides everything is an error */
	for (const char *c = rule; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127 || *c == ',')
			return -EINVAL;
	for (unsigned i = 0; i < s->rules; i++)
		if (!strcmp(s->rule[i], rule))
			return -EEXIST;
	if (s->rules == SETTINGS_RULES)
		return -ENOSPC;
	strcpy(s->rule[s->rules++], rule);
	return 0;
}

void settings_rule_remove(struct settings *s, unsigned i)
{
	if (i >= s->rules)
		return;
	s->rules--;
	memmove(s->rule[i], s->rule[i + 1], (s->rules - i) * sizeof(s->rule[0]));
}

/* The position of `key` in a list of words, or NULL. */
static char *list_find(char *list, const char *key)
{
	size_t len = strlen(key);

	for (char *p = list; *p; p += strcspn(p, " "), p += strspn(p, " "))
		if (!strncmp(p, key, len) && (p[len] == ' ' || !p[len]))
			return p;
	return NULL;
}

bool settings_is_off(const struct settings *s, enum settings_table t, const char *key)
{
	char list[SETTINGS_LIST_MAX];

	strcpy(list, s->off[t]);
	return list_find(list, key) != NULL;
}

int settings_switch(struct settings *s, enum settings_table t, const char *key, bool off)
{
	char *list = s->off[t], *at = list_find(list, key);
	size_t len = strlen(key), used = strlen(list);

	if (off == (at != NULL))
		return 0;
	if (off) {
		if (used + len + 2 > SETTINGS_LIST_MAX)
			return -ENOSPC;
		sprintf(list + used, "%s%s", used ? " " : "", key);
		return 0;
	}
	/* Remove the word and the blank after it, or else before it. */
	if (at[len] == ' ')
		len++;
	else if (at > list)
		at--, len++;
	memmove(at, at + len, strlen(at + len) + 1);
	return 0;
}

/* The word "key:" in the list of widths, or NULL. */
static const char *width_find(const char *list, const char *key)
{
	size_t len = strlen(key);

	for (; *list; list += strcspn(list, " "), list += strspn(list, " "))
		if (!strncmp(list, key, len) && list[len] == ':')
			return list;
	return NULL;
}

unsigned settings_width(const struct settings *s, enum column column)
{
	const char *at = width_find(s->widths, column_table[column].key);

	return at ? (unsigned)strtoul(strchr(at, ':') + 1, NULL, 10) : 0;
}

int settings_width_set(struct settings *s, enum column column, unsigned cells)
{
	const char *key = column_table[column].key;
	const char *found = width_find(s->widths, key);
	char *at = found ? s->widths + (found - s->widths) : NULL;
	size_t used, len;

	if (at) {
		len = strcspn(at, " ");
		len += at[len] == ' ';
		memmove(at, at + len, strlen(at + len) + 1);
		used = strlen(s->widths);
		used -= used && s->widths[used - 1] == ' ';
		memset(s->widths + used, 0, SETTINGS_LIST_MAX - used);
	}
	used = strlen(s->widths);
	if (cells && used + strlen(key) + 5 > SETTINGS_LIST_MAX)
		return -ENOSPC;
	if (cells)
		sprintf(s->widths + used, "%s%s:%u", used ? " " : "", key, cells % 100);
	return 0;
}

void settings_order(const struct settings *s, unsigned char order[COL_COUNT])
{
	char list[SETTINGS_LIST_MAX], *rest;
	unsigned char listed[COL_COUNT];
	bool is_listed[COL_COUNT] = { false };
	unsigned n = 0, next = 0;

	strcpy(list, s->order);
	for (char *key = strtok_r(list, " ", &rest); key; key = strtok_r(NULL, " ", &rest)) {
		int column = column_find(key);

		if (column < 0 || is_listed[column])
			continue;
		is_listed[column] = true;
		listed[n++] = (unsigned char)column;
	}
	for (unsigned i = 0; i < COL_COUNT; i++)
		if (is_listed[order[i]])
			order[i] = listed[next++];
}

void settings_order_set(struct settings *s, const unsigned char order[COL_COUNT])
{
	size_t used = 0;

	s->order[0] = '\0';
	for (unsigned i = 0; i < COL_COUNT; i++) {
		const char *key = column_table[order[i]].key;

		if (used + strlen(key) + 2 > SETTINGS_LIST_MAX)
			return;
		used += (size_t)sprintf(s->order + used, "%s%s", i ? " " : "", key);
	}
}
