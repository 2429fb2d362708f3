/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options that exclude or require each other (option_rules.h). */
#include "src/run/option_rules.h"

/* What only the whole line can tell. NULL when all is well. */
const char *option_rules_broken(const struct options *o)
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
