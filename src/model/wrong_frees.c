/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wrong frees in words and figures (wrong_frees.h). Main thread. */
#include "src/model/wrong_frees.h"

#include <inttypes.h>
#include <stdio.h>

#include "src/util/units.h"

const char *snapshot_wrong_word(enum snap_wrong_kind kind)
{
	static const char *const words[] = { "unknown", "inside", "double", "mismatched", "sized" };

	return kind < SNAP_WRONG_KINDS ? words[kind] : "?";
}

uint64_t wrong_frees_bad(const struct snapshot *s)
{
	const uint64_t *n = s->totals.wrong_frees;

	return n[SNAP_WRONG_UNKNOWN] + n[SNAP_WRONG_INSIDE] + n[SNAP_WRONG_DOUBLE];
}

uint64_t wrong_frees_mismatched(const struct snapshot *s)
{
	return s->totals.wrong_frees[SNAP_WRONG_MISMATCHED] +
	       s->totals.wrong_frees[SNAP_WRONG_SIZED];
}

uint64_t wrong_frees_count(const struct snapshot *s)
{
	return wrong_frees_bad(s) + wrong_frees_mismatched(s);
}

static const char *function_text(const char *name)
{
	return name ? name : "an unknown function";
}

/* What was freed: "3 blocks, 48 bytes," or, of one, "a block of 16 bytes". */
static const char *blocks_text(const struct snap_wrong_free *f, char buf[80])
{
	char bytes[UNITS_MAX + 8], count[UNITS_MAX + 8];

	if (f->count == 1)
		snprintf(buf, 80, "a block of %s byte%s", units_exact(bytes, f->bytes),
			units_plural(f->bytes));
	else
		snprintf(buf, 80, "%s blocks, %s bytes,", units_exact(count, f->count),
			units_exact(bytes, f->bytes));
	return buf;
}

const char *wrong_frees_line(const struct snap_wrong_free *f, char buf[WRONG_FREES_LINE_MAX])
{
	const char *word = snapshot_wrong_word(f->kind), *by = function_text(f->freed_by);
	char blocks[80], count[UNITS_MAX + 8];
	const char *last = f->count == 1 ? "" : ", the last time";

	units_exact(count, f->count);
	switch (f->kind) {
	case SNAP_WRONG_MISMATCHED:
		snprintf(buf, WRONG_FREES_LINE_MAX, "%s: %s of %s freed by %s", word,
			blocks_text(f, blocks), function_text(f->allocated_by), by);
		break;
	case SNAP_WRONG_SIZED:
		snprintf(buf, WRONG_FREES_LINE_MAX,
			"%s: %s freed by %s as one of %" PRIu64 " bytes%s", word,
			blocks_text(f, blocks), by, f->want, last);
		break;
	case SNAP_WRONG_INSIDE:
		snprintf(buf, WRONG_FREES_LINE_MAX,
			"%s: %s x %s inside a block, %" PRIu64 " bytes from its start%s", word,
			count, by, f->offset, last);
		break;
	case SNAP_WRONG_DOUBLE:
		snprintf(buf, WRONG_FREES_LINE_MAX, "%s: %s x %s of a block freed before", word,
			count, by);
		break;
	case SNAP_WRONG_UNKNOWN:
	case SNAP_WRONG_KINDS:
		snprintf(buf, WRONG_FREES_LINE_MAX, "%s: %s x %s of %#" PRIx64 ", never a block%s",
			word, count, by, f->addr, last);
	}
	return buf;
}
