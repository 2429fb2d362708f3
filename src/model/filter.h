/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the user looks for among call sites: terms with blanks between them, all of which must hold.
 *
 *	word            in the function, file or object that the site is named after
 *	"two words"     the same, with a blank in it
 *	/regex/         the same, as an extended regular expression
 *	function:word   in that one only; so file:, module:, and stack: for any frame of the stack
 *	age>60s         of the oldest live block; youngest: of the youngest; where they are known
 *	growth>0        per second, of what grows (growth.h); since: bytes since the mark
 *	live>1M         so blocks, avg, peak, allocs, temp, rate (per second), percent; > >= < <= =
 *	!term           does not hold
 *
 * Only one of these numbers and a value make a comparison: operator<<, R<40> and vector<int> are
 * words. What is meant as one and is none (liev>1M) is refused; in quotes it is text.
 * Text without capitals is found in capitals, too. Pure; any thread.
 */
#ifndef SRC_MODEL_FILTER_H
#define SRC_MODEL_FILTER_H

#include "src/model/snapshot.h"

#define FILTER_TEXT_MAX 128
#define FILTER_WHY_MAX	256

struct filter;

/* NULL and one line in `why` for what cannot be understood, also when nothing is asked for. */
struct filter *filter_parse(const char *text, char why[FILTER_WHY_MAX]);
void filter_free(struct filter *f);
/* Whether it asks how old blocks are, which is read on demand only. */
bool filter_wants_ages(const struct filter *f);
/* Whether it asks who allocates, the same. */
bool filter_wants_threads(const struct filter *f);
/* As it was typed. */
const char *filter_text(const struct filter *f);
/* `show_hidden`: sites are named after their innermost frame, as the table names them. */
bool filter_match(const struct filter *f, const struct snapshot *snap, const struct snap_site *site,
	bool show_hidden);
/* Its two halves: what is said of names, and what of numbers. */
bool filter_match_names(const struct filter *f, const struct snap_site *site, bool show_hidden);
bool filter_match_numbers(
	const struct filter *f, const struct snapshot *snap, const struct snap_site *site);
/* Only what is said of names, of a frame or of any line of text; conditions on numbers hold. */
bool filter_match_frame(const struct filter *f, const struct frame *frame);
bool filter_match_text(const struct filter *f, const char *text);
/*
 * Makes `out` a copy of `snap` with only the sites that match, in `*sites`, which holds `*room` of
 * them and grows by realloc. It is valid as long as `snap` and `*sites` are, and no reference. 0 or
 * -ENOMEM.
 */
int filter_apply(const struct filter *f, const struct snapshot *snap, bool show_hidden,
	struct snapshot *out, struct snap_site **sites, size_t *capacity);

#endif
