/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether this process can be forked safely for a scan. A viewer that may read /proc/PID checks
 * this itself; for others the process checks it here (shm/coop.h, enum ht_coop_check). On the
 * thread that is to make the copy.
 */
#ifndef PRELOAD_SELF_CHECK_H
#define PRELOAD_SELF_CHECK_H

#include <stdint.h>

#include "shm/coop.h"

/* Uses `data`, HT_COOP_DATA bytes, as working memory. If the result is HT_COOP_SAFE, `data` holds
 * the number of mappings that are empty in a copy, then the start of each. Takes as long as walking
 * the page tables; opens one file at a time. */
enum ht_coop_check self_check(uint64_t *data);

#endif
