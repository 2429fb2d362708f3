/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Private memory of the library: excluded from the program's core dumps, and marked, because a
 * leak scan must not mistake the library's addresses of blocks for the program's pointers. Slow
 * path; raw mappings, no lock. errno may change.
 */
#ifndef SHM_PRIVATE_H
#define SHM_PRIVATE_H

#include <stddef.h>

/* `bytes` of zeros, at the beginning of a line of the cache. NULL: there is no memory. */
void *private_map(size_t bytes);
/* Makes it larger, by zeros at its end; it may move. NULL: it stays as it is. */
void *private_resize(void *p, size_t bytes, size_t larger);
/* Asks for huge pages: for memory of megabytes that is read at random. */
void private_prefer_huge(void *p, size_t bytes);
/* Takes the memory of a range in one call, where it will all be written soon: a page fault for each
 * page costs several times as much. Without effect where the kernel cannot (before 5.14). */
void private_populate(void *from, size_t bytes);
/* With the same `bytes`. */
void private_unmap(void *p, size_t bytes);

#endif
