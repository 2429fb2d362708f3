// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A second account of a program's allocations, kept by a library that knows nothing of heaptop:
 * preloaded behind it, this one sees each call that goes on to the allocator. It counts blocks
 * handed out and blocks taken back into a file of COUNTED_DIR, one for each image of a process, so
 * that nothing need be done at the program's end, whatever that is. A forked child counts from its
 * fork on, into a file of its own.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096

struct counts {
	atomic_ulong allocs, frees;
};

static struct counts early, *counts = &early;

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void *(*next_memalign)(size_t, size_t);
static void (*next_free)(void *);

/* malloc last: whoever sees it may use them all. */
static void next_find(void)
{
	if (next_malloc)
		return;
	next_calloc = dlsym(RTLD_NEXT, "calloc");
	next_realloc = dlsym(RTLD_NEXT, "realloc");
	next_memalign = dlsym(RTLD_NEXT, "memalign");
	next_free = dlsym(RTLD_NEXT, "free");
	next_malloc = dlsym(RTLD_NEXT, "malloc");
}

/* A file of its own for each image: exec keeps the pid. */
static struct counts *counts_map(const char *folder)
{
	char path[512];
	void *at = MAP_FAILED;
	int fd = -1;

	for (int image = 0; image < 200 && fd < 0; image++) {
		snprintf(path, sizeof(path), "%s/%d.%d", folder, getpid(), image);
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			return NULL;
	}
	if (fd >= 0 && !ftruncate(fd, sizeof(struct counts)))
		at = mmap(NULL, sizeof(struct counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

static void counts_fork(void)
{
	static struct counts none;

	counts = counts_map(getenv("COUNTED_DIR"));
	if (!counts)
		counts = &none;
}

__attribute__((constructor)) static void counts_begin(void)
{
	const char *folder = getenv("COUNTED_DIR");
	struct counts *file = folder ? counts_map(folder) : NULL;

	if (!file)
		return;
	file->allocs = early.allocs;
	file->frees = early.frees;
	counts = file;
	pthread_atfork(NULL, NULL, counts_fork);
}

static void *handed_out(void *block)
{
	if (block)
		counts->allocs++;
	return block;
}

void *malloc(size_t size)
{
	next_find();
	return handed_out(next_malloc(size));
}

void *calloc(size_t count, size_t size)
{
	next_find();
	return handed_out(next_calloc(count, size));
}

/* For our own calls, which must not come by those who are before us. */
static void *aligned_take(size_t alignment, size_t size)
{
	next_find();
	return handed_out(next_memalign(alignment, size));
}

void *memalign(size_t alignment, size_t size)
{
	return aligned_take(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return aligned_take(alignment, size);
}

void *valloc(size_t size)
{
	return aligned_take(PAGE, size);
}

void *pvalloc(size_t size)
{
	return aligned_take(PAGE, (size + PAGE - 1) & ~(size_t)(PAGE - 1));
}

static bool is_alignment(size_t value)
{
	return value && !(value & (value - 1)) && value % sizeof(void *) == 0;
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
	int before = errno;
	void *got;

	if (!is_alignment(alignment))
		return EINVAL;
	got = aligned_take(alignment, size);
	errno = before;
	if (!got)
		return ENOMEM;
	*block = got;
	return 0;
}

static void *block_resize(void *old, size_t size)
{
	void *block;

	next_find();
	block = handed_out(next_realloc(old, size));
	if (old && (block || !size))
		counts->frees++;
	return block;
}

void *realloc(void *old, size_t size)
{
	return block_resize(old, size);
}

void *reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (!__builtin_mul_overflow(count, size, &bytes))
		return block_resize(old, bytes);
	errno = ENOMEM;
	return NULL;
}

void free(void *block)
{
	if (!block)
		return;
	next_find();
	counts->frees++;
	next_free(block);
}
