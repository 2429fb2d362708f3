/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of options (option_values.h): one function for each option that takes one. */
#include "src/run/option_values.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/leak/analysis/heuristics.h"
#include "src/leak/analysis/roots.h"
#include "src/leak/scan_options.h"
#include "src/model/leaks.h"
#include "src/model/settings.h"
#include "src/run/at_time.h"
#include "src/util/units.h"

#define DELAY_MIN_NS (SETTINGS_DELAY_MIN_MS * UINT64_C(1000000))
#define DELAY_MAX_NS (SETTINGS_DELAY_MAX_MS * UINT64_C(1000000))
/* Less would hold no more than a few ticks of a large program. */
#define HISTORY_LEAST_BYTES (UINT64_C(1) << 20)
#define RECORD_LEAST_BYTES  (UINT64_C(1) << 20)

static int error_set(struct option_error *why, const char *text)
{
	snprintf(why->text, sizeof(why->text), "%s", text);
	return -EINVAL;
}

static int error_too_many(struct option_error *why, unsigned max)
{
	snprintf(why->text, sizeof(why->text), "can be given %u times at most", max);
	return -EINVAL;
}

/* Parses a decimal number in [min, max], with nothing after it. */
static int number_parse(
	const char *value, unsigned min, unsigned max, unsigned *out, struct option_error *why)
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

static const char *const group_words[] = { [GROUP_STACK] = "stack",
	[GROUP_CALLER] = "caller",
	[GROUP_FUNCTION] = "function",
	[GROUP_FILE] = "file",
	[GROUP_MODULE] = "module",
	[GROUP_TYPE] = "type",
	[GROUP_THREAD] = "thread",
	[GROUP_COUNT] = NULL };
/* Those after the formats of src/export are of recorded events alone. */
static const char *const format_words[] = { [OPTIONS_TEXT] = "text",
	[OPTIONS_JSON] = "json",
	[OPTIONS_JUNIT] = "junit",
	[OPTIONS_FOLDED] = "folded",
	[OPTIONS_PPROF] = "pprof",
	[OPTIONS_SPEEDSCOPE] = "speedscope",
	[OPTIONS_CSV] = "csv",
	[OPTIONS_MASSIF] = "massif",
	[OPTIONS_DOT] = "dot",
	[OPTIONS_HTML] = "html",
	[OPTIONS_PERFETTO] = "perfetto",
	[OPTIONS_FORMATS] = "mtrace",
	"heaptrack",
	NULL };
/* In the order of enum snap_value, without those that are no sum over sites. */
static const char *const value_words[] = { [VALUE_LIVE] = "live",
	[VALUE_BLOCKS] = "blocks",
	[VALUE_ALLOCATED] = "allocated",
	[VALUE_ALLOCS] = "allocs",
	[VALUE_TEMPORARY] = "temporary",
	[VALUE_PEAK] = "peak",
	NULL };
static const char *const class_words[] = { [SNAP_LEAK_DEFINITE] = "definite",
	[SNAP_LEAK_INDIRECT] = "indirect",
	[SNAP_LEAK_POSSIBLE] = "possible",
	"unfreed",
	"badfree",
	"mismatched",
	NULL };
static const char *const color_words[] = { [OPTIONS_COLOR_AUTO] = "auto",
	[OPTIONS_COLOR_ALWAYS] = "always",
	[OPTIONS_COLOR_NEVER] = "never",
	NULL };
static const char *const copy_words[] = {
	[LEAK_COPY_NEVER] = "never", [LEAK_COPY_AUTO] = "auto", [LEAK_COPY_ALWAYS] = "always", NULL
};
static const char *const root_words[] = { "registers", "vectors", "stacks", "globals", "maps",
	"tls", NULL };
static const char *const heuristic_words[] = { "none", "stdstring", "length64", "newarray",
	"multipleinheritance", "header", "sds", "backlink", "loader", "gobject", "slab", "marked",
	"memcheck", "all", NULL };

/* All options whose values are words. Their messages, the output of "help" as a value and the
 * completion of shells come from this table. */
static const struct option_words word_table[] = {
	{ "group", group_words },
	{ "format", format_words },
	{ "value", value_words },
	{ "fail-on", class_words },
	{ "color", color_words },
	{ "leak-copy", copy_words },
	{ "leak-roots", root_words },
	{ "leak-heuristics", heuristic_words },
};
#define WORD_TABLE (sizeof(word_table) / sizeof(word_table[0]))

const struct option_words *option_values_words(const char *option)
{
	for (size_t i = 0; i < WORD_TABLE; i++)
		if (!strcmp(word_table[i].option, option))
			return &word_table[i];
	return NULL;
}

