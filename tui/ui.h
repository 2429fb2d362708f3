/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state of the screen, that of each view included, and what all views ask of it. Snapshots come
 * into it by refresh.h, keys and clicks by screen.h. Main thread.
 */
#ifndef TUI_UI_H
#define TUI_UI_H

#include <limits.h>
#include "src/model/groups.h"
#include "src/model/kinds.h"
#include "src/model/map.h"
#include "src/model/module_rows.h"
#include "src/model/strip.h"
#include "src/model/tree_rows.h"
#include "src/model/twins.h"
#include "src/util/strbuf.h"
#include "tui/layout.h"
#include "tui/list.h"
#include "tui/prompt.h"
#include "tui/table.h"
#include "tui/tui.h"
#include "tui/view.h"

#define UI_MESSAGE_MAX 512
#define UI_STACK_MAX   6 /* views opened from one another: table, why, detail, events, help */

/*
 * The site table. Rows are indices into ui->listed->sites; the selection is a site id. While a
 * filter or a group hides the chosen site, the cursor is on a row nearby; it returns with the site,
 * unless the user has moved it meanwhile.
 */
struct sites_state {
	struct list list;
	uint32_t *order; /* owned, `capacity` entries, list.count used */
	uint32_t *ids; /* owned: ids of the rows drawn last, whose order `o` holds */
	size_t capacity, drawn;
	uint32_t selected; /* site id: under the cursor */
	uint32_t chosen; /* the site that the user chose, which may be hidden now */
	bool has_selected, has_chosen;
	struct twins twins; /* of the visible rows and some around them */
	unsigned scroll; /* columns that are scrolled out, */
	unsigned shift; /* and cells of names */
};

#define TREE_ZOOMS 32 /* nested zooms */

/* What the rows of the site table are. */
struct group_state {
	enum group_by by;
	bool is_inside; /* the sites of one group are shown: that of site `inside` */
	uint32_t inside;
	struct groups groups;
};

struct tree_state {
	struct list list;
	/* Of live bytes and of changes (tree_table.h), each top-down and inverted; made when it is
	 * first shown. */
	struct tree tree[2][2];
	struct tree_rows rows;
	bool inverted;
	struct table_order order, changes_order;
	uint64_t selected; /* id of a node */
	bool has_selected, selected_small; /* small: it is the line of the node's small children */
	uint64_t chosen; /* as in the site table */
	bool has_chosen, chosen_small;
	unsigned least_permille;
	enum snap_value value; /* that its totals are sums of */
	uint64_t zoom[TREE_ZOOMS]; /* ids of roots, the innermost last */
	unsigned zooms;
};

#define DETAIL_SIBLINGS 8 /* sites that are listed */

struct detail_state {
	struct list list;
	uint32_t site;
	struct snap_detail histograms;
	bool has_histograms;
	unsigned shift;
	struct detail_frame {
		bool chosen; /* false: the one that names the site */
		uint64_t pc;
		uint32_t nth, above; /* of those with this pc; inlined there, from the outermost */
	} frame;
	bool on_frame; /* the cursor is on its line */
	struct detail_siblings {
		bool has_caller;
		unsigned kept;
		uint32_t count; /* of all siblings */
		uint64_t bytes;
		uint32_t site[DETAIL_SIBLINGS]; /* most live bytes first */
		uint64_t live[DETAIL_SIBLINGS];
	} siblings;
};

struct sizes_state {
	struct list list;
	struct snap_detail site; /* of the site that is selected in the table */
	bool has_site;
	size_t program_lines;
	struct snap_size at_peak[SNAP_SIZE_BUCKETS]; /* of the program, estimated */
};

struct threads_state {
	struct list list;
	struct table_order order, range_order, diff_order;
	uint32_t *row; /* owned: indices into ui->shown->threads, `capacity` of them */
	uint32_t *drawn; /* owned: the slots drawn last, whose order `o` holds */
	size_t capacity, drawn_count;
	uint32_t selected; /* slot */
	bool has_selected;
};

struct modules_state {
	struct list list;
	struct module_rows objects; /* in the order of the rows */
	struct table_order order, changes_order; /* changes: since a mark, in a range, of a diff */
	uint64_t *ids; /* owned: ids of the rows drawn last, whose order `o` holds */
	size_t drawn;
	uint64_t selected, chosen; /* id of an object; as in the site table */
	bool has_selected, has_chosen;
};

/*
 * In sort order. Suspects by age exist only if no scan was possible. Suspects and growing sites are
 * not leaks.
 */
