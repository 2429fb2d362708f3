/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What --fail-on and --leak-check make of the last snapshot (verdict.h). */
#include "src/verdict.h"

static bool leaks_failed(const struct snapshot *s, const struct options *o)
{
	for (unsigned i = 0; s->leaks && !s->leaks->failed && i < SNAP_LEAK_CLASSES; i++)
		if ((o->fail_on & OPTIONS_FAIL_LEAKS) >> i & 1 && s->leaks->sum[i].blocks > 0)
			return true;
	for (size_t i = 0; i < s->nchildren; i++)
		if (leaks_failed(s->children[i], o))
			return true;
	return false;
}

bool verdict_failed(const struct snapshot *s, const struct options *o, bool ended)
{
	if ((o->fail_on & OPTIONS_FAIL_UNFREED) && ended && s->totals.live_blocks > 0)
		return true;
	return leaks_failed(s, o);
}

/* Attached, it is all that we were there for; but frames may be. */
const char *verdict_unseen(const struct snapshot *s, const struct options *o)
{
	bool matters =
		(o->fail_on & OPTIONS_FAIL_LEAKS) != 0 || (o->mode == OPTIONS_ATTACH && !o->batch);

	return matters && s->leaks ? s->leaks->failed : NULL;
}
