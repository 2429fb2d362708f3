/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether this process may be copied, for a viewer that may not look into its /proc/PID: what a
 * viewer looks at otherwise (shm/coop.h, enum ht_coop_look). The thread that is to make the copy.
 */
#ifndef PRELOAD_SELF_CHECK_H
#define PRELOAD_SELF_CHECK_H

#include <stdint.h>

#include "shm/coop.h"

/*
 * `data`: HT_COOP_DATA bytes to work with. If it is HT_COOP_FIT, they begin with how many mappings
 * a copy has empty, and where each begins. Takes as long as walking the page tables, and opens a
 * file at a time.
 */
enum ht_coop_look self_check(uint64_t *data);

#endif