enum leaks_kind {
	KIND_DEFINITE,
	KIND_INDIRECT,
	KIND_POSSIBLE,
	KIND_SUSPECT,
	KIND_GROWING,
	KIND_REACHABLE,
	KIND_COUNT
};

struct leaks_row {
	enum leaks_kind kind;
	/* The result of the last scan; for a growing site, its reachable blocks. NULL: none. */
	const struct snap_leak_site *leak;
	const struct snap_site *site; /* NULL: not known yet */
	/* By heads: the blocks that no cycle has, or else those of this one, whatever their site.
	 */
	bool is_head;
	const struct snap_cycle *cycle; /* `leak` is of one of its sites */
};

struct leaks_state {
	struct list list;
	struct table_order order;
	const struct snap_leaks *last; /* the source's */
	unsigned version; /* of it */
	struct leaks_row *row; /* owned, `capacity` of them */
	size_t capacity;
	uint32_t selected; /* call site, */
	unsigned selected_nth; /* and which of its rows */
	bool has_selected;
	bool is_gone; /* the row is gone, while Why shows it */
	unsigned end_version; /* of the last exit scan that a message reported, */
	uint64_t end_ns; /* and when it was made */
	unsigned choice; /* which kinds are shown */
	size_t suspects; /* call sites that are suspected by age */
	size_t growing; /* call sites that grow and are not suppressed, */
	double growing_bytes_per_s; /* and how fast all of them do */
	bool contents; /* of blocks are shown */
	struct twins twins; /* of the rows on the screen */
	struct leak_explanation *explanation; /* owned; of the selected row */
	struct list explanation_list;
};

struct map_state {
	struct list list; /* lines of cells */
	struct map *map; /* one reference, or NULL */
	size_t row; /* of the map */
	uint64_t row_id;
	bool has_row;
	uint64_t cursor; /* address */
	size_t part; /* the row's span that was selected last */
	size_t zoom; /* pages per cell; 0: the whole row fits */
};

struct marks_state {
	struct list list;
	unsigned selected; /* number of a mark; 0: now */
	unsigned naming; /* the one that the prompt asks a name for, */
	const void *naming_of; /* and whose it is (snapshot.owner) */
};

struct frees_state {
	struct list list;
	struct frees_row {
		enum snap_wrong_kind kind;
		uint32_t site, alloc_site;
	} open, selected; /* the one that has its stacks listed; the one under the cursor, */
	size_t below; /* and which of its lines: 0 is the row */
	bool has_open, has_selected;
};

#define HOLDER_PATH_SITES 16
#define HOLDER_OPENS	  128 /* lines that stay open */

/* Where a line of Holders is: its root, and the call sites from there to it. */
struct holder_path {
	char root[120];
	uint32_t site[HOLDER_PATH_SITES];
	uint32_t depth;
};

struct holders_state {
	struct list list;
	uint32_t *row; /* owned: of each line, its index in the result */
	unsigned version; /* of the result */
	struct holder_path open[HOLDER_OPENS]; /* the oldest first, */
	unsigned opens; /* so many */
	struct holder_path selected; /* of the line under the cursor, */
	size_t selected_nth; /* and which of the lines with that path */
	bool has_selected;
};

struct contents_state {
	struct list list;
	uint32_t *row; /* owned: of each line, its index in the result */
	unsigned version; /* of the result */
	uint32_t selected; /* site id: under the cursor */
	bool has_selected;
};

struct events_state {
	struct list list;
	struct event_line *copy; /* owned: the lines of `held`; NULL: the list follows the end */
	struct event_lines held;
};

struct output_state {
	struct list list;
	bool follow; /* the list follows the end */
	uint64_t dropped; /* lines that are no longer kept, when the list was made */
	unsigned shift;
	int rows, cols; /* the size that the program got last */
	bool typing; /* the program has the keyboard, while the view is in front */
	bool just_back; /* the last key took it back */
	bool has_cursor; /* of its terminal: */
	size_t cursor_line;
	unsigned cursor_cell;
};

#define UI_SELECTIONS 16 /* processes that have a saved selection */

#define PROCESS_FOLDS 64 /* processes whose children are folded away */

