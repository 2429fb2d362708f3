/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The key table and everything made from it. screen.c passes every key here unless a prompt is
 * open; the help view reads the table. Main thread.
 */
#include "tui/keys.h"

#include <stdio.h>
#include <string.h>
#include "tui/actions.h"
#include "tui/curses_api.h"
#include "tui/detach.h"
#include "tui/detail_source.h"
#include "tui/draw.h"
#include "tui/find.h"
#include "tui/group.h"
#include "tui/infoline.h"
#include "tui/key_codes.h"
#include "tui/key_names.h"
#include "tui/moments.h"
#include "tui/shown_moment.h"
#include "tui/term_keys.h"
#include "tui/settings_sync.h"
#include "tui/view_contents.h"
#include "tui/view_detail.h"
#include "tui/view_events.h"
#include "tui/view_frees.h"
#include "tui/view_holders.h"
#include "tui/view_leaks.h"
#include "tui/view_map.h"
#include "tui/view_marks.h"
#include "tui/view_modules.h"
#include "tui/view_output.h"
#include "tui/view_processes.h"
#include "tui/view_settings.h"
#include "tui/view_sizes.h"
#include "tui/view_threads.h"
#include "tui/view_tree.h"

#define MOVE  "Moving"
#define TABLE "Tables"
#define SHOW  "Display"
#define SITE  "Site detail"
#define TREE  "Call tree"
#define MAP   "Map"
#define LEAK  "Leaks"
#define FIND  "Searching"
#define SETUP "Settings"
#define MARK  "Marks"
#define TIME  "Timeline"
#define PROG  "Program"

static bool now_is_an_end(const struct ui *ui)
{
	return shown_moment_is_replay(ui) || !ui_program_runs(ui);
}

