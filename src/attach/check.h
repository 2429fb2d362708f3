/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks whether a process can be attached to, without touching it. Any thread. */
#ifndef SRC_ATTACH_CHECK_H
#define SRC_ATTACH_CHECK_H

#include <stdbool.h>
#include <sys/types.h>

/* 0, or -errno with a message: what stands against it, and what would help. done: what the message
 * says it cannot be (ATTACH_TO, ATTACH_FROM). */
int attach_check_process(pid_t pid, const char *done, char *message);

#endif
