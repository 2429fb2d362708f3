/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a command line asks for, as plain data: struct options and its constants. src/run/options.h
 * fills it.
 */
#ifndef SRC_RUN_OPTION_TYPES_H
#define SRC_RUN_OPTION_TYPES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "src/model/columns.h"
#include "src/model/groups.h"
#include "src/model/ignored.h"
#include "src/model/value.h"
#include "src/run/condition.h"
#include "src/session/sampling_control.h"
#include "src/sym/sym_types.h"

#define OPTIONS_MOST	      128u /* options there may be */
#define OPTIONS_DEPTH_DEFAULT 128u
#define OPTIONS_DEPTH_MAX     1024u
#define OPTIONS_TOP_DEFAULT   20u
#define OPTIONS_HISTORY_BYTES (UINT64_C(32) << 20) /* hours of a server, minutes of a compiler */
#define OPTIONS_RECORD_BYTES  (UINT64_C(1) << 30) /* weeks of a server */
#define OPTIONS_RECORD_HOURLY (UINT64_C(60) << 20)

/* What to do. A command line gives exactly one. */
enum options_mode {
	OPTIONS_NONE, /* never seen by the caller */
	OPTIONS_RUN, /* `command`: start it and watch it */
	OPTIONS_ATTACH, /* -a, --tree PID, --wait: `pid`, or `attach` says how to find it */
	OPTIONS_DETACH, /* --detach: `attach.pids` */
	OPTIONS_READ, /* -r: `file` */
	OPTIONS_FAR, /* on another machine: `far` */
	OPTIONS_LIST,
	OPTIONS_CLEAN,
	OPTIONS_DIFF, /* --diff: `diff` */
	OPTIONS_MARK, /* --mark: `pid`, and a name in `mark_name` or NULL */
	OPTIONS_RECORD_SERVICE
};

/* Bit i: class i of enum snap_leak_class; then all blocks that are live at the end. */
#define OPTIONS_FAIL_DEFINITE 1u
#define OPTIONS_FAIL_INDIRECT 2u
#define OPTIONS_FAIL_POSSIBLE 4u
#define OPTIONS_FAIL_LEAKS    7u
#define OPTIONS_FAIL_UNFREED  8u
#define OPTIONS_FAIL_BADFREE  16u /* frees of no block */
#define OPTIONS_FAIL_MISMATCH 32u /* frees that do not fit the block */
#define OPTIONS_FAIL_WRONG    48u

#define OPTIONS_SUPPRESSIONS_MAX 16u
#define OPTIONS_SOURCE_PATHS_MAX 8u
#define OPTIONS_CONDITIONS_MAX	 16u
#define OPTIONS_PROFILES_MAX	 4u
#define OPTIONS_ROOTS_ALL	 63u /* = LEAK_ROOT_ALL; copied_constants.c asserts it */
#define OPTIONS_COPY_AUTO	 1u /* = LEAK_COPY_AUTO */
#define OPTIONS_HEURISTICS_ALL	 4094u /* the bits of enum leak_heuristic */

/* In the order of src/export/formats.h. */
enum options_format {
	OPTIONS_TEXT,
	OPTIONS_JSON,
	OPTIONS_JUNIT,
	OPTIONS_FOLDED,
	OPTIONS_PPROF,
	OPTIONS_SPEEDSCOPE,
	OPTIONS_CSV,
	OPTIONS_MASSIF,
	OPTIONS_DOT,
	OPTIONS_HTML,
	OPTIONS_PERFETTO,
	OPTIONS_FORMATS
};
enum options_color { OPTIONS_COLOR_AUTO, OPTIONS_COLOR_ALWAYS, OPTIONS_COLOR_NEVER };
enum options_follow {
	OPTIONS_FOLLOW_DEFAULT,
	OPTIONS_FOLLOW_YES,
	OPTIONS_FOLLOW_EXEC, /* children that exec a program */
	OPTIONS_FOLLOW_NO
};

struct core_target;

#define OPTIONS_PIDS_MAX  32u
#define OPTIONS_ATTACH_NS UINT64_C(30000000000)

/* Which processes -a means, and what becomes of them. */
struct options_attach {
	bool choose; /* -a alone: from a list of all */
	const char *name; /* -a NAME, --wait NAME; NULL: by `pids` */
	const char *text; /* the value of -a; NULL: it had none */
	bool wait; /* --wait: until there is one that begins after us */
	bool descendants; /* --tree PID: those of `pids[0]`, too */
	pid_t pids[OPTIONS_PIDS_MAX]; /* -a 12,15: the first is options.pid */
	unsigned count;
	uint64_t timeout_ns; /* to wait for a point where a process can be attached to */
	bool keep; /* leave it recorded */
};

#define OPTIONS_URL_MAX 512u

