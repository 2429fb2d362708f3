/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The places of rows and columns: a pure function of the screen's size, tested for every size
 * without a screen. Complete at 80x24 and above; smaller screens lose columns, then header lines,
 * then the bottom bar, down to 40x8. Below that `tiny` is set and only two lines are drawn.
 */
#ifndef TUI_LAYOUT_H
#define TUI_LAYOUT_H

#include <stdbool.h>
#include "src/model/columns.h"

#define LAYOUT_MIN_WIDTH  40
#define LAYOUT_MIN_HEIGHT 8

enum layout_row {
	ROW_TITLE,
	ROW_LIVE,
	ROW_RSS,
	ROW_OPS,
	ROW_HISTORY, /* several lines on tall screens with a timeline */
	ROW_NOTICE,
	ROW_TABS,
	ROW_HEAD,
	ROW_BODY, /* the one that grows */
	ROW_STATUS,
	ROW_HINT,
	ROW_MESSAGE,
	ROW_BAR,
	ROW_COUNT
};

enum layout_flag {
	LAYOUT_NO_HEADER = 1, /* the user hid the header lines */
	LAYOUT_NOTICE = 2, /* there is a notice to show */
	LAYOUT_NO_HEAD = 4, /* this view has no column headers */
	LAYOUT_COMPACT = 8, /* this view wants room: only the first two header lines */
	LAYOUT_TIMELINE = 16, /* there is a timeline */
	LAYOUT_ELSEWHERE = 32, /* another moment than now is shown: its place must be visible */
};

struct layout {
	int width, height;
	bool tiny;
	int y[ROW_COUNT]; /* line of each row, -1: not shown */
	int history_height; /* lines of ROW_HISTORY; 0: not shown */
	int body_height; /* lines of ROW_BODY, at least 1 unless tiny */
};

struct layout_column {
	enum column column;
	int x;
	unsigned cells;
};

void layout_make(struct layout *l, int width, int height, unsigned flags);

/* What the user chose for the columns of the site table. */
struct layout_look {
	bool ordered;
	unsigned char order[COL_COUNT]; /* from left to right, if `ordered` */
	unsigned char cells[COL_COUNT]; /* width of a column; 0: the usual one */
};

struct layout_kind {
	int sort; /* the column that sorts is always shown; -1: none is */
	unsigned scroll; /* columns that are scrolled out at the left */
	enum column_set set;
	const struct layout_look *look; /* NULL: the usual one */
	bool sampled; /* figures are estimates; LIVE has its error beside it */
	bool marked; /* growth since a mark is shown, */
	bool ranged; /* or growth in a range: which of its blocks are live is unknown */
	bool diff; /* a diff's figure is shown on both sides, and its change; */
	bool diff_live; /* the figure is LIVE: so it is there once */
	bool typed; /* and the types of some blocks; rows are no groups by type */
	bool retained; /* a leak scan has found what call sites retain */
	bool faults; /* page faults are known by call site */
	bool grouped; /* rows are groups and show their number of sites */
	uint64_t hidden; /* bit i: column i was switched off; never the site's */
};
/* The columns of the site table in this width, left to right. Returns how many. */
unsigned layout_columns(int width, struct layout_kind kind, struct layout_column out[COL_COUNT]);
/* The column whose place the one that sorts takes in this width; -1: none. */
int layout_replaced(int width, struct layout_kind kind);
/* How far columns scroll in this width until the last one is there. */
unsigned layout_scroll_most(int width, struct layout_kind kind);
/* The next column that can sort, to the left (-1) or right of the one that does, shown or not; -1:
 * none. */
int layout_next(struct layout_kind kind, int step);
/* The column that usually is at this place, of COL_COUNT from the left. */
enum column layout_usual(unsigned at);
/* The column that the digit `key` sorts by, or -1; and the digit of a column, or 0. */
int layout_digit_column(int key);
char layout_column_digit(enum column column);

#endif
