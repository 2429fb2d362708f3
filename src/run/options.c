/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command line as one table: each row is an option with its argument, its help line and the
 * function that takes its value. getopt_long's two lists and the text of --help are made from it.
 * Called by main, on the main thread, before anything else runs. Long because the table and the
 * functions that its rows name belong together.
 */
#include "src/run/options.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "src/model/filter.h"
#include "src/model/leaks.h"
#include "src/util/text.h"
#include "src/util/units.h"

#define DELAY_DEFAULT_NS                                                                           \
	UINT64_C(1000000000) /* what eyes follow, and what nvtop and iotop took                    \
			      */
#define DELAY_MIN_NS UINT64_C(100000000) /* faster is unreadable and only costs */
#define DELAY_MAX_NS UINT64_C(60000000000)
#define HELP_INDENT  24 /* fits the longest option with its argument */
#define VALUE_MAX    64 /* bytes of a bad value that a message repeats */
#define WHY_MAX	     FILTER_WHY_MAX

/* Where a set function says what it wanted. */
struct why {
	char text[WHY_MAX];
};

typedef int set_fn(struct options *o, const char *value, struct why *why);

struct row {
	int key; /* short letter, or a number above 255 for a long name alone */
	const char *name;
	const char *arg; /* NULL: takes none; "[=...]": may have one */
	set_fn *set; /* takes the value: 0, or -EINVAL with `why` filled */
	size_t flag; /* instead of set: where in struct options a bool becomes true */
	const char *help; /* NULL: known, but not built in yet */
};

static int why_set(struct why *why, const char *text)
{
	snprintf(why->text, sizeof(why->text), "%s", text);
	return -EINVAL;
}

/* A whole decimal number in [min, max] and nothing else. */
static int number_read(
	const char *value, unsigned min, unsigned max, unsigned *out, struct why *why)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || n < min || n > max) {
		snprintf(why->text, sizeof(why->text), "must be a number from %u to %u", min, max);
		return -EINVAL;
	}
	*out = (unsigned)n;
	return 0;
}

/* ---- values that are words ---------------------------------------------------------------- */

static const char *const group_words[] = { "stack", "caller", "function", "file", "module",
	"thread", NULL }; /* as in the enum, and so those of format, color and copying */
static const char *const format_words[] = { "text", "json", "junit", NULL };
static const char *const class_words[] = { "definite", "indirect", "possible", "unfreed", NULL };
static const char *const color_words[] = { "auto", "always", "never", NULL };
static const char *const copy_words[] = { "never", "auto", "always", NULL };
static const char *const root_words[] = { "registers", "vectors", "stacks", "globals", "maps",
	"tls", NULL };
static const char *const heuristic_words[] = { "none", "stdstring", "length64", "newarray",
	"multipleinheritance", "header", "sds", "backlink", "loader", "gobject", "slab", "marked",
	"memcheck", "all", NULL };

/* All options whose values are words: from here come their messages, what they say to "help", and
 * so what shells offer. */
static const struct words {
	const char *option;
	const char *const *words;
} word_table[] = {
	{ "group", group_words },
	{ "format", format_words },
	{ "fail-on", class_words },
	{ "color", color_words },
	{ "leak-copy", copy_words },
	{ "leak-roots", root_words },
	{ "leak-heuristics", heuristic_words },
};
#define WORD_TABLE (sizeof(word_table) / sizeof(word_table[0]))

static const struct words *words_of(const char *option)
{
	for (size_t i = 0; i < WORD_TABLE; i++)
		if (!strcmp(word_table[i].option, option))
			return &word_table[i];
	return NULL;
}

/* "must be a, b or c". */
static int why_words(struct why *why, const char *const *words, bool several)
{
	size_t used = (size_t)snprintf(
		why->text, sizeof(why->text), "must be %s", several ? "some of " : "");

	for (size_t i = 0; words[i] && used < sizeof(why->text); i++)
		used += (size_t)snprintf(why->text + used, sizeof(why->text) - used, "%s%s",
			i == 0	       ? ""
			: several      ? ","
			: words[i + 1] ? ", "
				       : " or ",
			words[i]);
	return -EINVAL;
}

/* The index of `value` in a NULL-terminated list, or -1. */
static int word_find(const char *value, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(value, words[i]))
			return i;
	return -1;
}

