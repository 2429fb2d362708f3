/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of keys. Dispatch, the hint line, the bottom bar and the help screen are all made from
 * it, so they cannot contradict one another. Main thread.
 */
#ifndef TUI_KEYS_H
#define TUI_KEYS_H

#include "tui/ui.h"

#define KEYS_CODES 10

/* In a binding's scope: the key changes the program, writes a file or starts a command. */
#define CHANGES (1u << 30)

enum keys_place { PLACE_HELP, PLACE_HINT, PLACE_BAR }; /* where it is advertised besides the help */

struct key_binding {
	const char *group; /* heading in the help screen */
	const char *name; /* as shown: "PgDn" */
	int code[KEYS_CODES]; /* as getch gives it; 0 ends */
	unsigned scope;
	void (*run)(struct ui *ui, int arg, int key);
	int arg;
	enum keys_place place;
	const char *label; /* in hint line and bar */
	const char *label_on; /* replaces label while `on` is true; may be NULL */
	bool (*on)(const struct ui *ui);
	const char *help;
};

extern const struct key_binding keys_table[];
extern const size_t keys_count;
/* The groups in the order of the help screen; NULL ends. */
extern const char *const keys_groups[];

/* Runs the key's action in the view in front. A key without one there gives a message. */
void keys_dispatch(struct ui *ui, int key);
/* Draws the hint line, or the bottom bar, of the view in front. */
void keys_draw_hints(const struct ui *ui, int y, unsigned cells);
void keys_draw_bar(const struct ui *ui, int y, unsigned cells);

#endif
