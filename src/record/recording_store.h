/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The internals of a recording: for recording_*.c. Main thread. */
#ifndef SRC_RECORD_RECORDING_STORE_H
#define SRC_RECORD_RECORDING_STORE_H

#include "src/model/mark_list.h"
#include "src/record/allowance.h"
#include "src/record/leak_block.h"
#include "src/record/leak_details.h"
#include "src/record/mark_block.h"
#include "src/record/recording.h"
#include "src/record/stack_read.h"
#include "src/record/stack_write.h"
#include "src/record/tick_block.h"

#define RECORDING_FORMAT   1u
#define RECORDING_ARGS_MAX 65536u /* of a command line */

/* ---- writing ---- */

struct recording_stream {
	void *owner; /* of its snapshots */
	uint32_t number;
	struct bytes identity; /* payload of the last STREAM block */
	struct tick_writer ticks;
	struct stack_write stacks;
	struct mark_writer marks;
	uint64_t leaks_ns; /* of the last scan written, + 1; 0: none */
	uint64_t names_ns; /* when names were last written */
	unsigned names_rounds;
	uint32_t turn; /* of the allowance */
	uint64_t step_ns; /* added to its times for the allowance; may wrap around */
};

#define RECORDING_PACES 64u

struct recording_writer {
	char *path; /* owned */
	char version[32];
	int fd; /* -1: no longer written */
	uint64_t size, limit_bytes; /* of the file */
	uint64_t compact_bytes; /* the size at which the file is thinned next */
	struct compaction *compaction; /* owned; NULL: it is not being thinned */
	struct recording_stream **streams; /* owned; those that have not ended */
	size_t nstreams, streams_room;
	uint32_t numbers; /* given to streams so far */
	struct bytes out, packed;
	char trouble[RECORDING_MESSAGE_MAX]; /* "": none */
	/* What was written in the last minute, in a ring. */
	struct {
		uint64_t ns, bytes;
	} pace[RECORDING_PACES];
	unsigned paces;
	uint64_t written;
	struct allowance allowance;
	uint64_t taken_ns; /* clock_monotonic_ns when it was last asked */
	uint64_t left_out; /* ticks */
};

/* Writes `data` to the end of a file. 0 or -errno: some of it may be there. */
int recording_write_all(int fd, const void *data, size_t len);
/* Appends the first lines of a file. */
void recording_put_magic(struct bytes *out, const char *version);
/* Writes the index of a file that ends with a complete block. 0 or -errno. */
int recording_put_index(int fd, uint64_t size);
/* Begins to thin the older parts of the file below the limit, in a thread. 0 or -errno. */
int recording_compact_start(struct recording_writer *w);
/* Whether recording_compact_finish need not wait; after a start only. */
bool recording_compact_done(const struct recording_writer *w);
/* Ends it: the thinned file takes the old one's place. 0 or -errno: the file is as it was. */
int recording_compact_finish(struct recording_writer *w);

/* ---- reading ---- */

/* A process image of a recording. Its snapshots own it. */
struct image {
	unsigned refs; /* the recording's, and one for each base snapshot */
	struct arena arena;
	struct stack_read stacks;
	struct mark_list marks;
	struct snap_leaks **leaks; /* owned array, by time */
	size_t nleaks, leaks_room;
	struct snapshot who; /* its plain fields: who it is */
	char signal_name[16];
};

struct image *image_new(void);
void image_unref(void *image);
/* Read payloads. 0, -EBADMSG, -ENOMEM. */
int image_identity_read(struct image *image, const struct bytes *payload);
int image_leaks_read(struct image *image, const struct bytes *raw);
int image_leak_details_read(struct image *image, const struct bytes *raw); /* of the last scan */
/* The last scan up to a moment, or NULL. */
const struct snap_leaks *image_leaks(const struct image *image, uint64_t ns);
/* The payload of a STREAM block. */
void image_identity_put(struct bytes *out, const struct snapshot *s);

/* A stream that is read. */
struct replay {
	uint32_t number;
	struct image *image;
	struct history *history;
	struct recording *in;
	int spill; /* of groups that were thinned, while a recording is compacted; -1 */
	uint64_t *at; /* owned; offset of each tick's block, as its groups' `place` counts them */
	size_t ticks, at_room;
	struct group group; /* the last one, not complete yet */
	struct timeline_point last;
	bool broken; /* up to the next group */
	bool ended;
};

struct recording {
	int fd;
	uint64_t size, begin, end; /* of the file, and where its complete blocks begin and end */
	char *path; /* owned */
	struct replay **replays; /* owned; in the order of the file */
	size_t nreplays, replays_room;
	bool unordered; /* their numbers do not ascend */
	bool damaged, indexed;
	uint64_t unpack_most; /* bytes that may still be unpacked, except ticks */
	struct stack_limits stacks_most;
	struct bytes payload, raw;
	char notice[RECORDING_MESSAGE_MAX];
};

/* As recording_open, of a descriptor, which becomes the recording's; at most the first `most`
 * bytes. */
struct recording *recording_open_fd(int fd, const char *path, uint64_t most, char *message);
/* Whether a group was thinned: it is packed, in the spill file. */
bool replay_is_spilled(const struct group *g);
/* Reads the ticks of a group on disk, and puts a thinned one there (struct history_source). */
int replay_load(void *replay, const struct group *g, struct bytes *raw);
int replay_store(void *replay, struct group *g);

#endif