/* "must be a, b or c". */
static int error_words(struct option_error *why, const char *const *words, bool list)
{
	size_t used = (size_t)snprintf(
		why->text, sizeof(why->text), "must be %s", list ? "one or more of " : "");

	for (size_t i = 0; words[i] && used < sizeof(why->text); i++)
		used += (size_t)snprintf(why->text + used, sizeof(why->text) - used, "%s%s",
			i == 0	       ? ""
			: list	       ? ","
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

int option_values_mode(struct options *o, enum options_mode mode, struct option_error *why)
{
	if (o->mode != OPTIONS_NONE && o->mode != mode)
		return error_set(why,
			"only one of COMMAND, -a, -r, -l, --diff, --clean, --mark, --detach, "
			"--wait and --record-service can be given");
	o->mode = mode;
	return 0;
}

static int pid_parse(
	struct options *o, enum options_mode mode, const char *value, struct option_error *why)
{
	unsigned pid;
	int err = number_parse(value, 1, INT_MAX, &pid, why);

	if (err)
		return error_set(why, "must be a process ID");
	o->pid = (pid_t)pid;
	return option_values_mode(o, mode, why);
}

int option_values_mark(struct options *o, const char *value, struct option_error *why)
{
	return pid_parse(o, OPTIONS_MARK, value, why);
}

int option_values_mark_every(struct options *o, const char *value, struct option_error *why)
{
	if (units_parse_duration(value, &o->mark_every_ns) || o->mark_every_ns < DELAY_MIN_NS)
		return error_set(why, "must be a time, 0.1 s or more (\"90s\", \"5m\")");
	return 0;
}

int option_values_read(struct options *o, const char *value, struct option_error *why)
{
	o->file = value;
	return option_values_mode(o, OPTIONS_READ, why);
}

int option_values_diff(struct options *o, const char *value, struct option_error *why)
{
	struct options_side *side = &o->diff[0];

	if (!strcmp(value, "--"))
		return error_set(why, "A's files come before it: A1 A2... -- B1 B2...");
	if (side->count == DIFF_RUNS_MAX)
		return error_too_many(why, DIFF_RUNS_MAX);
	side->file[side->count++] = value;
	return option_values_mode(o, OPTIONS_DIFF, why);
}

int option_values_list(struct options *o, const char *value, struct option_error *why)
{
	return option_values_mode(o, OPTIONS_LIST, why);
}

int option_values_clean(struct options *o, const char *value, struct option_error *why)
{
	return option_values_mode(o, OPTIONS_CLEAN, why);
}

int option_values_delay(struct options *o, const char *value, struct option_error *why)
{
	uint64_t ns;

	if (units_parse_duration(value, &ns) || ns < DELAY_MIN_NS || ns > DELAY_MAX_NS)
		return error_set(why, "must be 0.1 to 60 seconds (\"500ms\" too)");
	o->delay_ns = ns;
	return 0;
}

int option_values_frames(struct options *o, const char *value, struct option_error *why)
{
	return number_parse(value, 1, INT_MAX, &o->frames, why);
}

int option_values_trace(struct options *o, const char *value, struct option_error *why)
{
	o->trace = true;
	return number_parse(value, 0, INT_MAX, &o->trace_site, why);
}

int option_values_record_events(struct options *o, const char *value, struct option_error *why)
{
	if (!*value)
		return error_set(why, "must be a file");
	o->record_events = value;
	return 0;
}

int option_values_output(struct options *o, const char *value, struct option_error *why)
{
	o->output = value;
	return 0;
}

int option_values_source_path(struct options *o, const char *value, struct option_error *why)
{
	if (o->nsource_paths == OPTIONS_SOURCE_PATHS_MAX)
		return error_too_many(why, OPTIONS_SOURCE_PATHS_MAX);
	if (!*value || *value == ':' || value[strlen(value) - 1] == ':' || strstr(value, "::"))
		return error_set(why, "must be directories separated by colons");
	o->source_paths[o->nsource_paths++] = value;
	return 0;
}

int option_values_script(struct options *o, const char *value, struct option_error *why)
{
	o->script = value;
	return 0;
}

int option_values_top(struct options *o, const char *value, struct option_error *why)
{
	return number_parse(value, 0, INT_MAX, &o->top, why);
}

int option_values_depth(struct options *o, const char *value, struct option_error *why)
{
	return number_parse(value, 1, OPTIONS_DEPTH_MAX, &o->depth, why);
}

int option_values_sort(struct options *o, const char *value, struct option_error *why)
{
	int column = column_find(value);

	if (column < 0)
		return error_set(why, "no such column (\"-s help\" lists them)");
	o->sort = (enum column)column;
	return 0;
}

/* The index of `value` in `words`; or -1 with `why` filled. */
static int word_parse(const char *value, const char *const *words, struct option_error *why)
{
	int found = word_find(value, words);

	if (found < 0)
		error_words(why, words, false);
	return found;
}

int option_values_group(struct options *o, const char *value, struct option_error *why)
{
	int by = word_parse(value, group_words, why);

	if (by < 0)
		return -EINVAL;
	o->group = (enum group_by)by;
	return 0;
}

int option_values_filter(struct options *o, const char *value, struct option_error *why)
{
	struct filter *f = filter_parse(value, why->text);

	if (!f)
		return -EINVAL;
	filter_free(f);
	o->filter = value;
	return 0;
}

int option_values_format(struct options *o, const char *value, struct option_error *why)
{
	int found = word_parse(value, format_words, why);

	if (found < 0)
		return -EINVAL;
	if (found >= OPTIONS_FORMATS)
		o->event_format = format_words[found];
	else
		o->format = (enum options_format)found;
	o->format_given = true;
	return 0;
}

int option_values_value(struct options *o, const char *value, struct option_error *why)
{
	int found = word_parse(value, value_words, why);

	if (found < 0)
		return -EINVAL;
	o->value = (enum snap_value)found;
	o->value_given = true;
	return 0;
}

static int condition_add(struct options *o, const char *value, struct option_error *why)
{
	if (o->nconditions == OPTIONS_CONDITIONS_MAX)
		return error_too_many(why, OPTIONS_CONDITIONS_MAX);
	if (condition_parse(value, &o->conditions[o->nconditions]) != 0)
		return error_set(why,
			"must be a limit such as 'peak>64M', 'allocs>1e6', 'site-live>10M' or, "
			"with --diff, 'growth>5%' or 'site-growth>1M'");
	o->nconditions++;
	return 0;
}

int option_values_fail_on(struct options *o, const char *value, struct option_error *why)
{
	int found;

	if (strchr(value, '>'))
		return condition_add(o, value, why);
	found = word_parse(value, class_words, why);

	if (found < 0) {
		size_t used = strlen(why->text);

		snprintf(why->text + used, sizeof(why->text) - used,
			", or a limit such as 'peak>64M'");
		return -EINVAL;
	}
	o->fail_on |= 1u << found;
	return 0;
}

static int rule_add(
	const char **rules, unsigned *count, const char *value, struct option_error *why)
{
	if (*count == IGNORED_RULES_MAX)
		return error_too_many(why, IGNORED_RULES_MAX);
	if (!ignored_is_rule(value, why->text))
		return -EINVAL;
	rules[(*count)++] = value;
	return 0;
}

int option_values_ignore(struct options *o, const char *value, struct option_error *why)
{
	return rule_add(o->ignored.ignore, &o->ignored.nignore, value, why);
}

int option_values_only(struct options *o, const char *value, struct option_error *why)
{
	return rule_add(o->ignored.only, &o->ignored.nonly, value, why);
}

int option_values_allocators(struct options *o, const char *value, struct option_error *why)
{
	o->allocators = value;
	return 0;
}

int option_values_suppressions(struct options *o, const char *value, struct option_error *why)
{
	if (o->nsuppressions == OPTIONS_SUPPRESSIONS_MAX)
		return error_too_many(why, OPTIONS_SUPPRESSIONS_MAX);
	o->suppressions[o->nsuppressions++] = value;
	return 0;
}

int option_values_leak_check(struct options *o, const char *value, struct option_error *why)
{
	uint64_t ns;

	o->leak_check = true;
	o->leak_every_ns = 0;
	if (!value)
		return 0;
	if (strncmp(value, "every:", 6) || units_parse_duration(value + 6, &ns) ||
		ns < LEAKS_EVERY_MIN_NS)
		return error_set(
			why, "must be every:TIME, " LEAKS_EVERY_MIN " or more (\"every:30s\")");
	o->leak_every_ns = ns;
	return 0;
}

/* "word,word": the bits of all words. False: one is unknown, or there is none. */
static bool words_parse(
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

/* "stacks,globals": the kinds of roots that count. */
int option_values_leak_roots(struct options *o, const char *value, struct option_error *why)
{
	static const unsigned bits[] = { LEAK_ROOT_REGISTERS, LEAK_ROOT_VECTORS, LEAK_ROOT_STACKS,
		LEAK_ROOT_GLOBALS, LEAK_ROOT_MAPS, LEAK_ROOT_TLS };

	static_assert(
		sizeof(bits) / sizeof(bits[0]) + 1 == sizeof(root_words) / sizeof(root_words[0]),
		"a word for each");

	if (words_parse(value, root_words, bits, &o->leak_roots))
		return 0;
	return error_words(why, root_words, true);
}

/* "memcheck", "none", or a list: the heuristics that count. */
int option_values_leak_heuristics(struct options *o, const char *value, struct option_error *why)
{
	static const unsigned bits[] = { 0, 1u << LEAK_BY_STDSTRING, 1u << LEAK_BY_LENGTH64,
		1u << LEAK_BY_NEWARRAY, 1u << LEAK_BY_INHERITANCE, 1u << LEAK_BY_HEADER,
		1u << LEAK_BY_SDS, 1u << LEAK_BY_BACKLINK, 1u << LEAK_BY_LOADER,
		1u << LEAK_BY_GOBJECT, 1u << LEAK_BY_SLAB, 1u << LEAK_BY_MARKED, LEAK_BY_MEMCHECK,
		OPTIONS_HEURISTICS_ALL };

	static_assert(sizeof(bits) / sizeof(bits[0]) + 1 ==
			      sizeof(heuristic_words) / sizeof(heuristic_words[0]),
		"a word for each");

	if (words_parse(value, heuristic_words, bits, &o->leak_heuristics))
		return 0;
	return error_words(why, heuristic_words, true);
}

int option_values_leak_copy(struct options *o, const char *value, struct option_error *why)
{
	int found = word_parse(value, copy_words, why);

	if (found < 0)
		return -EINVAL;
	o->leak_copying = (unsigned)found;
	return 0;
}

int option_values_sample(struct options *o, const char *value, struct option_error *why)
{
	if (sampling_control_parse_rate(value, &o->sample) != 0)
		return error_set(why, "must be 1K to 64M bytes, exact or auto");
	return 0;
}

int option_values_max_overhead(struct options *o, const char *value, struct option_error *why)
{
	if (sampling_control_parse_limit(value, &o->sample) != 0)
		return error_set(why, "must be a percentage from 0.1% to 100%");
	return 0;
}

int option_values_color(struct options *o, const char *value, struct option_error *why)
{
	int found = word_parse(value, color_words, why);

	if (found < 0)
		return -EINVAL;
	o->color = (enum options_color)found;
	return 0;
}

int option_values_follow(struct options *o, const char *value, struct option_error *why)
{
	o->follow = OPTIONS_FOLLOW_YES;
	return 0;
}

int option_values_no_follow(struct options *o, const char *value, struct option_error *why)
{
	o->follow = OPTIONS_FOLLOW_NO;
	return 0;
}

int option_values_no_follow_fork(struct options *o, const char *value, struct option_error *why)
{
	o->follow = OPTIONS_FOLLOW_EXEC;
	return 0;
}

int option_values_library(struct options *o, const char *value, struct option_error *why)
{
	if (!*value)
		return error_set(why, "must be the path of libheaptop.so");
	o->library = value;
	return 0;
}

int option_values_history(struct options *o, const char *value, struct option_error *why)
{
	if (units_parse_bytes(value, &o->history_limit) ||
		(o->history_limit && o->history_limit < HISTORY_LEAST_BYTES))
		return error_set(why, "must be 1M or more, or 0 for no history");
	return 0;
}

int option_values_record(struct options *o, const char *value, struct option_error *why)
{
	if (!*value)
		return error_set(why, "must be the path of a file");
	o->record = value;
	return 0;
}

int option_values_record_limit(struct options *o, const char *value, struct option_error *why)
{
	if (units_parse_bytes(value, &o->record_limit) ||
		(o->record_limit && o->record_limit < RECORD_LEAST_BYTES))
		return error_set(why, "must be 1M or more, or 0 for no limit");
	o->record_limit_given = true;
	return 0;
}

int option_values_record_rate(struct options *o, const char *value, struct option_error *why)
{
	if (units_parse_bytes(value, &o->record_rate) ||
		(o->record_rate && o->record_rate < RECORD_LEAST_BYTES))
		return error_set(why, "must be 1M an hour or more, or 0 for no bound");
	o->record_rate_given = true;
	return 0;
}

int option_values_record_service(struct options *o, const char *value, struct option_error *why)
{
	return option_values_mode(o, OPTIONS_RECORD_SERVICE, why);
}

int option_values_at(struct options *o, const char *value, struct option_error *why)
{
	if (at_time_check(value) != 0)
		return error_set(why, AT_TIME_WORDS ", end, or A..B");
	o->at = value;
	return 0;
}

int option_values_profile(struct options *o, const char *value, struct option_error *why)
{
	for (unsigned i = 0; i < o->nprofiles; i++)
		if (!strcmp(o->profile[i], value))
			return 0;
	if (o->nprofiles == OPTIONS_PROFILES_MAX)
		return error_set(why, "is one profile too many");
	o->profile[o->nprofiles++] = value;
	return 0;
}
