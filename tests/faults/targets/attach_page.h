/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The page that a program which is attached to shares with its row
 * (tests/faults/attached_programs.py): what it has done, what it has found wrong with itself, its
 * account, and what it is to do next. A file that both map, so that a program can be asked while it
 * neither reads nor allocates. Each word has one offset in both: attached_programs.py's table.
 */
#ifndef TESTS_FAULTS_TARGETS_ATTACH_PAGE_H
#define TESTS_FAULTS_TARGETS_ATTACH_PAGE_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

struct attach_page {
	_Atomic uint64_t progress; /* grows while the program goes on */
	_Atomic uint64_t wrong; /* what it has found wrong */
	_Atomic uint64_t stop; /* by the row: end */
	_Atomic uint64_t phase; /* by the row: go on to this one */
	_Atomic uint64_t arrived; /* threads that wait for the next */
	/* In this phase. */
	_Atomic uint64_t allocs, frees, alloc_bytes;
	_Atomic uint64_t live_blocks, live_bytes; /* born in this phase, alive at its end */
	/* Blocks from earlier phases that were freed, and all blocks held now; in usable bytes. */
	_Atomic uint64_t old_freed, old_freed_bytes, held_blocks, held_bytes;
	_Atomic uint64_t children; /* that have ended as they should */
	char what[128]; /* the first thing wrong */
};

static struct attach_page *page;

/* Maps the page, whose path is the first argument. */
static inline void page_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || page == MAP_FAILED) {
		perror(path);
		_exit(2);
	}
	close(fd);
}

/* What must hold; the first that does not is kept as text. Allocates nothing. */
static inline void page_need(int holds, const char *what, long got)
{
	char text[sizeof(page->what)];

	if (holds || atomic_fetch_add(&page->wrong, 1))
		return;
	snprintf(text, sizeof(text), "%s: %ld", what, got);
	memcpy(page->what, text, sizeof(text));
}

static inline int page_stopped(void)
{
	return atomic_load_explicit(&page->stop, memory_order_relaxed) != 0;
}

static inline void page_goes_on(void)
{
	atomic_fetch_add_explicit(&page->progress, 1, memory_order_relaxed);
}

/* That it can be attached to now. By a system call: stdio would allocate. */
static inline void page_ready(void)
{
	if (write(1, "ready\n", 6) != 6)
		_exit(2);
}

/* Says how it ended; its exit status. */
static inline int page_end(void)
{
	char text[sizeof(page->what) + 64];
	int n = snprintf(
		text, sizeof(text), "%lu wrong %s\n", (unsigned long)page->wrong, page->what);

	return write(1, text, (size_t)n) == n && !page->wrong ? 0 : 1;
}

static inline uint64_t page_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A block whose bytes say whose it is. */
struct page_block {
	unsigned char *p;
	size_t bytes;
	unsigned char fill;
	unsigned phase;
};

static inline unsigned page_random(unsigned *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static inline void page_block_fill(struct page_block *b, unsigned char fill)
{
	b->fill = fill;
	memset(b->p, fill, b->bytes);
}

/* Its bytes are as they were written. */
static inline void page_block_check(const struct page_block *b)
{
	size_t i = 0;

	while (i < b->bytes && b->p[i] == b->fill)
		i++;
	page_need(i == b->bytes, "a block's byte has changed", (long)i);
}

/* Some blocks more and all of them gone, with what is in them checked. */
static inline void page_allocate(unsigned *state)
{
	struct page_block b[8];

	for (unsigned i = 0; i < 8; i++) {
		b[i].bytes = page_random(state) % 600;
		b[i].p = i % 4 ? malloc(b[i].bytes) : calloc(1, b[i].bytes);
		page_need(b[i].p != NULL, "no block", (long)b[i].bytes);
		page_block_fill(&b[i], (unsigned char)*state);
	}
	for (unsigned i = 0; i < 8; i++) {
		page_block_check(&b[i]);
		free(b[i].p);
	}
}

#endif
