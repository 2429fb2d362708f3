/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Statistics of jemalloc (mallctl(3)) and of gperftools' tcmalloc (MallocExtension's interface in
 * C), see statistics.h.
 */
#include "preload/statistics.h"

#include <stdbool.h>
#include <string.h>

#include "preload/next_allocator.h"
#include "preload/symbols.h"

/* MALLCTL_ARENAS_ALL of jemalloc 5. */
#define ALL "stats.arenas.4096."

typedef int mallctl_call(const char *name, void *old, size_t *old_bytes, void *new, size_t bytes);
typedef bool property_call(const char *name, size_t *value);

/* A function of the same object as malloc; NULL: there is none. */
static void *beside_malloc(const char *name)
{
	void *found = symbols_first(name);
	const char *path = found ? symbols_path(found) : NULL;
	const char *malloc_path = path ? symbols_path(symbols_first("malloc")) : NULL;

	return malloc_path && strcmp(path, malloc_path) == 0 ? found : NULL;
}

static uint64_t word_of(mallctl_call *mallctl, const char *name)
{
	uint64_t value = 0;
	size_t bytes = sizeof(value);

	return mallctl(name, &value, &bytes, NULL, 0) == 0 && bytes == sizeof(value) ? value : 0;
}

static uint64_t rest(uint64_t all, uint64_t gone)
{
	return all > gone ? all - gone : 0;
}

/* What threads have cached is allocated, as its arenas see it. */
static struct statistics jemalloc_read(mallctl_call *mallctl)
{
	uint64_t epoch = 1;
	size_t bytes = sizeof(epoch);

	(void)mallctl("epoch", &epoch, &bytes, &epoch, sizeof(epoch));
	return (struct statistics){
		.blocks = rest(word_of(mallctl, ALL "small.nmalloc") +
				       word_of(mallctl, ALL "large.nmalloc"),
			word_of(mallctl, ALL "small.ndalloc") +
				word_of(mallctl, ALL "large.ndalloc")),
		.bytes = rest(
			word_of(mallctl, "stats.allocated"), word_of(mallctl, ALL "tcache_bytes")),
	};
}

static struct statistics tcmalloc_read(property_call *property)
{
	size_t bytes = 0;

	if (!property("generic.current_allocated_bytes", &bytes))
		bytes = 0;
	return (struct statistics){ .bytes = bytes };
}

static mallctl_call *mallctl_found;
static property_call *property_found;

void statistics_find(void)
{
	bool other = !next_is_listed();

	mallctl_found = (mallctl_call *)(other ? beside_malloc("mallctl") : NULL);
	property_found =
		(property_call *)(other ? beside_malloc("MallocExtension_GetNumericProperty")
					: NULL);
}

struct statistics statistics_read(void)
{
	if (mallctl_found)
		return jemalloc_read(mallctl_found);
	if (property_found)
		return tcmalloc_read(property_found);
	return (struct statistics){ 0, 0 };
}
