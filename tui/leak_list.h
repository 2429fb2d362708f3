/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rows of the Leaks: those of the kinds that are chosen, in the order that is chosen, and which
 * one is selected. They are what the last scan found, and the call sites that grow, before any
 * scan, too; where no scan was possible, also the suspects by age. A site that grows and is lost or
 * suspected, too, has no row for that it grows. They are made anew when there is another scan or
 * snapshot. Main thread.
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
	BY_SITE
};

#define LEAK_LIST_CHOICES 9 /* of kinds */

/* What K chose. Static. And the next that there may be rows of. */
const char *leak_list_choice(const struct ui *ui);
void leak_list_choose_next(struct ui *ui);
const struct leaks *leak_list_state(const struct ui *ui);
/* "definite", ..., "suspect", "growing". Static. */
const char *leak_list_kind(const struct leaks_row *row);
/* Whether it is what a scan found. */
bool leak_list_is_found(const struct leaks_row *row);
/* What the row is about: as the scan found it, or else what lives now. */
struct snap_leak_sum leak_list_sum(const struct leaks_row *row);
/* Whether it grows, whatever else it does. */
bool leak_list_grows(const struct leaks_row *row);
/*
 * Bytes more than by the scan before; of what only grows, than by the last one. False: there is
 * none to compare with.
 */
bool leak_list_since(const struct ui *ui, const struct leaks_row *row, double *bytes);
/* Age of its oldest block. False: not known. */
bool leak_list_oldest(const struct ui *ui, const struct leaks_row *row, uint64_t *ns);
enum leaks_confidence leak_list_confidence(const struct ui *ui, const struct leaks_row *row);
void leak_list_select_cursor(struct ui *ui);
/* The row that is selected, or NULL. */
const struct leaks_row *leak_list_selected(const struct ui *ui);
/* Makes the rows of what the last scan found and of the snapshot. */
void leak_list_update(struct ui *ui);
/* The same, if there is a result that is not shown yet. */
void leak_list_catch_up(struct ui *ui);
/* Are there rows that no scan knows the age of? */
bool leak_list_wants_ages(const struct ui *ui);
void leak_list_reset(struct ui *ui);

#endif
