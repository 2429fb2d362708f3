/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Page faults by perf_event_open (fault_events.h). The kernel allows a buffer for a thread and
 * those that it makes only per processor, so there is an event for each thread and processor; all
 * of one processor write to one buffer.
 */
#include "src/proc/fault_events.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/proc/proc.h"

#define RING_MOST   (128u * 4096u) /* 21,000 faults; the kernel allows 516 KB a processor */
#define RING_LEAST  (8u * 4096u)
#define EVENTS_MOST 1024u /* threads times processors */

struct sample {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr;
};

struct lost {
	struct perf_event_header header;
	uint64_t id, lost;
};

struct fault_events {
	pid_t pid;
	unsigned processors, events;
	int *fd; /* owned; those of the buffers first */
	struct perf_event_mmap_page **ring; /* owned; by processor */
	size_t ring_bytes; /* of data */
};

static int event_open(pid_t tid, int processor)
{
	struct perf_event_attr a = { .size = sizeof(a),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_ADDR,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.watermark = 1,
		.wakeup_watermark = RING_MOST }; /* nobody waits */

	return (int)syscall(SYS_perf_event_open, &a, tid, processor, -1, PERF_FLAG_FD_CLOEXEC);
}

static int event_add(struct fault_events *f, pid_t tid, int processor)
{
	int fd = f->events < EVENTS_MOST ? event_open(tid, processor) : -1;

	if (f->events >= EVENTS_MOST)
		errno = EMFILE;
	if (fd >= 0)
		f->fd[f->events++] = fd;
	return fd;
}

/* Another program of the user may have taken of the limit: then a smaller one will do. */
static int ring_map(struct fault_events *f, unsigned processor)
{
	void *p = MAP_FAILED;

	while (f->ring_bytes >= RING_LEAST && p == MAP_FAILED) {
		p = mmap(NULL, f->ring_bytes + proc_machine_page(), PROT_READ | PROT_WRITE,
			MAP_SHARED, f->fd[processor], 0);
		if (p == MAP_FAILED && (errno != EPERM || processor > 0))
			return -1;
		if (p == MAP_FAILED)
			f->ring_bytes /= 2;
	}
	if (p == MAP_FAILED)
		return -1;
	f->ring[processor] = p;
	return 0;
}

/* One thread first, with the buffers: the one that makes the others, mostly. */
static int first_add(struct fault_events *f, pid_t tid)
{
	for (unsigned i = 0; i < f->processors; i++)
		if (event_add(f, tid, (int)i) < 0 || ring_map(f, i) != 0)
			return -1;
	return 0;
}

static int thread_add(struct fault_events *f, pid_t tid)
{
	for (unsigned i = 0; i < f->processors; i++) {
		int fd = event_add(f, tid, (int)i);

		if (fd < 0)
			return errno == ESRCH ? 0 : -1; /* it has ended */
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, f->fd[i]) != 0)
			return -1;
	}
	return 0;
}

static int others_add(struct fault_events *f, pid_t first)
{
	const struct dirent *d;
	char path[64];
	DIR *dir;
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)f->pid);
	dir = opendir(path);
	while (dir && rc == 0 && (d = readdir(dir))) {
		pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);

		if (tid > 0 && tid != first)
			rc = thread_add(f, tid);
	}
	if (dir)
		closedir(dir);
	return rc;
}

struct fault_events *fault_events_new(pid_t pid)
{
	struct fault_events *f = calloc(1, sizeof(*f));
	long processors = sysconf(_SC_NPROCESSORS_CONF);
	pid_t first = proc_memory_tid(pid);
	int failed;

	if (!f)
		return NULL;
	f->pid = pid;
	f->ring_bytes = RING_MOST;
	f->processors = processors > 0 ? (unsigned)processors : 1;
	f->fd = calloc(EVENTS_MOST, sizeof(*f->fd));
	f->ring = calloc(f->processors, sizeof(struct perf_event_mmap_page *));
	if (f->fd && f->ring && first_add(f, first) == 0 && others_add(f, first) == 0)
		return f;
	failed = errno;
	fault_events_free(f);
	errno = failed;
	return NULL;
}

/* Copies what is at `at` in a ring's data; it may go round its end. */
static void ring_copy(const struct fault_events *f, const struct perf_event_mmap_page *ring,
	uint64_t at, void *to, size_t bytes)
{
	const char *data = (const char *)ring + proc_machine_page();
	size_t from = at % f->ring_bytes, left = f->ring_bytes - from;
	size_t first = left < bytes ? left : bytes;

	memcpy(to, data + from, first);
	memcpy((char *)to + first, data, bytes - first);
}

static uint64_t ring_read(struct fault_events *f, struct perf_event_mmap_page *ring,
	void (*visit)(void *ctx, uint64_t addr), void *ctx)
{
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE), at = ring->data_tail;
	struct perf_event_header h;
	struct sample s;
	struct lost l;
	uint64_t lost = 0;

	for (; at < head; at += h.size) {
		ring_copy(f, ring, at, &h, sizeof(h));
		if (h.size < sizeof(h))
			break;
		if (h.type == PERF_RECORD_SAMPLE && h.size >= sizeof(s)) {
			ring_copy(f, ring, at, &s, sizeof(s));
			/* Children that it forks inherit the event. */
			if (s.pid == (uint32_t)f->pid)
				visit(ctx, s.addr);
		} else if (h.type == PERF_RECORD_LOST && h.size >= sizeof(l)) {
			ring_copy(f, ring, at, &l, sizeof(l));
			lost += l.lost;
		}
	}
	__atomic_store_n(&ring->data_tail, head, __ATOMIC_RELEASE);
	return lost;
}

uint64_t fault_events_read(
	struct fault_events *f, void (*visit)(void *ctx, uint64_t addr), void *ctx)
{
	uint64_t lost = 0;

	for (unsigned i = 0; i < f->processors; i++)
		lost += ring_read(f, f->ring[i], visit, ctx);
	return lost;
}

void fault_events_free(struct fault_events *f)
{
	if (!f)
		return;
	for (unsigned i = 0; f->ring && i < f->processors; i++)
		if (f->ring[i])
			munmap(f->ring[i], f->ring_bytes + proc_machine_page());
	for (unsigned i = 0; i < f->events; i++)
		close(f->fd[i]);
	free(f->fd);
	free(f->ring);
	free(f);
}
