/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rows of Leaks: their kinds, their order and the selection. There is a row for each site and
 * class of the last scan and, even before a scan, one for each growing site; if no scan was
 * possible, also one for each suspect by age. A growing site that is lost or suspect has no second
 * row for its growth. Each scan and each snapshot make new rows. Main thread.
 */
#ifndef TUI_LEAK_LIST_H
#define TUI_LEAK_LIST_H

#include "tui/ui.h"

enum {
	BY_KIND,
	BY_BYTES,
	BY_BLOCKS,
	BY_INDIRECT,
	BY_OLDEST,
	BY_SINCE,
	BY_CONFIDENCE,
	BY_GROWTH,
	BY_SITE,
	BY_KEEPS,
	BY_TYPE
};

/* The name of the chosen kinds (static). */
const char *leak_list_choice(const struct ui *ui);
/* All choices of kinds, each after its key: "show  d definite  i indirect". */
void leak_list_choices(const struct ui *ui, char *text, size_t cap);
/* False: the key chooses no kinds. */
bool leak_list_choose(struct ui *ui, int key);
const struct leaks *leak_list_state(const struct ui *ui);
/* "definite", ..., "suspect", "growing". Static. */
const char *leak_list_kind(const struct leaks_row *row);
/* Is the row a scan's result? */
bool leak_list_is_found(const struct leaks_row *row);
/* The row's bytes and blocks: of the scan, or else the live ones. */
struct snap_leak_sum leak_list_sum(const struct leaks_row *row);
/* What would go if the row's blocks were freed, themselves included. 0 blocks: not known, or the
 * row is no leak. */
struct snap_leak_sum leak_list_keeps(const struct leaks_row *row);
/* Does the site grow, of whatever kind the row is? */
bool leak_list_grows(const struct leaks_row *row);
/*
 * Bytes more than at the previous scan; if the site only grows, than at the last one. False: there
 * is no scan to compare with.
 */
bool leak_list_since(const struct ui *ui, const struct leaks_row *row, double *bytes);
/* Age of its oldest block. False: not known. */
bool leak_list_oldest(const struct ui *ui, const struct leaks_row *row, uint64_t *ns);
enum leaks_confidence leak_list_confidence(const struct ui *ui, const struct leaks_row *row);
void leak_list_select_cursor(struct ui *ui);
/* The row that is selected, or NULL. */
const struct leaks_row *leak_list_selected(const struct ui *ui);
/* Makes the rows from the last scan and the snapshot. */
void leak_list_update(struct ui *ui);
/* The same if there is a new result. */
void leak_list_catch_up(struct ui *ui);
/* Are there rows whose ages only a snapshot has? */
bool leak_list_wants_ages(const struct ui *ui);
void leak_list_reset(struct ui *ui);

#endif