struct processes_state {
	struct list list; /* of lines */
	const struct process_row *row; /* the source's */
	size_t count, more;
	struct process_line line[PROCESSES_MAX];
	struct table_order order;
	uint64_t folded[PROCESS_FOLDS]; /* ids; the oldest is replaced */
	unsigned folds; /* so many, so far */
	bool no_ended; /* those that ended are left out */
	bool loaded;
	unsigned loaded_tick;
	uint64_t selected; /* id of a process */
	bool has_selected;
	bool chosen; /* a key has just chosen what to show: another image is no exec */
	struct process_selection {
		pid_t pid;
		uint64_t start_ns; /* of the image */
		struct list list;
		uint32_t site;
		uint64_t node;
		bool has_site, has_node;
	} saved[UI_SELECTIONS];
	unsigned saves; /* so far: the oldest entry is overwritten */
};

struct help_state {
	struct list list;
	char **line; /* owned; made when the view opens, for screens of this width */
	size_t count;
	int width;
};

enum setup_kind { SETUP_HEAD, SETUP_CHOICE, SETUP_COLUMN, SETUP_RULE, SETUP_ADD, SETUP_BUILT_IN };

#define TRAIL_PLACES 8

/* The way one came (trail.h). */
struct trail {
	unsigned count;
	struct trail_place {
		enum view_id tab; /* where the key led to */
		unsigned to_depth;
		enum view_id stack[UI_STACK_MAX];
		unsigned depth;
		struct {
			struct list list;
			uint32_t selected, chosen;
			bool has_selected, has_chosen;
		} sites;
		enum group_by by;
		bool is_inside;
		uint32_t inside;
		char filter[FILTER_TEXT_MAX]; /* there, */
		char arrived[FILTER_TEXT_MAX]; /* and where the key led to */
		struct list tree_list;
		uint64_t node;
		bool has_node;
		struct list leaks_list;
		uint32_t leak;
		unsigned leak_nth;
		bool has_leak;
		struct list detail_list;
		uint32_t detail;
		struct detail_frame frame;
		bool on_frame;
	} place[TRAIL_PLACES];
};

struct setup_line {
	enum setup_kind kind;
	unsigned index, of; /* which of its kind, of which table */
};

/*
 * The moment on the screen (moments.h). What the rows show is snapshot.moment; this is what was
 * requested.
 */
struct moments_state {
	struct moment shown, before; /* before: where key P returns to */
	bool has_start; /* one end of a range is set: */
	uint64_t jump_ns; /* where key J led to last, */
	unsigned jumps; /* and to how many rises in a row; 0: none */
	uint64_t start_ns, cursor_ns; /* it, and the cursor, which may be the earlier of the two */
	/* Home and End move the cursor while the last key did. */
	bool active, was_active;
	bool dragging; /* with the mouse button held */
	bool sorted; /* by the growth in the range; the order before: */
	enum column sort;
	bool reverse;
	/* The sum of the sites' `since`, for this snapshot. */
	const struct snapshot *summed;
	struct snap_since sum;
	/* The timeline as it is drawn (time_strip.h), of this tick and image. */
	struct strip strip;
	int strip_x; /* on the screen */
	unsigned strip_cells, strip_tick;
	size_t strip_points;
	const void *strip_owner;
};

#define SETUP_LINES 256

struct setup_state {
	struct list list;
	struct setup_line line[SETUP_LINES];
	unsigned count;
};