static int mode_set(struct options *o, enum options_mode mode, struct why *why)
{
	if (o->mode != OPTIONS_NONE && o->mode != mode)
		return why_set(
			why, "only one of COMMAND, -a, -r, -l, --clean and --mark can be given");
	o->mode = mode;
	return 0;
}

static int pid_set(struct options *o, enum options_mode mode, const char *value, struct why *why)
{
	unsigned pid;
	int err = number_read(value, 1, INT_MAX, &pid, why);

	if (err)
		return why_set(why, "must be the number of a process");
	o->pid = (pid_t)pid;
	return mode_set(o, mode, why);
}

static int set_attach(struct options *o, const char *value, struct why *why)
{
	return pid_set(o, OPTIONS_ATTACH, value, why);
}

static int set_mark(struct options *o, const char *value, struct why *why)
{
	return pid_set(o, OPTIONS_MARK, value, why);
}

static int set_mark_every(struct options *o, const char *value, struct why *why)
{
	if (units_parse_duration(value, &o->mark_every_ns) || o->mark_every_ns < DELAY_MIN_NS)
		return why_set(why, "must be a time, 0.1 s or more (\"90s\", \"5m\")");
	return 0;
}

static int set_read(struct options *o, const char *value, struct why *why)
{
	o->file = value;
	return mode_set(o, OPTIONS_READ, why);
}

static int set_list(struct options *o, const char *value, struct why *why)
{
	return mode_set(o, OPTIONS_LIST, why);
}

static int set_clean(struct options *o, const char *value, struct why *why)
{
	return mode_set(o, OPTIONS_CLEAN, why);
}

static int set_delay(struct options *o, const char *value, struct why *why)
{
	uint64_t ns;

	if (units_parse_duration(value, &ns) || ns < DELAY_MIN_NS || ns > DELAY_MAX_NS)
		return why_set(why, "must be 0.1 to 60 seconds (\"500ms\" too)");
	o->delay_ns = ns;
	return 0;
}

static int set_frames(struct options *o, const char *value, struct why *why)
{
	return number_read(value, 1, INT_MAX, &o->frames, why);
}

static int set_output(struct options *o, const char *value, struct why *why)
{
	o->output = value;
	return 0;
}

static int set_source_path(struct options *o, const char *value, struct why *why)
{
	if (o->nsource_paths == OPTIONS_SOURCE_PATHS_MAX)
		return why_set(why, "given too often");
	if (!*value || *value == ':' || value[strlen(value) - 1] == ':' || strstr(value, "::"))
		return why_set(why, "must be directories, with a colon between two");
	o->source_paths[o->nsource_paths++] = value;
	return 0;
}

static int set_script(struct options *o, const char *value, struct why *why)
{
	o->script = value;
	return 0;
}

static int set_top(struct options *o, const char *value, struct why *why)
{
	return number_read(value, 0, INT_MAX, &o->top, why);
}

static int set_depth(struct options *o, const char *value, struct why *why)
{
	return number_read(value, 1, OPTIONS_DEPTH_MAX, &o->depth, why);
}

static int set_sort(struct options *o, const char *value, struct why *why)
{
	int column = column_find(value);

	if (column < 0)
		return why_set(why, "no such column (\"-s help\" lists them)");
	o->sort = (enum column)column;
	return 0;
}

/* The index of `value` in `words`; else -1, with the reason. */
static int word_take(const char *value, const char *const *words, struct why *why)
{
	int found = word_find(value, words);

	if (found < 0)
		why_words(why, words, false);
	return found;
}

static int set_group(struct options *o, const char *value, struct why *why)
{
	int by = word_take(value, group_words, why);

	if (by < 0)
		return -EINVAL;
	o->group = (enum group_by)by;
	return 0;
}

static int set_filter(struct options *o, const char *value, struct why *why)
{
	struct filter *f = filter_parse(value, why->text);

	if (!f)
		return -EINVAL;
	filter_free(f);
	o->filter = value;
	return 0;
}

static int set_format(struct options *o, const char *value, struct why *why)
{
	static const char *const later[] = { "folded", "pprof", "massif", "mtrace", NULL };
	int found = word_take(value, format_words, why);

	if (word_find(value, later) >= 0)
		return why_set(why, "not built in yet; text, json and junit are");
	if (found < 0)
		return -EINVAL;
	o->format = (enum options_format)found;
	o->format_given = true;
	return 0;
}

