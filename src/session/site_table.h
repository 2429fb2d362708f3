/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The counts of all call sites, as read at the last tick. Main thread. */
#ifndef SRC_SESSION_SITE_TABLE_H
#define SRC_SESSION_SITE_TABLE_H

#include "src/model/model.h"
#include "src/read/read.h"

/* Zero at first. */
struct site_table {
	struct read_site *read; /* by site id */
	struct model_site *plain; /* room for as many, for the model */
	uint32_t room, count;
};

/* Reads the sites that `totals`, read before, has. 0 or -errno. */
int site_table_load(
	struct site_table *t, struct read_segment *segment, const struct read_totals *totals);
void site_table_free(struct site_table *t);

#endif