/* clang-format off */
const struct key_binding keys_table[] = {
	{ TIME, "F", { 'F', 0 }, IN_ALL, moments_live, 0, PLACE_HINT, "LIVE", "the end",
		now_is_an_end,
		"follow the program: back to now from any moment (also Esc, Space)" },
	{ PROG, "F1", { KEY_F(1), '?', 0 }, IN_ALL, action_help, 0, PLACE_BAR, "Help", NULL, NULL,
		"this help (also ?)" },
	{ PROG, "F2", { KEY_F(2), 0 }, IN_DATA | IN_SETTINGS, view_settings_open, 0, PLACE_BAR, "Setup",
		NULL, NULL, "settings: columns, order, appearance, naming rules" },
	{ PROG, "D", { 'D', 0 }, IN_DATA | CHANGES, detach_key, 0, PLACE_HINT, "detach", NULL, NULL,
		"detach: end the recording, the program runs on; asks first" },
	{ MOVE, "Up k", { KEY_UP, 'k', KEY_CTRL('p'), 0 }, IN_ALL, action_move, LIST_UP, PLACE_HELP,
		NULL, NULL, NULL, "one row up (also ^P)" },
	{ MOVE, "Down j", { KEY_DOWN, 'j', KEY_CTRL('n'), 0 }, IN_ALL, action_move, LIST_DOWN, PLACE_HELP,
		NULL, NULL, NULL, "one row down (also ^N)" },
	{ MOVE, "PgUp ^B", { KEY_PPAGE, KEY_CTRL('b'), 0 }, IN_ALL, action_move, LIST_PAGE_UP,
		PLACE_HELP, NULL, NULL, NULL, "one page up" },
	{ MOVE, "PgDn ^F", { KEY_NPAGE, KEY_CTRL('f'), 0 }, IN_ALL, action_move, LIST_PAGE_DOWN,
		PLACE_HELP, NULL, NULL, NULL, "one page down" },
	{ MOVE, "^U", { KEY_CTRL('u'), 0 }, IN_ALL, action_move, LIST_HALF_UP, PLACE_HELP, NULL, NULL,
		NULL, "half a page up" },
	{ MOVE, "^D", { KEY_CTRL('d'), 0 }, IN_ALL, action_move, LIST_HALF_DOWN, PLACE_HELP, NULL,
		NULL, NULL, "half a page down" },
	{ MOVE, "Home", { KEY_HOME, 0 }, IN_ALL, action_move, LIST_HOME, PLACE_HELP,
		NULL, NULL, NULL, "first row; then the cursor stays on the first row" },
	{ MOVE, "gg", { 'g', 0 }, IN_ALL & ~IN_SITES, action_move_pair, LIST_HOME, PLACE_HELP,
		NULL, NULL, NULL, "first row, like Home" },
	{ MOVE, "End G", { KEY_END, 'G', 0 }, IN_ALL, action_move, LIST_END, PLACE_HELP, NULL, NULL,
		NULL, "last row" },
	{ MOVE, "Left h", { KEY_LEFT, 'h', 0 }, IN_SHIFTED, action_shift, -8, PLACE_HELP, NULL, NULL, NULL,
		"scroll columns, long names and lines back" },
	{ MOVE, "Right l", { KEY_RIGHT, 'l', 0 }, IN_SHIFTED, action_shift, 8, PLACE_HELP, NULL, NULL, NULL,
		"scroll columns, then names; long lines to see their ends" },
	{ MOVE, "0", { '0', 0 }, IN_SHIFTED, action_shift, 0, PLACE_HELP, NULL, NULL, NULL,
		"back to the first column, the beginning of names and lines" },
	{ FIND, "F3", { KEY_F(3), '/', 0 }, IN_SEARCHED, find_ask, 0, PLACE_BAR, "Find", NULL, NULL,
		"find a word or a filter expression (also /)" },
	{ FIND, "n", { 'n', 0 }, IN_SEARCHED, find_again, 1, PLACE_HELP, NULL, NULL, NULL, "find the next match" },
	{ FIND, "N S-F3", { 'N', KEY_F(15), 0 }, IN_SEARCHED, find_again, -1, PLACE_HELP, NULL, NULL, NULL,
		"find the previous match" },
	{ FIND, "F4", { KEY_F(4), '\\', 0 }, IN_FILTERED, find_filter_ask, 0, PLACE_BAR, "Filter",
		"Filter*", find_has_filter, "show only matching call sites (also \\); Esc clears the filter" },
	{ PROG, "^] Enter", { KEY_CTRL(']'), '\r', '\n', KEY_ENTER, 0 }, IN_OUTPUT | CHANGES,
		view_output_give, 0, PLACE_HINT, "type to the program", NULL, NULL,
		"give the program the keyboard; ^] takes it back, and ^] twice sends it" },
	{ TREE, "F5", { KEY_F(5), 't', 0 }, IN_DATA, action_tree, 0, PLACE_BAR, "Tree", "Sites",
		action_is_tree, "call tree, and back (also t); from a site: the end of its stack" },
	{ TREE, "Right l", { KEY_RIGHT, 'l', '+', 0 }, IN_TREE, view_tree_open, 0, PLACE_HINT, "open",
		NULL, NULL, "open the line, or move to its first child (+ only opens)" },
	{ TREE, "Left h", { KEY_LEFT, 'h', '-', 0 }, IN_TREE, view_tree_close, 0, PLACE_HINT, "close",
		NULL, NULL, "close the line, or move to its parent (- only closes)" },
	{ TREE, "u", { 'u', 0 }, IN_TREE, view_tree_parent, 0, PLACE_HELP, NULL, NULL, NULL,
		"move to the parent line" },
	{ TREE, "E", { 'E', 0 }, IN_TREE, view_tree_all, 1, PLACE_HELP, NULL, NULL, NULL,
		"open everything below the line" },
	{ TREE, "C", { 'C', 0 }, IN_TREE, view_tree_all, 0, PLACE_HELP, NULL, NULL, NULL,
		"close everything below the line" },
	{ TREE, "i", { 'i', 0 }, IN_TREE, view_tree_invert, 0, PLACE_HINT, "invert", NULL, NULL,
		"top-down, or bottom-up (allocating functions first)" },
	{ TREE, "z", { 'z', 0 }, IN_TREE, view_tree_zoom, 1, PLACE_HINT, "zoom", NULL, NULL,
		"zoom in: the line becomes the root" },
	{ TREE, "Backspace", { KEY_BACKSPACE, 127, '\b', 0 }, IN_TREE, view_tree_zoom, 0, PLACE_HELP,
		NULL, NULL, NULL, "zoom out" },
	{ TREE, "T", { 'T', 0 }, IN_TREE, view_tree_least, 0, PLACE_HELP, NULL, NULL, NULL,
		"fold children below 1%, 0.1%, none or 5% of the root" },
	{ TREE, "Enter", { '\r', '\n', KEY_ENTER, KEY_F(7), 0 }, IN_TREE, view_tree_detail, 0,
		PLACE_BAR, "Detail", NULL, NULL, "the largest call site below the line (also F7)" },
	{ MAP, "F8", { KEY_F(8), 0 }, IN_DATA, view_map_tab, 0, PLACE_HELP, NULL, NULL, NULL,
		"memory map: what RSS consists of, what pins nearly empty pages" },
	{ MAP, "[", { '[', 0 }, IN_MAP, view_map_neighbour, -1, PLACE_HINT, "previous mapping", NULL,
		NULL, "the previous mapping" },
	{ MAP, "]", { ']', 0 }, IN_MAP, view_map_neighbour, 1, PLACE_HINT, "next", NULL, NULL,
		"the next mapping" },
	{ MAP, "a", { 'a', 0 }, IN_MAP, view_map_address, 0, PLACE_HINT, "address", NULL, NULL,
		"go to an address" },
	{ MAP, "{", { '{', 0 }, IN_MAP, view_map_part, -1, PLACE_HELP, NULL, NULL, NULL,
		"the previous part of a row that combines several mappings" },
	{ MAP, "}", { '}', 0 }, IN_MAP, view_map_part, 1, PLACE_HINT, "next part", NULL, NULL,
		"the next part of a row that combines several mappings" },
	{ MAP, "Left h", { KEY_LEFT, 'h', 0 }, IN_MAP, view_map_cell, -1, PLACE_HELP, NULL, NULL,
		NULL, "one cell or part back" },
	{ MAP, "Right l", { KEY_RIGHT, 'l', 0 }, IN_MAP, view_map_cell, 1, PLACE_HELP, NULL, NULL,
		NULL, "one cell or part forward" },
	{ MAP, "+", { '+', 0 }, IN_MAP, view_map_zoom, 1, PLACE_HINT, "zoom in", NULL, NULL,
		"half as many pages per cell, down to one" },
	{ MAP, "-", { '-', 0 }, IN_MAP, view_map_zoom, 0, PLACE_HINT, "zoom out", NULL, NULL,
		"twice as many pages per cell" },
	{ MAP, "Enter", { '\r', '\n', KEY_ENTER, KEY_F(7), 0 }, IN_MAP, view_map_detail, 0, PLACE_BAR,
		"Detail", NULL, NULL, "the row's call site, or the emptiest page's under the cursor (also F7)" },
	{ MAP, "1-9", { '1', '2', '3', '4', '5', '6', '7', '8', '9', 0 }, IN_MAP, view_map_pin, 0,
		PLACE_HINT, "pinning site", NULL, NULL, "the call site with that number in PINNED PAGES" },
	{ LEAK, "L", { 'L', 0 }, IN_DATA | IN_HOLDERS | CHANGES, view_leaks_scan, 0, PLACE_HINT, "leak scan", NULL,
		NULL, "scan for leaks now; pauses the program while its memory is read" },
	{ LEAK, "O", { 'O', 0 }, IN_DATA | IN_HOLDERS, view_holders_show, 0, PLACE_HINT, "holders", "back",
		view_holders_is_shown, "what holds the heap: roots by name, with what they keep alive; scans if none was made" },
	{ TIME, ",", { ',', 0 }, IN_TIMED, moments_step, -1, PLACE_HINT, "past", "step", shown_moment_is_past,
		"one tick back; Home: the first moment that is kept" },
	{ TIME, ".", { '.', 0 }, IN_TIMED, moments_step, 1, PLACE_HELP, NULL, NULL, NULL,
		"one tick forward, at the end to now; End: to now" },
	{ TIME, "(", { '(', 0 }, IN_TIMED, moments_leap, -1, PLACE_HELP, NULL, NULL, NULL,
		"back by a tenth of the timeline" },
	{ TIME, ")", { ')', 0 }, IN_TIMED, moments_leap, 1, PLACE_HELP, NULL, NULL, NULL,
		"forward by a tenth of the timeline" },
	{ TIME, "S-Left", { KEY_SLEFT, 0 }, IN_TIMED, moments_column, -1, PLACE_HELP, NULL, NULL, NULL,
		"one cell of the timeline back, to the highest tick there" },
	{ TIME, "S-Right", { KEY_SRIGHT, 0 }, IN_TIMED, moments_column, 1, PLACE_HELP, NULL, NULL, NULL,
		"one cell of the timeline forward" },
	{ TIME, "P", { 'P', 0 }, IN_TIMED, moments_peak, 0, PLACE_HINT, "peak", "leave peak",
		shown_moment_is_peak, "what was live at the program's peak, and back" },
	{ TIME, "^", { '^', 0 }, IN_TIMED, moments_highest, 0, PLACE_HELP, NULL, NULL, NULL,
		"the highest tick" },
	{ TIME, "J", { 'J', 0 }, IN_TIMED, moments_jump, 0, PLACE_HELP, NULL, NULL, NULL,
		"the largest rise between two ticks; again: the next largest" },
	{ TIME, "'", { '\'', 0 }, IN_TIMED, moments_mark, -1, PLACE_HELP, NULL, NULL, NULL,
		"the mark before this moment" },
	{ TIME, "\"", { '"', 0 }, IN_TIMED, moments_mark, 1, PLACE_HELP, NULL, NULL, NULL,
		"the mark after it" },
	{ TIME, "s", { 's', 0 }, IN_TIMED, moments_start, 0, PLACE_HINT, "range", "end range",
		shown_moment_has_start,
		"start a range here: what was allocated and freed from there to the cursor" },
	{ LEAK, "F9", { KEY_F(9), 0 }, IN_DATA, view_leaks_tab, 0, PLACE_HELP, NULL, NULL, NULL,
		"leaks of the last scan (of a site: from its detail), and growing sites" },
	{ LEAK, "E", { 'E', 0 }, IN_LEAKS | IN_WHY, view_leaks_release, 0, PLACE_HINT, "let it end", NULL,
		NULL, "release a program that --hold keeps at its end" },
	{ LEAK, "A", { 'A', 0 }, IN_LEAKS | IN_WHY | CHANGES, view_leaks_every, 0, PLACE_HINT, "auto-scan",
		NULL, NULL, "ask how often to scan automatically: every 0.1 s or more, or 0" },
	{ LEAK, "K", { 'K', 0 }, IN_LEAKS, view_leaks_kind, 0, PLACE_HINT, "kinds", NULL, NULL,
		"choose the kinds: lost and growing, one of them, all, or by head" },
	{ LEAK, "Enter", { '\r', '\n', KEY_ENTER, KEY_F(7), 0 }, IN_LEAKS, view_leaks_why, 0, PLACE_BAR,
		"Why", NULL, NULL,
		"all about the row: blocks, pointers to them, call stack (also F7)" },
	{ LEAK, "Enter", { '\r', '\n', KEY_ENTER, KEY_F(7), 0 }, IN_WHY, action_site, 0, PLACE_BAR,
		"Detail", NULL, NULL, "in Why: the call site: stack, source, histograms (also F7)" },
	{ LEAK, "H", { 'H', 0 }, IN_LEAKS | IN_WHY, view_leaks_contents, 0, PLACE_HINT, "contents",
		"hide contents", view_leaks_has_contents,
		"in Leaks: contents of blocks (may be secret; never saved)" },
	{ LEAK, "!", { '!', 0 }, IN_LEAKS | IN_WHY | CHANGES, view_leaks_suppress, 0, PLACE_HINT,
		"suppress", NULL, NULL,
		"suppress this leak; adds a rule to the last --suppressions file" },
	{ LEAK, "w", { 'w', 0 }, IN_DATA | IN_FREES, view_frees_show, 0, PLACE_HELP, NULL, NULL, NULL,
		"wrong frees: mismatched, twice, of no block; and back" },
	{ LEAK, "Enter", { '\r', '\n', KEY_ENTER, 0 }, IN_FREES, view_frees_stacks, 0, PLACE_BAR,
		"Stacks", "Hide", view_frees_is_open, "in Wrong frees: show or hide both call stacks" },
	{ LEAK, "U", { 'U', 0 }, IN_DATA | IN_CONTENTS | CHANGES, view_contents_show, 0, PLACE_HELP, NULL,
		NULL, NULL, "equal blocks and zeros by call site, read from a copy" },
	{ LEAK, "Enter", { '\r', '\n', KEY_ENTER, KEY_F(7), 0 }, IN_CONTENTS, view_contents_enter, 0,
		PLACE_BAR, "Detail", NULL, NULL, "in Contents: the call site" },
	{ LEAK, "Right l", { KEY_RIGHT, 'l', '+', 0 }, IN_HOLDERS, view_holders_turn, 1, PLACE_HINT,
		"open", NULL, NULL, "in Holders: open the line, or move to its first child" },
	{ LEAK, "Left h", { KEY_LEFT, 'h', '-', 0 }, IN_HOLDERS, view_holders_turn, 0, PLACE_HINT,
		"close", NULL, NULL, "in Holders: close the line, or move to its parent" },
	{ LEAK, "Enter", { '\r', '\n', KEY_ENTER, KEY_F(7), 0 }, IN_HOLDERS, view_holders_enter, 0,
		PLACE_BAR, "Detail", "Open/Close", view_holders_on_root,
		"in Holders: the call site, or what the root holds" },
	{ TABLE, "1-9", { '1', '2', '3', '4', '5', '6', '7', '8', '9', 0 }, IN_TABLES | IN_PROCESSES,
		action_sort_digit, 0, PLACE_HINT, "sort", NULL, NULL,
		"sort by the column with that number; again: reverse" },
	{ TABLE, "<", { '<', 0 }, IN_TABLES | IN_PROCESSES, action_sort_step, -1, PLACE_HELP, NULL, NULL, NULL,
		"sort by the column to the left, shown or not" },
	{ TABLE, ">", { '>', 0 }, IN_TABLES | IN_PROCESSES, action_sort_step, 1, PLACE_HELP, NULL, NULL, NULL,
		"sort by the column to the right, shown or not" },
	{ TABLE, "c", { 'c', 0 }, IN_SITES | IN_TREE, action_columns, 0, PLACE_HINT, "columns", NULL,
		NULL, "next set of columns: memory, growth, churn, ...; in Tree the next figure" },
	{ TABLE, "I", { 'I', 'R', 0 }, IN_TABLES | IN_PROCESSES, action_reverse, 0, PLACE_HELP, NULL, NULL, NULL,
		"reverse the order (also R)" },
	{ TABLE, "Enter", { '\r', '\n', KEY_ENTER, KEY_F(7), 0 }, IN_SITES, action_detail, 0,
		PLACE_BAR, "Detail", NULL, NULL, "the site under the cursor: stack, source, histograms (also F7)" },
	{ TABLE, "Enter", { '\r', '\n', KEY_ENTER, KEY_F(7), 0 }, IN_THREADS, view_threads_sites, 0,
		PLACE_BAR, "Sites", NULL, NULL, "in Threads: the call sites of the thread (also F7)" },
	{ TABLE, "Enter", { '\r', '\n', KEY_ENTER, KEY_F(7), 0 }, IN_MODULES, view_modules_sites, 0,
		PLACE_BAR, "Sites", NULL, NULL, "in Modules: the call sites of the module (also F7)" },
	{ TABLE, "o", { 'o', 0 }, IN_TABLES & ~IN_LEAKS, action_hold, 0, PLACE_HINT, "hold order", "release order",
		action_is_held, "hold the order of the rows; their values keep updating" },
	{ TABLE, "g", { 'g', 0 }, IN_SITES, group_ask, 0, PLACE_HINT, "group", NULL, NULL,
		"group by caller, function, file, module, type or thread; gg: first row" },
	{ SHOW, "Space", { ' ', 'Z', 0 }, IN_TICKED, action_freeze, 0, PLACE_HINT, "freeze", "unfreeze",
		action_is_frozen, "freeze or unfreeze the rows (also Z); the header keeps updating" },
	{ SHOW, "M", { 'M', 0 }, IN_DATA, action_kinds, 0, PLACE_HINT, "memory", NULL, NULL,
		"memory that is shown: the heap, what the program mapped itself, or both" },
	{ SHOW, "v", { 'v', 0 }, IN_LISTS, action_names, 0, PLACE_HINT, "names", NULL, NULL,
		"names: short, full, mangled, or addresses" },
	{ SITE, "e", { 'e', 0 }, IN_DETAIL | IN_SITES | IN_TREE | IN_LEAKS | IN_WHY | IN_MAP | CHANGES,
		action_edit, 0, PLACE_HINT, "edit", NULL, NULL,
		"open the source of the frame or site under the cursor in $VISUAL or $EDITOR" },
	{ SITE, "E", { 'E', 0 }, IN_DETAIL | CHANGES, view_events_show, 0, PLACE_HINT, "events", NULL,
		NULL, "the site's allocations as they happen: time, thread, size, address, freed after" },
	{ SITE, "Space", { ' ', 'Z', 0 }, IN_EVENTS, view_events_hold, 0, PLACE_HINT, "hold", "follow",
		view_events_is_held, "in Events: hold the lines (also Z), or follow the end again" },
	{ SITE, "Enter", { '\r', '\n', KEY_ENTER, 0 }, IN_DETAIL, view_detail_enter, 0, PLACE_HELP, NULL,
		NULL, NULL, "in Site detail: go to the sibling under the cursor" },
	{ SITE, "y", { 'y', 0 }, IN_DETAIL, detail_source_copy, 0, PLACE_HINT, "copy", NULL, NULL,
		"copy the stack to the terminal's clipboard (OSC 52)" },
	{ SHOW, "H", { 'H', 0 }, IN_TICKED, action_hidden, 0, PLACE_HINT, "all frames", "hide frames",
		action_is_hidden_shown,
		"name sites by the innermost frame, or by the first not hidden" },
	{ SHOW, "#", { '#', 0 }, IN_ALL, action_header, 0, PLACE_HELP, NULL, NULL, NULL,
		"hide or show the header lines" },
	{ SITE, "[", { '[', 0 }, IN_SIZES, view_sizes_neighbour, -1, PLACE_HINT, "previous site", NULL,
		NULL, "in Sizes: the previous site of the table" },
	{ SITE, "]", { ']', 0 }, IN_SIZES, view_sizes_neighbour, 1, PLACE_HINT, "next site", NULL,
		NULL, "in Sizes: the next site of the table" },
	{ SITE, "[", { '[', 0 }, IN_DETAIL, action_neighbour, -1, PLACE_HINT, "previous site", NULL, NULL,
		"the previous site of the table" },
	{ SITE, "]", { ']', 0 }, IN_DETAIL, action_neighbour, 1, PLACE_HINT, "next site", NULL, NULL,
		"the next site of the table" },
	{ MARK, "m", { 'm', 0 }, IN_DATA | IN_MARKS | CHANGES, view_marks_mark, 0, PLACE_HINT, "mark",
		NULL, NULL, "mark this moment; shows the growth since the first mark" },
	{ MARK, "`", { '`', 0 }, IN_DATA | IN_MARKS, view_marks_show, 0, PLACE_HELP, NULL, NULL, NULL,
		"the marks, to compare any two; and back" },
	{ MARK, "b", { 'b', 0 }, IN_DATA | CHANGES, view_marks_from, 0, PLACE_HELP, NULL, NULL, NULL,
		"set a mark and count growth from it" },
	{ MARK, "b", { 'b', 0 }, IN_MARKS, view_marks_from, 0, PLACE_HINT, "count from here", NULL,
		NULL, "in Marks: count from this mark" },
	{ MARK, "e", { 'e', 0 }, IN_MARKS, view_marks_to, 0, PLACE_HINT, "to here", NULL, NULL,
		"in Marks: count up to this mark, or to now" },
	{ MARK, "B", { 'B', 0 }, IN_DATA | IN_MARKS, view_marks_clear, 0, PLACE_HELP, NULL, NULL, NULL,
		"stop showing the growth since a mark" },
	{ MARK, "Enter", { '\r', '\n', KEY_ENTER, 0 }, IN_MARKS, view_marks_sites, 0, PLACE_BAR,
		"Sites", NULL, NULL, "in Marks: the sites by their growth between the two marks" },
	{ SITE, "{", { '{', 0 }, IN_SITES | IN_DETAIL | IN_SIZES, action_grower, -1, PLACE_HELP, NULL,
		NULL, NULL, "the previous growing site (the worst is the first)" },
	{ SITE, "}", { '}', 0 }, IN_SITES | IN_DETAIL | IN_SIZES, action_grower, 1, PLACE_HINT,
		"next growing", NULL, NULL, "the next growing site, from the worst on" },
	{ PROG, "Tab", { '\t', 0 }, IN_DATA, action_tab, 1, PLACE_BAR, "Next", NULL, NULL,
		"next tab" },
	{ PROG, "S-Tab", { KEY_BTAB, 0 }, IN_DATA, action_tab, -1, PLACE_HELP, NULL, NULL, NULL,
		"previous tab" },
	{ PROG, "x", { 'x', 0 }, IN_DATA | CHANGES, action_save, 0, PLACE_HINT, "export", NULL, NULL,
		"export to a numbered file: text, json, heaptop" },
	{ PROG, "d", { 'd', 0 }, IN_DATA, action_delay, 0, PLACE_HINT, "delay", NULL, NULL,
		"ask for the delay between two refreshes (0.1 to 60 s)" },
	{ SETUP, "Enter Space", { '\r', '\n', KEY_ENTER, ' ', 0 }, IN_SETTINGS, view_settings_step, 1,
		PLACE_HINT, "change", NULL, NULL, "in Settings: next value, on or off, or a new rule" },
	{ SETUP, "Right l", { KEY_RIGHT, 'l', 0 }, IN_SETTINGS, view_settings_step, 1, PLACE_HELP, NULL,
		NULL, NULL, "the next value" },
	{ SETUP, "Left h", { KEY_LEFT, 'h', 0 }, IN_SETTINGS, view_settings_step, -1, PLACE_HINT,
		"previous", NULL, NULL, "the previous value" },
	{ SETUP, "Delete", { KEY_DC, KEY_BACKSPACE, 127, '\b', 0 }, IN_SETTINGS, view_settings_delete,
		0, PLACE_HINT, "delete rule", NULL, NULL, "delete a rule of yours (also Backspace)" },
	{ SETUP, "[", { '[', 0 }, IN_SETTINGS, view_settings_move, -1, PLACE_HINT, "move left", NULL,
		NULL, "in Settings: move the column of Sites to the left" },
	{ SETUP, "]", { ']', 0 }, IN_SETTINGS, view_settings_move, 1, PLACE_HINT, "right", NULL, NULL,
		"in Settings: move the column of Sites to the right" },
	{ SETUP, "+", { '+', 0 }, IN_SETTINGS, view_settings_size, 1, PLACE_HINT, "wider", NULL, NULL,
		"in Settings: make the column of Sites wider" },
	{ SETUP, "-", { '-', 0 }, IN_SETTINGS, view_settings_size, -1, PLACE_HINT, "narrower", NULL,
		NULL, "in Settings: make the column of Sites narrower" },
	{ SETUP, "S", { 'S', 0 }, IN_DATA | IN_SETTINGS, view_settings_open, 1, PLACE_HELP, NULL, NULL,
		NULL, "naming rules: frames that never name a site; add your own" },
	{ SETUP, "W", { 'W', 0 }, IN_DATA | IN_SETTINGS | CHANGES, settings_sync_save, 0, PLACE_HINT, "save",
		NULL, NULL, "save the current settings" },
	{ PROG, "r", { 'r', 0 }, IN_DATA | CHANGES, action_sample, 0, PLACE_HINT, "recording", NULL, NULL,
		"ask what to record: every block, a sample, or up to a cost limit" },
	{ PROG, "p", { 'p', 0 }, IN_DATA | IN_PROCESSES, view_processes_toggle, 0, PLACE_HINT,
		"processes", "back", action_is_processes,
		"the recorded processes, and back; each keeps its selection" },
	{ PROG, "Enter", { '\r', '\n', KEY_ENTER, 0 }, IN_PROCESSES, view_processes_show, 0,
		PLACE_BAR, "Show", NULL, NULL, "in Processes: show this process" },
	{ PROG, "Right l", { KEY_RIGHT, 'l', '+', 0 }, IN_PROCESSES, view_processes_fold, 1, PLACE_HELP,
		NULL, NULL, NULL, "in Processes: show what is folded away below the line" },
	{ PROG, "Left h", { KEY_LEFT, 'h', '-', 0 }, IN_PROCESSES, view_processes_fold, 0, PLACE_HINT,
		"fold", NULL, NULL, "in Processes: fold the line's children away, or move to its parent" },
	{ PROG, "E", { 'E', 0 }, IN_PROCESSES, view_processes_ended, 0, PLACE_HINT, "hide ended",
		"show ended", view_processes_hides_ended,
		"in Processes: hide or show the processes that ended" },
	{ PROG, "Backspace", { KEY_BACKSPACE, 127, '\b', 0 }, IN_PROCESSES, action_back, 0,
		PLACE_HELP, NULL, NULL, NULL, "in Processes: back" },
	{ PROG, "Backspace", { KEY_BACKSPACE, 127, '\b', 0 }, IN_ALL & ~IN_TREE & ~IN_SETTINGS & ~IN_PROCESSES,
		action_back, 0, PLACE_HELP, NULL, NULL, NULL, "back to the previous view, as Esc" },
	{ PROG, "^L", { KEY_CTRL('l'), 0 }, IN_ALL, action_repaint, 0, PLACE_HELP, NULL, NULL, NULL,
		"redraw the screen" },
	{ PROG, "^Z", { KEY_CTRL('z'), 0 }, IN_ALL, action_suspend, 0, PLACE_HELP, NULL, NULL, NULL,
		"suspend heaptop; fg resumes it" },
	{ PROG, "Esc", { KEY_ESC, 0 }, IN_ALL, action_back, 0, PLACE_HELP, NULL, NULL, NULL,
		"back" },
	{ PROG, "F10/q", { 'q', KEY_F(10), 0 }, IN_ALL, action_back, 1, PLACE_BAR, "Quit", NULL, NULL,
		"back; from a tab: quit" },
	{ PROG, "Q", { 'Q', 0 }, IN_ALL, action_quit, 0, PLACE_HELP, NULL, NULL, NULL,
		"quit at once" },
};
/* clang-format on */
const char *const keys_groups[] = { MOVE, FIND, TABLE, TREE, MAP, LEAK, SHOW, TIME, MARK, SITE,
	SETUP, PROG, NULL };
