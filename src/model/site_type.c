/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Types of call sites' blocks (site_type.h). */
#include "src/model/site_type.h"

#include <stdio.h>
#include <string.h>

#include "src/util/text.h"
#include "src/util/units.h"

/* Of whole percents none is 100 but the whole. */
static unsigned percent(uint64_t part, uint64_t whole)
{
	unsigned p = whole ? (unsigned)((double)part * 100 / (double)whole + 0.5) : 0;

	return p >= 100 && part < whole ? 99 : p;
}

char *site_type_text(const struct snap_type *t, unsigned cells, bool ascii, char out[SITE_TYPE_MAX])
{
	char share[16] = "";
	unsigned rest;

	*out = '\0';
	if (!t->name)
		return out;
	if (t->blocks < t->of)
		snprintf(share, sizeof(share), " (%u %%)", percent(t->blocks, t->of));
	rest = cells > strlen(share) ? cells - (unsigned)strlen(share) : cells ? 1 : SITE_TYPE_MAX;
	text_elide(out, SITE_TYPE_MAX - sizeof(share), t->name, rest, false, ascii);
	strcat(out, share);
	return out;
}

char *site_type_share(const struct snap_typed *t, char out[SITE_TYPE_MAX])
{
	char share[UNITS_MAX];

	*out = '\0';
	if (t->known)
		snprintf(out, SITE_TYPE_MAX, "typed %s%% of bytes",
			units_percent(share, t->typed.bytes, t->of.bytes));
	return out;
}
