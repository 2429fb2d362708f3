/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The coarse history of live bytes since start, kept by the program itself so that a late viewer
 * has the graph. A fixed number of points; when all are used, neighbours merge and the step
 * doubles.
 */
#ifndef SHM_HISTORY_H
#define SHM_HISTORY_H

#include "shm/commit.h"

/*
 * Notes `live` bytes at clock `now_ns`. Any thread; a thread that finds another writer returns.
 * `slot`: the calling thread's. A signal handler may abandon this by longjmp, anywhere: the owner
 * of the same slot continues the unfinished work at its next call, others after a second. Called
 * when the clock word is refreshed, not per event.
 */
void history_note(const struct segment *s, uint32_t slot, uint64_t now_ns, uint64_t live);

#endif