const size_t keys_count = sizeof(keys_table) / sizeof(keys_table[0]);

static bool key_has(const struct key_binding *b, int key)
{
	for (unsigned i = 0; i < KEYS_CODES && b->code[i]; i++)
		if (b->code[i] == key)
			return true;
	return false;
}

/* Does the key have a binding in a view? */
static bool key_works_in(int key, unsigned scope)
{
	for (size_t i = 0; i < keys_count; i++)
		if (keys_table[i].scope & scope && key_has(&keys_table[i], key))
			return true;
	return false;
}

/* "Map, Sizes": the titles of the views where a key works. Returns their number. */
static unsigned key_views(int key, char *out, size_t cap)
{
	unsigned n = 0;
	size_t used = 0;

	out[0] = 0;
	for (int id = 0; id < VIEW_COUNT; id++) {
		if (!key_works_in(key, view_table[id]->scope))
			continue;
		if (used < cap)
			used += (size_t)snprintf(out + used, cap - used, "%s%s", n ? ", " : "",
				view_table[id]->title);
		n++;
	}
	return n;
}

static bool key_in_tabs(int key)
{
	for (size_t i = 0; i < keys_count; i++)
		if ((keys_table[i].scope & IN_DATA) == IN_DATA && key_has(&keys_table[i], key))
			return true;
	return false;
}