static int set_fail_on(struct options *o, const char *value, struct why *why)
{
	int found = word_take(value, class_words, why);

	if (found < 0)
		return -EINVAL;
	o->fail_on |= 1u << found;
	return 0;
}

static int set_suppressions(struct options *o, const char *value, struct why *why)
{
	if (o->nsuppressions == OPTIONS_SUPPRESSIONS_MAX)
		return why_set(why, "given too often");
	o->suppressions[o->nsuppressions++] = value;
	return 0;
}

static int set_leak_check(struct options *o, const char *value, struct why *why)
{
	uint64_t ns;

	o->leak_check = true;
	o->leak_every_ns = 0;
	if (!value)
		return 0;
	if (strncmp(value, "every:", 6) || units_parse_duration(value + 6, &ns) ||
		ns < LEAKS_EVERY_MIN_NS)
		return why_set(
			why, "must be every:TIME, " LEAKS_EVERY_MIN " or more (\"every:30s\")");
	o->leak_every_ns = ns;
	return 0;
}

/* "word,word": the bits of all. False: one is not among `words`, or there is none. */
static bool words_find(
	const char *value, const char *const *words, const unsigned *bits, unsigned *all)
{
	char word[24];

	*all = 0;
	for (const char *p = value; *p; p += *p == ',') {
		size_t len = strcspn(p, ",");
		int found;

		snprintf(word, sizeof(word), "%.*s", (int)len, p);
		found = word_find(word, words);
		if (found < 0)
			return false;
		*all |= bits[found];
		p += len;
	}
	return *value != '\0';
}

/* "stacks,globals": only these count. */
static int set_leak_roots(struct options *o, const char *value, struct why *why)
{
	static const unsigned bits[] = { 1u << 0, 1u << 1, 1u << 2, 1u << 3, 1u << 4, 1u << 5 };

	if (words_find(value, root_words, bits, &o->leak_roots))
		return 0;
	return why_words(why, root_words, true);
}

/* "memcheck", "none", or some of them: only these count. */
static int set_leak_heuristics(struct options *o, const char *value, struct why *why)
{
	/* As enum leak_heuristic has them. */
	static const unsigned bits[] = { 0, 1u << 1, 1u << 2, 1u << 3, 1u << 4, 1u << 5, 1u << 6,
		1u << 7, 1u << 8, 1u << 9, 1u << 10, 1u << 11, 30u, OPTIONS_HEURISTICS_ALL };

	if (words_find(value, heuristic_words, bits, &o->leak_heuristics))
		return 0;
	return why_words(why, heuristic_words, true);
}

static int set_leak_copy(struct options *o, const char *value, struct why *why)
{
	int found = word_take(value, copy_words, why);

	if (found < 0)
		return -EINVAL;
	o->leak_copying = (unsigned)found;
	return 0;
}

static int set_sample(struct options *o, const char *value, struct why *why)
{
	if (sampling_control_parse_rate(value, &o->sample) != 0)
		return why_set(why, "must be 1K to 64M bytes, exact or auto");
	return 0;
}

static int set_max_overhead(struct options *o, const char *value, struct why *why)
{
	if (sampling_control_parse_limit(value, &o->sample) != 0)
		return why_set(why, "must be a percentage from 0.1% to 100%");
	return 0;
}

static int set_color(struct options *o, const char *value, struct why *why)
{
	int found = word_take(value, color_words, why);

	if (found < 0)
		return -EINVAL;
	o->color = (enum options_color)found;
	return 0;
}

static int set_follow(struct options *o, const char *value, struct why *why)
{
	o->follow = OPTIONS_FOLLOW_YES;
	return 0;
}

static int set_no_follow(struct options *o, const char *value, struct why *why)
{
	o->follow = OPTIONS_FOLLOW_NO;
	return 0;
}

static int set_no_follow_fork(struct options *o, const char *value, struct why *why)
{
	o->follow = OPTIONS_FOLLOW_EXEC;
	return 0;
}

static int set_library(struct options *o, const char *value, struct why *why)
{
	if (!*value)
		return why_set(why, "must be the path of libheaptop.so");
	o->library = value;
	return 0;
}

enum long_key {
	KEY_CLEAN = 256,
	KEY_REPORT,
	KEY_FORMAT,
	KEY_TOP,
	KEY_GROUP,
	KEY_FAIL_ON,
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
	KEY_READONLY,
	KEY_NO_CONFIG,
	KEY_SCRIPT,
	KEY_SOURCE_PATH,
	KEY_MARK,
	KEY_MARK_EVERY
};

