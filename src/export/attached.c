/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attaching in the JSON report (attached.h). Any thread. */
#include "src/export/attached.h"

static void before_put(
	struct writer *w, const char *key, const struct snap_totals *t, uint64_t value)
{
	if (t->has_before)
		writer_uint(w, key, value);
	else
		writer_null(w, key);
}

/* Null: another viewer attached, and only that knows. */
static void pauses_put(
	struct writer *w, const char *key, const struct snap_attach *a, uint64_t value)
{
	if (a->pauses == 0 && a->how != SNAP_ATTACH_DONE && a->how != SNAP_ATTACH_OUTSIDE)
		writer_null(w, key);
	else
		writer_uint(w, key, value);
}

void attached_json(struct writer *w, const struct snapshot *s)
{
	const struct snap_attach *a = &s->attach;
	static const char *const states[] = { [SNAP_ATTACH_NOT] = "attached",
		[SNAP_ATTACH_DONE] = "attached",
		[SNAP_ATTACH_ENDED] = "detached",
		[SNAP_ATTACH_OUTSIDE] = "outside" };

	if (a->how == SNAP_ATTACH_NOT && !s->totals.has_before) {
		writer_null(w, "attach");
		return;
	}
	writer_object(w, "attach");
	writer_string(w, "state", states[a->how]);
	pauses_put(w, "pauses", a, a->pauses);
	pauses_put(w, "longest_ns", a, a->longest_ns);
	pauses_put(w, "total_ns", a, a->total_ns);
	before_put(w, "before_blocks", &s->totals, s->totals.before_found_blocks);
	before_put(w, "before_bytes", &s->totals, s->totals.before_found_bytes);
	writer_end(w);
}

void attached_json_before(struct writer *w, const struct snap_totals *t)
{
	before_put(w, "before_found_blocks", t, t->before_found_blocks);
	before_put(w, "before_found_bytes", t, t->before_found_bytes);
	before_put(w, "before_blocks", t, t->before_blocks);
	before_put(w, "before_bytes", t, t->before_bytes);
}
