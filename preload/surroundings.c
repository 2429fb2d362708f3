/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The library's environment (surroundings.h). Reads symbols and the list of objects; allocates
 * nothing. */
#include "preload/surroundings.h"

#include "preload/modules.h"
#include "preload/next_allocator.h"
#include "preload/state.h"
#include "preload/symbols.h"

#define MALLOC_BEFORE_BYTES 0x8000u /* of static functions: some 20 KB */
#define MALLOC_AFTER_BYTES  0x1000u /* of the last function */

/* glibc 2.32's flag, which its own malloc uses. */
const char *surroundings_single_threaded(void)
{
	const char *flag = symbols_first("__libc_single_threaded");

	return flag ? flag : state_segment.single_threaded;
}

static bool lies_in(const struct module_range *r, const void *p)
{
	return (uint64_t)(uintptr_t)p - r->start < r->end - r->start;
}

/* Whether the next allocator is entirely glibc's own, whose minimum distance between blocks is
 * known. Before 2.34 a program could put another one behind the same names. */
static bool allocator_is_glibc(void)
{
	void *libc = symbols_first("gnu_get_libc_version");
	const void *all[] = { (void *)next.malloc, (void *)next.calloc, (void *)next.realloc,
		(void *)next.posix_memalign, (void *)next.aligned_alloc, (void *)next.memalign,
		(void *)next.reallocarray, (void *)next.valloc, (void *)next.pvalloc };
	struct module_range r;

	if (!libc || symbols_first("__malloc_hook"))
		return false;
	modules_find((uint64_t)(uintptr_t)libc, &r);
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i] && !lies_in(&r, all[i]))
			return false;
	return true;
}

#ifdef __i386__
#define OPERATOR_NEW "_Znwj"
#else
#define OPERATOR_NEW "_Znwm"
#endif

/* Whether operator new is the C++ runtime's, which returns blocks of malloc; or there is none. */
static bool new_is_runtimes(void)
{
	const void *p = symbols_next(OPERATOR_NEW), *runtime;
	struct module_range r;

	if (!p)
		return true;
	runtime = symbols_first("__cxa_allocate_exception");
	modules_find((uint64_t)(uintptr_t)p, &r);
	return lies_in(&r, runtime);
}

bool surroundings_are_glibc(void)
{
	return allocator_is_glibc() && new_is_runtimes();
}

/* Before anything replaces the next allocator's functions. */
void surroundings_code_find(void)
{
	struct module_range r;

	modules_find((uint64_t)(uintptr_t)next.malloc, &r);
	next_code = (struct next_code){ r.start, r.end };
	if (!lies_in(&r, (const void *)next.usable_size))
		next.usable_size = NULL; /* of other blocks */
}

static void inside_find(struct next_code *code, const char *symbol)
{
	const void *at = symbols_first(symbol);
	struct module_range r = { 0 };

	if (at)
		modules_find((uint64_t)(uintptr_t)at, &r);
	*code = (struct next_code){ r.start, r.end };
}

static bool is_in_libc(uint64_t at)
{
	return at - next_inside[0].start < next_inside[0].end - next_inside[0].start;
}

/* Static functions have no names, but are linked in before and between those that have. */
static void malloc_code_find(void)
{
	static const char *const names[] = { "malloc", "free", "calloc", "realloc", "memalign",
		"valloc", "pvalloc", "posix_memalign", "malloc_trim", "malloc_usable_size",
		"malloc_stats", "malloc_info", "mallopt", "mallinfo" };
	struct next_code code = { 0, 0 };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t at = (uint64_t)(uintptr_t)symbols_first(names[i]);

		if (at == 0 || !is_in_libc(at))
			continue;
		if (code.end == 0 || at < code.start)
			code.start = at;
		if (at > code.end)
			code.end = at;
	}
	next_malloc_code = code;
	if (code.end != 0)
		next_malloc_code = (struct next_code){ code.start - MALLOC_BEFORE_BYTES,
			code.end + MALLOC_AFTER_BYTES };
}

/* Where functions are patched, libc's own calls arrive, too. */
void surroundings_insides_find(void)
{
	if (symbols_precede_libc())
		return; /* we are preloaded, and were detached from */
	inside_find(&next_inside[0], "gnu_get_libc_version");
	inside_find(&next_inside[1], "__tls_get_addr");
	inside_find(&next_inside[2], "pthread_create");
	malloc_code_find();
}
