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
#include "src/model/event_line.h"
#include "src/model/groups.h"
#include "src/model/ignored.h"
#include "src/model/leaks.h"
#include "src/model/map.h"
#include "src/model/settings.h"
#include "src/model/timeline.h"
#include "src/util/term_line.h"

/* The state of the screen, for an export. */
struct tui_shown {
	const struct snapshot *rows; /* what the filter lets pass, by `group` */
	enum group_by group;
	size_t sites; /* without the filter */
	const char *filter; /* NULL: none */
	enum column sort;
	bool reverse, show_hidden;
	enum name_style names;
	const struct snapshot *whole; /* all call sites */
	const struct map_account *memory; /* the parts of resident memory; NULL: not read */
	const char *format; /* one of tui_source.save_formats; NULL: text */
};
#include "src/model/processes.h"

struct source_text; /* src/model/source_text.h */

/* A view that has nothing to show: why, and what would fill it; a static sentence each. */
struct tui_missing {
	const char *why, *remedy;
};

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
	 * The program's terminal, for the Output tab: the number of lines kept, and line `i` (0:
	 * the oldest; empty beyond the last), valid until the next call. NULL: the tab says
	 * no_output (attached, or redirected).
	 */
	size_t (*output_lines)(void *ctx);
	void (*output_line)(void *ctx, size_t i, struct term_line *out);
	/* How many older ones are no longer kept. NULL: all are. */
	uint64_t (*output_dropped)(void *ctx);
	/* The program's terminal has this size now. May be NULL. */
	void (*output_resize)(void *ctx, int rows, int cols);
	/* Where its cursor is: a line, perhaps beyond the last, and a cell. False: it is hidden.
	 * And what the user types to the program: characters, or a key that is none. NULL: nothing
	 * can be typed. */
	bool (*output_cursor)(void *ctx, size_t *line, unsigned *cell);
	void (*output_type)(void *ctx, const char *bytes, size_t n);
	void (*output_press)(void *ctx, enum term_press key);
	struct tui_missing no_output;
	/* Writes what is shown to a file; `msg` gets a line: where, or why not. 0 or -errno. */
	int (*save)(void *ctx, const struct tui_shown *shown, char *msg, size_t cap);
	/* The formats of files that `save` writes, ended by NULL; the first is the usual one. NULL:
	 * only text. */
	const char *const *save_formats;
	/*
	 * Changes the recording to what the user typed: "exact", "512K", "auto", "5%". `msg` gets a
	 * line about the result. 0 or -errno. NULL: there is no program to change.
	 */
	int (*sample)(void *ctx, const char *text, char *msg, size_t cap);
	/*
	 * The newest map of the program's memory, or NULL while there is none; requests a newer one
	 * now and then. Valid until the next `map` or `ready`. NULL: there is no process to read,
	 * and the tab says no_map.
	 */
	struct map *(*map)(void *ctx);
	struct tui_missing no_map;
	/*
	 * Marks this moment. Returns the number of the mark, or -errno; `msg` gets a line, or "".
	 * The next snapshot has the mark. NULL: there is nothing to mark.
	 */
	int (*mark)(void *ctx, char *msg, size_t cap);
	void (*mark_name)(void *ctx, unsigned number, const char *name);
	/* Sets the marks that `since` and `until` of the next snapshots are; 0: none, and now.
	 * NULL: all snapshots are of a single moment. */
	void (*since)(void *ctx, unsigned since, unsigned until);
	/*
	 * Sets the moment that the next snapshots are of. 0, or -errno and a line in `msg`: then
	 * nothing changes. NULL: snapshots are always of now.
	 */
	int (*moment_show)(void *ctx, const struct moment *m, char *msg, size_t cap);
	/*
	 * A snapshot of the moment that was set, of the program as the last tick read it: nothing
	 * is read, and no tick is added to the past. One reference, ours. NULL: as it was. The
	 * pointer may be NULL: then a tick is taken.
	 */
	struct snapshot *(*moment_take)(void *ctx);
	/*
	 * What is kept of the past of the process on the screen, as of the last tick, whichever
	 * moment that was of. Valid until the next tick. NULL: nothing is kept.
	 */
	const struct timeline *(*timeline)(void *ctx);
	/*
	 * The recorded processes: returns the number of rows; *rows are valid until the next call;
	 * *more: further processes. NULL: there is no list.
	 */
	size_t (*processes)(void *ctx, const struct process_row **rows, size_t *more);
	/* Makes the next snapshot one of this process. 0, or -errno and a line in `msg`;
	 * -EINPROGRESS: a later snapshot is. */
	int (*process_show)(void *ctx, uint64_t id, char *msg, size_t cap);
	/*
	 * Follows the allocations at one call site of the newest snapshot, from now on, until
	 * events_stop: 0, or -errno and a line in `msg`. The program does not wait for us. `ready`
	 * returns true at new lines. NULL: no program runs that could be followed.
	 */
	int (*events_follow)(void *ctx, uint32_t site, char *msg, size_t cap);
	void (*events_stop)(void *ctx);
	/* What has come so far; valid until the next `ready` or tick. NULL: nothing is followed. */
	const struct event_lines *(*events)(void *ctx);
	/*
	 * The state of the program's leak scans. Its results are valid until the result after the
	 * next. NULL: there is no program to scan, and the tab says no_leaks.
	 */
	const struct leaks *(*leaks)(void *ctx);
	struct tui_missing no_leaks;
	/*
	 * Begins a scan: 0, or -errno and a line in `msg`. And cancels it. NULL, as are the
	 * following: nothing can be scanned, `leaks` has the results of a recording. `contents`:
	 * with zeros and copies in blocks, which takes a copy of the program.
	 */
	int (*leaks_scan)(void *ctx, bool contents, char *msg, size_t cap);
	void (*leaks_cancel)(void *ctx);
	/* Releases a program that is held at exit. False: it is not held. NULL: it never is. */
	bool (*leaks_release)(void *ctx);
	/* Scans automatically after each `ns`; 0: never. */
	void (*leaks_every)(void *ctx, uint64_t ns);
	/* Suppresses the leaks of a call site of snapshot `s`; `msg` gets a line that says how, or
	 * why not. */
	int (*leaks_suppress)(void *ctx, const struct snapshot *s, const struct leak_chosen *chosen,
		char *msg, size_t cap);
	/* Reads the program's memory: bytes read, or less than 1; -EAGAIN: they come from another
	 * machine, and `ready` says when they are there. May be NULL. */
	long (*bytes)(void *ctx, uint64_t addr, void *out, size_t bytes);
	/* Terminates the launched program (SIGTERM). NULL: we did not launch it. */
	void (*end)(void *ctx);
	/*
	 * Ends the recording of the program that is shown, which runs on, or of all that heaptop
	 * attached to; `msg` gets a line. 0 or -errno. NULL: there is no program. `keep`: a program
	 * that heaptop attached to stays recorded when the screen is left.
	 */
	int (*detach)(void *ctx, bool all, char *msg, size_t cap);
	void (*keep)(void *ctx);
	/* Monotonic ns; tests fix it. */
	uint64_t (*now_ns)(void *ctx);
	/* Writes the settings to their file; `msg` gets a line that says where, or why not. 0 or
	 * -errno. NULL: there is no such file. */
	int (*settings_save)(void *ctx, const struct settings *s, char *msg, size_t cap);
	/* Sets the user's naming rules. May be NULL. */
	void (*rules_set)(void *ctx, const struct settings *s);
	/* Are the ages of blocks needed in the next snapshots? May be NULL. */
	void (*ages)(void *ctx, bool wanted);
	/* The same for the threads that allocate at each site. May be NULL. */
	void (*shares)(void *ctx, bool wanted);
	/*
	 * The source file of a frame, or NULL while it is searched for (`ready` returns true when
	 * it is found). Valid until the next call or `ready`. source_forget: the files may have
	 * changed. NULL: no source is shown.
	 */
	const struct source_text *(*source_text)(void *ctx, const struct frame *f);
	void (*source_forget)(void *ctx);
	/* The naming rules as text, for the help screen. */
	const char *const *(*hide_rules)(void *ctx, size_t *count);
};

