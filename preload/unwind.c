/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Selects the unwinder (unwind.h). `check` takes every stack by both and counts where they differ;
 * libunwind is the reference, and otherwise no dependency.
 */
#include "preload/unwind.h"

#include "preload/cfi.h"
#include "preload/state.h"
#include "preload/unwind_libunwind.h"
#include "preload/unwind_cfi.h"
#include "preload/walk.h"

static bool use_libunwind;
bool unwind_check;

static bool is(const char *a, const char *b)
{
	return a && __builtin_strcmp(a, b) == 0;
}

void unwind_start(const char *choice)
{
	bool wanted = is(choice, "libunwind") || is(choice, "check");

	walk_begin();
	cfi_start();
	if (!wanted || !unwind_libunwind_load())
		return;
	unwind_check = is(choice, "check");
	use_libunwind = !unwind_check;
}

/* Compares with the reference. A stack that only our unwinder could follow further is no
 * difference. */
static void compare(const struct unwind *own)
{
	uint32_t i = 0;
	struct unwind ref = *own; /* and its memory for a walk */
	struct ht_header *h = state_segment.header;

	unwind_libunwind(&ref);
	while (i < ref.count && i < own->count && ref.pcs[i] == own->pcs[i])
		i++;
	ht_add_relaxed_64(&h->unwinds_checked, 1);
	if (i < ref.count && (i < own->count || !own->truncated))
		ht_add_relaxed_64(&h->unwinds_wrong, 1);
	else if (i < ref.count)
		ht_add_relaxed_64(&h->unwinds_shorter, 1);
	else if (i < own->count)
		ht_add_relaxed_64(&h->unwinds_longer, 1);
}

/* Compares with a walk that takes nothing from the previous stack. */
static void compare_fresh(const struct unwind *own)
{
	struct unwind fresh = *own;
	bool same;

	unwind_cfi_afresh(&fresh);
	same = own->count == fresh.count && own->guard_count == fresh.guard_count &&
	       own->truncated == fresh.truncated && own->repeatable == fresh.repeatable &&
	       own->unpinned == fresh.unpinned;
	for (uint32_t i = 0; same && i < own->count; i++)
		same = own->pcs[i] == fresh.pcs[i] && own->modules[i] == fresh.modules[i];
	for (uint32_t i = 0; same && i < own->guard_count; i++)
		same = unwind_guard(own, i) == unwind_guard(&fresh, i);
	if (!same)
		ht_add_relaxed_64(&state_segment.header->unwinds_wrong, 1);
}

void unwind_take(struct unwind *u)
{
	if (use_libunwind) {
		unwind_libunwind(u);
		return;
	}
	unwind_cfi(u);
	if (__builtin_expect(unwind_check, 0)) {
		compare(u);
		compare_fresh(u);
	}
}
