/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bytes in use according to the statistics of an allocator that replaces libc's. Read when a
 * viewer attaches to a running program, since such blocks cannot be listed from outside. On the
 * thread that attaches, which holds no lock of the allocator's.
 */
#ifndef PRELOAD_STATISTICS_H
#define PRELOAD_STATISTICS_H

#include <stdint.h>

struct statistics {
	uint64_t blocks, bytes; /* 0: unknown */
};

/* Finds the functions that tell, under the loader's lock; their library is the program's malloc,
 * and stays. */
void statistics_find(void);
/* jemalloc's or tcmalloc's, if it is the program's malloc; else zeros. Without the loader's lock,
 * for which a thread may wait that has one of the allocator's. */
struct statistics statistics_read(void);

#endif