#define FLAG(field) NULL, offsetof(struct options, field)

/* clang-format off */
static const struct row rows[] = {
	{ 'a', "attach", "PID", set_attach, 0, "watch a process that already carries the library" },
	{ 'r', "read", "FILE", set_read, 0, "read a segment that a program left behind" },
	{ 'l', "list", NULL, set_list, 0, "list the instrumented processes and what dead ones left" },
	{ KEY_CLEAN, "clean", NULL, set_clean, 0, "remove what dead programs left behind" },
	{ KEY_MARK, "mark", "PID", set_mark, 0, "mark this moment in a process, under a NAME if given" },
	{ KEY_MARK_EVERY, "mark-every", "SECS", set_mark_every, 0,
		"mark a moment every SECS, to compare later" },
	{ 'd', "delay", "SECS", set_delay, 0, "refresh every SECS, 0.1-60 (\"500ms\" too; default 1)" },
	{ 'n', "frames", "N", set_frames, 0, "stop after N frames" },
	{ 's', "sort", "COLUMN", set_sort, 0, "sort by COLUMN (\"-s help\" lists them)" },
	{ 'F', "filter", "EXPR", set_filter, 0, "only call sites that match (live>1M, json, !word, /re/)" },
	{ KEY_GROUP, "group", "BY", set_group, 0,
		"sum up sites by caller, function, file, module, thread" },
	{ 't', "tree", NULL, FLAG(tree), "start in the call tree" },
	{ KEY_READONLY, "readonly", NULL, FLAG(readonly),
		"the screen steers nothing, writes and starts nothing" },
	{ KEY_SOURCE_PATH, "source-path", "DIRS", set_source_path, 0,
		"the screen looks for source in DIR[:DIR...], too" },
	{ KEY_SCRIPT, "script", "FILE", set_script, 0, "a screen without a terminal: FILE has its keys" },
	{ 'b', "batch", NULL, FLAG(batch), "write text frames instead of drawing a screen" },
	{ KEY_REPORT, "report", NULL, FLAG(report), "no screen: when COMMAND ends, write the report" },
	{ KEY_FORMAT, "format", "FMT", set_format, 0, "of the report: text, json, junit (implies --report)" },
	{ 'o', "output", "FILE", set_output, 0, "write frames or report to FILE" },
	{ KEY_TOP, "top", "N", set_top, 0, "call sites in a text report (default 20, 0 = all)" },
	{ KEY_LEAK_CHECK, "leak-check", "[=EVERY]", set_leak_check, 0,
		"report what nothing points to (once, or every:30s)" },
	{ KEY_LEAK_ROOTS, "leak-roots", "KINDS", set_leak_roots, 0,
		"what keeps a block (registers,stacks,...; all)" },
	{ KEY_LEAK_HEURISTICS, "leak-heuristics", "RULES", set_leak_heuristics, 0,
		"pointers inside that count (memcheck, ...; all)" },
	{ KEY_LEAK_COPY, "leak-copy", "WHEN", set_leak_copy, 0,
		"scan a copy-on-write copy: auto, always or never" },
	{ KEY_NO_EXIT_SCAN, "no-exit-scan", NULL, FLAG(no_exit_scan),
		"no leak scan when COMMAND ends on the screen" },
	{ KEY_HOLD, "hold", NULL, FLAG(hold), "after that scan, keep COMMAND until E is pressed" },
	{ KEY_SUPPRESSIONS, "suppressions", "FILE", set_suppressions, 0,
		"leaks not to report, as for valgrind or LSan" },
	{ KEY_GEN_SUPPRESSIONS, "gen-suppressions", NULL, FLAG(gen_suppressions),
		"write a suppression behind each leak" },
	{ KEY_FAIL_ON, "fail-on", "CLASS", set_fail_on, 0,
		"exit 1 if CLASS is left (unfreed, definite, ...)" },
	{ 'D', "depth", "N", set_depth, 0, "frames kept per call stack (default 128, at most 1024)" },
	{ KEY_SAMPLE, "sample", "BYTES", set_sample, 0,
		"record one block in BYTES (512K, 1M), exact or auto" },
	{ KEY_MAX_OVERHEAD, "max-overhead", "PCT", set_max_overhead, 0,
		"sample so that recording costs PCT at most (5%)" },
	{ KEY_FOLLOW, "follow", NULL, set_follow, 0, "record its children, too (the default)" },
	{ KEY_NO_FOLLOW, "no-follow", NULL, set_no_follow, 0, "record COMMAND alone" },
	{ KEY_NO_FOLLOW_FORK, "no-follow-fork", NULL, set_no_follow_fork, 0,
		"of its children only those that exec a program" },
	{ KEY_SHOW_HIDDEN, "show-hidden", NULL, FLAG(show_hidden),
		"name call sites by their innermost frame" },
	{ KEY_FULL_NAMES, "full-names", NULL, FLAG(full_names), "do not shorten function names" },
	{ KEY_LIBRARY, "library", "PATH", set_library, 0, "preload this libheaptop.so" },
	{ KEY_DEBUGINFOD, "debuginfod", NULL, FLAG(debuginfod), "let debuginfod servers be asked" },
	{ 'C', "color", "WHEN", set_color, 0, "auto, always or never" },
	{ 'U', "ascii", NULL, FLAG(ascii), "draw with ASCII only" },
	{ 'M', "no-mouse", NULL, FLAG(no_mouse), "leave the mouse to the terminal" },
	{ KEY_NO_CONFIG, "no-config", NULL, FLAG(no_config),
		"do not read the file of settings" },
	{ 'V', "version", NULL, NULL, 0, "print the version" },
	{ 'h', "help", NULL, NULL, 0, "print this" },
};
/* clang-format on */

