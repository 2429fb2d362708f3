/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The moment on the screen: questions that the header, the views and the keys ask about it.
 * ui_moment says which moment the rows describe. Main thread.
 */
#ifndef TUI_SHOWN_MOMENT_H
#define TUI_SHOWN_MOMENT_H

#include "tui/ui.h"

/* Can another moment than now be shown? */
bool shown_moment_can(const struct ui *ui);
/* Is another moment than now shown, or are the rows frozen? */
bool shown_moment_is_elsewhere(const struct ui *ui);
/* Is there a way from it to now? A file of one moment has none. And may a range start there? */
bool shown_moment_can_leave(const struct ui *ui);
bool shown_moment_can_range(const struct ui *ui);
/* The newest tick's time since the program's start, whichever moment is shown. */
uint64_t shown_moment_newest_ns(const struct ui *ui);
/* Is the past that of a recording? */
bool shown_moment_is_replay(const struct ui *ui);
/* The cursor's time on the timeline, if it is not at now. */
bool shown_moment_cursor(const struct ui *ui, uint64_t *ns);
/* The range's ends, in order, if there is one. */
bool shown_moment_range(const struct ui *ui, uint64_t *from_ns, uint64_t *to_ns);
bool shown_moment_is_peak(const struct ui *ui);
bool shown_moment_has_peak(const struct ui *ui);
bool shown_moment_is_past(const struct ui *ui);
bool shown_moment_has_start(const struct ui *ui);
/* Takes a moment that the source chose by itself: before the first key, or for another image. */
void shown_moment_adopt(struct ui *ui);
/* The program has another image, whose past is another one. */
void shown_moment_reset(struct ui *ui);
/* Sorts a range by its growth; the order before it returns with another moment. */
void shown_moment_order(struct ui *ui, enum snap_moment kind);

#endif
