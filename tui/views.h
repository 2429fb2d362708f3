/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The views by name, for the table in ui.c. Main thread. */
#ifndef TUI_VIEWS_H
#define TUI_VIEWS_H

#include "tui/ui.h"

extern const struct view view_sites, view_tree, view_sizes, view_modules, view_threads, view_map,
	view_output, view_detail, view_marks, view_leaks, view_why, view_help, view_settings,
	view_processes;

/* The selection of the table goes to this site. */
void view_sites_select(struct ui *ui, uint32_t site);
void view_sites_click_head(struct ui *ui, int x);

/* The site above or below in the table. */
void view_sizes_neighbour(struct ui *ui, int step, int key);

/* Keys of the site detail: the editor at the chosen frame's line; the stack into the terminal's
 * clipboard. */
void detail_source_edit(struct ui *ui, int arg, int key);
void detail_source_copy(struct ui *ui, int arg, int key);
/* The sibling under the cursor. */
void view_detail_enter(struct ui *ui, int arg, int key);

/* The call sites of the selected object, in the table. */
void view_modules_sites(struct ui *ui, int arg, int key);
void view_modules_free(struct ui *ui);
void view_threads_free(struct ui *ui);

/* Another image of the program, or the end: the map is dropped. */
void view_map_reset(struct ui *ui);
/* Keys of the map; the arguments are the key table's. */
void view_map_neighbour(struct ui *ui, int step, int key);
void view_map_cell(struct ui *ui, int step, int key);
void view_map_zoom(struct ui *ui, int in, int key);
void view_map_detail(struct ui *ui, int arg, int key);
void view_map_pin(struct ui *ui, int arg, int key);
void view_map_address(struct ui *ui, int arg, int key);
void view_map_part(struct ui *ui, int step, int key);
void view_map_tab(struct ui *ui, int arg, int key);

/* Leaks: keys, whose arguments are the key table's. */
void view_leaks_scan(struct ui *ui, int arg, int key);
/* A program that is held at its last instant is let go. */
void view_leaks_release(struct ui *ui, int arg, int key);
bool view_leaks_can_release(const struct ui *ui);
/* At each tick: says that a scan at the program's end is through. */
void view_leaks_tick(struct ui *ui);
void view_leaks_tab(struct ui *ui, int arg, int key);
void view_leaks_every(struct ui *ui, int arg, int key);
void view_leaks_kind(struct ui *ui, int arg, int key);
void view_leaks_contents(struct ui *ui, int arg, int key);
void view_leaks_suppress(struct ui *ui, int arg, int key);
void view_leaks_why(struct ui *ui, int arg, int key);
bool view_leaks_can_scan(const struct ui *ui);
bool view_leaks_has_contents(const struct ui *ui);
/* Ends a scan that is under way, if this is where it is looked at. */
bool view_leaks_cancel(struct ui *ui);
void view_leaks_update(struct ui *ui);
/* The same, if there is a result that is not shown yet. */
void view_leaks_fresh(struct ui *ui);
void view_leaks_facts(const struct ui *ui, struct infoline *s);
/* The row that is selected, or NULL. */
const struct leaks_row *view_leaks_selected(const struct ui *ui);
/* Whether rows are looked at of which no scan tells how old they are. */
bool view_leaks_wants_ages(const struct ui *ui);
void view_leaks_free(struct ui *ui);

/* Marks: a mark of now, which two are compared, and the list of them. */
void view_marks_mark(struct ui *ui, int arg, int key);
void view_marks_from(struct ui *ui, int arg, int key);
void view_marks_to(struct ui *ui, int arg, int key);
void view_marks_clear(struct ui *ui, int arg, int key);
void view_marks_show(struct ui *ui, int arg, int key);
void view_marks_sites(struct ui *ui, int arg, int key);
bool view_marks_can_mark(const struct ui *ui);

/* Another image of the program: nothing of the tree means anything any more. */
void view_tree_reset(struct ui *ui);
/* Opens the way to where a site's stack ends, and selects it. */
void view_tree_show_site(struct ui *ui, uint32_t site);
/* Keys of the tree; the arguments are the key table's. */
void view_tree_open(struct ui *ui, int arg, int key);
void view_tree_close(struct ui *ui, int arg, int key);
void view_tree_toggle(struct ui *ui, int arg, int key);
void view_tree_parent(struct ui *ui, int arg, int key);
void view_tree_all(struct ui *ui, int open, int key);
void view_tree_invert(struct ui *ui, int arg, int key);
void view_tree_zoom(struct ui *ui, int in, int key);
void view_tree_least(struct ui *ui, int arg, int key);
void view_tree_detail(struct ui *ui, int arg, int key);

/* The list of processes, and back from it; the one under the cursor comes to the screen. */
void view_processes_toggle(struct ui *ui, int arg, int key);
void view_processes_show(struct ui *ui, int arg, int key);
/* The screen goes from one process to another: what was selected is kept, and is found again. */
void view_processes_left(struct ui *ui, const struct snapshot *s);
void view_processes_entered(struct ui *ui, const struct snapshot *s);

/* Tells the program how large the Output tab is, if that changed. */
void view_output_tell_size(struct ui *ui);
/* Keys of the settings: the next value or the one before, a rule out, and the way in. */
void view_settings_step(struct ui *ui, int step, int key);
void view_settings_delete(struct ui *ui, int arg, int key);
void view_settings_open(struct ui *ui, int at_rules, int key);
void view_help_free(struct ui *ui);

#endif