/* A program on another machine, and the side there. */
struct options_far {
	const char *url; /* ssh://HOST/PROCESS, unix:PATH, tcp://ADDRESS:PORT; or NULL */
	const char *via; /* a command that runs the agent elsewhere, or NULL */
	const char *agent; /* the agent's command there; NULL: "heaptop" */
	const char *token_file;
	bool no_fetch; /* take no object files from there */
	struct sym_elsewhere elsewhere; /* but its `objects` */
	const char *serve; /* "-", unix:PATH or ADDRESS:PORT; NULL: not the agent */
	bool steers; /* with `serve`: a desk may have it act on the program */
	bool steer; /* the desk: start such an agent */
	bool wait_client; /* the program starts when a desk is there */
	const char *user; /* to run it as, or NULL */
};

/* The files of one side of --diff. */
struct options_side {
	const char *file[DIFF_RUNS_MAX];
	unsigned count;
};

/* Strings point into argv. */
struct options {
	enum options_mode mode;
	char *const *command; /* argv of COMMAND, NULL-terminated */
	pid_t pid; /* 0: not known yet, see `attach` */
	struct options_attach attach;
	struct options_far far;
	const char *file;
	const char *account; /* -r CORE: the segment that the user names; NULL: none */
	struct core_target *core; /* `file` is a core file, and is open; NULL: it is none */
	struct options_side diff[2]; /* A and B */
	/* Output. With neither batch nor report: the screen. */
	bool batch;
	bool report; /* --report, or implied by --format, --fail-on or --leak-check */
	enum options_format format;
	bool format_given;
	bool value_given;
	enum snap_value
		value; /* what a diff is of, and stacks weigh in formats that have one weight */
	const char *output; /* NULL: the mode's default stream */
	unsigned top; /* sites in a text report, 0: all */
	uint64_t delay_ns;
	unsigned frames; /* 0: no limit */
	const char *mark_name;
	uint64_t mark_every_ns; /* 0: no automatic marks */
	enum column sort;
	bool reverse;
	enum group_by group; /* what the table's rows are */
	enum options_color color;
	bool ascii, no_mouse;
	bool tree; /* the screen starts in the call tree */
	bool all_processes; /* of the launch as one */
	bool no_config; /* the settings file is neither read nor written */
	uint64_t given[OPTIONS_MOST / 64]; /* bit i % 64 of word i / 64: the option of row i of
					     option_table (options_given) */
	const char *profile[OPTIONS_PROFILES_MAX]; /* names; nprofiles of them */
	unsigned nprofiles;
	bool readonly; /* the screen changes, writes and starts nothing */
	const char *script; /* keys for a screen without a terminal, or NULL */
	const char *source_paths[OPTIONS_SOURCE_PATHS_MAX]; /* lists separated by colons */
	unsigned nsource_paths;
	const char *filter; /* a valid filter (src/model/filter.h); NULL: all */
	struct ignored_rules ignored; /* valid ones */
	/* The past. */
	bool unseen; /* nobody looks at call sites before the end */
	uint64_t history_limit; /* bytes that each process's history may take; 0: no history */
	const char *record; /* file to record to, or NULL */
	uint64_t record_limit; /* its bytes; 0: no limit */
	bool record_limit_given;
	uint64_t record_rate; /* bytes an hour that it may grow; 0: no bound */
	bool record_rate_given;
	bool headless; /* neither screen nor text: only a recording */
	const char *at; /* a valid moment (at_time.h); NULL: now */
	bool show_hidden;
	bool full_names;
	enum name_style names; /* from full_names, or from the settings */
	/* Recording and naming. */
	unsigned depth;
	enum options_follow follow;
	struct sampling_request sample;
	const char *library; /* --library, or NULL */
	bool debuginfod;
	unsigned fail_on; /* classes of blocks, OPTIONS_FAIL_* */
	struct condition conditions[OPTIONS_CONDITIONS_MAX]; /* limits of --fail-on */
	unsigned nconditions;
	unsigned failures; /* classes that JUnit reports as failures: fail_on, or definite leaks */
	bool leak_check; /* --leak-check, or implied by --fail-on */
	uint64_t leak_every_ns; /* interval of repeated scans; 0: one scan */
	unsigned leak_roots; /* enum leak_root */
	unsigned leak_heuristics; /* bit i for enum leak_heuristic i */
	unsigned leak_copying; /* enum leak_copying */
	bool faults; /* count page faults by call site */
	bool free_stacks; /* frees take their stacks */
	bool client_requests; /* those of Valgrind are searched for */
	const char *allocators; /* a file of rules, or "none"; NULL: not given */
	const char *suppressions[OPTIONS_SUPPRESSIONS_MAX]; /* files; nsuppressions of them */
	unsigned nsuppressions;
	bool no_exit_scan; /* the screen does not scan the program at its end */
	bool hold; /* after that scan the program stays until a key */
	bool gen_suppressions; /* write a suppression after each leak */
	unsigned trace_site; /* of --trace */
	bool trace; /* --trace: a line for each allocation at trace_site */
	const char *event_format; /* mtrace, heaptrack: --format of recorded events; or NULL */
	bool sizes; /* --sizes: the sizes of the blocks of sizes_site */
	unsigned sizes_site;
	const char *save; /* file of --save, or NULL */
	const char *record_events; /* file of --record-events, or NULL */
	bool lossless; /* the program waits rather than lose an event */
};

#endif
