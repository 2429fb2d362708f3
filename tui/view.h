/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A view: a table of functions on the state of the screen (ui.h). views.c alone knows all views.
 * Main thread.
 */
#ifndef TUI_VIEW_H
#define TUI_VIEW_H

#include <stdbool.h>
#include <stddef.h>

struct ui;
struct infoline;
struct filter;
struct list;
struct table;
struct table_order;
struct tui_missing;

/* One bit per view, and the sets of views that a key may work in. */
enum view_scope {
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
	IN_SHIFTED = IN_SITES | IN_DETAIL | IN_OUTPUT, /* long lines that scroll sideways */
	IN_DATA = IN_LISTS | IN_OUTPUT,
	IN_SETTINGS = 1024,
	IN_PROCESSES = 2048,
	IN_EVENTS = 16384,
	IN_FREES = 32768,
	IN_HOLDERS = 65536,
	IN_CONTENTS = 131072,
	IN_TIMED = IN_DATA | IN_MARKS, /* where the moment can be chosen */
	IN_ALL = IN_DATA | IN_MARKS | IN_HELP | IN_SETTINGS | IN_PROCESSES | IN_EVENTS | IN_FREES |
		 IN_HOLDERS | IN_CONTENTS,
	IN_SEARCHED = IN_ALL & ~IN_SIZES & ~IN_SETTINGS, /* where there are names */
};

/* The tab line, the keys and the frame around a view are drawn and handled by screen.c. */
struct view {
	const char *title; /* in the tab line */
	unsigned scope; /* its bit of enum view_scope */
	unsigned flags; /* enum layout_flag */
	/* Why the view, a tab, has nothing to show here, or NULL: it has. The screen draws this
	 * instead of the view. NULL: it always has. */
	const struct tui_missing *(*missing)(const struct ui *ui);
	void (*open)(struct ui *ui); /* it came to the front; may be NULL */
	void (*close)(struct ui *ui); /* it left the screen; may be NULL */
	void (*update)(struct ui *ui); /* ui->shown is new, or its order changed */
	void (*moved)(struct ui *ui); /* a key or the wheel moved the list; may be NULL */
	int (*rows)(const struct ui *ui); /* lines of the list in ROW_BODY; NULL: all of them */
	void (*draw)(struct ui *ui); /* draws ROW_HEAD and ROW_BODY */
	void (*status)(struct ui *ui, char *text, size_t cap); /* for ROW_STATUS */
	struct list *(*list)(struct ui *ui); /* what the motion keys move */
	void (*click)(struct ui *ui, int y, int x); /* inside ROW_BODY; may be NULL */
	/* Searching: does line `row` match? And if no line does: brings a hidden match to the
	 * screen, if there is one. Either may be NULL. */
	bool (*matches)(const struct ui *ui, const struct filter *f, size_t row);
	bool (*reveal)(struct ui *ui, const struct filter *f);
	/* For a table other than Sites: its columns, and the order that digits and clicks choose.
	 * May be NULL. */
	const struct table *(*table)(const struct ui *ui);
	struct table_order *(*order)(struct ui *ui);
	void (*facts)(const struct ui *ui, struct infoline *s); /* for ROW_TABS; may be NULL */
	/* Data that costs time to collect: does the view, in front, need the ages of blocks? */
	bool (*wants_ages)(const struct ui *ui); /* NULL: no */
	/* A snapshot arrived, whichever view is in front; may be NULL. */
	void (*refreshed)(struct ui *ui);
	/* Forgets what belongs to the image of the program: another one follows, or the end. May be
	 * NULL. */
	void (*reset)(struct ui *ui);
	void (*free)(struct ui *ui); /* after reset, at the end: what is left; may be NULL */
};

/* The views, in the order of their tabs. Those after VIEW_TABS open from another view. */
enum view_id {
	VIEW_SITES,
	VIEW_TREE,
	VIEW_SIZES,
	VIEW_THREADS,
	VIEW_MODULES,
	VIEW_LEAKS,
	VIEW_MAP,
	VIEW_OUTPUT,
	VIEW_TABS,
	VIEW_DETAIL = VIEW_TABS,
	VIEW_EVENTS,
	VIEW_WHY,
	VIEW_MARKS,
	VIEW_FREES,
	VIEW_HOLDERS,
	VIEW_CONTENTS,
	VIEW_HELP,
	VIEW_SETTINGS,
	VIEW_PROCESSES,
	VIEW_COUNT
};
extern const struct view *const view_table[VIEW_COUNT]; /* views.c */

#endif
