/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads /proc/PID/smaps: per mapping a line as in maps, then lines "Name: 123 kB"; and pagemap:
 * eight bytes per page. From proc(5) and the kernel's Documentation/admin-guide/mm/pagemap.rst,
 * also for PAGEMAP_SCAN. The parser is a pure function over a buffer of any bytes; any thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "src/proc/proc.h"

static const struct {
	const char *name;
	size_t offset;
} smap_fields[] = {
	{ "Rss:", offsetof(struct proc_smap, rss_bytes) },
	{ "Pss:", offsetof(struct proc_smap, pss_bytes) },
	{ "Anonymous:", offsetof(struct proc_smap, anonymous_bytes) },
	{ "Swap:", offsetof(struct proc_smap, swap_bytes) },
};

/* Reads " 123 kB" and nothing else. False: not a size. */
static bool smap_size(const char *at, const char *end, uint64_t *bytes)
{
	const char *digits;
	uint64_t sum = 0;

	while (at < end && *at == ' ')
		at++;
	for (digits = at; at < end && *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(sum, 10u, &sum) ||
			__builtin_add_overflow(sum, (uint64_t)(*at - '0'), &sum))
			return false;
	if (at == digits || end - at != 3 || memcmp(at, " kB", 3) != 0)
		return false;
	return !__builtin_mul_overflow(sum, 1024u, bytes);
}

/* "VmFlags: rd wr mr": two-letter words. */
static bool has_flag(const char *line, const char *end, const char *flag)
{
	size_t len = strlen(flag);

	for (; (size_t)(end - line) >= len; line++)
		if (memcmp(line, flag, len) == 0)
			return true;
	return false;
}

static void smap_line(const char *line, const char *end, struct proc_smap *m)
{
	if (end - line > 8 && memcmp(line, "VmFlags:", 8) == 0) {
		m->wiped = has_flag(line + 8, end, " wf");
		m->huge = has_flag(line + 8, end, " ht");
		m->watched = has_flag(line + 8, end, " um") || has_flag(line + 8, end, " uw") ||
			     has_flag(line + 8, end, " ui");
	}
	for (size_t i = 0; i < sizeof(smap_fields) / sizeof(smap_fields[0]); i++) {
		size_t name = strlen(smap_fields[i].name);
		uint64_t bytes;

		if ((size_t)(end - line) <= name || memcmp(line, smap_fields[i].name, name) != 0 ||
			!smap_size(line + name, end, &bytes))
			continue;
		memcpy((char *)m + smap_fields[i].offset, &bytes, sizeof(bytes));
	}
}

int proc_parse_smap(const char *buf, size_t len, size_t *pos, struct proc_smap *m)
{
	int rc;

	*m = (struct proc_smap){ 0 };
	rc = proc_parse_map(buf, len, pos, &m->map);
	if (rc != 1)
		return rc;
	/* Addresses have lower-case letters, names begin with a capital. */
	while (*pos < len && buf[*pos] >= 'A' && buf[*pos] <= 'Z') {
		const char *line = buf + *pos, *end = memchr(line, '\n', len - *pos);

		if (!end) { /* cut off */
			*pos = len;
			break;
		}
		smap_line(line, end, m);
		*pos = (size_t)(end - buf) + 1;
	}
	return 1;
}

int proc_pagemap_open(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)proc_memory_tid(pid));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

uint64_t proc_machine_page(void)
{
	static uint64_t bytes;
	uint64_t page = __atomic_load_n(&bytes, __ATOMIC_RELAXED);

	if (page == 0) {
		page = (uint64_t)sysconf(_SC_PAGESIZE);
		__atomic_store_n(&bytes, page, __ATOMIC_RELAXED);
	}
	return page;
}

uint64_t proc_pagemap_first(uint64_t addr, uint64_t page)
{
	return addr / page;
}

size_t proc_pagemap_count(uint64_t addr, size_t units, uint64_t page)
{
	uint64_t end = addr / PROC_PAGE_BYTES * PROC_PAGE_BYTES + units * PROC_PAGE_BYTES;

	return units == 0 ? 0 : (size_t)((end + page - 1) / page - addr / page);
}

/* From the last on: each unit's page is no later than the unit. */
void proc_pagemap_spread(uint64_t *entries, uint64_t addr, size_t units, uint64_t page)
{
	uint64_t ratio = page / PROC_PAGE_BYTES, first = addr / PROC_PAGE_BYTES % ratio;

	for (size_t i = units; ratio > 1 && i-- > 0;)
		entries[i] = entries[(first + i) / ratio];
}

bool proc_pagemap_read(int fd, uint64_t addr, uint64_t *entries, size_t pages)
{
	uint64_t page = proc_machine_page();
	size_t bytes = proc_pagemap_count(addr, pages, page) * sizeof(*entries);
	off_t at = (off_t)(proc_pagemap_first(addr, page) * sizeof(*entries));

	if (pread(fd, entries, bytes, at) != (ssize_t)bytes)
		return false;
	proc_pagemap_spread(entries, addr, pages, page);
	return true;
}

/* As in the kernel's uapi/linux/fs.h; installed headers may lack them. */
struct scan_region {
	uint64_t start, end, categories;
};

struct scan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};

#define SCAN	     _IOWR('f', 16, struct scan_arg)
#define SCAN_PRESENT (UINT64_C(1) << 3)
#define SCAN_SWAPPED (UINT64_C(1) << 4)

int proc_pagemap_seek(
	int fd, uint64_t addr, uint64_t end, size_t most, uint64_t *found, size_t *pages)
{
	uint64_t page = proc_machine_page();
	struct scan_region region;
	struct scan_arg arg = { .size = sizeof(arg),
		.start = addr & ~(page - 1),
		.end = (end + page - 1) & ~(page - 1),
		.vec = (uintptr_t)&region,
		.vec_len = 1,
		.max_pages = proc_pagemap_count(addr, most, page),
		.category_anyof_mask = SCAN_PRESENT | SCAN_SWAPPED,
		.return_mask = SCAN_PRESENT | SCAN_SWAPPED };
	int n = ioctl(fd, SCAN, &arg);

	if (n < 0)
		return -errno;
	if (n == 0)
		return arg.walk_end < end ? -EINTR : 0;
	*found = region.start < addr ? addr : region.start;
	region.end = region.end > end ? end : region.end;
	*pages = (size_t)((region.end - *found) / PROC_PAGE_BYTES);
	if (*pages > most)
		*pages = most;
	return 1;
}

bool proc_pagemap_present(int fd, uint64_t addr)
{
	uint64_t entry;

	return fd >= 0 && proc_pagemap_read(fd, addr, &entry, 1) && (entry & PROC_PAGE_PRESENT);
}
