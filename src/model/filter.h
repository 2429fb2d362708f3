/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A filter expression for call sites: terms separated by blanks, all of which must hold.
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
 * Only one of these fields and a value make a comparison: operator<<, R<40> and vector<int> are
 * words. A mistyped comparison (liev>1M) is refused; in quotes it is text. Text without capitals
 * matches any case. Pure; any thread.
 */
#ifndef SRC_MODEL_FILTER_H
#define SRC_MODEL_FILTER_H

#include "src/model/snapshot.h"

#define FILTER_TEXT_MAX 128
#define FILTER_WHY_MAX	256

struct filter;

/* NULL, and one line in `why`, for an invalid or empty expression. */
struct filter *filter_parse(const char *text, char why[FILTER_WHY_MAX]);
void filter_free(struct filter *f);
/* Whether it uses the ages of blocks, which are read only on demand. */
bool filter_wants_ages(const struct filter *f);
/* Whether it uses threads, which are read only on demand, too. */
bool filter_wants_threads(const struct filter *f);
/* As it was typed. */
const char *filter_text(const struct filter *f);
/* `show_hidden`: sites are named after their innermost frame, as the table names them. */
bool filter_match(const struct filter *f, const struct snapshot *snap, const struct snap_site *site,
	bool show_hidden);
/* Its two halves: the terms on text and the terms on numbers. */
bool filter_match_names(const struct filter *f, const struct snap_site *site, bool show_hidden);
bool filter_match_numbers(
	const struct filter *f, const struct snapshot *snap, const struct snap_site *site);
/* Only the terms on text, for a frame or any line of text. */
bool filter_match_frame(const struct filter *f, const struct frame *frame);
bool filter_match_text(const struct filter *f, const char *text);
/*
 * Makes `out` a copy of `snap` with only the sites that match, in `*sites`, which has capacity
 * `*capacity` and grows by realloc. `out` is valid as long as `snap` and `*sites`, and holds no
 * reference. 0 or -ENOMEM.
 */
int filter_apply(const struct filter *f, const struct snapshot *snap, bool show_hidden,
	struct snapshot *out, struct snap_site **sites, size_t *capacity);

#endif
