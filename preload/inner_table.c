/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of patched functions (inner_table.h). */
#include "preload/inner_table.h"

struct inner_entry inner_table[INNER_TABLE_ENTRIES];
void (*inner_table_on_change)(void);