#define VIEWS_LISTED 6u /* of those where a key works; more do not fit in a line */

/* Says where the key works, if anywhere. */
static void key_refuse(struct ui *ui, const struct key_binding *elsewhere, int key)
{
	char name[KEY_NAMES_MAX], views[UI_MESSAGE_MAX];
	unsigned n = key_views(key, views, sizeof(views));

	if (key == TERM_KEYS_UNKNOWN)
		key_names_sequence(term_keys_sequence(), name);
	else
		key_names_text(key, name);
	if (key_in_tabs(key))
		ui_message(ui, "%s works in the tabs; Esc goes back to them", name);
	else if (n == 1)
		ui_message(ui, "%s works only in %s (%s)", name, views, elsewhere->help);
	else if (n > VIEWS_LISTED)
		ui_message(ui, "%s does nothing in %s, unlike in most views (? lists the keys)",
			name, ui_view(ui)->title);
	else if (n > 1)
		ui_message(ui, "%s works only in %s (? explains it)", name, views);
	else
		ui_message(ui, "%s does nothing here; ? lists the keys", name);
}

/* Does the key work on what a view has? In one that has nothing to show, it cannot. */
static bool key_needs_rows(const struct key_binding *b)
{
	static const char *const groups[] = { TABLE, SITE, SHOW };
	bool of_rows = !(b->scope & IN_SITES);

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		of_rows |= strcmp(b->group, groups[i]) == 0 && !(b->scope & IN_HELP);
	return of_rows;
}

