/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the counts of all call sites (site_table.h). Main thread. */
#include "src/session/site_table.h"

#include <errno.h>
#include <stdlib.h>
#include "src/util/array.h"

static int room_make(struct site_table *t, uint32_t used)
{
	uint32_t room = used + used / 2 + 256;

	site_table_free(t);
	*t = (struct site_table){
		.read = array_large(calloc(room, sizeof(*t->read)), room * sizeof(*t->read)),
		.plain = array_large(calloc(room, sizeof(*t->plain)), room * sizeof(*t->plain)),
	};
	t->room = t->read && t->plain ? room : 0;
	return t->room ? 0 : -ENOMEM;
}

int site_table_load(
	struct site_table *t, struct read_segment *segment, const struct read_totals *totals)
{
	int rc = totals->sites > t->room ? room_make(t, totals->sites) : 0;
	ssize_t got = rc ? rc : read_sites(segment, 0, t->read, totals->sites);

	if (got < 0)
		return (int)got;
	t->count = (uint32_t)got;
	read_at_peak_choose(t->read, t->count, totals->peak_bytes);
	return 0;
}

void site_table_free(struct site_table *t)
{
	free(t->read);
	free(t->plain);
}
