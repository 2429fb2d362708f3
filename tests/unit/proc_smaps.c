/* SPDX-License-Identifier: GPL-3.0-or-later */
/* /proc/PID/smaps and pagemap: files as the kernel writes them, cut off and spoilt, and our own. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "src/proc/proc.h"
#include "tests/check.h"

static const char two[] = "55d0a1c00000-55d0a1c21000 rw-p 00000000 00:00 0          [heap]\n"
			  "Size:                132 kB\n"
			  "KernelPageSize:        4 kB\n"
			  "Rss:                  96 kB\n"
			  "Pss:                  95 kB\n"
			  "Shared_Clean:          0 kB\n"
			  "Anonymous:            92 kB\n"
			  "AnonHugePages:      2048 kB\n"
			  "Swap:                  4 kB\n"
			  "SwapPss:               1 kB\n"
			  "THPeligible:           1\n"
			  "VmFlags: rd wr mr mw me ac sd\n"
			  "7f00a0000000-7f00a0021000 r-xp 00002000 08:01 77         /lib/x y.so\n"
			  "Rss:                  40 kB\n"
			  "VmFlags: rd ex wf ht um\n";

TEST(mappings_and_their_sizes)
{
	size_t pos = 0, len = strlen(two);
	struct proc_smap m;

	CHECK_INT(proc_parse_smap(two, len, &pos, &m), 1);
	CHECK_INT(m.map.start, 0x55d0a1c00000);
	CHECK(m.map.path_len == 6 && memcmp(m.map.path, "[heap]", 6) == 0);
	CHECK_INT(m.rss_bytes, 96 << 10);
	CHECK_INT(m.pss_bytes, 95 << 10);
	CHECK_INT(m.anonymous_bytes, 92 << 10);
	CHECK_INT(m.swap_bytes, 4 << 10);
	CHECK(!m.wiped && !m.huge && !m.watched);
	CHECK_INT(proc_parse_smap(two, len, &pos, &m), 1);
	CHECK_INT(m.map.inode, 77);
	CHECK_INT(m.rss_bytes, 40 << 10);
	CHECK_INT(m.swap_bytes, 0);
	CHECK(m.wiped && m.huge && m.watched);
	CHECK_INT(proc_parse_smap(two, len, &pos, &m), 0);
}

/* A size is believed only if its line is whole. */
TEST(cut_off_lines_are_not_believed)
{
	for (size_t len = 0; len < strlen(two); len++) {
		char *copy = malloc(len + 1);
		struct proc_smap m;
		size_t pos = 0;

		memcpy(copy, two, len);
		copy = realloc(copy, len + !len);
		while (proc_parse_smap(copy, len, &pos, &m)) {
			CHECK(m.rss_bytes == 0 || m.rss_bytes == 96 << 10 ||
				m.rss_bytes == 40 << 10);
			CHECK(m.swap_bytes == 0 || m.swap_bytes == 4 << 10);
			CHECK(pos <= len);
		}
		free(copy);
	}
}

TEST(spoilt_lines)
{
	static const char text[] = "Rss: 1 kB\nnonsense\n1000-2000 rw-p 0 0:0 0\n"
				   "Rss: 99999999999999999999 kB\nRss: 18446744073709551615 kB\n"
				   "Rss: 12\nRss: x kB\nRss:12 kB\nSwap: 1 kB \n";
	struct proc_smap m;
	size_t pos = 0;

	CHECK_INT(proc_parse_smap(text, strlen(text), &pos, &m), -EINVAL);
	CHECK_INT(proc_parse_smap(text, strlen(text), &pos, &m), -EINVAL);
	CHECK_INT(proc_parse_smap(text, strlen(text), &pos, &m), 1);
	CHECK_INT(m.rss_bytes, 12 << 10); /* the one that is one */
	CHECK_INT(m.swap_bytes, 0);
	CHECK_INT(proc_parse_smap(text, strlen(text), &pos, &m), 0);
}