static void key_run(struct ui *ui, const struct key_binding *b, int key)
{
	const struct tui_missing *missing = ui_front_missing(ui);

	if (missing && key_needs_rows(b))
		ui_message(ui, "%s does nothing here: this view has nothing to show", b->name);
	else if (b->scope & CHANGES && ui->options.readonly)
		ui_message(ui, "%s is refused: heaptop was started with --readonly", b->name);
	else
		b->run(ui, b->arg, key);
}

void keys_dispatch(struct ui *ui, int key)
{
	unsigned scope = ui_view(ui)->scope;
	const struct key_binding *elsewhere = NULL;

	for (size_t i = 0; i < keys_count; i++) {
		if (!key_has(&keys_table[i], key))
			continue;
		if (keys_table[i].scope & scope) {
			key_run(ui, &keys_table[i], key);
			return;
		}
		elsewhere = &keys_table[i];
	}
	key_refuse(ui, elsewhere, key);
}

static const char *key_label(const struct ui *ui, const struct key_binding *b)
{
	return b->label_on && b->on(ui) ? b->label_on : b->label;
}

static bool settings_can_save(const struct ui *ui)
{
	return ui->source->settings_save != NULL;
}

static bool processes_can_list(const struct ui *ui)
{
	return ui->source->processes != NULL;
}

