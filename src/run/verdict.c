/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What --fail-on and --leak-check conclude from the last snapshot (verdict.h). */
#include "src/run/verdict.h"

#include <stdio.h>
#include "src/model/wrong_frees.h"
#include "src/run/failure.h"
#include "src/util/strbuf.h"
#include "src/util/units.h"

#define EXIT_FAIL_ON 1 /* --fail-on found what it looks for */

/* Blocks of one class of --fail-on, in all processes of the launch. */
struct found {
	struct snap_leak_sum sum;
	uint64_t processes; /* processes with such blocks */
};

static void leaks_add(struct found *f, const struct snapshot *s, unsigned class)
{
	struct snap_leak_sum own =
		s->leaks && !s->leaks->failed ? s->leaks->sum[class] : (struct snap_leak_sum){ 0 };

	f->sum.blocks += own.blocks;
	f->sum.bytes += own.bytes;
	f->processes += own.blocks > 0;
	for (size_t i = 0; i < s->nchildren; i++)
		leaks_add(f, s->children[i], class);
}

static void wrong_add(struct found *f, const struct snapshot *s, unsigned bit)
{
	uint64_t own = bit == OPTIONS_FAIL_BADFREE ? wrong_frees_bad(s) : wrong_frees_mismatched(s);

	f->sum.blocks += own;
	f->processes += own > 0;
	for (size_t i = 0; i < s->nchildren; i++)
		wrong_add(f, s->children[i], bit);
}

/* `ended`: the program has. */
static void unfreed_add(struct found *f, const struct snapshot *s, bool ended)
{
	if (ended) {
		f->sum.blocks += s->totals.live_blocks;
		f->sum.bytes += s->totals.live_bytes;
		f->processes += s->totals.live_blocks > 0;
	}
	for (size_t i = 0; ended && i < s->nchildren; i++)
		unfreed_add(f, s->children[i], snapshot_child_left(s, i));
}

/* `class` is a bit number of OPTIONS_FAIL_*. Zeros for a class that --fail-on does not name. */
static struct found found_count(
	const struct snapshot *s, const struct options *o, bool ended, unsigned class)
{
	struct found f = { { 0, 0 }, 0 };
	unsigned bit = o->fail_on & 1u << class;

	if (bit & OPTIONS_FAIL_LEAKS)
		leaks_add(&f, s, class);
	else if (bit & OPTIONS_FAIL_WRONG)
		wrong_add(&f, s, bit);
	else if (bit)
		unfreed_add(&f, s, ended);
	return f;
}

bool verdict_failed(const struct snapshot *s, const struct options *o, bool ended)
{
	char line[CONDITION_LINE_MAX];

	for (unsigned class = 0; o->fail_on >> class; class ++)
		if (found_count(s, o, ended, class).sum.blocks > 0)
			return true;
	for (unsigned i = 0; i < o->nconditions; i++)
		if (condition_failed(&o->conditions[i], s, line))
			return true;
	return false;
}

/* What --fail-on looks for, in the singular. */
static const char *class_text(unsigned class, char buf[32])
{
	const char *word = snapshot_leak_word((enum snap_leak_class) class), *what = "block";

	switch (1u << class) {
	case OPTIONS_FAIL_UNFREED:
		word = "unfreed";
		break;
	case OPTIONS_FAIL_BADFREE:
		word = "bad";
		what = "free";
		break;
	case OPTIONS_FAIL_MISMATCH:
		word = "mismatched";
		what = "free";
		break;
	default:
		break;
	}
	snprintf(buf, 32, "%s %s", word, what);
	return buf;
}

/* "456 bytes in 3 definite blocks", "2 mismatched frees". */
static void found_put(struct strbuf *out, const struct found *f, unsigned class)
{
	char bytes[UNITS_MAX + 8], count[UNITS_MAX + 8], what[32];

	if (!(1u << class & OPTIONS_FAIL_WRONG))
		strbuf_printf(out, "%s byte%s in ", units_exact(bytes, f->sum.bytes),
			units_plural(f->sum.bytes));
	strbuf_printf(out, "%s %s%s", units_exact(count, f->sum.blocks), class_text(class, what),
		units_plural(f->sum.blocks));
}

/* The limits: those that are passed if `failed`, otherwise all, which are kept. */
static void limits_put(struct strbuf *out, const struct snapshot *s, const struct options *o,
	bool failed, const char *between)
{
	char line[CONDITION_LINE_MAX];

	for (unsigned i = 0; i < o->nconditions; i++) {
		if (condition_failed(&o->conditions[i], s, line) != failed)
			continue;
		strbuf_printf(out, "%s%s", between, line);
		between = ", ";
	}
}

/* "456 bytes in 3 definite blocks of 2 processes, 8 bytes in 1 unfreed block", or, if nothing was
 * found, "no definite block"; then the limits. */
static void figures_put(
	struct strbuf *out, const struct snapshot *s, const struct options *o, bool ended)
{
	bool failed = verdict_failed(s, o, ended);
	const char *between = "";

	for (unsigned class = 0; o->fail_on >> class; class ++) {
		struct found f = found_count(s, o, ended, class);
		char what[32];

		if (!(o->fail_on >> class & 1) || failed != (f.sum.blocks > 0))
			continue;
		strbuf_puts(out, between);
		if (failed)
			found_put(out, &f, class);
		else
			strbuf_printf(out, "no %s", class_text(class, what));
		if (f.processes > 1)
			strbuf_printf(out, " of %llu processes", (unsigned long long)f.processes);
		between = ", ";
	}
	limits_put(out, s, o, failed, between);
}

const char *verdict_text(
	const struct snapshot *s, const struct options *o, bool ended, char buf[VERDICT_MAX])
{
	const char *unscanned = verdict_unscanned(s, o);
	struct strbuf text = STRBUF_INIT;

	if (!o->fail_on && !o->nconditions)
		return NULL;
	if (verdict_failed(s, o, ended)) {
		strbuf_puts(&text, "failed: ");
		figures_put(&text, s, o, ended);
	} else if (unscanned) {
		strbuf_printf(&text, "none: %s", unscanned);
	} else {
		strbuf_puts(&text, "passed: ");
		figures_put(&text, s, o, ended);
	}
	snprintf(buf, VERDICT_MAX, "%s", strbuf_text(&text));
	strbuf_free(&text);
	return buf;
}

void verdict_print(const struct snapshot *s, const struct options *o, bool ended)
{
	struct strbuf text = STRBUF_INIT;

	figures_put(&text, s, o, ended);
	fprintf(stderr, "heaptop: exit status 1 because of --fail-on: %s\n", strbuf_text(&text));
	strbuf_free(&text);
}

/* The report of an attached run has no other purpose; frames do. */
const char *verdict_unscanned(const struct snapshot *s, const struct options *o)
{
	bool matters =
		(o->fail_on & OPTIONS_FAIL_LEAKS) != 0 || (o->mode == OPTIONS_ATTACH && !o->batch);

	if ((o->fail_on & OPTIONS_FAIL_WRONG) != 0 && !s->totals.has_wrong)
		return "wrong frees are not known for this moment";
	return matters && s->leaks ? s->leaks->failed : NULL;
}

int verdict_exit(const struct snapshot *s, const struct options *o)
{
	const char *unscanned = verdict_unscanned(s, o);

	if (verdict_failed(s, o, true)) {
		verdict_print(s, o, true);
		return EXIT_FAIL_ON;
	}
	return unscanned ? failure_print_reason("--fail-on", unscanned) : 0;
}
