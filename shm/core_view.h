/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A second, private view of a segment's file, by which the kernel includes the segment in a core
 * of the program (HEAPTOP_CORE=1). The segment's own mappings are shared and of a named file, which
 * the default coredump_filter leaves out. A private mapping counts as the program's memory once one
 * of its pages was written. All of it is excluded (MADV_DONTDUMP) but what is committed, since a
 * dump would allocate the rest of the file.
 *
 * Nothing reads the view, and it is inaccessible, so it takes no memory before a dump. It takes as
 * much address space as the file. A fork does not copy it.
 */
#ifndef SHM_CORE_VIEW_H
#define SHM_CORE_VIEW_H

#include "shm/segment_types.h"

/* Makes the view, of a segment that has just been created or mapped from `fd`: nothing is in it. 0,
 * or -errno and there is none: with RLIMIT_AS, and in 32 bits, -ENOMEM. For segment_dump. */
int core_view_map(struct segment *s, int fd);
/* Adds a committed range of whole pages. Any thread, also inside hooks; errno may change. Does
 * nothing without a view. */
void core_view_add(const struct segment *s, uint64_t at, uint64_t bytes);
/* The view stays with the parent of a fork: the child must not touch these addresses. */
void core_view_forget(struct segment *s);
void core_view_unmap(struct segment *s);

#endif