/* Keys that need a running program, or a source that supports them. */
static const struct {
	void (*run)(struct ui *ui, int arg, int key);
	bool (*can)(const struct ui *ui);
} conditions[] = {
	{ view_leaks_scan, view_leaks_can_scan },
	{ view_leaks_release, view_leaks_can_release },
	{ view_leaks_every, view_leaks_can_scan },
	{ view_holders_show, view_holders_can },
	{ view_marks_mark, view_marks_can_mark },
	{ view_output_give, view_output_can_give },
	{ action_freeze, action_can_freeze },
	{ action_sample, action_can_sample },
	{ detach_key, detach_can },
	{ action_save, action_can_save },
	{ action_kinds, action_has_kinds },
	{ settings_sync_save, settings_can_save },
	{ view_processes_toggle, processes_can_list },
	{ view_events_show, view_events_can },
	{ moments_live, shown_moment_can_leave },
	{ moments_step, shown_moment_can },
	{ moments_peak, shown_moment_has_peak },
	{ moments_start, shown_moment_can_range },
};

static bool key_can(const struct ui *ui, const struct key_binding *b)
{
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
		if (conditions[i].run == b->run)
			return conditions[i].can(ui);
	return true;
}

/* Keys that would be refused are not advertised. */
static bool key_advertised(const struct ui *ui, const struct key_binding *b, enum keys_place place)
{
	return b->place == place && (b->scope & ui_view(ui)->scope) &&
	       !(ui_front_missing(ui) && key_needs_rows(b)) &&
	       !(b->scope & CHANGES && ui->options.readonly) && key_can(ui, b);
}

