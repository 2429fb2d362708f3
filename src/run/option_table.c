/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of options (option_table.h). */
#include "src/run/option_table.h"

#include <limits.h>
#include <stdio.h>
#include "src/run/option_attach.h"
#include "src/run/option_values.h"

enum long_key {
	KEY_CLEAN = 256,
	KEY_REPORT,
	KEY_FORMAT,
	KEY_VALUE,
	KEY_TOP,
	KEY_GROUP,
	KEY_FAIL_ON,
	KEY_IGNORE,
	KEY_ONLY,
	KEY_GEN_SUPPRESSIONS,
	KEY_SAMPLE,
	KEY_MAX_OVERHEAD,
	KEY_FOLLOW,
	KEY_NO_FOLLOW,
	KEY_NO_FOLLOW_FORK,
	KEY_SHOW_HIDDEN,
	KEY_FULL_NAMES,
	KEY_LIBRARY,
	KEY_DEBUGINFOD,
	KEY_LEAK_CHECK,
	KEY_LEAK_ROOTS,
	KEY_LEAK_HEURISTICS,
	KEY_LEAK_COPY,
	KEY_NO_EXIT_SCAN,
	KEY_HOLD,
	KEY_SUPPRESSIONS,
	KEY_ALLOCATORS,
	KEY_READONLY,
	KEY_NO_CONFIG,
	KEY_SCRIPT,
	KEY_SOURCE_PATH,
	KEY_MARK,
	KEY_MARK_EVERY,
	KEY_HISTORY,
	KEY_AT,
	KEY_DIFF,
	KEY_RECORD,
	KEY_RECORD_LIMIT,
	KEY_RECORD_RATE,
	KEY_HEADLESS,
	KEY_RECORD_SERVICE,
	KEY_RECORD_EVENTS,
	KEY_LOSSLESS,
	KEY_TRACE,
	KEY_WAIT,
	KEY_ATTACH_TIMEOUT,
	KEY_KEEP,
	KEY_DETACH
};

#define FLAG(field) NULL, offsetof(struct options, field)