/* Eight pages of ours, of which three were touched: both files say so. */
TEST(ourselves)
{
	size_t page = (size_t)proc_machine_page(), step = page / PROC_PAGE_BYTES, len = 0, pos = 0;
	char *mem = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t entry[8 * 16] = { 0 };
	struct proc_smap m;
	char *text;
	int fd, found = 0, rc;

	CHECK(mem != MAP_FAILED);
	mem[0] = mem[3 * page] = mem[7 * page] = 1;
	text = proc_file_read_all("/proc/self/smaps", &len);
	CHECK(text != NULL);
	while (text && (rc = proc_parse_smap(text, len, &pos, &m)) != 0) {
		CHECK_INT(rc, 1);
		if (m.map.start == (uint64_t)(uintptr_t)mem) {
			CHECK_INT(m.rss_bytes, 3 * page);
			found++;
		}
	}
	CHECK_INT(found, 1);
	fd = proc_pagemap_open(getpid());
	CHECK(fd >= 0);
	CHECK(proc_pagemap_read(fd, (uint64_t)(uintptr_t)mem, entry, 8 * step));
	for (size_t i = 0; i < 8 * step; i++)
		CHECK_INT((entry[i] & PROC_PAGE_PRESENT) != 0,
			i / step == 0 || i / step == 3 || i / step == 7);
	/* What is in none: nothing is read. */
	CHECK(!proc_pagemap_read(fd, UINT64_C(1) << 63, entry, 8) ||
		(entry[0] & PROC_PAGE_PRESENT) == 0);
	close(fd);
	free(text);
	munmap(mem, 8 * page);
}

/* Pages of 16 and 64 KB: each unit of 4 KB has its page's entry, wherever the first unit is in its
 * page. */
TEST(larger_pages_are_spread_over_units)
{
	static const uint64_t page[] = { 4096, 16384, 65536 };

	for (unsigned p = 0; p < 3; p++)
		for (uint64_t addr = 0; addr < 3 * page[p]; addr += PROC_PAGE_BYTES)
			for (size_t units = 1; units < 40; units++) {
				size_t count = proc_pagemap_count(addr, units, page[p]);
				uint64_t entries[41], first = proc_pagemap_first(addr, page[p]);
				uint64_t last = addr + (units - 1) * PROC_PAGE_BYTES;

				CHECK(count == last / page[p] - first + 1 && count <= units);
				for (size_t i = 0; i < 41; i++)
					entries[i] = i < count ? first + i : UINT64_MAX;
				proc_pagemap_spread(entries, addr, units, page[p]);
				for (size_t i = 0; i < units; i++)
					CHECK(entries[i] == (addr + i * PROC_PAGE_BYTES) / page[p]);
				CHECK(entries[units] == UINT64_MAX);
			}
}

/* Pages that follow each other are told together, as many as are wanted. */
TEST(the_next_page_is_found)
{
	size_t page = (size_t)proc_machine_page(), step = page / PROC_PAGE_BYTES,
	       bytes = (size_t)1 << 36, pages = 0;
	char *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t start = (uint64_t)(uintptr_t)mem, end = start + bytes, found = 0;
	int fd = proc_pagemap_open(getpid()), rc;

	CHECK(mem != MAP_FAILED && fd >= 0);
	madvise(mem, bytes, MADV_NOHUGEPAGE);
	rc = proc_pagemap_seek(fd, start, end, 512, &found, &pages);
	if (rc != -ENOTTY) {
		CHECK_INT(rc, 0);
		for (unsigned i = 0; i < 3; i++)
			mem[bytes / 2 + i * page] = 1;
		CHECK_INT(proc_pagemap_seek(fd, start, end, 512, &found, &pages), 1);
		CHECK(found == start + bytes / 2 && pages == 3 * step);
		CHECK_INT(proc_pagemap_seek(fd, found + page, end, step, &found, &pages), 1);
		CHECK(found == start + bytes / 2 + page && pages == step);
		CHECK_INT(proc_pagemap_seek(fd, found + 2 * page, end, 512, &found, &pages), 0);
		CHECK(proc_pagemap_seek(-1, start, end, 512, &found, &pages) == -EBADF);
	}
	close(fd);
	munmap(mem, bytes);
	if (rc == -ENOTTY)
		SKIP("this kernel has no way to");
}

TEST(nobody)
{
	size_t len;

	CHECK(proc_pagemap_open(0x7ffffff0) < 0);
	CHECK(proc_file_read_all("/nonexistent/file", &len) == NULL);
	CHECK(proc_file_read_all("/proc/self", &len) == NULL);
}

int main(void)
{
	RUN(mappings_and_their_sizes);
	RUN(cut_off_lines_are_not_believed);
	RUN(spoilt_lines);
	RUN(ourselves);
	RUN(larger_pages_are_spread_over_units);
	RUN(the_next_page_is_found);
	RUN(nobody);
	return check_end();
}
