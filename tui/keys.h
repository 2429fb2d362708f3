/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one table of keys. Dispatch, the hint line, the bottom bar and the help screen are all made
 * from it, so that none of them can be wrong about another. Main thread.
 */
#ifndef TUI_KEYS_H
#define TUI_KEYS_H

#include "tui/ui.h"

#define KEYS_CODES 10

/* Where a key works: one bit per view. */
enum keys_scope {
	IN_SITES = 1,
	IN_OUTPUT = 2,
	IN_DETAIL = 4,
	IN_HELP = 8,
	IN_TREE = 16,
	IN_MODULES = 64,
	IN_THREADS = 128,
	IN_MARKS = 512,
	IN_LEAKS = 4096,
	IN_WHY = 8192,
	IN_TABLES = IN_SITES | IN_TREE | IN_MODULES | IN_THREADS | IN_LEAKS, /* sorted by columns */
	IN_MAP = 256,
	IN_SIZES = 32,
	IN_FILTERED = IN_SITES | IN_TREE | IN_MODULES,
	IN_TICKED = (IN_TABLES & ~IN_LEAKS) | IN_DETAIL | IN_SIZES | IN_MAP, /* new at each tick */
	IN_LISTS = IN_TICKED | IN_LEAKS | IN_WHY,
	IN_SHIFTED = IN_SITES | IN_DETAIL | IN_OUTPUT, /* long lines that can be moved sideways */
	IN_DATA = IN_LISTS | IN_OUTPUT,
	IN_SETTINGS = 1024,
	IN_PROCESSES = 2048,
	IN_ALL = IN_DATA | IN_MARKS | IN_HELP | IN_SETTINGS | IN_PROCESSES,
	/* No view: the key steers the program, writes a file or starts a command. */
	CHANGES = 1 << 30,
	IN_SEARCHED = IN_ALL & ~IN_SIZES & ~IN_SETTINGS, /* where there are names */
};

enum keys_place { PLACE_HELP, PLACE_HINT, PLACE_BAR }; /* where it is advertised besides the help */

struct key_binding {
	const char *group; /* heading in the help screen */
	const char *name; /* as written for people: "PgDn" */
	int code[KEYS_CODES]; /* as getch gives it; 0 ends */
	unsigned scope;
	void (*run)(struct ui *ui, int arg, int key);
	int arg;
	enum keys_place place;
	const char *label; /* in hint line and bar */
	const char *label_on; /* instead, while `on` says so; may be NULL */
	bool (*on)(const struct ui *ui);
	const char *help;
};

extern const struct key_binding keys_table[];
extern const size_t keys_count;
/* The groups in the order of the help screen, NULL at the end. */
extern const char *const keys_groups[];

/* Runs what the key means in the view in front; a key that means nothing there says why. */
void keys_dispatch(struct ui *ui, int key);
/* Draws the hint line, or the bottom bar, of the view in front. */
void keys_draw_hints(const struct ui *ui, int y, unsigned cells);
void keys_draw_bar(const struct ui *ui, int y, unsigned cells);
/* The column that digit `key` sorts by, or -1; and the digit of a column, or 0. */
int keys_column(int key);
char keys_digit(enum column column);

#endif
