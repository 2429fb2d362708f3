/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests to a process, or to the copy that it made of itself, whose library reads memory for us
 * (src/read/cooperation.h): whole answers, however many requests they take. One thread.
 */
#ifndef SRC_LEAK_ACCESS_LENT_MEMORY_H
#define SRC_LEAK_ACCESS_LENT_MEMORY_H

#include "src/read/cooperation.h"

/* Reads `bytes` into `out`. The number of bytes read, fewer at the end of what there is; -errno:
 * nothing was read. */
ssize_t leak_lent_memory_read(struct read_coop *coop, enum ht_coop_server server,
	enum ht_coop_command command, uint64_t addr, void *out, size_t bytes);

#endif
