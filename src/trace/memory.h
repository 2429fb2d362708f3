/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory of another process through /proc/PID/mem, which can also write memory that the
 * process itself cannot, such as its code. Any thread that may trace it. Source: proc(5).
 */
#ifndef SRC_TRACE_MEMORY_H
#define SRC_TRACE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct trace_memory {
	int fd;
};

/* 0 or -errno. It stays that of the image that the process has now: after an exec nothing can be
 * read or written. */
int trace_memory_open(struct trace_memory *m, pid_t pid);
void trace_memory_close(struct trace_memory *m);
/* All of it, or false. */
bool trace_memory_read(const struct trace_memory *m, uint64_t at, void *to, size_t bytes);
bool trace_memory_write(const struct trace_memory *m, uint64_t at, const void *from, size_t bytes);
/* As much as can be read from `at` on. */
size_t trace_memory_some(const struct trace_memory *m, uint64_t at, void *to, size_t bytes);

#endif