enum tui_color { TUI_COLOR_AUTO, TUI_COLOR_ALWAYS, TUI_COLOR_NEVER };

struct tui_options {
	const struct settings *settings; /* copied; NULL: the built-in ones */
	const char *trouble; /* a problem with their file, shown as the first message; or NULL */
	uint64_t delay_ns;
	unsigned frames; /* number of frames after which to stop; 0: never */
	enum column sort;
	bool reverse;
	enum tui_color color;
	bool ascii, no_mouse;
	bool tree; /* start in the call tree */
	const char *filter; /* show only what matches: src/model/filter.h; NULL: all */
	const struct ignored_rules *ignored; /* sites in one row: src/model/ignored.h; NULL: none */
	enum group_by group; /* initial grouping of the rows */
	enum name_style names;
	bool show_hidden; /* initial state of key H */
	const char *version;
	bool readonly; /* keys that change the program, write files or start commands are refused */
	/* We launched the program: `q` asks before it leaves a running one. */
	bool launched;
	/* heaptop attached to it: `q` asks before it detaches. */
	bool asks_to_detach;
	const char *greeting; /* the first message, unless there is trouble; or NULL */
};

/*
 * Takes the terminal and runs until the user quits, a hang-up, SIGTERM, SIGINT or `frames`;
 * restores the terminal on every path, a crash of ours included. Returns 0, -EIO if the terminal
 * went away, -ENOTTY if there is none, -EINTR on a signal (its number in *signal). SIGHUP is
 * ignored from then on, so that a second hang-up does not interrupt the clean-up after the first.
 */
int tui_run(const struct tui_source *source, const struct tui_options *options, int *signal);

#endif
