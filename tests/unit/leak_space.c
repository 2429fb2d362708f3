/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of which little is there: what is read of it, and that nothing comes into being by it. Our
 * own is the memory that is read. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "src/leak/analysis/word_reader.h"
#include "src/leak/access/space.h"
#include "tests/check.h"

#define PAGE	PROC_PAGE_BYTES
#define LARGE	(UINT64_C(1) << 38)
#define TOUCHED 5u
#define STEP	(UINT64_C(1) << 26)

static const uint64_t touched[TOUCHED] = { 0, PAGE, STEP * 3 + 7 * PAGE, LARGE / 2 + 511 * PAGE,
	LARGE - PAGE };

static char *mapped(void)
{
	char *at = mmap(NULL, LARGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(at != MAP_FAILED);
	for (unsigned i = 0; i < TOUCHED; i++)
		*(uint64_t *)(at + touched[i]) = i + 1;
	return at;
}

static uint64_t page_tables_kb(void)
{
	char line[256];
	uint64_t kb = 0;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "VmPTE:", 6) == 0)
			kb = strtoull(line + 6, NULL, 10);
	if (f)
		fclose(f);
	return kb;
}

struct seen {
	uint64_t start, bytes;
	unsigned numbers; /* bit i: i + 1 was there, at its place */
	unsigned visits;
	struct leak_progress *ends; /* at the first visit */
};

static void visit(void *ctx, uint64_t addr, const uint64_t *words, size_t count)
{
	struct seen *s = ctx;

	s->visits++;
	s->bytes += count * sizeof(*words);
	for (unsigned i = 0; i < TOUCHED; i++) {
		uint64_t at = s->start + touched[i];

		if (at >= addr && at < addr + count * sizeof(*words) &&
			words[(at - addr) / sizeof(*words)] == i + 1)
			s->numbers |= 1u << i;
	}
	if (s->ends)
		s->ends->cancelled = true;
}

static void stream_all(bool seekless)
{
	char *at = mapped();
	uint64_t start = (uint64_t)(uintptr_t)at;
	struct seen seen = { .start = start };
	struct leak_space s;

	CHECK_INT(leak_space_open(&s, getpid()), 0);
	s.seekless = seekless;
	leak_space_stream(&s, start, start + LARGE, visit, &seen);
	CHECK_INT(seen.numbers, (1u << TOUCHED) - 1);
	CHECK_INT(seen.bytes, TOUCHED * PAGE);
	seen = (struct seen){ .start = start };
	leak_space_stream(&s, start + 4, start + touched[2] + 12, visit, &seen);
	CHECK_INT(seen.numbers, 6);
	CHECK_INT(seen.bytes, 2 * PAGE - 8 + 8);
	leak_space_close(&s);
	munmap(at, LARGE);
}

TEST(pages_that_are_there_are_all_that_is_read)
{
	stream_all(false);
}

TEST(so_it_is_where_each_page_is_looked_at)
{
	stream_all(true);
}

static void check_words(bool still)
{
	char *at = mapped();
	uint64_t start = (uint64_t)(uintptr_t)at, before, word = 1, crossing[3];
	struct leak_space s;

	CHECK_INT(leak_space_open(&s, getpid()), 0);
	if (still)
		leak_space_freeze(&s);
	before = page_tables_kb();
	for (uint64_t i = STEP; i < LARGE; i += STEP)
		CHECK(leak_space_word(&s, start + i + 8, &word) && word == 0);
	CHECK(page_tables_kb() < before + 64);
	CHECK(leak_space_word(&s, start + touched[3], &word) && word == 4);
	CHECK(leak_space_word(&s, start + touched[2], &word) && word == 3);
	/* From the last word of a page that is there into one that is not. */
	crossing[1] = 1;
	CHECK_INT(leak_space_read(&s, start + 2 * PAGE - 8, crossing, 16, false), 16);
	CHECK(crossing[0] == 0 && crossing[1] == 0);
	CHECK(!leak_space_is_untouched(&s, start + PAGE) &&
		leak_space_is_untouched(&s, start + 2 * PAGE));
	leak_space_close(&s);
	munmap(at, LARGE);
}

TEST(words_that_were_never_touched_are_zeros_and_stay_untouched)
{
	check_words(false);
	check_words(true);
}

/* Without remembering, what comes into being is seen. */
TEST(what_is_remembered_is_of_memory_that_stands_still)
{
	char *at = mapped();
	uint64_t start = (uint64_t)(uintptr_t)at, word = 1;
	struct leak_space s;

	CHECK_INT(leak_space_open(&s, getpid()), 0);
	CHECK(leak_space_word(&s, start + STEP, &word) && word == 0);
	*(uint64_t *)(at + STEP) = 77;
	CHECK(leak_space_word(&s, start + STEP, &word) && word == 77);
	leak_space_close(&s);
	munmap(at, LARGE);
}