struct ui {
	const struct tui_source *source;
	struct tui_options options;
	/* Data: the header draws `current`, the rows draw `shown`; each holds one reference. */
	struct snapshot *current, *shown;
	/* `shown`, or the part of it that the filter passes. */
	const struct snapshot *rows;
	struct snapshot matching;
	struct snap_site *matching_sites; /* owned */
	size_t matching_capacity;
	const struct snapshot *listed; /* the rows of the site table: `rows`, or groups of them */
	const char *error; /* of the last tick, or NULL */
	size_t growing; /* sites of `current` that grow */
	uint32_t grower; /* the one that the keys { and } led to last; 0: none */
	unsigned ticks;
	/* What the user chose. */
	struct settings settings; /* updated by settings_sync_collect */
	uint64_t columns_off; /* of the sites' table: bit i is column i */
	struct layout_look look; /* of its columns */
	enum column sort;
	enum column_set set; /* of the columns of Sites */
	bool reverse, show_hidden, header_off;
	enum name_style names;
	bool hold; /* the order of the rows is held */
	struct filter *filter; /* owned, or NULL */
	struct filter *find; /* the last search; owned, or NULL */
	size_t found; /* the line it was found in */
	enum kinds kinds; /* of memory that are shown, where a snapshot has them */
	bool frozen; /* the rows are frozen */
	uint64_t frozen_ns;
	unsigned waiting; /* snapshots that arrived since */
	/* The view in front, and what is open around it. */
	enum view_id stack[UI_STACK_MAX];
	unsigned depth; /* views on the stack, at least 1 */
	struct trail trail;
	struct layout layout;
	int made_width, made_height; /* of the body that the view in front was updated for */
	struct prompt prompt;
	char message[UI_MESSAGE_MAX];
	uint64_t message_ns;
	int pending; /* first key of a pair (g g), or 0 */
	/* Questions that the message asks (ui_message_end): */
	bool leaving; /* the next `q` quits */
	bool detaching; /* the next `D` detaches */
	/* Requests to the loop. */
	bool quit, suspend, repaint, delay_changed;
	bool had_ages, had_threads; /* the last snapshot was requested with them */
	char edit_path[PATH_MAX]; /* to open in the editor, at edit_line, unless that is 0 */
	uint32_t edit_line;
	struct strbuf clipboard; /* to send to the terminal unchanged, unless it is empty */
	/* What the loop knows about the terminal. */
	bool has_terminal; /* one that an editor can use */
	const char *editor; /* a shell command; NULL: none is set */
	struct twins twins; /* of the call sites that a view lists (site_twins.h) */
	/* The views' own. */
	struct sites_state sites;
	struct group_state group;
	struct tree_state tree;
	struct sizes_state sizes;
	struct modules_state modules;
	struct leaks_state leaks;
	struct map_state map;
	struct threads_state threads;
	struct marks_state marks;
	struct frees_state frees;
	struct holders_state holders;
	struct contents_state contents;
	struct ignored *ignored; /* owned, or NULL */
	struct moments_state moments;
	struct detail_state detail;
	struct events_state events;
	struct output_state output;
	struct help_state help;
	struct setup_state setup;
	struct processes_state processes;
};

/* The view in front. */
const struct view *ui_view(const struct ui *ui);
/* Why a tab has nothing to show here, or NULL: it has. */
const struct tui_missing *ui_missing(const struct ui *ui, enum view_id tab);
/* The same of the view in front. */
const struct tui_missing *ui_front_missing(const struct ui *ui);
/* One line for the user, in the message line until the next key or some seconds have passed. */
void ui_message(struct ui *ui, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Ends the message, and the question that it asks: from now on no key answers it. Another message
 * does the same. */
void ui_message_end(struct ui *ui);
/* Moves the list of the view in front. */
void ui_move(struct ui *ui, enum list_motion motion);
/* Opens a view on top of the one in front, or goes back from it. It does not open if as many as
 * possible are open, which a message says; ui_can_push says so beforehand. */
bool ui_can_push(struct ui *ui, enum view_id id);
bool ui_push(struct ui *ui, enum view_id id);
bool ui_pop(struct ui *ui);
/* Are the rows frozen at an image that the program has left by exec? Its scans and events are
 * those of the new one, whose sites have the same ids. */
bool ui_is_replaced(const struct ui *ui);
/* Closes the views of these scopes, also those below others, which stay open. */
void ui_remove(struct ui *ui, unsigned scopes);
/* Puts views in front as they were, without opening them anew. */
void ui_return(struct ui *ui, const enum view_id *stack, unsigned depth);
/* Puts a tab in front and closes what is on top of it. */
void ui_tab(struct ui *ui, enum view_id id);
/* Gives the rows of the screen their places, by its size and the view in front. */
void ui_layout(struct ui *ui);
/* The site of this id in ui->shown, also if the filter hides it; or NULL. */
const struct snap_site *ui_site(const struct ui *ui, uint32_t id);
/* The same of any kind of memory, shown or not. */
const struct snap_site *ui_any_site(const struct ui *ui, uint32_t id);
bool ui_program_runs(const struct ui *ui);
/* The newest snapshot of now, whichever moment is shown; NULL: none yet. */
const struct snapshot *ui_newest(const struct ui *ui);
/* The moment that the rows are of. */
enum snap_moment ui_moment(const struct ui *ui);
/* What is kept of the past or recorded, as of the last tick; NULL: nothing. Valid until the next
 * tick. And the same if any moment of it can be shown. */
const struct timeline *ui_recording(const struct ui *ui);
const struct timeline *ui_timeline(const struct ui *ui);
/* Do the rows have the changes since a mark, or in a range? */
bool ui_counts_since(const struct ui *ui);
/* Do the rows hold estimates? */
bool ui_is_sampled(const struct ui *ui);
uint64_t ui_now_ns(const struct ui *ui);
/* What decides which columns the site table has. */
struct layout_kind ui_kind(const struct ui *ui);
/* How names are written now. */
struct row_style ui_style(const struct ui *ui);

#endif