#define ROWS (sizeof(rows) / sizeof(rows[0]))
static_assert(ROWS <= 64, "each has a bit in struct options");

/* What getopt_long wants, made from the table. */
struct lists {
	char letters[3 + 2 * ROWS];
	struct option names[ROWS + 1];
};

static void lists_make(struct lists *l)
{
	/* '+': stop at COMMAND, its options are its own. ':': tell a missing value apart. */
	char *p = stpcpy(l->letters, "+:");

	memset(l->names, 0, sizeof(l->names));
	for (size_t i = 0; i < ROWS; i++) {
		l->names[i] = (struct option){ rows[i].name,
			!rows[i].arg		? no_argument
			: rows[i].arg[0] == '[' ? optional_argument
						: required_argument,
			NULL, rows[i].key };
		if (rows[i].key > UCHAR_MAX)
			continue;
		*p++ = (char)rows[i].key;
		if (rows[i].arg)
			*p++ = ':';
	}
	*p = '\0';
}

static const struct row *row_find(int key)
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].key == key)
			return &rows[i];
	return NULL;
}

static void help_row(const struct row *r, FILE *out)
{
	char left[64];
	int n = 0;

	if (r->key <= UCHAR_MAX)
		n = snprintf(left, sizeof(left), "  -%c, --%s", r->key, r->name);
	else
		n = snprintf(left, sizeof(left), "      --%s", r->name);
	if (r->arg)
		snprintf(left + n, sizeof(left) - (size_t)n, "%s%s", r->arg[0] == '[' ? "" : " ",
			r->arg);
	fprintf(out, "%-*s %s\n", HELP_INDENT, left, r->help);
}

static void help_print(FILE *out)
{
	fputs("heaptop " HEAPTOP_VERSION ": where a program's heap is, live and exactly\n\n"
	      "  heaptop [OPTIONS] -- COMMAND [ARG...]   run COMMAND and watch it\n"
	      "  heaptop [OPTIONS] -a PID                attach to a running process\n"
	      "  heaptop [OPTIONS] -r FILE               read what a dead program left\n"
	      "  heaptop -l                              list them all\n"
	      "  heaptop --mark PID [NAME]               mark this moment in a process\n\n",
		out);
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].help)
			help_row(&rows[i], out);
	fputs("\nExit status: that of COMMAND (128+N if signal N ended it); 1 if --fail-on fired;\n"
	      "2 wrong usage; 125 heaptop could not run or attach; 126, 127 as a shell.\n"
	      "\nOn the screen, ? lists the keys. The manual: man heaptop, heaptop-screen (views,\n"
	      "keys), heaptop-leaks, heaptop-metrics (growth, sampling, RSS), heaptop-json.\n",
		out);
}

