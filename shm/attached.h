/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The data that a viewer and the library exchange when the viewer attaches to a running program.
 * It lies in the library's data, under the name heaptop_attached. The viewer reads and writes it
 * through /proc/PID/mem, before and after it makes a thread of its choice call heaptop_attach or
 * heaptop_detach. A later viewer finds in it everything that an earlier one left behind.
 *
 * Nothing in the program jumps to the library before the viewer has written the jumps, while all
 * threads are stopped; and nothing does after it has written the old bytes back. The library adds
 * jumps of its own, which it also writes, for objects that are loaded later.
 *
 * To detach, the viewer stops all threads and removes all jumps that are still there; the objects
 * of some may have been unloaded. A thread is outside the library if its word and its byte are 0
 * and its instruction pointer is not in the library's code. When all threads are stopped and
 * outside, the viewer fills each one's part with zeros, and makes any one of them call
 * heaptop_detach, which makes only system calls and takes no lock. It makes the thread call it
 * once more while the others run: that unmaps the segment. A thread that returns into the library
 * later finds no old state. A thread that a signal handler abandoned in a hook by longjmp seems
 * to stay inside for ever, but is recognized by its stack, which has no word that leads into the
 * library's code.
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

struct ht_attached;
/* Both return `result`. The first on a proven thread, while the others run. */
typedef int ht_attached_call(struct ht_attached *a);
#define HT_ATTACHED_ATTACH "heaptop_attach"
#define HT_ATTACHED_DETACH "heaptop_detach"
#define HT_ATTACHED_DATA   "heaptop_attached"

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
	uint16_t follow; /* 1: forked children are recorded, too */
	uint16_t free_stacks; /* 1: frees take their stacks, as HEAPTOP_FREES */
	uint32_t viewer; /* pid of the viewer that attached, as it sees itself; 0: none */
	/* By the library. */
	uint64_t pads, pads_bytes; /* executable memory that stays: its first range, all bytes */
	/* Distances from a thread's thread pointer: a word that is 0, and a byte that is 0, while
	 * the thread is in no hook; and all of the thread's part, of `state_bytes` bytes. */
	int64_t busy_at, inside_at, state_at;
	uint32_t state_bytes;
	uint32_t jumps; /* in use; those whose `at` is 0 are gone */
	uint32_t unlisted; /* functions patched beyond those: it cannot be detached */
	uint32_t reserved;
	struct ht_attached_jump jump[HT_ATTACHED_JUMPS];
};

#endif
