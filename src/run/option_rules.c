/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Options that exclude or require each other (option_rules.h), as one table over the facts that a
 * command line states. The first broken rule gives the message.
 */
#include "src/run/option_rules.h"

#include <stddef.h>
#include "src/export/formats.h"

enum fact {
	NO_MODE = 1 << 0,
	RUN = 1 << 1,
	ATTACH = 1 << 2,
	READ = 1 << 3,
	OTHER_MODE = 1 << 4, /* -l, --clean, --mark, --detach, --record-service: they show no
				program */
	BATCH = 1 << 5,
	REPORT = 1 << 6,
	SCREEN = 1 << 7, /* neither of the two */
	OUTPUT = 1 << 8,
	MARK_EVERY = 1 << 9,
	READONLY = 1 << 10,
	TREE = 1 << 11,
	SCREEN_ONLY = 1 << 12, /* --readonly, --script, --source-path */
	NO_EXIT_SCAN = 1 << 13,
	HOLD = 1 << 14,
	SAMPLING = 1 << 15, /* --sample or --max-overhead, even if they say "exact" */
	SAMPLED = 1 << 16, /* some blocks are not recorded */
	TEXT = 1 << 17,
	JUNIT = 1 << 18,
	GEN_SUPPRESSIONS = 1 << 19,
	SUPPRESSIONS = 1 << 20,
	LEAK_CHECK = 1 << 21,
	LEAK_CHECK_ONCE = 1 << 22,
	FAIL_ON = 1 << 23,
	FAIL_UNFREED = 1 << 24,
	VALUE = 1 << 25,
	WEIGHTED = 1 << 26, /* a format with one weight per stack */
	DOCUMENT = 1 << 27, /* a format that is read as one document */
	FRAMES = 1 << 28, /* -b without -n 1 */
	RECORD = 1ull << 32,
	HEADLESS = 1ull << 33,
	AT = 1ull << 34,
	LIVE_FRAMES = 1ull << 35, /* -b of a program, not of a file */
	LIVE_SCREEN = 1ull << 36,
	DIFF = 1ull << 40,
	RECORD_EVENTS = 1ull << 44,
	LOSSLESS = 1ull << 45,
	EVENT_FORMAT = 1ull << 46,
	TRACE = 1ull << 47,
	RECORD_LIMIT = 1ull << 48,
	RECORD_RATE = 1ull << 49,
	ALLOCATORS = 1ull << 52,
	DETACH = 1ull << 53, /* which is also OTHER_MODE */
	KEEP = 1ull << 54,
	ATTACH_TIMEOUT = 1ull << 55,
	FREE_STACKS = 1ull << 56,
	FAULTS = 1ull << 57,
	CLIENT_REQUESTS = 1ull << 58,
	LEAK_EVERY = 1ull << 59,
	SAVE = 1ull << 60,
	ALL_PROCESSES = 1ull << 61,
	SIZES = 1ull << 62,
	FAR = 1ull << 63 /* which is also ATTACH */
};

