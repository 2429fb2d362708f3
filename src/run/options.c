/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command line, parsed by getopt_long from the table of options (option_table.h). Called by
 * main, on the main thread, before anything else runs.
 */
#include "src/run/options.h"

#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include "src/run/option_attach.h"
#include "src/run/option_far.h"
#include "src/run/option_help.h"
#include "src/run/option_rules.h"
#include "src/run/option_table.h"
#include "src/run/profile.h"
#include "src/util/text.h"

#define DELAY_DEFAULT_NS UINT64_C(1000000000) /* as nvtop and iotop; eyes can follow it */
#define VALUE_MAX	 64 /* bytes of a bad value that a message repeats */

/* The arguments of getopt_long, made from the table. */
struct getopt_lists {
	char letters[3 + 2 * OPTION_TABLE_MAX];
	struct option names[OPTION_TABLE_MAX + 1];
};

static void getopt_lists_make(struct getopt_lists *l)
{
	/* '+': stop at COMMAND, whose options are its own. ':': report a missing value as such. */
	char *p = stpcpy(l->letters, "+:");

	memset(l->names, 0, sizeof(l->names));
	for (size_t i = 0; option_table[i].name; i++) {
		l->names[i] = (struct option){ option_table[i].name,
			!option_table[i].arg		? no_argument
			: option_table[i].arg[0] == '[' ? optional_argument
							: required_argument,
			NULL, option_table[i].key };
		if (option_table[i].key > UCHAR_MAX)
			continue;
		*p++ = (char)option_table[i].key;
		if (option_table[i].arg)
			*p++ = ':';
	}
	*p = '\0';
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

static int usage_bad_value(FILE *err, const char *option, const char *value, const char *why)
{
	char clean[VALUE_MAX];

	text_clean(clean, sizeof(clean), value, strlen(value));
	return usage(err, "%s %s: %s", option, *clean ? clean : "\"\"", why);
}

/* getopt_long returned '?': the option is unknown or ambiguous, or takes no value. */
static int usage_unknown(FILE *err, const char *arg)
{
	const struct option_row *r = optopt ? option_table_find(optopt) : NULL;
	char spelled[32], clean[VALUE_MAX];

	if (r) {
		option_table_spell(r, spelled, sizeof(spelled));
		return usage(err, "%s takes no value", spelled);
	}
	if (optopt)
		snprintf(spelled, sizeof(spelled), "-%c", optopt);
	text_clean(clean, sizeof(clean), optopt ? spelled : arg, strlen(optopt ? spelled : arg));
	return usage(err, "unknown option %s", clean);
}

static int usage_missing(FILE *err)
{
	const struct option_row *r = option_table_find(optopt);
	char spelled[32];

	option_table_spell(r, spelled, sizeof(spelled));
	return usage(err, "%s requires a value (%s)", spelled, r->arg);
}

/* "--record --report", "-o -- ./app": getopt_long takes the next word whatever it is, so a file of
 * that name would be written. A value of that kind needs the same word: --record=--report. What
 * "--" means to --diff is said in its own words. */
static bool value_is_option(const struct option_row *r, char *const argv[])
{
	return optarg && optarg == argv[optind - 1] && strncmp(optarg, "--", 2) == 0 &&
	       (optarg[2] || strcmp(r->name, "diff") != 0);
}

static int usage_value_missing(FILE *err, const struct option_row *r)
{
	char spelled[32], clean[VALUE_MAX];

	option_table_spell(r, spelled, sizeof(spelled));
	text_clean(clean, sizeof(clean), optarg, strlen(optarg));
	return usage(err, "%s requires a value (%s) before %s", spelled, r->arg, clean);
}

/* What an option prints instead of anything else: help, the version, the choices for its value.
 * False: nothing. */
static bool option_prints(
	const struct option_row *r, const char *value, char *const rest[], FILE *out)
{
	bool asked = value && !strcmp(value, "help");

	if (r->key == 'h')
		option_help_print(rest[0], out);
	else if (r->key == 'V')
		fprintf(out, "heaptop %s\n", HEAPTOP_VERSION);
	else if (r->key == 's' && asked)
		option_help_columns(out);
	else if (!strcmp(r->name, "profile") && asked)
		profile_list(out);
	else if (asked && option_values_words(r->name))
		option_help_words(option_values_words(r->name), out);
	else
		return false;
	return true;
}

/* Stores the value of an option, called `spelled` in a message. -1: continue. */
static int option_store(struct options *o, const struct option_row *r, const char *spelled,
	const char *value, FILE *err)
{
	struct option_error why = { "" };

	o->given[(r - option_table) / 64] |= UINT64_C(1) << (r - option_table) % 64;
	if (r->flag)
		*(bool *)((char *)o + r->flag) = true;
	else if (!r->set)
		return usage(err, "%s is not supported yet", spelled);
	else if (r->set(o, value, &why))
		return value ? usage_bad_value(err, spelled, value, why.text)
			     : usage(err, "%s: %s", spelled, why.text);
	return -1;
}

/*
 * Takes the files of --diff from where getopt_long stopped, after an advance from `before`: one, or
 * after "--" all that follow, which are B's. Whether options may follow.
 */
static bool diff_files_take(struct options *o, char *const argv[], int before)
{
	bool last = optind > before;
	struct options_side *side = &o->diff[last];

	while (argv[optind] && side->count < DIFF_RUNS_MAX) {
		side->file[side->count++] = argv[optind++];
		if (!last)
			return true;
	}
	return false;
}

/* "--tree PID", where getopt_long stopped: after the option, which takes no value by itself. */
static bool tree_process_take(struct options *o, char *const argv[], int before)
{
	const char *word = argv[optind], *option = argv[optind - 1];

	if (!word || optind != before || strncmp(option, "--t", 3) != 0 ||
		strncmp("--tree", option, strlen(option)) != 0 || !option_attach_tree(o, word))
		return false;
	optind++;
	return true;
}

/* -r CORE SEGMENT, where getopt_long stopped. */
static bool account_take(struct options *o, char *const argv[], int before)
{
	if (o->mode != OPTIONS_READ || o->account || !argv[optind] || optind != before)
		return false;
	o->account = argv[optind++];
	return true;
}

/* A place on another machine, or with --serve a process, where getopt_long stopped; not after "--".
 */
static bool far_word_take(struct options *o, char *const argv[], int *status, FILE *err)
{
	struct option_error why;
	int rc;

	if (!argv[optind] || !strcmp(argv[optind - 1], "--"))
		return false;
	rc = option_far_word(o, argv[optind], &why);
	if (rc < 0)
		*status = usage(err, "%s", why.text);
	optind += rc > 0;
	return rc != 0;
}

/* -a without a value: it is the last word, or an option follows, which getopt_long took for one. */
static bool attach_is_alone(int key, char *const argv[])
{
	if (key == ':')
		return optopt == 'a';
	if (key != 'a' || optarg[0] != '-' || optarg != argv[optind - 1])
		return false;
	optind--;
	return true;
}

/* Without "--", A B. What is wrong, or NULL. */
static const char *diff_sides_set(struct options *o)
{
	struct options_side *a = &o->diff[0], *b = &o->diff[1];

	if (b->count == 0 && a->count == 2)
		b->file[b->count++] = a->file[--a->count];
	if (a->count > 0 && b->count > 0)
		return NULL;
	return "--diff requires two files, or several on each side of -- (A1 A2... -- B1 B2...)";
}

/* JUnit reports failures: definite leaks, if --fail-on names nothing. */
static void leak_check_imply(struct options *o)
{
	o->failures = o->fail_on;
	if (o->format == OPTIONS_JUNIT && !o->failures && !o->nconditions)
		o->failures = OPTIONS_FAIL_DEFINITE;
	o->leak_check |= (o->failures & OPTIONS_FAIL_LEAKS) != 0 || o->gen_suppressions;
}

static void options_default(struct options *o)
{
	*o = (struct options){ .top = OPTIONS_TOP_DEFAULT,
		.delay_ns = DELAY_DEFAULT_NS,
		.sort = COL_LIVE,
		.leak_roots = OPTIONS_ROOTS_ALL,
		.leak_copying = OPTIONS_COPY_AUTO,
		.leak_heuristics = OPTIONS_HEURISTICS_ALL,
		.history_limit = OPTIONS_HISTORY_BYTES,
		.record_limit = OPTIONS_RECORD_BYTES,
		.record_rate = OPTIONS_RECORD_HOURLY,
		.attach.timeout_ns = OPTIONS_ATTACH_NS,
		.depth = OPTIONS_DEPTH_DEFAULT };
}

/* What getopt_long found: an option, or nothing that it understands. -1: continue. */
static int key_take(
	struct options *o, int key, char *const argv[], int before, FILE *out, FILE *err)
{
	const struct option_row *r;
	char spelled[32];

	if (attach_is_alone(key, argv)) {
		optarg = NULL;
		key = 'a';
	}
	if (key == '?')
		return usage_unknown(err, argv[before]);
	if (key == ':')
		return usage_missing(err);
	r = option_table_find(key);
	if (value_is_option(r, argv))
		return usage_value_missing(err, r);
	if (option_prints(r, optarg, argv + optind, out))
		return 0;
	option_table_spell(r, spelled, sizeof(spelled));
	return option_store(o, r, spelled, optarg, err);
}

/* Takes all options, up to the COMMAND. */
static int words_take(int argc, char *const argv[], struct options *o, FILE *out, FILE *err)
{
	struct getopt_lists getopt_lists;
	int status = -1;

	getopt_lists_make(&getopt_lists);
	opterr = 0;
	optind = 0; /* glibc: start anew */
	for (int before = 1, key; status < 0; before = optind) {
		key = getopt_long(argc, argv, getopt_lists.letters, getopt_lists.names, NULL);
		if (key == -1 && o->mode == OPTIONS_DIFF && diff_files_take(o, argv, before))
			continue;
		if (key == -1 && tree_process_take(o, argv, before))
			continue;
		if (key == -1 && account_take(o, argv, before))
			continue;
		if (key == -1 && far_word_take(o, argv, &status, err))
			continue;
		if (key == -1)
			break;
		status = key_take(o, key, argv, before, out, err);
	}
	return status;
}

/* ---- profiles ----------------------------------------------------------------------------- */

static const struct option_row *row_named(const char *name)
{
	for (const struct option_row *r = option_table; r->name; r++)
		if (!strcmp(r->name, name))
			return r;
	return NULL;
}

/* Options that end everything, or take more words than one. */
static bool is_of_command_line(const char *name)
{
	static const char *const names[] = { "help", "version", "profile", "diff", "mark" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* One option of the profile `name`. -1: continue. */
static int profile_option_take(
	struct options *o, const char *name, const struct profile_option *p, FILE *err)
{
	const struct option_row *r = row_named(p->name);
	const char *value = p->value;
	bool required;
	char spelled[PROFILE_NAME_MAX + 48], clean[VALUE_MAX];

	text_clean(clean, sizeof(clean), p->name, strlen(p->name));
	snprintf(spelled, sizeof(spelled), "profile %.*s: --%.30s", (int)PROFILE_NAME_MAX, name,
		clean);
	if (!r)
		return usage(err, "%s: there is no such option", spelled);
	if (is_of_command_line(r->name))
		return usage(err, "%s belongs on the command line", spelled);
	required = r->arg && r->arg[0] != '[';
	if (required && (!value || !*value))
		return usage(err, "%s requires a value (%s)", spelled, r->arg);
	if (!required && value && !strcmp(value, "no"))
		return -1;
	if (!required && value && !strcmp(value, "yes"))
		value = NULL;
	if (!r->arg && value)
		return usage_bad_value(err, spelled, value, "must be yes or no");
	return option_store(o, r, spelled, value, err);
}

static bool was_given(const void *options, const char *name)
{
	return options_given(options, name);
}

static int profile_take(struct options *o, const struct options *line, const char *name,
	struct profile *p, FILE *err)
{
	char why[160];
	int status = -1;

	if (profile_find(name, line->no_config, p, why, sizeof(why)) != 0)
		return usage_bad_value(err, "--profile", name, why);
	for (unsigned i = 0; i < p->count && status < 0; i++)
		if (!profile_gives_way(p->option[i].name, was_given, line))
			status = profile_option_take(o, name, &p->option[i], err);
	return status;
}

/* Begins anew with the options of the profiles, so that those of the command line outrank them. */
static int profiles_take(struct options *o, FILE *err)
{
	static struct profile profile[OPTIONS_PROFILES_MAX]; /* options point into them */
	static struct options line;
	int status = -1;

	line = *o;
	options_default(o);
	o->nprofiles = line.nprofiles;
	memcpy(o->profile, line.profile, sizeof(o->profile));
	for (unsigned i = 0; i < line.nprofiles && status < 0; i++)
		status = profile_take(o, &line, line.profile[i], &profile[i], err);
	return status;
}

/* ---- the whole ---------------------------------------------------------------------------- */

/* Several that do not go together. */
static int usage_conflict(FILE *err, const struct options *o, const char *what)
{
	return o->nprofiles ? usage(err, "with --profile %.*s: %s", (int)PROFILE_NAME_MAX,
				      o->profile[0], what)
			    : usage(err, "%s", what);
}

int options_parse(int argc, char *const argv[], struct options *o, FILE *out, FILE *err)
{
	const char *conflict;
	struct option_error why;
	int status;

	options_default(o);
	status = words_take(argc, argv, o, out, err);
	if (status < 0 && o->nprofiles)
		status = profiles_take(o, err);
	if (status < 0 && o->nprofiles)
		status = words_take(argc, argv, o, out, err);
	if (status >= 0)
		return status;
	if (argv[optind] && o->mode == OPTIONS_DIFF)
		return usage(err, "--diff takes at most %u files on each side", DIFF_RUNS_MAX);
	conflict = o->mode == OPTIONS_DIFF ? diff_sides_set(o) : NULL;
	if (conflict)
		return usage(err, "%s", conflict);
	if (argv[optind] && o->mode == OPTIONS_MARK && !argv[optind + 1]) {
		o->mark_name = argv[optind];
	} else if (argv[optind]) {
		o->command = &argv[optind];
		if (option_values_mode(o, OPTIONS_RUN, &why))
			return usage_conflict(err, o, why.text);
	}
	o->names = o->full_names ? NAMES_FULL : NAMES_SHORT;
	leak_check_imply(o);
	o->report |=
		(o->format_given || o->fail_on || o->nconditions || o->leak_check) && !o->batch;
	o->report |= o->mode == OPTIONS_DIFF && o->output;
	conflict = option_far_finish(o);
	conflict = conflict ? conflict : option_rules_broken(o);
	return conflict ? usage_conflict(err, o, conflict) : -1;
}

bool options_given(const struct options *o, const char *name)
{
	const struct option_row *r = row_named(name);
	size_t i = r ? (size_t)(r - option_table) : 0;

	return r && (o->given[i / 64] >> i % 64 & 1);
}
