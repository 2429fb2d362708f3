/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a viewer that attaches to a running program, and the library that it has loaded there, tell
 * each other. It lies in the library's data, under the name heaptop_attached; the viewer reads and
 * writes it through /proc/PID/mem, before and after it has had the program call heaptop_attach or
 * heaptop_detach on a thread that it has chosen. A viewer that comes later finds in it all that an
 * earlier one has left.
 *
 * Nothing in the program jumps to the library before the viewer has written the jumps, while all
 * threads are stopped; and nothing does after it has written the old bytes back.
 */
#ifndef SHM_ATTACHED_H
#define SHM_ATTACHED_H

#include <stdbool.h>
#include <stdint.h>

#define HT_ATTACHED_MAGIC   UINT64_C(0x3161747461706568) /* "hepatta1" */
#define HT_ATTACHED_VERSION 1u
#define HT_ATTACHED_JUMPS   256u /* functions whose entries are patched, at most */
#define HT_ATTACHED_PATH    512u
#define HT_ATTACHED_WHY	    128u

enum ht_attached_state {
	HT_ATTACHED_NONE, /* loaded, and inert */
	HT_ATTACHED_PREPARED, /* recording is on and the pads are there, but perhaps not all jumps
			       */
	HT_ATTACHED_RELEASED, /* no jump, no segment: the pads stay, and the next attach uses them
			       */
};

/* One function whose entry is patched. `moved[i]`: where in the pad, from `pad` on, the instruction
 * is that was at byte i of the function; 255: none begins there. */
struct ht_attached_jump {
	uint64_t at; /* the function */
	uint64_t pad; /* the displaced instructions */
	uint8_t displaced; /* bytes; the jump takes the first five */
	uint8_t before[5], jump[5];
	uint8_t moved[20];
	uint8_t reserved[17];
};

struct ht_attached {
	uint64_t magic;
	uint32_t version, bytes; /* HT_ATTACHED_VERSION; of this struct */
	uint32_t state; /* enum ht_attached_state, by the library */
	int32_t result; /* of the last call: 0 or -errno */
	char why[HT_ATTACHED_WHY]; /* why it failed, for people */
	/* By the viewer, before heaptop_attach. */
	char segment[HT_ATTACHED_PATH]; /* a prepared segment, as the program sees it */
	char library[HT_ATTACHED_PATH]; /* for images that it executes; empty: they are not followed
					 */
	char allocators[HT_ATTACHED_PATH]; /* as HEAPTOP_ALLOCATORS */
	uint32_t follow; /* 1: forked children are recorded, too */
	uint32_t viewer; /* pid of the viewer that attached, as it sees itself; 0: none */
	/* By the library. */
	uint64_t pads, pads_bytes; /* executable memory that stays; the first range of it */
	int64_t busy_at; /* header.busy_at: distance of a thread's word from its thread pointer */
	uint32_t jumps; /* in use */
	uint32_t reserved;
	struct ht_attached_jump jump[HT_ATTACHED_JUMPS];
};

#endif