/* Broken if one of `given` is there, and one of `excludes` too or none of `requires`. */
static const struct rule {
	uint64_t given, excludes, requires; /* sets of enum fact; `requires` 0: nothing */
	const char *message;
} rules[] = {
	{ NO_MODE, NO_MODE, 0, "nothing to watch: give a COMMAND, -a PID or -r FILE" },
	{ ATTACH_TIMEOUT, 0, ATTACH | DETACH, "--attach-timeout requires -a or --detach" },
	{ KEEP, 0, ATTACH, "--keep requires -a PID" },
	{ BATCH | REPORT | OUTPUT, OTHER_MODE, 0,
		"-l, --clean, --mark, --detach and --record-service cannot be combined with -b, "
		"--report or -o" },
	{ MARK_EVERY, 0, RUN | ATTACH, "--mark-every requires a COMMAND or -a PID" },
	{ MARK_EVERY, READONLY, 0, "--mark-every writes a file: not with --readonly" },
	{ RECORD, 0, RUN | ATTACH, "--record requires a COMMAND or -a PID" },
	{ RECORD_LIMIT, 0, RECORD | OTHER_MODE, "--record-limit requires --record" },
	{ RECORD_RATE, 0, RECORD | OTHER_MODE, "--record-rate requires --record" },
	{ HEADLESS, 0, RECORD | RECORD_EVENTS, "--headless requires --record or --record-events" },
	{ HEADLESS, BATCH | REPORT | SCREEN_ONLY, 0,
		"--headless excludes -b, --report and the options of the screen" },
	{ AT, LIVE_FRAMES | LIVE_SCREEN | OTHER_MODE, 0,
		"--at requires -r FILE, --diff or a report" },
	{ BATCH, REPORT, 0, "-b and --report cannot be combined" },
	{ TREE, BATCH | REPORT, 0, "-t applies only to the screen: not with -b or --report" },
	{ SCREEN_ONLY, BATCH | REPORT | OTHER_MODE, 0,
		"--readonly, --script and --source-path apply only to the screen" },
	{ NO_EXIT_SCAN | HOLD, BATCH | REPORT, RUN | FAR,
		"--no-exit-scan and --hold require a COMMAND and the screen" },
	{ HOLD, FAR, 0, "--hold requires a COMMAND on this machine" },
	{ SAVE | SIZES | TRACE, FAR, 0,
		"--save, --sizes and --trace require a process on this machine: use them there" },
	{ KEEP | ATTACH_TIMEOUT | ALLOCATORS, FAR, 0,
		"--keep, --attach-timeout and --allocators apply only to this machine: use them "
		"there, with --serve" },
	{ ALL_PROCESSES, FAR, 0,
		"--all-processes requires processes on this machine; p lists those elsewhere" },
	{ HOLD, NO_EXIT_SCAN | READONLY | SAMPLING, 0,
		"--hold requires the exit scan: not with --no-exit-scan, --readonly "
		"or sampling" },
	{ READONLY, SAMPLING, 0,
		"--readonly changes nothing in the program: not with --sample or --max-overhead" },
	{ OUTPUT, 0, BATCH | REPORT, "-o requires -b or --report" },
	{ JUNIT, BATCH, 0, "--format junit requires a report: not with -b" },
	{ VALUE, 0, WEIGHTED | DIFF,
		"--value requires --diff, or a format with one weight, such as folded or pprof" },
	{ DOCUMENT, FRAMES, 0, "this --format is one document, not frames: with -b, use -n 1" },
	{ GEN_SUPPRESSIONS, 0, TEXT, "--gen-suppressions requires a text report" },
	{ SUPPRESSIONS, 0, LEAK_CHECK | SCREEN,
		"--suppressions requires --leak-check or the screen" },
	{ LEAK_CHECK_ONCE, BATCH, 0,
		"--leak-check requires a report; with -b, use --leak-check=every:TIME" },
	{ GEN_SUPPRESSIONS, BATCH, 0, "--gen-suppressions requires a text report: not with -b" },
	{ LEAK_CHECK, 0, RUN | ATTACH | READ,
		"--leak-check requires a COMMAND, -a PID or -r CORE" },
	{ LEAK_EVERY, 0, RUN | ATTACH, "--leak-check=every requires a COMMAND or -a PID" },
	{ FAIL_UNFREED, 0, RUN, "--fail-on unfreed requires a COMMAND" },
	{ FAIL_ON, SAMPLED, 0,
		"--fail-on requires every block to be recorded: not with --sample or "
		"--max-overhead" },
	{ LEAK_CHECK, SAMPLED, 0,
		"--leak-check requires every block to be recorded: not with --sample or "
		"--max-overhead" },
	{ RECORD_EVENTS, 0, RUN | ATTACH, "--record-events requires a COMMAND or -a PID" },
	{ RECORD_EVENTS, SAMPLED, 0,
		"--record-events requires every block to be recorded: not with --sample or "
		"--max-overhead" },
	{ RECORD_EVENTS, READONLY, 0, "--record-events writes a file: not with --readonly" },
	{ EVENT_FORMAT, BATCH | AT, READ,
		"--format mtrace and heaptrack require -r FILE with recorded events, and write all "
		"of them" },
	{ TRACE, BATCH | REPORT | READONLY | RECORD_EVENTS, ATTACH,
		"--trace requires -a PID, and excludes -b, --report, --readonly and "
		"--record-events" },
	{ SAVE, BATCH | REPORT | READONLY | RECORD | RECORD_EVENTS | TRACE, ATTACH,
		"--save requires -a PID, and excludes -b, --report, --readonly, --record, "
		"--record-events and --trace" },
	{ SIZES, BATCH | REPORT | RECORD | RECORD_EVENTS | TRACE | SAVE, ATTACH | READ,
		"--sizes requires -a PID or -r FILE, and excludes -b, --report, --record, "
		"--record-events, --trace and --save" },
	{ LOSSLESS, 0, RECORD_EVENTS, "--lossless requires --record-events" },
	{ ALLOCATORS, 0, RUN | ATTACH, "--allocators requires a COMMAND or -a PID" },
	{ FREE_STACKS, 0, RUN | ATTACH, "--free-stacks requires a COMMAND or -a PID" },
	{ CLIENT_REQUESTS, 0, RUN, "--client-requests requires a COMMAND" },
	{ FAULTS, 0, RUN | ATTACH, "--faults requires a COMMAND or -a PID" },
	{ ALL_PROCESSES, REPORT | RECORD, RUN | ATTACH,
		"--all-processes requires a COMMAND or -a PID, and excludes --report, which sums "
		"them anyway, and --record" },
	{ SAMPLING, 0, RUN | ATTACH, "--sample and --max-overhead require a COMMAND or -a PID" },
};

