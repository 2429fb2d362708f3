/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A scrolling list: the number of rows, the cursor and the row at the top. It holds no data; after
 * a sort its owner finds the selected row by its identity and calls list_follow. Pure.
 */
#ifndef TUI_LIST_H
#define TUI_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	size_t count; /* rows there are */
	size_t cursor; /* the selected one; 0 in an empty list */
	size_t top; /* the first visible row */
	size_t height; /* visible rows */
	size_t line; /* line of the window where the user put the cursor, and where it stays */
	bool moved; /* false: the cursor stays on row 0, whatever that holds */
	bool scroll_only; /* text: the cursor is the top row, nothing is selected */
};

enum list_motion {
	LIST_UP,
	LIST_DOWN,
	LIST_PAGE_UP,
	LIST_PAGE_DOWN,
	LIST_HALF_UP,
	LIST_HALF_DOWN,
	LIST_HOME,
	LIST_END,
	LIST_WHEEL_UP,
	LIST_WHEEL_DOWN
};

/* The window has this height now; the cursor stays visible. */
void list_resize(struct list *l, size_t height);
/* The number of rows changed; cursor and top stay if they still exist. */
void list_recount(struct list *l, size_t count);
void list_go(struct list *l, enum list_motion motion);
/* The cursor goes to row `row`, e.g. by a click. */
void list_select(struct list *l, size_t row);
/* The same; in a scroll_only list the row becomes visible. */
void list_to(struct list *l, size_t row);
/*
 * After a sort: the selected row is at `row` now. The list scrolls so that it keeps its line on the
 * screen, as far as the ends allow.
 */
void list_follow(struct list *l, size_t row);
/* From the next list_follow on the first row is visible, too, unless the selected one is too far
 * below it. */
void list_rise(struct list *l);
/* Is the last row visible? */
bool list_at_end(const struct list *l);

#endif
