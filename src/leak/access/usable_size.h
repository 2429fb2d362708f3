/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a program asks malloc how large its blocks really are, and so may use more of them than
 * it has asked for: systemd's arrays take as many elements as fit. By the undefined dynamic symbols
 * of its object files. One thread.
 */
#ifndef SRC_LEAK_ACCESS_USABLE_SIZE_H
#define SRC_LEAK_ACCESS_USABLE_SIZE_H

#include <stdbool.h>
#include <sys/types.h>

/* Reads all of its object files' names: some milliseconds for a large program, before it is
 * stopped. False also if it cannot be read. */
bool leak_usable_size_is_asked(pid_t pid);

#endif
