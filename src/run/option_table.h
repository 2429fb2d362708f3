/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command line as one table: each row is an option with its argument, its help line and the
 * function that takes its value. getopt_long's two lists, the text of --help and, from that, the
 * completion of shells are made from it. Pure; any thread.
 */
#ifndef SRC_RUN_OPTION_TABLE_H
#define SRC_RUN_OPTION_TABLE_H

#include <stddef.h>
#include "src/run/option_values.h"

struct option_row {
	int key; /* short letter, or a number above 255 for a long name alone */
	const char *name;
	const char *arg; /* NULL: takes none; "[=...]": may have one */
	option_values_set *set; /* takes the value: 0, or -EINVAL with `why` filled */
	size_t flag; /* instead of set: where in struct options a bool becomes true */
	const char *help; /* NULL: known, but not built in yet */
};

#define OPTION_TABLE_MAX OPTIONS_MOST /* each has a bit in struct options */
extern const struct option_row
	option_table[OPTION_TABLE_MAX + 1]; /* a row without a name ends it */

/* The row of a key, or NULL. */
const struct option_row *option_table_find(int key);
/* How a message calls an option: "-d" or "--depth". */
void option_table_spell(const struct option_row *r, char *out, size_t cap);

#endif
