/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests of a viewer to a program that it must not trace, for a leak scan. The viewer writes the
 * first part of struct ht_coop, then ht_header.coop_ask. A thread serves the request at one of its
 * next events, once, if it has not expired. Then the viewer clears `coop_ask`. Two viewers never
 * ask at once: the one that asks has locked the struct in the file (fcntl(2), F_OFD_SETLK).
 */
#ifndef SHM_COOP_H
#define SHM_COOP_H

#include <stdint.h>

enum ht_coop_ask {
	HT_COOP_NOTHING,
	HT_COOP_TRACER, /* let `viewer` trace the process (prctl(2), PR_SET_PTRACER) */
	HT_COOP_NO_TRACER, /* let nobody trace it any more */
	HT_COOP_COPY, /* make a copy of the process, with readable memory */
	HT_COOP_REAP, /* reap the copy; -EBUSY: it has not ended */
	HT_COOP_CHECKED_COPY, /* as HT_COOP_COPY, for a viewer that may not read /proc/PID: first
			      the process checks itself, and refuses if a copy could do harm. data[]
			      then has the mappings that are empty in the copy: their number, and
			      the start of each */
};

/* The result of that check. */
enum ht_coop_check {
	HT_COOP_UNCHECKED, /* not checked: this library cannot */
	HT_COOP_SAFE,
	HT_COOP_UNKNOWN, /* unknown */
	HT_COOP_KERNEL_WRITES, /* the kernel may be writing into its memory */
	HT_COOP_HUGE_PAGES, /* it has private huge pages */
	HT_COOP_USERFAULT, /* another process handles its page faults */
	HT_COOP_OTHER_NAMESPACE, /* its children are in another pid namespace */
};

/* Which side answers requests: the thread that made the copy, which waits for a limited time, or
 * the copy. */
enum ht_coop_server { HT_COOP_THREAD = 1, HT_COOP_CHILD };

/* Reads `bytes` at `addr`, HT_COOP_DATA at most; `got`: bytes read, or -errno. */
enum ht_coop_command {
	HT_COOP_MAPS = 1, /* of /proc/PID/maps */
	HT_COOP_PAGES, /* of /proc/PID/pagemap */
	HT_COOP_READ, /* of memory */
	HT_COOP_WORDS, /* data[] holds addresses of words, and receives the words; up to a bad one
			*/
	HT_COOP_END,
};

#define HT_COOP_DATA  18432u /* bytes: the rest of the header */
#define HT_COOP_SLOTS 1024u
#define HT_COOP_NS    UINT64_C(2000000000) /* the longest wait of either side */

struct ht_coop {
	/* Written by the viewer. */
	uint32_t number; /* number of the request */
	uint32_t viewer; /* its pid, as the program sees it */
	uint64_t until_ns; /* CLOCK_MONOTONIC; HT_COOP_NS away at most */
	uint32_t server, command; /* enum ht_coop_server, enum ht_coop_command */
	uint64_t addr, bytes;
	uint32_t request; /* counts requests; a futex */
	/* Written by the program. */
	uint32_t accepted; /* `number` of the request that was accepted; a futex */
	int32_t result; /* 0 or -errno */
	uint32_t tid; /* of the thread that made the copy */
	uint64_t stack, pointer; /* its stack pointer and thread pointer at that time */
	uint64_t at_ns; /* the time of the copy */
	uint32_t copy; /* its pid */
	uint32_t resumed; /* `number`: the thread has continued */
	int64_t got;
	uint32_t answer; /* `request` that was answered; a futex */
	uint32_t check; /* enum ht_coop_check; the viewer sets it to 0 before */
	uint64_t threads[HT_COOP_SLOTS]; /* thread pointer of the slot's owner; 0: unowned */
	uint64_t data[HT_COOP_DATA / 8];
};

#endif