/* clang-format off */
const struct option_row option_table[OPTION_TABLE_MAX + 1] = {
	{ 'a', "attach", "PID", option_attach_process, 0,
		"watch running processes: PID,PID or a NAME" },
	{ KEY_WAIT, "wait", "NAME", option_attach_wait, 0, "wait until a program of that NAME starts" },
	{ KEY_ATTACH_TIMEOUT, "attach-timeout", "SECS", option_attach_timeout, 0,
		"wait SECS at most for a safe point (default 30)" },
	{ KEY_KEEP, "keep", NULL, FLAG(attach.keep), "with -a: leave the process recorded" },
	{ KEY_DETACH, "detach", "PID", option_attach_detach, 0, "end the recording of a running process" },
	{ 'r', "read", "FILE", option_values_read, 0, "read a recording, report or segment left behind" },
	{ KEY_DIFF, "diff", "FILE", option_values_diff, 0,
		"compare two runs: A B, or A1 A2... -- B1 B2..." },
	{ 'l', "list", NULL, option_values_list, 0, "list recorded processes and what dead ones left" },
	{ KEY_CLEAN, "clean", NULL, option_values_clean, 0, "remove what dead programs left behind" },
	{ KEY_MARK, "mark", "PID", option_values_mark, 0, "mark this moment in a process; a NAME may follow" },
	{ KEY_RECORD, "record", "FILE", option_values_record, 0,
		"write what is seen to FILE, for -r" },
	{ KEY_RECORD_LIMIT, "record-limit", "SIZE", option_values_record_limit, 0,
		"thin older parts of FILE beyond SIZE (default 1G)" },
	{ KEY_RECORD_RATE, "record-rate", "SIZE", option_values_record_rate, 0,
		"let it grow by at most SIZE an hour (default 60M)" },
	{ KEY_HEADLESS, "headless", NULL, FLAG(headless), "with --record: no screen, no text" },
	{ KEY_RECORD_SERVICE, "record-service", NULL, option_values_record_service, 0,
		"record every process that has HEAPTOP_RECORD set" },
	{ KEY_RECORD_EVENTS, "record-events", "FILE", option_values_record_events, 0,
		"record every allocation and free into FILE" },
	{ KEY_TRACE, "trace", "N", option_values_trace, 0,
		"with -a: a line for each allocation at call site N" },
	{ KEY_LOSSLESS, "lossless", NULL, FLAG(lossless),
		"with it, let COMMAND wait rather than lose events" },
	{ KEY_AT, "at", "TIME", option_values_at, 0,
		"report or show that moment: 12.5s, 50%, peak, A..B" },
	{ KEY_HISTORY, "history", "SIZE", option_values_history, 0,
		"memory for the past (default 32M, 0: none)" },
	{ KEY_MARK_EVERY, "mark-every", "SECS", option_values_mark_every, 0,
		"mark a moment every SECS, to compare later" },
	{ 'd', "delay", "SECS", option_values_delay, 0, "refresh every SECS, 0.1-60 (or \"500ms\"; default 1)" },
	{ 'n', "frames", "N", option_values_frames, 0, "stop after N frames" },
	{ 'b', "batch", NULL, FLAG(batch), "write text frames instead of drawing a screen" },
	{ 's', "sort", "COLUMN", option_values_sort, 0, "sort by COLUMN (\"-s help\" lists them)" },
	{ 'F', "filter", "EXPR", option_values_filter, 0, "only call sites that match (live>1M, !word, /re/)" },
	{ KEY_IGNORE, "ignore", "EXPR", option_values_ignore, 0,
		"one row for call sites with a matching frame" },
	{ KEY_ONLY, "only", "EXPR", option_values_only, 0, "one row for those without a matching frame" },
	{ KEY_GROUP, "group", "BY", option_values_group, 0,
		"sum up by caller, function, file, module, thread" },
	{ 't', "tree", NULL, FLAG(tree),
		"start in the call tree; --tree PID: attach to all" },
	{ KEY_READONLY, "readonly", NULL, FLAG(readonly),
		"refuse keys that steer, write or start anything" },
	{ KEY_SOURCE_PATH, "source-path", "DIRS", option_values_source_path, 0,
		"search DIR[:DIR...] for source files too" },
	{ KEY_SCRIPT, "script", "FILE", option_values_script, 0, "a screen without a terminal, keys from FILE" },
	{ KEY_NO_CONFIG, "no-config", NULL, FLAG(no_config),
		"do not read the settings file" },
	{ KEY_REPORT, "report", NULL, FLAG(report), "no screen: when COMMAND ends, write the report" },
	{ KEY_FORMAT, "format", "FMT", option_values_format, 0, "format of the report (\"help\" lists them)" },
	{ KEY_VALUE, "value", "VALUE", option_values_value, 0,
		"what stacks weigh or a diff is of: live, peak, ..." },
	{ 'o', "output", "FILE", option_values_output, 0, "write frames or report to FILE" },
	{ KEY_TOP, "top", "N", option_values_top, 0, "call sites in a text report (default 20, 0 = all)" },
	{ KEY_FAIL_ON, "fail-on", "CLASS", option_values_fail_on, 0,
		"exit 1 on leaks, wrong frees, or 'peak>64M'" },
	{ KEY_LEAK_CHECK, "leak-check", "[=EVERY]", option_values_leak_check, 0,
		"scan for leaks and report them (or every:30s)" },
	{ KEY_LEAK_ROOTS, "leak-roots", "KINDS", option_values_leak_roots, 0,
		"roots of a leak scan (registers, ...; default all)" },
	{ KEY_LEAK_HEURISTICS, "leak-heuristics", "RULES", option_values_leak_heuristics, 0,
		"interior pointers that count (default all)" },
	{ KEY_LEAK_COPY, "leak-copy", "WHEN", option_values_leak_copy, 0,
		"scan a copy-on-write copy: auto, always or never" },
	{ KEY_NO_EXIT_SCAN, "no-exit-scan", NULL, FLAG(no_exit_scan),
		"no leak scan when COMMAND ends on the screen" },
	{ KEY_HOLD, "hold", NULL, FLAG(hold), "after that scan, keep COMMAND until E is pressed" },
	{ KEY_SUPPRESSIONS, "suppressions", "FILE", option_values_suppressions, 0,
		"do not report these leaks (valgrind, LSan)" },
	{ KEY_GEN_SUPPRESSIONS, "gen-suppressions", NULL, FLAG(gen_suppressions),
		"write a suppression after each leak" },
	{ 'D', "depth", "N", option_values_depth, 0, "frames kept per call stack (default 128, max 1024)" },
	{ KEY_SAMPLE, "sample", "BYTES", option_values_sample, 0,
		"record one block in BYTES: 512K, 1M, exact, auto" },
	{ KEY_MAX_OVERHEAD, "max-overhead", "PCT", option_values_max_overhead, 0,
		"sample so that recording costs at most PCT (5%)" },
	{ KEY_ALLOCATORS, "allocators", "FILE", option_values_allocators, 0,
		"record the functions that FILE describes (or none)" },
	{ KEY_FOLLOW, "follow", NULL, option_values_follow, 0, "record the children of COMMAND too (default)" },
	{ KEY_NO_FOLLOW, "no-follow", NULL, option_values_no_follow, 0, "record COMMAND alone" },
	{ KEY_NO_FOLLOW_FORK, "no-follow-fork", NULL, option_values_no_follow_fork, 0,
		"record only those children that call exec" },
	{ KEY_LIBRARY, "library", "PATH", option_values_library, 0, "preload this libheaptop.so" },
	{ KEY_SHOW_HIDDEN, "show-hidden", NULL, FLAG(show_hidden),
		"name call sites by their innermost frame" },
	{ KEY_FULL_NAMES, "full-names", NULL, FLAG(full_names), "do not shorten function names" },
	{ KEY_DEBUGINFOD, "debuginfod", NULL, FLAG(debuginfod), "query debuginfod servers" },
	{ 'C', "color", "WHEN", option_values_color, 0, "use colors: auto, always or never" },
	{ 'U', "ascii", NULL, FLAG(ascii), "draw with ASCII only" },
	{ 'M', "no-mouse", NULL, FLAG(no_mouse), "leave the mouse to the terminal" },
	{ 'V', "version", NULL, NULL, 0, "print the version" },
	{ 'h', "help", NULL, NULL, 0, "print this" },
};
/* clang-format on */

const struct option_row *option_table_find(int key)
{
	for (size_t i = 0; option_table[i].name; i++)
		if (option_table[i].key == key)
			return &option_table[i];
	return NULL;
}

void option_table_spell(const struct option_row *r, char *out, size_t cap)
{
	if (r->key <= UCHAR_MAX)
		snprintf(out, cap, "-%c", r->key);
	else
		snprintf(out, cap, "--%s", r->name);
}
