/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A segment's part of the process's address space. Its file is far larger than most programs need,
 * and a limit on the address space (RLIMIT_AS) counts every mapping, used or not. So each region is
 * mapped separately, from its start to a little beyond the part in use, at its file offset from the
 * header; the gaps between the mappings are not ours.
 *
 * No descriptor is kept, so a mapping grows in place (mremap(2)), which takes nothing from another
 * mapping. If a mapping of the program's is in the way, or a limit is reached, the region keeps its
 * size.
 *
 * Growing needs no lock. The kernel knows the true size; `mapped` in struct segment is never more
 * than that. A region grows in steps that follow from its size alone. So a thread that finds a step
 * that was taken but not noted can note it, whether another thread is about to, or a signal handler
 * abandoned the function.
 *
 * New mappings are inaccessible (PROT_NONE), so that a program's mlockall takes memory for little
 * more than the part in use, and are opened in windows.
 */
#ifndef SHM_MAPPING_H
#define SHM_MAPPING_H

#include "shm/segment_types.h"

/* Maps the beginning of each region of a file of `bytes`, inaccessible except the header. Fills in
 * `header`, `bytes` and this file's fields; reads and writes nothing there. 0, -ENOMEM when it
 * would take more than an eighth of RLIMIT_AS, or -errno. */
int mapping_map(struct segment *s, int fd, const struct ht_region *region, uint64_t bytes);
/* Maps only the header, accessible. */
int mapping_map_header(struct segment *s, int fd);
/* Unmaps everything. */
void mapping_unmap(struct segment *s);

/* Ensures that [at, at + bytes), in one region, is mapped. No system call if it is. 0 or -ENOMEM.
 * Any thread, also inside hooks; errno may change. */
int mapping_reach(const struct segment *s, uint64_t at, uint64_t bytes);
/* Opens the windows of [at, at + bytes), which is mapped. 0 or -errno. */
int mapping_open(const struct segment *s, uint64_t at, uint64_t bytes);
/* Both. */
int mapping_take(const struct segment *s, uint64_t at, uint64_t bytes);

/* The region of an offset. The header belongs to the first one. */
uint32_t mapping_region(const struct segment *s, uint64_t at);

/* The mapped ranges, by offsets from the header; at most HT_REGION_COUNT. Returns their number. */
struct mapping_range {
	uint64_t at, bytes;
};
unsigned mapping_ranges(const struct segment *s, struct mapping_range *out);
/* The same for the parent's segment in a child of fork: another thread of the parent may have been
 * about to note a step. The child has one thread. */
unsigned mapping_ranges_forked(struct segment *s, struct mapping_range *out);

#endif