void keys_draw_hints(const struct ui *ui, int y, unsigned cells)
{
	struct infoline s = INFOLINE_INIT;
	unsigned priority = 100;

	for (size_t i = 0; i < keys_count; i++) {
		if (!key_advertised(ui, &keys_table[i], PLACE_HINT))
			continue;
		infoline_left(&s, priority--, STYLE_KEY, "%s", keys_table[i].name);
		infoline_join(&s, STYLE_PLAIN, " %s", key_label(ui, &keys_table[i]));
	}
	infoline_right(&s, 200, STYLE_KEY, "?");
	infoline_join(&s, STYLE_PLAIN, " keys");
	infoline_draw(&s, y, 1, cells - 2);
}

/* The last label, how to leave, has the highest priority. */
void keys_draw_bar(const struct ui *ui, int y, unsigned cells)
{
	struct infoline s = INFOLINE_INIT;

	for (size_t i = 0; i < keys_count; i++) {
		bool last = keys_table[i].run == action_back;

		if (!key_advertised(ui, &keys_table[i], PLACE_BAR))
			continue;
		infoline_left(&s, last ? 2 : 1, STYLE_KEY, "%s", keys_table[i].name);
		infoline_join(&s, STYLE_LABEL, "%s",
			last && ui->depth > 1 ? "Back" : key_label(ui, &keys_table[i]));
	}
	infoline_draw(&s, y, 1, cells - 1);
}