/* A file's pages have what it has, whether they were touched or not. */
TEST(a_file_that_was_not_touched_is_read)
{
	char path[] = "/tmp/heaptop-space-XXXXXX";
	int fd = mkstemp(path);
	uint64_t text[2] = { 4711, 4712 }, word = 0;
	struct leak_space s;
	void *at;

	CHECK(fd >= 0 && write(fd, text, sizeof(text)) == sizeof(text));
	unlink(path);
	at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	CHECK(at != MAP_FAILED);
	CHECK_INT(leak_space_open(&s, getpid()), 0);
	leak_space_freeze(&s);
	CHECK(leak_space_word(&s, (uint64_t)(uintptr_t)at + 8, &word) && word == 4712);
	leak_space_close(&s);
	munmap(at, PAGE);
	close(fd);
}

TEST(heuristics_touch_nothing)
{
	char *at = mapped();
	uint64_t start = (uint64_t)(uintptr_t)at, before;
	struct leak_word w[1025];
	struct leak_word_reader heads;
	struct leak_memory memory;
	struct leak_space s;

	CHECK_INT(leak_space_open(&s, getpid()), 0);
	leak_space_freeze(&s);
	memory = leak_word_reader_memory(&heads, &s);
	for (size_t i = 0; i < 1025; i++)
		w[i] = (struct leak_word){ .addr = start + i * STEP + STEP / 2, .value = 9 };
	w[0].addr = start;
	w[3].addr = start + touched[2];
	w[4].addr = start + LARGE - 8;
	w[7].addr = 8;
	w[1024].addr = start + touched[1];
	before = page_tables_kb();
	memory.read(memory.ctx, w, 1025);
	CHECK(page_tables_kb() < before + 64);
	for (size_t i = 0; i < 1025; i++) {
		CHECK(w[i].ok == (i != 7));
		if (i != 7)
			CHECK_INT(w[i].value, i == 0 ? 1 : i == 3 ? 3 : i == 1024 ? 2 : 0);
	}
	leak_space_close(&s);
	munmap(at, LARGE);
}

TEST(once_it_is_cancelled_there_is_no_more)
{
	char *at = mapped();
	uint64_t start = (uint64_t)(uintptr_t)at;
	struct leak_progress progress = { 0 };
	struct seen seen = { .start = start, .ends = &progress };
	struct leak_space s;

	CHECK_INT(leak_space_open(&s, getpid()), 0);
	s.progress = &progress;
	leak_space_stream(&s, start, start + LARGE, visit, &seen);
	CHECK_INT(seen.visits, 1);
	seen.visits = 0;
	leak_space_stream(&s, start, start + LARGE, visit, &seen);
	CHECK_INT(seen.visits, 0);
	leak_space_close(&s);
	munmap(at, LARGE);
}

static void nothing_visit(void *ctx, uint64_t addr, const uint64_t *words, size_t count)
{
}

/* While the process stands still, its descriptors are not all checked for each mapping. */
TEST(the_search_for_a_file_has_an_end)
{
	struct leak_map m = {
		.end = 1 << 20, .shared = true, .inode = 1, .path = "/dev/zero (deleted)"
	};
	struct leak_mapped_file f = { .read_bytes = 0 };
	uint64_t *buffer = malloc(LEAK_BUFFER_BYTES);
	const struct leak_mapped_file_reader reader = {
		.pid = getpid(), .buffer = buffer, .visit = nothing_visit
	};

	for (m.start = 0; m.start < m.end; m.start += PAGE)
		CHECK_INT(leak_mapped_file_stream(&f, &reader, &m, m.start, m.start + PAGE), PAGE);
	CHECK_INT(f.looked, 0);
	m.path = "/memfd:closed (deleted)";
	for (unsigned i = 0; i < LEAK_DESCRIPTORS_MAX; i++) {
		m.start = (uint64_t)(i % 2) * PAGE;
		CHECK_INT(leak_mapped_file_stream(&f, &reader, &m, m.start, m.start + PAGE), PAGE);
	}
	CHECK_INT(f.looked, LEAK_DESCRIPTORS_MAX);
	leak_mapped_file_close(&f);
	free(buffer);
}

int main(void)
{
	RUN(pages_that_are_there_are_all_that_is_read);
	RUN(so_it_is_where_each_page_is_looked_at);
	RUN(words_that_were_never_touched_are_zeros_and_stay_untouched);
	RUN(what_is_remembered_is_of_memory_that_stands_still);
	RUN(a_file_that_was_not_touched_is_read);
	RUN(heuristics_touch_nothing);
	RUN(once_it_is_cancelled_there_is_no_more);
	RUN(the_search_for_a_file_has_an_end);
	return check_end();
}
