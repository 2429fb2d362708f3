/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a truth program knows of its own heap. Each call site is a noinline function whose name the
 * report must show; it passes every result through truth_got, and every block is given back through
 * truth_gone. The account is kept in static memory, with atomic adds, and written as one JSON
 * object to the file that $TRUTH names, by the last destructor of the program, without stdio: the
 * account itself allocates nothing. Included by one source file of a program, C or C++; any thread.
 */
#ifndef TESTS_TARGETS_TRUTH_H
#define TESTS_TARGETS_TRUTH_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
/* Ends a function after a call that must stay a call, with this frame under it. */
#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

#define TRUTH_SITES_MAX 64

struct truth_site {
	const char *name; /* the function that calls the allocator */
	const char *api; /* how it calls it: "malloc", "operator new[]", ... */
	uint64_t allocs, frees, alloc_bytes, free_bytes;
	int bytes_unknown; /* only the blocks are known (memory a library asks for itself) */
};

/* A block that is too small to say itself what it is, or not ours to write into. */
struct truth_block {
	void *at;
	size_t bytes;
	unsigned site;
};

static struct truth_site truth_sites[TRUTH_SITES_MAX];
static uint64_t truth_reallocs, truth_failed, truth_live, truth_peak;
/* The whole program allocates only what is counted here, from one thread: totals and peak. */
static int truth_strict;
static int truth_written;

static inline uint64_t truth_add(uint64_t *counter, uint64_t n)
{
	return __atomic_add_fetch(counter, n, __ATOMIC_RELAXED);
}

static inline void truth_name(unsigned site, const char *name, const char *api)
{
	truth_sites[site].name = name;
	truth_sites[site].api = api;
}

/* Accounts an allocation and hands it through. */
static inline void *truth_got(unsigned site, void *block, size_t bytes)
{
	uint64_t live;

	if (!block) {
		truth_add(&truth_failed, 1);
		return NULL;
	}
	truth_add(&truth_sites[site].allocs, 1);
	truth_add(&truth_sites[site].alloc_bytes, bytes);
	live = truth_add(&truth_live, bytes);
	if (live > truth_peak)
		truth_peak = live;
	return block;
}

/* Accounts a block that is being given back. */
static inline void truth_gone(unsigned site, size_t bytes)
{
	truth_add(&truth_sites[site].frees, 1);
	truth_add(&truth_sites[site].free_bytes, bytes);
	truth_add(&truth_live, -(uint64_t)bytes);
}

static inline void truth_block_free(struct truth_block *b)
{
	if (b->at)
		truth_gone(b->site, b->bytes);
	free(b->at);
	b->at = NULL;
}

static inline void truth_text(int fd, const char *text)
{
	if (write(fd, text, strlen(text)) < 0)
		_exit(99);
}

static inline void truth_site_write(int fd, const struct truth_site *s, const char *separator)
{
	char line[512];

	snprintf(line, sizeof(line),
		"%s\n{\"name\":\"%s\",\"function\":\"%s\",\"allocs\":%llu,\"frees\":%llu,"
		"\"alloc_bytes\":%llu,\"live_blocks\":%llu,\"live_bytes\":%llu,\"bytes_known\":%s}",
		separator, s->name, s->api, (unsigned long long)s->allocs,
		(unsigned long long)s->frees, (unsigned long long)s->alloc_bytes,
		(unsigned long long)(s->allocs - s->frees),
		(unsigned long long)(s->alloc_bytes - s->free_bytes),
		s->bytes_unknown ? "false" : "true");
	truth_text(fd, line);
}

/* Writes the account as it is now; later calls do nothing. */
static inline void truth_write(void)
{
	const char *path = truth_written ? NULL : getenv("TRUTH");
	const char *separator = "";
	char line[256];
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

	if (fd < 0)
		return;
	truth_written = 1;
	snprintf(line, sizeof(line),
		"{\"strict\":%s,\"reallocs\":%llu,\"failed\":%llu,\"peak\":%llu,\"sites\":[",
		truth_strict ? "true" : "false", (unsigned long long)truth_reallocs,
		(unsigned long long)truth_failed, (unsigned long long)truth_peak);
	truth_text(fd, line);
	for (unsigned i = 0; i < TRUTH_SITES_MAX; i++) {
		if (!truth_sites[i].name)
			continue;
		truth_site_write(fd, &truth_sites[i], separator);
		separator = ",";
	}
	truth_text(fd, "]}\n");
	close(fd);
}

/* After every other destructor of the program and after its atexit handlers. */
__attribute__((destructor(101))) static void truth_last(void)
{
	truth_write();
}

static inline unsigned truth_dice(unsigned *seed, unsigned sides)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % sides;
}

#endif
