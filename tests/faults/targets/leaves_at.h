/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What leaves_at.c does, and tools/step.c checks. */
#ifndef TESTS_FAULTS_TARGETS_LEAVES_AT_H
#define TESTS_FAULTS_TARGETS_LEAVES_AT_H

#include <stdint.h>

#define LEAVES_KEPT    40 /* blocks before the operation, and as many after it, that stay */
#define LEAVES_SIZE    1000 /* of them */
#define LEAVES_LOG     6 /* calls in each of the different stacks */
#define LEAVES_ROUNDS  3 /* of all of these */
#define LEAVES_THREADS 3 /* afterwards, */
#define LEAVES_EACH    10 /* with so many blocks each */
#define LEAVES_PLUGIN  5 /* blocks from each plugin */
#define LEAVES_BIG     (UINT64_C(1) << 20) /* bytes that the history has to show at the end */
#define LEAVES_OTHER   1000 /* and at most so many more, of blocks that come and go there */
#define LEAVES_STEP_NS UINT64_C(1000000) /* of the history, which begins anew */

/* The program's functions, by where they are. */
enum leaves_place { LEAVES_KEEP, LEAVES_PASS, LEAVES_PATH, LEAVES_THREAD, LEAVES_PLACES };

struct leaves_account {
	uint64_t start[LEAVES_PLACES], end[LEAVES_PLACES]; /* code */
	uint64_t plugin[2]; /* a function in each plugin */
	uint64_t passed; /* blocks that came and went */
	uint64_t now_ns; /* CLOCK_MONOTONIC at the end */
	uint64_t broken; /* the operation was left */
	uint64_t largest; /* of its blocks, bytes */
	int64_t grew; /* the number of the stack with which the memory grew */
};

#endif
