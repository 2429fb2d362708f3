/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of patched functions (inner_table.h). */
#include "preload/inner_table.h"

#include "shm/private.h"

struct inner_entry *inner_table;
uint32_t inner_table_end;
void (*inner_table_on_change)(void);

bool inner_table_start(void)
{
	if (inner_table)
		return true;
	inner_table = private_map(INNER_TABLE_ENTRIES * sizeof(*inner_table));
	return inner_table != NULL;
}