static void columns_print(FILE *out)
{
	for (int i = 0; i < COL_COUNT; i++)
		fprintf(out, "%-10s %s\n", column_table[i].key, column_table[i].help);
}

static void words_print(const struct words *w, FILE *out)
{
	for (size_t i = 0; w->words[i]; i++)
		fprintf(out, "%s\n", w->words[i]);
}

/* How a message calls an option: "-d" or "--depth". */
static void row_spell(const struct row *r, char *out, size_t cap)
{
	if (r->key <= UCHAR_MAX)
		snprintf(out, cap, "-%c", r->key);
	else
		snprintf(out, cap, "--%s", r->name);
}

__attribute__((format(printf, 2, 3))) static int usage(FILE *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("heaptop: ", err);
	vfprintf(err, fmt, ap);
	fputs("; try heaptop --help\n", err);
	va_end(ap);
	return OPTIONS_EXIT_USAGE;
}

static int usage_value(FILE *err, const char *option, const char *value, const char *why)
{
	char clean[VALUE_MAX];

	text_clean(clean, sizeof(clean), value, strlen(value));
	return usage(err, "%s %s: %s", option, *clean ? clean : "\"\"", why);
}

/* getopt_long returned '?': an unknown option, an ambiguous one, or a value where none belongs. */
static int usage_unknown(FILE *err, const char *arg)
{
	const struct row *r = optopt ? row_find(optopt) : NULL;
	char spelled[32], clean[VALUE_MAX];

	if (r) {
		row_spell(r, spelled, sizeof(spelled));
		return usage(err, "%s takes no value", spelled);
	}
	if (optopt)
		snprintf(spelled, sizeof(spelled), "-%c", optopt);
	text_clean(clean, sizeof(clean), optopt ? spelled : arg, strlen(optopt ? spelled : arg));
	return usage(err, "unknown option %s", clean);
}

static int usage_missing(FILE *err)
{
	const struct row *r = row_find(optopt);
	char spelled[32];

	row_spell(r, spelled, sizeof(spelled));
	return usage(err, "%s needs a value (%s)", spelled, r->arg);
}

/* Takes one option. -1: go on. */
static int option_take(struct options *o, const struct row *r, FILE *out, FILE *err)
{
	char spelled[32];
	struct why why = { "" };

	o->given |= UINT64_C(1) << (r - rows);
	row_spell(r, spelled, sizeof(spelled));
	switch (r->key) {
	case 'h':
		help_print(out);
		return 0;
	case 'V':
		fprintf(out, "heaptop %s\n", HEAPTOP_VERSION);
		return 0;
	case 's':
		if (!strcmp(optarg, "help")) {
			columns_print(out);
			return 0;
		}
		break;
	default:
		if (words_of(r->name) && !strcmp(optarg, "help")) {
			words_print(words_of(r->name), out);
			return 0;
		}
		break;
	}
	if (r->flag)
		*(bool *)((char *)o + r->flag) = true;
	else if (!r->set)
		return usage(err, "%s is not built in yet", spelled);
	else if (r->set(o, optarg, &why))
		return optarg ? usage_value(err, spelled, optarg, why.text)
			      : usage(err, "%s: %s", spelled, why.text);
	return -1;
}

