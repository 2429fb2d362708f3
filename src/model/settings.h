/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a user can settle once for all programs, and its form as text: lines of "key = value". What
 * a line says that is not understood is told, and the rest of the text still holds; keys of newer
 * versions are kept. Pure; main thread.
 */
#ifndef SRC_MODEL_SETTINGS_H
#define SRC_MODEL_SETTINGS_H

#include "src/model/groups.h"
#include "src/model/columns.h"
#include "src/util/strbuf.h"

#define SETTINGS_VERSION     1u
#define SETTINGS_RULES	     64u
#define SETTINGS_RULE_MAX    96u
#define SETTINGS_LIST_MAX    160u
#define SETTINGS_KEPT_MAX    4096u
#define SETTINGS_TROUBLE_MAX 200u

/* Tables whose columns can be switched off. */
enum settings_table {
	SETTINGS_SITES,
	SETTINGS_TREE,
	SETTINGS_THREADS,
	SETTINGS_MODULES,
	SETTINGS_TABLES
};

enum settings_glyphs {
	SETTINGS_GLYPHS_AUTO, /* by terminal and locale */
	SETTINGS_GLYPHS_BLOCKS,
	SETTINGS_GLYPHS_BRAILLE,
	SETTINGS_GLYPHS_ASCII
};
enum settings_color { SETTINGS_COLOR_AUTO, SETTINGS_COLOR_ALWAYS, SETTINGS_COLOR_NEVER };
enum settings_theme { SETTINGS_THEME_DEFAULT, SETTINGS_THEME_SAFE /* no red beside green */ };

struct settings {
	/* Numbers are all `unsigned`, so that one table tells where they are. */
	unsigned sort; /* enum column */
	unsigned reverse; /* 0 or 1, as all that are yes or no */
	unsigned group; /* enum group_by */
	unsigned names; /* enum name_style */
	unsigned show_hidden;
	unsigned glyphs, color, theme;
	unsigned mouse, header;
	unsigned delay_ms;
	unsigned least_permille; /* children of the tree below it fold */
	/* Of programs that are started. */
	unsigned follow, debuginfod;
	unsigned depth;
	/* Columns that are switched off: their keys with blanks between them. */
	char off[SETTINGS_TABLES][SETTINGS_LIST_MAX];
	/* Patterns of functions that name no site, besides the rules that are built in. */
	char rule[SETTINGS_RULES][SETTINGS_RULE_MAX];
	unsigned rules;
	unsigned version; /* of the text: ours, or a newer one, which it stays */
	char kept[SETTINGS_KEPT_MAX]; /* lines of newer versions */
	/* The first line that says nothing sensible, of those that settings_format would not write;
	 * 0: none. */
	unsigned lost_line;
};

void settings_default(struct settings *s);
/*
 * Takes what the `bytes` of `text` say; what they do not say stays. For each line that says nothing
 * sensible `trouble` is called with one line of words. Returns how many such lines there were.
 */
unsigned settings_parse(struct settings *s, const char *text, size_t bytes,
	void (*trouble)(void *ctx, unsigned line, const char *words), void *ctx);
/* The whole text, with a comment for each key. */
void settings_format(const struct settings *s, struct strbuf *out);
/* Adds a rule, or takes the `i`th one out. 0, or -EINVAL for a rule that is empty, too long, has
 * a control byte or a comma, -EEXIST, -ENOSPC. */
int settings_rule_add(struct settings *s, const char *rule);
void settings_rule_remove(struct settings *s, unsigned i);
/* Whether a column of that key is switched off; and switching it. */
bool settings_is_off(const struct settings *s, enum settings_table table, const char *key);
int settings_switch(struct settings *s, enum settings_table table, const char *key, bool off);
/* The words of those settings that have words, NULL at the end. */
extern const char *const settings_glyphs_words[], *const settings_color_words[],
							  *const settings_theme_words[];

#endif
