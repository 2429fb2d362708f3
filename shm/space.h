/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a segment takes of the process's address space. Its file is far larger than what most
 * programs use of it, and a limit on the address space (RLIMIT_AS) counts every mapping, used or
 * not. So each region is mapped by itself, from its start to a little beyond what is in use, at the
 * distance from the header that it has in the file; what lies between the mappings is not ours.
 *
 * No descriptor is kept, so a mapping grows in place (mremap(2)), which takes nothing from another
 * mapping: where something of the program's has come to lie in the way, or a limit is reached, the
 * region has the size that it has.
 *
 * Growing needs no lock. The kernel has the truth; `mapped` in struct segment is what is known of
 * it, and never more than the truth. A region grows in steps that follow from its size alone, so
 * whoever finds that a step was taken but not noted, because another thread is at it, or a signal
 * handler left the function for good, can note it.
 *
 * New mappings are closed (PROT_NONE), so that a program's mlockall takes memory for little more
 * than what is in use, and are opened in windows.
 */
#ifndef SHM_SPACE_H
#define SHM_SPACE_H

#include "shm/segment_types.h"

/*
 * Maps the beginning of each region of a file of `bytes`, closed but for the header. Fills in
 * `header`, `bytes` and what this file keeps; nothing is read or written there. 0, -ENOMEM when it
 * would take more than an eighth of RLIMIT_AS, or -errno.
 */
int space_map(struct segment *s, int fd, const struct ht_region *region, uint64_t bytes);
/* Maps only the header, which is open then. */
int space_map_header(struct segment *s, int fd);
/* Takes away what is mapped. */
void space_unmap(struct segment *s);

/*
 * Makes sure that [at, at + bytes), in one region, is mapped. No system call if it is. 0 or
 * -ENOMEM. Any thread, also inside hooks; errno may change.
 */
int space_reach(const struct segment *s, uint64_t at, uint64_t bytes);
/* Opens the windows that [at, at + bytes) lies in, which is mapped. 0 or -errno. */
int space_open(const struct segment *s, uint64_t at, uint64_t bytes);
/* Both. */
int space_take(const struct segment *s, uint64_t at, uint64_t bytes);

/* What is mapped, by offsets from the header; at most HT_REGION_COUNT ranges. Returns how many. */
struct space_range {
	uint64_t at, bytes;
};
unsigned space_ranges(const struct segment *s, struct space_range *out);
/* The same in a child of fork, of its parent's segment: another thread of the parent may have been
 * about to note a step. The child has one thread. */
unsigned space_ranges_forked(struct segment *s, struct space_range *out);

#endif
