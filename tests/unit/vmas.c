/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mappings by name, and this program's own .bss, which the kernel shows in parts. */
#include "src/memory/vmas.h" /* its MAP_STACK precedes the kernel's */

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/check.h"

#undef MAP_FILE /* the kernel's */
#define PAGE MAP_PAGE_BYTES

static char parts[12 * PAGE] __attribute__((aligned(MAP_PAGE_BYTES))); /* of .bss */

static const struct map_vma *vma_at(const struct vmas *v, uint64_t addr)
{
	for (size_t i = 0; i < v->count; i++)
		if (addr >= v->vma[i].start && addr < v->vma[i].end)
			return &v->vma[i];
	return NULL;
}

static uint64_t bss_end(const struct vmas *v, struct leak_space *space, const void *addr)
{
	const struct map_vma *m = vma_at(v, (uint64_t)(uintptr_t)addr);
	bool is_own = false;
	uint64_t end = m ? vmas_bss_end(v, (size_t)(m - v->vma), space, &is_own) : 0;

	CHECK(!is_own);
	return end;
}

TEST(the_bss_is_all_of_it_and_no_more)
{
	struct leak_space space = { .pagemap = -1 };
	struct vmas v = { 0 };
	char *mapped =
		mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t at = (uint64_t)(uintptr_t)parts;

	memset(parts, 1, sizeof(parts));
	memset(mapped, 1, PAGE);
	/* The kernel divides it. */
	CHECK_INT(mprotect(parts + 4 * PAGE, 4 * PAGE, PROT_READ), 0);
	CHECK_INT(vmas_read(&v, getpid()), 0);
	CHECK_INT(leak_space_open(&space, getpid()), 0);
	leak_space_by_file(&space);
	CHECK_INT(bss_end(&v, &space, parts + 4 * PAGE), at + 8 * PAGE);
	CHECK(bss_end(&v, &space, parts + 8 * PAGE) >= at + 12 * PAGE);
	CHECK_INT(bss_end(&v, &space, mapped), vma_at(&v, (uint64_t)(uintptr_t)mapped)->start);
	leak_space_close(&space);
	vmas_free(&v);
	mprotect(parts + 4 * PAGE, 4 * PAGE, PROT_READ | PROT_WRITE);
	munmap(mapped, 4 * PAGE);
}

/* What follows the mappings of a file begins in `image`, whatever else there is. */
TEST(tails_follow_their_file_without_a_gap)
{
	static const char text[] = "1000-2000 r--p 00000000 fe:00 7 /lib/libheaptop.so\n"
				   "2000-3000 rw-p 00001000 fe:00 7 /lib/libheaptop.so\n"
				   "3000-4000 rw-p 00000000 00:00 0\n"
				   "4000-5000 rw-p 00000000 00:00 0\n"
				   "6000-7000 rw-p 00000000 00:00 0\n"
				   "8000-9000 rw-p 00001000 fe:00 8 /data\n"
				   "9000-a000 rw-p 00000000 00:00 0\n"
				   "b000-c000 r--p 00000000 fe:00 9 /lib/libjemalloc.so.2\n"
				   "c000-d000 rw-p 00000000 00:00 0 [heap]\n"
				   "d000-e000 rw-p 00000000 00:00 0\n";
	struct vmas v = { 0 };

	CHECK_INT(vmas_parse(&v, text, strlen(text)), 0);
	CHECK_INT(v.count, 10);
	CHECK_INT(v.tails, 2);
	if (v.tails == 2) {
		CHECK(v.tail[0].vma == 2 && v.tail[1].vma == 3);
		CHECK(v.tail[0].image == 0x1000 && v.tail[1].image == 0x1000);
		CHECK(v.tail[0].is_own && v.tail[1].is_own);
	}
	CHECK(v.is_foreign);
	CHECK_INT(v.vma[0].kind, MAP_OWN);
	CHECK_INT(v.vma[5].kind, MAP_FILE);
	CHECK_INT(v.vma[8].kind, MAP_BRK);
	vmas_free(&v);
}

TEST(no_mappings_are_a_process_that_ends)
{
	struct vmas v = { 0 };

	CHECK_INT(vmas_parse(&v, "", 0), -ESRCH);
	vmas_free(&v);
}

int main(void)
{
	RUN(the_bss_is_all_of_it_and_no_more);
	RUN(tails_follow_their_file_without_a_gap);
	RUN(no_mappings_are_a_process_that_ends);
	return check_end();
}
