/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Viewers that attach to one process take turns: the second one finds the recording that the first
 * one has begun. Whoever ends, or is killed, ends its turn. Main thread.
 */
#ifndef SRC_RUN_ATTACH_TURN_H
#define SRC_RUN_ATTACH_TURN_H

#include <stdint.h>
#include <sys/types.h>

/* Waits until `until_ns` (CLOCK_MONOTONIC) at most. Returns the turn for attach_turn_end; -1: there
 * was none in time, or the process cannot be seen. */
int attach_turn_take(pid_t pid, uint64_t until_ns);
void attach_turn_end(int turn);

#endif
