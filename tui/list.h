/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A list that is drawn only where it is seen: how many rows there are, where the cursor is, which
 * row is at the top. It holds no data. Pure; whoever owns the list finds rows by their identity
 * after a sort and calls list_follow.
 */
#ifndef TUI_LIST_H
#define TUI_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	size_t count; /* rows there are */
	size_t cursor; /* the selected one; 0 in an empty list */
	size_t top; /* first one seen */
	size_t height; /* rows seen at once */
	size_t line; /* of the window: where the user put the cursor, and where it is kept */
	bool moved; /* false: the cursor belongs to row 0 and not to what stands there */
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

/* The window became this high; the cursor stays in sight. */
void list_resize(struct list *l, size_t height);
/* The number of rows changed; cursor and top are kept where they still exist. */
void list_recount(struct list *l, size_t count);
void list_go(struct list *l, enum list_motion motion);
/* The cursor goes to row `row`, e.g. by a click. */
void list_select(struct list *l, size_t row);
/* The same; where nothing is selected, the row comes into sight. */
void list_to(struct list *l, size_t row);
/*
 * After a sort: what was selected is now at `row`. The list scrolls so that it keeps its line on
 * the screen, as far as the ends allow.
 */
void list_follow(struct list *l, size_t row);
/* Is the last row seen? */
bool list_at_end(const struct list *l);

#endif