static uint64_t mode_fact(const struct options *o)
{
	static const uint64_t facts[] = { [OPTIONS_NONE] = NO_MODE,
		[OPTIONS_RUN] = RUN,
		[OPTIONS_ATTACH] = ATTACH,
		[OPTIONS_FAR] = ATTACH | FAR,
		[OPTIONS_READ] = READ,
		[OPTIONS_LIST] = OTHER_MODE,
		[OPTIONS_CLEAN] = OTHER_MODE,
		[OPTIONS_DIFF] = DIFF,
		[OPTIONS_MARK] = OTHER_MODE,
		[OPTIONS_DETACH] = OTHER_MODE | DETACH,
		[OPTIONS_RECORD_SERVICE] = OTHER_MODE };

	return facts[o->mode];
}

static uint64_t facts_of(const struct options *o)
{
	const struct {
		bool is;
		uint64_t fact;
	} facts[] = {
		{ o->batch, BATCH },
		{ o->report, REPORT },
		{ !o->batch && !o->report, SCREEN },
		{ o->output, OUTPUT },
		{ o->mark_every_ns, MARK_EVERY },
		{ o->readonly, READONLY },
		{ o->tree, TREE },
		{ o->readonly || o->script || o->nsource_paths, SCREEN_ONLY },
		{ o->no_exit_scan, NO_EXIT_SCAN },
		{ o->hold, HOLD },
		{ o->all_processes, ALL_PROCESSES },
		{ o->sample.given, SAMPLING },
		{ o->sample.bytes || o->sample.limit > 0, SAMPLED },
		{ o->format == OPTIONS_TEXT, TEXT },
		{ o->format == OPTIONS_JUNIT, JUNIT },
		{ o->gen_suppressions, GEN_SUPPRESSIONS },
		{ o->nsuppressions, SUPPRESSIONS },
		{ o->leak_check, LEAK_CHECK },
		{ o->leak_check && !o->leak_every_ns, LEAK_CHECK_ONCE },
		{ o->leak_every_ns, LEAK_EVERY },
		{ o->value_given, VALUE },
		{ export_formats[o->format].weighted, WEIGHTED },
		{ o->format > OPTIONS_JUNIT, DOCUMENT },
		{ o->batch && o->frames != 1, FRAMES },
		{ o->record_events, RECORD_EVENTS },
		{ o->save, SAVE },
		{ o->sizes, SIZES },
		{ o->lossless, LOSSLESS },
		{ o->trace, TRACE },
		{ o->event_format, EVENT_FORMAT },
		{ o->fail_on, FAIL_ON },
		{ o->fail_on & OPTIONS_FAIL_UNFREED, FAIL_UNFREED },
		{ o->record, RECORD },
		{ o->record_limit_given, RECORD_LIMIT },
		{ o->record_rate_given, RECORD_RATE },
		{ o->headless, HEADLESS },
		{ o->at, AT },
		{ o->allocators, ALLOCATORS },
		{ o->attach.keep, KEEP },
		{ o->attach.timeout_ns != OPTIONS_ATTACH_NS, ATTACH_TIMEOUT },
		{ o->free_stacks, FREE_STACKS },
		{ o->client_requests, CLIENT_REQUESTS },
		{ o->faults, FAULTS },
		{ o->batch && o->mode != OPTIONS_READ, LIVE_FRAMES },
		{ !o->batch && !o->report && o->mode != OPTIONS_READ && o->mode != OPTIONS_DIFF,
			LIVE_SCREEN },
	};
	uint64_t all = mode_fact(o);

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (facts[i].is)
			all |= facts[i].fact;
	return all;
}

static bool has_condition(const struct options *o, bool growth)
{
	for (unsigned i = 0; i < o->nconditions; i++)
		if (o->conditions[i].growth == growth)
			return true;
	return false;
}

/* What --diff takes, and what only --diff does. */
static const char *diff_broken(const struct options *o)
{
	bool diff = o->mode == OPTIONS_DIFF;
	const struct {
		bool broken;
		const char *message;
	} found[] = {
		{ diff && o->batch, "--diff writes one report: not with -b" },
		{ diff && o->format != OPTIONS_TEXT && o->format != OPTIONS_JSON &&
				o->format != OPTIONS_FOLDED,
			"--diff writes text, json or folded" },
		{ diff && (o->filter || o->group), "-F and --group do not apply to --diff" },
		{ diff && (o->fail_on || has_condition(o, false)),
			"with --diff, --fail-on takes growth: 'growth>5%', 'site-growth>1M'" },
		{ !diff && has_condition(o, true), "--fail-on 'growth>...' requires --diff" },
	};

	for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++)
		if (found[i].broken)
			return found[i].message;
	return NULL;
}

const char *option_rules_broken(const struct options *o)
{
	uint64_t facts = facts_of(o);
	const char *broken = diff_broken(o);

	for (size_t i = 0; !broken && i < sizeof(rules) / sizeof(rules[0]); i++) {
		const struct rule *r = &rules[i];

		if ((facts & r->given) &&
			((facts & r->excludes) || (r->requires && !(facts & r->requires))))
			return r->message;
	}
	return broken;
}