/* What only the whole line can tell. NULL when all is well. */
static const char *options_conflict(const struct options *o)
{
	bool shows = o->mode == OPTIONS_RUN || o->mode == OPTIONS_ATTACH || o->mode == OPTIONS_READ;

	if (o->mode == OPTIONS_NONE)
		return "nothing to watch: give a COMMAND, -a PID or -r FILE";
	if (!shows && (o->batch || o->report || o->output))
		return "-l, --clean and --mark stand alone";
	if (o->mark_every_ns && o->mode != OPTIONS_RUN && o->mode != OPTIONS_ATTACH)
		return "--mark-every goes with a COMMAND or -a PID";
	if (o->mark_every_ns && o->readonly)
		return "--mark-every writes a file, so not with --readonly";
	if (o->batch && o->report)
		return "-b and --report exclude each other";
	if (o->tree && (o->batch || o->report))
		return "-t is of the screen, so not with -b or --report";
	if ((o->readonly || o->script || o->nsource_paths) && (o->batch || o->report || !shows))
		return "--readonly, --script and --source-path are of the screen";
	if ((o->no_exit_scan || o->hold) && (o->batch || o->report || o->mode != OPTIONS_RUN))
		return "--no-exit-scan and --hold require a COMMAND and the screen";
	if (o->hold && (o->no_exit_scan || o->readonly || o->sample.given))
		return "--hold requires the scan at the end: not with --no-exit-scan, --readonly "
		       "or sampling";
	if (o->readonly && o->sample.given)
		return "--readonly steers nothing, so not with --sample or --max-overhead";
	if (o->output && !o->batch && !o->report)
		return "-o goes with -b or --report";
	if (o->format == OPTIONS_JUNIT && o->batch)
		return "--format junit is of a report, so not with -b";
	if (o->gen_suppressions && o->format != OPTIONS_TEXT)
		return "--gen-suppressions is of a report as text";
	if (o->nsuppressions && !o->leak_check && (o->batch || o->report))
		return "--suppressions goes with --leak-check, or with the screen";
	if (o->leak_check && o->batch && !o->leak_every_ns)
		return "--leak-check goes with a report, not -b; --leak-check=every:TIME goes with "
		       "both";
	if (o->gen_suppressions && o->batch)
		return "--gen-suppressions goes with a report, not -b";
	if (o->leak_check && o->mode != OPTIONS_RUN && o->mode != OPTIONS_ATTACH)
		return "--leak-check goes with a COMMAND or -a PID";
	if ((o->fail_on & OPTIONS_FAIL_UNFREED) && o->mode != OPTIONS_RUN)
		return "--fail-on unfreed goes with a COMMAND";
	if (o->fail_on && (o->sample.bytes || o->sample.limit > 0))
		return "--fail-on needs every block recorded, so not --sample or --max-overhead";
	if (o->leak_check && (o->sample.bytes || o->sample.limit > 0))
		return "--leak-check needs every block recorded, so not --sample or --max-overhead";
	if (o->sample.given && o->mode != OPTIONS_RUN && o->mode != OPTIONS_ATTACH)
		return "--sample and --max-overhead go with a COMMAND or -a PID";
	return NULL;
}

/* JUnit is to tell of failures: without others, definite leaks are. */
static void leaks_imply(struct options *o)
{
	o->failures = o->fail_on;
	if (o->format == OPTIONS_JUNIT && !o->failures)
		o->failures = OPTIONS_FAIL_DEFINITE;
	o->leak_check |= (o->failures & OPTIONS_FAIL_LEAKS) != 0 || o->gen_suppressions;
}

int options_parse(int argc, char *const argv[], struct options *o, FILE *out, FILE *err)
{
	struct lists lists;
	const char *conflict;
	struct why why;
	int key, before, status = -1;

	*o = (struct options){ .top = OPTIONS_TOP_DEFAULT,
		.delay_ns = DELAY_DEFAULT_NS,
		.sort = COL_LIVE,
		.leak_roots = OPTIONS_ROOTS_ALL,
		.leak_copying = OPTIONS_COPY_AUTO,
		.leak_heuristics = OPTIONS_HEURISTICS_ALL,
		.depth = OPTIONS_DEPTH_DEFAULT };
	lists_make(&lists);
	opterr = 0;
	optind = 0; /* glibc: start afresh */
	for (before = 1; status < 0; before = optind) {
		key = getopt_long(argc, argv, lists.letters, lists.names, NULL);
		if (key == -1)
			break;
		if (key == '?')
			status = usage_unknown(err, argv[before]);
		else if (key == ':')
			status = usage_missing(err);
		else
			status = option_take(o, row_find(key), out, err);
	}
	if (status >= 0)
		return status;
	if (argv[optind] && o->mode == OPTIONS_MARK && !argv[optind + 1]) {
		o->mark_name = argv[optind];
	} else if (argv[optind]) {
		o->command = &argv[optind];
		if (mode_set(o, OPTIONS_RUN, &why))
			return usage(err, "%s", why.text);
	}
	o->names = o->full_names ? NAMES_FULL : NAMES_SHORT;
	leaks_imply(o);
	o->report |= (o->format_given || o->fail_on || o->leak_check) && !o->batch;
	conflict = options_conflict(o);
	return conflict ? usage(err, "%s", conflict) : -1;
}

bool options_given(const struct options *o, const char *name)
{
	for (size_t i = 0; i < ROWS; i++)
		if (!strcmp(rows[i].name, name))
			return o->given >> i & 1;
	return false;
}
