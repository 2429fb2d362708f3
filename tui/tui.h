/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The screen: the only room that knows curses. It gets its data through `struct tui_source`, so
 * that tests feed it canned snapshots and a fixed clock. Runs on the main thread until the user
 * leaves.
 */
#ifndef TUI_TUI_H
#define TUI_TUI_H

#include <poll.h>
#include "src/model/columns.h"
#include "src/model/groups.h"
#include "src/model/leaks.h"
#include "src/model/map.h"
#include "src/model/settings.h"

/* What is on the screen, for an export. */
struct tui_shown {
	const struct snapshot *rows; /* what the filter lets pass, by `group` */
	enum group_by group;
	size_t sites; /* that there are without it */
	const char *filter; /* NULL: none */
	enum column sort;
	bool reverse, show_hidden;
	enum name_style names;
	const struct snapshot *whole; /* all call sites */
	const struct map_account *memory; /* what resident memory is; NULL: nobody looked */
};
#include "src/model/processes.h"

struct source_text; /* src/model/sourcetext.h */

struct tui_source {
	void *ctx;
	/* A new snapshot (one reference, ours to drop), or NULL with *error set to a static line.
	 */
	struct snapshot *(*tick)(void *ctx, const char **error);
	/* Histograms of one site of a snapshot that is still held. 0 or -errno. */
	int (*detail)(void *ctx, const struct snapshot *of, uint32_t site, struct snap_detail *out);
	/*
	 * Descriptors to wait on besides the terminal: fills at most `max`, returns how many. When
	 * any is ready, `ready` is called, which drains it (program output, symbols, child's end)
	 * and returns true if the screen should be drawn again.
	 */
	int (*fds)(void *ctx, struct pollfd *fds, int max);
	bool (*ready)(void *ctx);
	/*
	 * The program's output, for the Output tab: how many lines are kept, and line `i` (0
	 * oldest), clean text. NULL functions: there is no such tab (attached, or redirected).
	 */
	size_t (*output_lines)(void *ctx);
	const char *(*output_line)(void *ctx, size_t i);
	/* The program's terminal became this large. May be NULL. */
	void (*output_resize)(void *ctx, int rows, int cols);
	/* Writes what is shown as text; a line that says where, or why not, into `msg`. 0 or
	 * -errno. */
	int (*save)(void *ctx, const struct tui_shown *shown, char *msg, size_t cap);
	/*
	 * Switches the program to what the user typed: "exact", "512K", "auto", "5%". A line that
	 * says what came of it into `msg`. 0 or -errno. NULL: there is no program to switch.
	 */
	int (*sample)(void *ctx, const char *text, char *msg, size_t cap);
	/*
	 * The newest map of the program's memory, or NULL while there is none; has another one made
	 * now and then. Valid until the next `map` or `ready`. NULL: there is no process to look
	 * at.
	 */
	struct map *(*map)(void *ctx);
	/*
	 * Marks this moment: the number of the mark, or -errno; a line, or "", into `msg`. NULL:
	 * there is nothing to mark. The next snapshot has it.
	 */
	int (*mark)(void *ctx, char *msg, size_t cap);
	void (*mark_name)(void *ctx, unsigned number, const char *name);
	/* Which marks the next snapshots' `since` and `until` are; 0: none, and now. */
	void (*since)(void *ctx, unsigned since, unsigned until);
	/*
	 * The recorded processes as they are now: how many rows, the rows (good until the next
	 * call), and how many there are besides. NULL: there is no list.
	 */
	size_t (*processes)(void *ctx, const struct process_row **rows, size_t *more);
	/* The next snapshot is of this process. 0, or -errno and a line that says why not. */
	int (*process_show)(void *ctx, uint64_t id, char *msg, size_t cap);
	/*
	 * How leak scans of the program stand; what it points to is valid until the one after the
	 * next has come. NULL: there is no program that could be scanned.
	 */
	const struct leaks *(*leaks)(void *ctx);
	/* Begins a scan. 0, or -errno and a line that says why not. And ends it, without a result.
	 */
	int (*leaks_scan)(void *ctx, char *msg, size_t cap);
	void (*leaks_cancel)(void *ctx);
	/* Lets a program go that is held at its last instant. False: none is. NULL: none ever is.
	 */
	bool (*leaks_release)(void *ctx);
	/* Scans so often by itself; 0: no more. */
	void (*leaks_every)(void *ctx, uint64_t ns);
	/* Does not count leaks of this call site any more; a line that says how, or why not. `s`:
	 * the snapshot that it is in. */
	int (*leaks_suppress)(void *ctx, const struct snapshot *s, const struct leak_chosen *chosen,
		char *msg, size_t cap);
	/* What the program has in memory now: bytes read, or less than 1. May be NULL. */
	long (*bytes)(void *ctx, uint64_t addr, void *out, size_t bytes);
	/* Asks the launched program to end (SIGTERM). NULL: not ours to end. */
	void (*end)(void *ctx);
	/* Monotonic ns; tests fix it. */
	uint64_t (*now_ns)(void *ctx);
	/* Writes the settings to their file; a line that says where, or why not, into `msg`. 0 or
	 * -errno. NULL: there is no such file. */
	int (*settings_save)(void *ctx, const struct settings *s, char *msg, size_t cap);
	/* The user's rules of naming are these. May be NULL. */
	void (*rules_set)(void *ctx, const struct settings *s);
	/* How old blocks are is wanted from the next snapshot on, or not any more. May be NULL. */
	void (*ages)(void *ctx, bool wanted);
	/* The same, of which threads allocate at which site. May be NULL. */
	void (*shares)(void *ctx, bool wanted);
	/*
	 * The source file of a frame that has one, or NULL while it is looked for (`ready` tells).
	 * Valid until the next call of it or `ready`; source_forget: the files may have changed.
	 * NULL: no source is shown.
	 */
	const struct source_text *(*source_text)(void *ctx, const struct frame *f);
	void (*source_forget)(void *ctx);
	/* Text of the naming rules, for the help screen. */
	const char *const *(*hide_rules)(void *ctx, size_t *count);
};

enum tui_color { TUI_COLOR_AUTO, TUI_COLOR_ALWAYS, TUI_COLOR_NEVER };

struct tui_options {
	const struct settings *settings; /* copied; NULL: the built-in ones */
	const char *trouble; /* with their file: the first message; or NULL */
	uint64_t delay_ns;
	unsigned frames; /* stop after so many, 0: never */
	enum column sort;
	bool reverse;
	enum tui_color color;
	bool ascii, no_mouse;
	bool tree; /* start in the call tree */
	const char *filter; /* show only what matches: src/model/filter.h; NULL: all */
	enum group_by group; /* what the rows of the table are at first */
	enum name_style names;
	bool show_hidden; /* where the `v` and `H` keys start */
	const char *version;
	bool readonly; /* keys that change the program, write files or start commands are refused */
	/* What `q` says and does when the program still runs: true = it was launched by us. */
	bool launched;
};

/*
 * Takes the terminal, runs until the user quits, hang-up, SIGTERM/SIGINT or `frames`; gives the
 * terminal back on every path, a crash of ours included. 0, -EIO when the terminal went away,
 * -ENOTTY when there is none, -EINTR on a signal (its number in *signal). SIGHUP is ignored from
 * then on, so that the clean-up that follows a hang-up is not cut short by the next one.
 */
int tui_run(const struct tui_source *source, const struct tui_options *options, int *signal);

#endif
