/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns of the call tree (tree_table.h). Called for each frame, on the main thread. */
#include "tui/tree_table.h"

#include <assert.h>

#define COLUMNS(columns) (sizeof(columns) / sizeof((columns)[0]))

/* Their numbers are those of enum tree_rows_sort. */
#define LIVE_TABLE(title, self_width)                                                              \
	{                                                                                          \
		{ "TOTAL", 6, true, 0, "live bytes of all stacks through this function" },         \
			{ "%", 5, true, 62, "share of the root's live bytes" },                    \
			{ "SELF", 6, true, self_width, "live bytes that it allocated itself" },    \
			{ "RATE", 9, true, 48, "growth of TOTAL per second, over 10 s" },          \
			{ "BLOCKS", 6, true, 76, "live blocks of all these stacks" },              \
			{ title, 0, false, 0, "the functions, each below its caller" },            \
			{ "FILE:LINE", 18, false, 92, "line in the function, if only one" },       \
			{ "OF ROOT", 10, false, 116, "share of the root as a bar" },               \
			{ "ERROR", 6, true, 48, "error bound of TOTAL (95 %), when sampled" },     \
	}

#define SINCE_TABLE(title)                                                                         \
	{                                                                                          \
		{ "TOTAL", 6, true, 0, "live bytes of all stacks through this function" },         \
			{ "%", 5, true, 84, "share of the root's live bytes" },                    \
			{ "SINCE", 7, true, 0, "growth since the mark, or in the range" },         \
			{ "ALLOC", 6, true, 48, "bytes allocated since, or in the range" },        \
			{ "FREED", 6, true, 56, "bytes freed since, or in the range" },            \
			{ "NEW", 7, true, 92, "growth of live blocks" },                           \
			{ title, 0, false, 0, "the functions, each below its caller" },            \
			{ "FILE:LINE", 18, false, 100, "line in the function, if only one" },      \
			{ "OF ROOT", 10, false, 124, "share of the root as a bar" },               \
	}

#define DIFF_TABLE(title)                                                                          \
	{                                                                                          \
		{ "TOTAL", 6, true, 0, "live bytes in B" },                                        \
			{ "%", 5, true, 84, "share of the root's live bytes" },                    \
			{ "DELTA", 7, true, 0, "the compared figure in B minus that in A" },       \
			{ "NEW", 7, true, 62, "live blocks in B minus those in A" },               \
			{ title, 0, false, 0, "the functions, each below its caller" },            \
			{ "FILE:LINE", 18, false, 92, "line in the function, if only one" },       \
			{ "OF ROOT", 10, false, 116, "share of the root as a bar" },               \
	}

static const struct table_column live[2][9] = { LIVE_TABLE("CALL TREE", 56),
	/* Without SELF: a function's own bytes are the TOTAL of its first line. */
	LIVE_TABLE("CALLERS", TABLE_NEVER) };
static const struct table_column since[2][9] = { SINCE_TABLE("CALL TREE"), SINCE_TABLE("CALLERS") };
static const struct table_column diff[2][7] = { DIFF_TABLE("CALL TREE"), DIFF_TABLE("CALLERS") };

/* Exact counts have no error, so the last column, ERROR, is left out. If sampled, it is beside
 * TOTAL. */
static const unsigned char sampled_places[] = { TREE_ROWS_TOTAL, TREE_ROWS_ERROR, TREE_ROWS_PERCENT,
	TREE_ROWS_SELF, TREE_ROWS_RATE, TREE_ROWS_BLOCKS, TREE_ROWS_NAME, TREE_ROWS_PLACE,
	TREE_ROWS_BAR };
static_assert(sizeof(sampled_places) == COLUMNS(live[0]), "each column has a place");

static const unsigned char since_meanings[] = { TREE_ROWS_TOTAL, TREE_ROWS_PERCENT, TREE_ROWS_SINCE,
	TREE_ROWS_ALLOC, TREE_ROWS_FREED, TREE_ROWS_NEW, TREE_ROWS_NAME, TREE_ROWS_PLACE,
	TREE_ROWS_BAR };
static_assert(sizeof(since_meanings) == COLUMNS(since[0]), "each column has a meaning");
static const unsigned char diff_meanings[] = { TREE_ROWS_TOTAL, TREE_ROWS_PERCENT, TREE_ROWS_SINCE,
	TREE_ROWS_NEW, TREE_ROWS_NAME, TREE_ROWS_PLACE, TREE_ROWS_BAR };
static_assert(sizeof(diff_meanings) == COLUMNS(diff[0]), "each column has a meaning");
static_assert(TREE_TABLE_SINCE < COLUMNS(diff[0]), "it is a column of both");

/* The user switches columns of live bytes off; those of changes are few. */
static unsigned live_off, changes_off;

static const struct table live_tables[2] = {
	{ live[0], COLUMNS(live[0]) - 1, NULL, &live_off },
	{ live[1], COLUMNS(live[1]) - 1, NULL, &live_off },
};
static const struct table sampled_tables[2] = {
	{ live[0], COLUMNS(live[0]), sampled_places, &live_off },
	{ live[1], COLUMNS(live[1]), sampled_places, &live_off },
};
static const struct table since_tables[2] = {
	{ since[0], COLUMNS(since[0]), NULL, &changes_off },
	{ since[1], COLUMNS(since[1]), NULL, &changes_off },
};
static const struct table diff_tables[2] = {
	{ diff[0], COLUMNS(diff[0]), NULL, &changes_off },
	{ diff[1], COLUMNS(diff[1]), NULL, &changes_off },
};

static bool is_diff(const struct ui *ui)
{
	return ui->shown && ui->shown->compared;
}

bool tree_table_has_changes(const struct ui *ui)
{
	return ui_counts_since(ui);
}

const struct table *tree_table_columns(const struct ui *ui)
{
	if (is_diff(ui))
		return &diff_tables[ui->tree.inverted];
	if (tree_table_has_changes(ui))
		return &since_tables[ui->tree.inverted];
	return ui_is_sampled(ui) ? &sampled_tables[ui->tree.inverted]
				 : &live_tables[ui->tree.inverted];
}

enum tree_rows_sort tree_table_meaning(const struct ui *ui, unsigned column)
{
	if (is_diff(ui))
		return (enum tree_rows_sort)diff_meanings[column % COLUMNS(diff[0])];
	if (tree_table_has_changes(ui))
		return (enum tree_rows_sort)since_meanings[column % COLUMNS(since[0])];
	return (enum tree_rows_sort)column;
}

struct table_order *tree_table_order(struct ui *ui)
{
	return tree_table_has_changes(ui) ? &ui->tree.changes_order : &ui->tree.order;
}

unsigned tree_table_fit(const struct ui *ui, struct table_place place[TABLE_COLUMNS])
{
	return table_fit(tree_table_columns(ui),
		tree_table_has_changes(ui) ? &ui->tree.changes_order : &ui->tree.order,
		ui->layout.width, place);
}

struct tree *tree_table_tree(struct ui *ui)
{
	return &ui->tree.tree[tree_table_has_changes(ui)][ui->tree.inverted];
}
