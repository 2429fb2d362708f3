/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cursor and window arithmetic of every list on the screen. Called by the views and the motion
 * keys, on the main thread; no curses, no data.
 */
#include "tui/list.h"

/* Rows per step of the wheel; terminals and editors use three. */
#define LIST_WHEEL_ROWS 3

static size_t list_top_max(const struct list *l)
{
	return l->count > l->height ? l->count - l->height : 0;
}

/* Keeps top in range and the cursor in sight. */
static void list_clamp(struct list *l)
{
	if (l->cursor >= l->count)
		l->cursor = l->count ? l->count - 1 : 0;
	if (!l->scroll_only) {
		if (l->cursor < l->top)
			l->top = l->cursor;
		if (l->height && l->cursor >= l->top + l->height)
			l->top = l->cursor - l->height + 1;
	}
	if (l->top > list_top_max(l))
		l->top = list_top_max(l);
	if (l->scroll_only)
		l->cursor = l->top;
}

void list_resize(struct list *l, size_t height)
{
	l->height = height;
	list_clamp(l);
}

void list_recount(struct list *l, size_t count)
{
	l->count = count;
	list_clamp(l);
}

static size_t list_back(size_t from, size_t by)
{
	return from > by ? from - by : 0;
}

static void list_scroll(struct list *l, size_t to)
{
	l->top = to;
	list_clamp(l);
}

void list_go(struct list *l, enum list_motion motion)
{
	size_t page = l->height ? l->height : 1, half = (page + 1) / 2;
	size_t at = l->scroll_only ? l->top : l->cursor, to = at;

	switch (motion) {
	case LIST_UP:
		to = list_back(at, 1);
		break;
	case LIST_DOWN:
		to = at + 1;
		break;
	case LIST_PAGE_UP:
		to = list_back(at, page);
		break;
	case LIST_PAGE_DOWN:
		to = at + page;
		break;
	case LIST_HALF_UP:
		to = list_back(at, half);
		break;
	case LIST_HALF_DOWN:
		to = at + half;
		break;
	case LIST_HOME:
		to = 0;
		break;
	case LIST_END:
		to = l->count;
		break;
	case LIST_WHEEL_UP:
		to = list_back(at, LIST_WHEEL_ROWS);
		break;
	case LIST_WHEEL_DOWN:
		to = at + LIST_WHEEL_ROWS;
		break;
	}
	if (l->scroll_only)
		list_scroll(l, to);
	else
		list_select(l, to);
	/* Home returns the cursor to row 0 for good. */
	if (motion == LIST_HOME)
		l->moved = false;
}

void list_select(struct list *l, size_t row)
{
	if (row >= l->count)
		row = l->count ? l->count - 1 : 0;
	if (row != l->cursor)
		l->moved = true;
	l->cursor = row;
	list_clamp(l);
	l->line = l->cursor - l->top;
}

void list_to(struct list *l, size_t row)
{
	if (!l->scroll_only)
		list_select(l, row);
	else if (row < l->top || row >= l->top + l->height)
		list_scroll(l, row);
}

void list_follow(struct list *l, size_t row)
{
	size_t line = l->line < l->height || !l->height ? l->line : l->height - 1;

	l->cursor = row;
	l->top = list_back(row, line);
	list_clamp(l);
}

void list_rise(struct list *l)
{
	l->line = l->height ? l->height - 1 : 0;
}

bool list_at_end(const struct list *l)
{
	return l->top + l->height >= l->count;
}
