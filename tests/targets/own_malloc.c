/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A C program with an allocator of its own: a pool that gives nothing back, and whose free knows a
 * block of another allocator. It loads a C++ plugin and frees what that one's operator new gave.
 * Usage: own_malloc PLUGIN
 */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define POOL_BYTES (64u << 20)

static char pool[POOL_BYTES] __attribute__((aligned(16)));
static size_t used;

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *p, size_t size);
void *aligned_alloc(size_t align, size_t size);
void free(void *p);

static void end(const char *why, int status)
{
	if (write(1, why, strlen(why)) < 0)
		status = 99;
	_exit(status);
}

void *aligned_alloc(size_t align, size_t size)
{
	/* The plugin's constructor has a thread, so that two may be in here. */
	size_t bytes = size + align,
	       at = __atomic_fetch_add(&used, (bytes + 15) & ~15ul, __ATOMIC_RELAXED);

	if (at + bytes > POOL_BYTES)
		end("the pool is used up\n", 3);
	return pool + ((at + align - 1) & ~(align - 1));
}

void *malloc(size_t size)
{
	return aligned_alloc(16, size);
}

void *calloc(size_t count, size_t size)
{
	return aligned_alloc(16, count * size);
}

void *realloc(void *p, size_t size)
{
	void *q = aligned_alloc(16, size);

	if (p)
		memcpy(q, p, size); /* more than there was, still in the pool */
	return q;
}

void free(void *p)
{
	if (p && (size_t)((char *)p - pool) >= POOL_BYTES)
		end("free of a block that is not ours\n", 1);
}

int main(int argc, char **argv)
{
	void *handle = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void *symbol = handle ? dlsym(handle, "plugin_new") : NULL;
	void *(*plugin_new)(void);

	if (!symbol)
		return 2;
	memcpy(&plugin_new, &symbol, sizeof(plugin_new));
	free(plugin_new());
	end("done\n", 0);
}
