/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a viewer may ask of a program that it must not trace, for a leak scan. It writes the first
 * part of struct ht_coop, then ht_header.coop_ask; a thread acts on it at one of its next events,
 * once, if it is still time. Then the viewer takes `coop_ask` back. No two viewers at once: who
 * asks has locked the struct in the file (fcntl(2), F_OFD_SETLK).
 */
#ifndef SHM_COOP_H
#define SHM_COOP_H

#include <stdint.h>

enum ht_coop_ask {
	HT_COOP_NOTHING,
	HT_COOP_TRACER, /* to let `viewer` trace it (prctl(2), PR_SET_PTRACER) */
	HT_COOP_NO_TRACER, /* nobody any more */
	HT_COOP_COPY, /* to make a copy of itself, whose memory can be read */
	HT_COOP_REAP, /* to take note of the end of that; -EBUSY: it has not ended */
	HT_COOP_LOOK_COPY, /* as HT_COOP_COPY, for a viewer that may not read /proc/PID, if nothing
			      that is looked at first forbids it; data[] has the mappings that are
			      empty in it: how many, and where each begins */
};

/* What such a look has found. */
enum ht_coop_look {
	HT_COOP_UNSEEN, /* nobody looked: this library cannot */
	HT_COOP_FIT,
	HT_COOP_BLIND, /* it cannot be told */
	HT_COOP_WRITTEN, /* the kernel may be writing into its memory */
	HT_COOP_HUGE, /* it has huge pages of its own */
	HT_COOP_WATCHED, /* its page faults are another's to handle */
	HT_COOP_ELSEWHERE, /* its children are in another pid namespace */
};

/* Who answers requests: the thread that made the copy, which waits for so long, or the copy. */
enum ht_coop_server { HT_COOP_THREAD = 1, HT_COOP_CHILD };

/* Of `bytes` at `addr`, HT_COOP_DATA at most; `got` is how many came, or -errno. */
enum ht_coop_command {
	HT_COOP_MAPS = 1, /* of /proc/PID/maps */
	HT_COOP_PAGES, /* of /proc/PID/pagemap */
	HT_COOP_READ, /* of memory */
	HT_COOP_WORDS, /* data[] has addresses of words, which take their place; up to a bad one */
	HT_COOP_END,
};

#define HT_COOP_DATA  24576u /* bytes: what is left of the header */
#define HT_COOP_SLOTS 1024u
#define HT_COOP_NS    UINT64_C(2000000000) /* nobody waits for longer */

struct ht_coop {
	/* The viewer's. */
	uint32_t number; /* tells what is asked from what was */
	uint32_t viewer; /* its pid, as the program sees it */
	uint64_t until_ns; /* CLOCK_MONOTONIC; HT_COOP_NS away at most */
	uint32_t server, command; /* enum ht_coop_server, enum ht_coop_command */
	uint64_t addr, bytes;
	uint32_t request; /* counts requests; a futex */
	/* The program's. */
	uint32_t taken; /* `number` of what was acted on, when it was; a futex */
	int32_t result; /* 0 or -errno */
	uint32_t tid; /* of the thread that made the copy, */
	uint64_t stack, pointer; /* its stack pointer and thread pointer then, */
	uint64_t at_ns; /* and when it was */
	uint32_t copy; /* its pid */
	uint32_t left; /* `number`: the thread has gone on */
	int64_t got;
	uint32_t answer; /* `request` of the one that was answered; a futex */
	uint32_t look; /* enum ht_coop_look; the viewer sets it to 0 before */
	uint64_t threads[HT_COOP_SLOTS]; /* thread pointer of who has the slot; 0: nobody */
	uint64_t data[HT_COOP_DATA / 8];
};

#endif
