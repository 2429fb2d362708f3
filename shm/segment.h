/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Creating, mapping and checking a segment. The viewer prepares one, the library fills it. No
 * malloc, no stdio, no locks; errno may change (hooks save it).
 */
#ifndef SHM_SEGMENT_H
#define SHM_SEGMENT_H

#include <stdbool.h>

#include "shm/segment_sizes.h"
#include "shm/segment_types.h"

/* The memory that a new SEGMENT_FULL must find: the header, and the first unit of each region that
 * is in use from the start. It takes less at first. */
#define SEGMENT_STARTS	    9u
#define SEGMENT_START_BYTES (HT_HEADER_BYTES + SEGMENT_STARTS * HT_COMMIT_BYTES)

struct segment_identity {
	uint32_t pid, ppid, uid, exec_gen, depth;
	uint64_t start_ticks, created_realtime_ns, created_ns, family, pid_namespace;
	uint8_t boot_id[16];
	uint64_t sample_bytes; /* sampling rate at first; 0: exact */
	uint64_t events_until, events_wait; /* as in struct ht_header, at first */
	uint32_t measure, ignore_round;
	uint32_t forked;
	uint32_t leak_ask; /* HT_LEAK_ASK_*: wait for a leak scan at the end */
};

/*
 * Creates a segment in the empty file `fd`: sets its size, commits the first memory, maps it, fills
 * the header (state PREPARED) and writes the magic last. The caller keeps `fd`. 0, -ENOSPC when
 * there is no memory for the start, -EFBIG over RLIMIT_FSIZE, -ENOMEM when its beginning would take
 * more than an eighth of RLIMIT_AS, or -errno.
 */
int segment_create(
	struct segment *s, int fd, enum segment_size size, const struct segment_identity *id);
/* Maps an existing segment for writing. 0, -EPROTO when it is not a segment of this version, or
 * -errno. */
int segment_map(struct segment *s, int fd);
/* Has core dumps of this process contain what is committed in the segment, now and later
 * (shm/core_view.h). One thread, before the first block. 0, or -errno and they do not. */
int segment_dump(struct segment *s, int fd);
/* Maps its header only. */
int segment_map_header(struct segment *s, int fd);
void segment_unmap(struct segment *s);
/*
 * True when a header (a private copy of it) describes a segment of this version that fits a file of
 * `file_bytes`: all offsets and sizes can then be trusted.
 */
bool segment_check(const struct ht_header *h, uint64_t file_bytes);
/* States which allocator the blocks come from: glibc's, which puts its own 8 bytes before each and
 * makes none of less than 32, or another one. The other one's blocks are known only not to overlap,
 * and to start at multiples of 8 where that matters. The latter holds until this is called. */
void segment_extents(struct segment *s, bool glibc);
/* While recording, on any thread: from now on, blocks of another allocator may come as well. Blocks
 * recorded before are found all the same, since entries belong to granules that a block owns by
 * either rule, and each single value set here claims less than before. The thread calls it before
 * it records such a block; what other threads record meanwhile is right by either rule. */
void segment_extents_narrow(struct segment *s);

#endif
