/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of another process (memory.h). */
#include "src/trace/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "src/proc/proc.h"

int trace_memory_open(struct trace_memory *m, pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)proc_memory_tid(pid));
	m->fd = open(path, O_RDWR | O_CLOEXEC);
	return m->fd < 0 ? -errno : 0;
}

void trace_memory_close(struct trace_memory *m)
{
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
}

size_t trace_memory_some(const struct trace_memory *m, uint64_t at, void *to, size_t bytes)
{
	size_t done = 0;
	ssize_t n;

	while (done < bytes &&
		(n = pread(m->fd, (char *)to + done, bytes - done, (off_t)(at + done))) > 0)
		done += (size_t)n;
	return done;
}

bool trace_memory_read(const struct trace_memory *m, uint64_t at, void *to, size_t bytes)
{
	return trace_memory_some(m, at, to, bytes) == bytes;
}

bool trace_memory_write(const struct trace_memory *m, uint64_t at, const void *from, size_t bytes)
{
	return pwrite(m->fd, from, bytes, (off_t)at) == (ssize_t)bytes;
}
