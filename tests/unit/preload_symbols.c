/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Symbols read from the loaded objects' tables, against what dlsym finds. The file itself is
 * compiled in, and the program has tables by both hashes (rules.mk).
 */
#include "preload/symbols.c"

#include <stdlib.h>
#include <unistd.h>

#include "tests/check.h"

/* Seen by others (-rdynamic), and before libc's. */
int getdtablesize(void)
{
	return 1;
}

static const char *const names[] = { "malloc", "calloc", "free", "posix_memalign", "memalign",
	"reallocarray", "valloc", "pvalloc", "_exit", "quick_exit", "fork", "_Fork", "daemon",
	"forkpty", "environ", "__environ", "stdout", "gnu_get_libc_version", "__tls_get_addr",
	"_dl_find_object", "__libc_stack_end", "__libc_single_threaded", "pthread_cond_wait",
	"memcpy", "strlen", "strcasecmp", "time", "gettimeofday", "getdtablesize", "main",
	"regexec",
	/* None, or none by default: */
	"__malloc_hook", "__vdso_gettimeofday", "_Znwm", "gets_no", "heaptop_no_such_symbol", "",
	"m", "mallocc" };
#define COUNT (sizeof(names) / sizeof(names[0]))

TEST(first)
{
	for (size_t i = 0; i < COUNT; i++) {
		CHECK(symbols_first(names[i]) == dlsym(RTLD_DEFAULT, names[i]));
	}
	CHECK(symbols_first("malloc") && symbols_first("memcpy") && symbols_first("stdout"));
	CHECK(symbols_first("getdtablesize") == (void *)getdtablesize);
}

TEST(next)
{
	for (size_t i = 0; i < COUNT; i++)
		CHECK(symbols_next(names[i]) == dlsym(RTLD_NEXT, names[i]));
	CHECK(symbols_next("getdtablesize") &&
		symbols_next("getdtablesize") != (void *)getdtablesize);
	CHECK(!symbols_next("main"));
}

TEST(no_error)
{
	(void)dlerror();
	CHECK(!symbols_first("heaptop_no_such_symbol") && !symbols_next("heaptop_no_such_symbol"));
	CHECK(dlerror() == NULL);
}

/* Both hashes lead to the same symbols. */
TEST(hashes)
{
	const struct symbols_table t = symbols_table_read(first()->l_addr, first()->l_ld);
	unsigned found = 0;

	CHECK(t.gnu && t.sysv);
	for (size_t i = 0; t.gnu && t.sysv && i < COUNT; i++) {
		struct sought w = sought_make(names[i]);

		CHECK_INT(gnu_search(&t, &w), sysv_search(&t, &w));
		found += gnu_search(&t, &w) != 0;
	}
	CHECK(found >= 2);
}

/* With a library that was opened, and not preloaded, nothing of libc's comes after. */
TEST(opened)
{
	const struct link_map *map = first();

	while (map->l_next)
		map = map->l_next;
	CHECK(!list_search(map->l_next, "malloc", NULL));
	CHECK(list_search(first(), "getdtablesize", first()) == dlsym(RTLD_NEXT, "getdtablesize"));
}

int main(void)
{
	RUN(first);
	RUN(next);
	RUN(no_error);
	RUN(hashes);
	RUN(opened);
	return check_end();
}
