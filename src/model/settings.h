/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The user's settings, and their form as text: lines of "key = value". An invalid line is reported,
 * and the rest still applies; keys of newer versions are kept. Pure; main thread.
 */
#ifndef SRC_MODEL_SETTINGS_H
#define SRC_MODEL_SETTINGS_H

#include "src/model/groups.h"
#include "src/model/ignored.h"
#include "src/model/columns.h"
#include "src/model/settings_kept.h"
#include "src/util/strbuf.h"

#define SETTINGS_VERSION     1u
#define SETTINGS_RULES	     64u
#define SETTINGS_RULE_MAX    96u
#define SETTINGS_LIST_MAX    320u
#define SETTINGS_IGNORED     8u
#define SETTINGS_TROUBLE_MAX 200u

/* The refresh, here, on the command line and on the screen: faster is unreadable and only costs. */
#define SETTINGS_DELAY_MIN_MS	100u
#define SETTINGS_DELAY_MAX_MS	60000u
#define SETTINGS_DEPTH_MAX	1024u
#define SETTINGS_WIDTH_MIN	3u /* cells of a column */
#define SETTINGS_WIDTH_MAX	80u
#define SETTINGS_HISTORY_MAX_MB (1u << 20) /* 1 TB */

/* Tables whose columns can be switched off. */
enum settings_table {
	SETTINGS_SITES,
	SETTINGS_TREE,
	SETTINGS_THREADS,
	SETTINGS_MODULES,
	SETTINGS_TABLES
};

enum settings_glyphs {
	SETTINGS_GLYPHS_AUTO, /* chosen by terminal and locale */
	SETTINGS_GLYPHS_BLOCKS,
	SETTINGS_GLYPHS_BRAILLE,
	SETTINGS_GLYPHS_ASCII
};
enum settings_color { SETTINGS_COLOR_AUTO, SETTINGS_COLOR_ALWAYS, SETTINGS_COLOR_NEVER };
enum settings_theme {
	SETTINGS_THEME_DEFAULT, /* by the terminal's background */
	SETTINGS_THEME_SAFE, /* no red next to green */
	SETTINGS_THEME_DARK,
	SETTINGS_THEME_LIGHT
};

struct settings {
	/* All numbers are `unsigned`, so that one table can address them. */
	unsigned sort; /* enum column */
	unsigned set; /* enum column_set */
	unsigned reverse; /* 0 or 1, as for all yes/no settings */
	unsigned group; /* enum group_by */
	unsigned names; /* enum name_style */
	unsigned show_hidden;
	unsigned glyphs, color, theme;
	unsigned mouse, header;
	unsigned delay_ms;
	unsigned least_permille; /* smaller children of the tree are folded */
	/* For programs that heaptop starts. */
	unsigned follow, debuginfod;
	unsigned depth;
	unsigned history_mb; /* memory for each process's past; 0: none is kept */
	/* Keys of columns that are off, separated by blanks. */
	char off[SETTINGS_TABLES][SETTINGS_LIST_MAX];
	/* The table of call sites: keys from left to right, those that are not listed stay where
	 * they are; and widths, as "line:30". */
	char order[SETTINGS_LIST_MAX], widths[SETTINGS_LIST_MAX];
	/* Patterns of functions that name no site, in addition to the built-in rules. */
	char rule[SETTINGS_RULES][SETTINGS_RULE_MAX];
	unsigned rules;
	/* Rules of call sites in one row (ignored.h). */
	struct settings_ignored {
		char rule[SETTINGS_IGNORED][FILTER_TEXT_MAX];
		unsigned rules;
	} ignore, only;
	unsigned version; /* version of the text: ours or a newer one, which is kept */
	char kept[SETTINGS_KEPT_MAX]; /* unknown lines, for example of newer versions */
	/* The sections "[profile NAME]" and their lines, which follow all settings;
	 * src/run/profile.h reads them. */
	char profiles[SETTINGS_PROFILES_MAX];
	/* The first invalid line that settings_format would not write back; 0: none. */
	unsigned lost_line;
};

void settings_default(struct settings *s);
/*
 * Applies `text` of `bytes`; other settings are unchanged. Calls `trouble` with a message for each
 * invalid line. Returns the number of invalid lines.
 */
unsigned settings_parse(struct settings *s, const char *text, size_t bytes,
	void (*trouble)(void *ctx, unsigned line, const char *words), void *ctx);
/* The whole text, with a comment for each key. */
void settings_format(const struct settings *s, struct strbuf *out);
/* Adds a rule, or removes the `i`th one. 0, or -EINVAL for a rule that is empty, too long, has a
 * control byte or a comma, -EEXIST, -ENOSPC. */
int settings_rule_add(struct settings *s, const char *rule);
void settings_rule_remove(struct settings *s, unsigned i);
/* Whether the column with this key is off; and sets it. */
bool settings_is_off(const struct settings *s, enum settings_table table, const char *key);
int settings_switch(struct settings *s, enum settings_table table, const char *key, bool off);
/* The width in cells that was set for a column of the site table; 0: none. And sets it. */
unsigned settings_width(const struct settings *s, enum column column);
int settings_width_set(struct settings *s, enum column column, unsigned cells);
/* Puts the columns of the site table, which `order` has in their usual order, into the one that was
 * chosen. And sets that. */
void settings_order(const struct settings *s, unsigned char order[COL_COUNT]);
void settings_order_set(struct settings *s, const unsigned char order[COL_COUNT]);
/* The words of settings that have words, NULL-terminated. */
extern const char *const settings_glyphs_words[], *const settings_color_words[],
							  *const settings_theme_words[];
extern const char *const settings_set_words[COLUMNS_SETS + 1];

#endif
