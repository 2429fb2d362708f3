/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that has taken something from itself, or has more than others; it allocates, and sleeps
 * in between.
 *
 *	attach_strict PAGE plain|apart|written|space|locked|files
 *
 * plain: nothing of that. apart: it has a second libc, in a list of the loader's that is not its
 *own. written: no memory may become executable that could be written. space, locked, files: no more
 *address space, locked memory or descriptors than it has.
 */
#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "tests/faults/targets/attach_page.h"

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65 /* Linux 6.3 */
#endif
#define NOBODY	     65534
#define MEGABYTES(n) ((rlim_t)(n) << 20)

static void limit(int what, rlim_t most)
{
	const struct rlimit l = { most, most };

	if (setrlimit((__rlimit_resource_t)what, &l) != 0)
		_exit(2);
}

static void apart_load(void)
{
	if (!dlmopen(LM_ID_NEWLM, "libutil.so.1", RTLD_NOW))
		_exit(2);
}

static void written_refuse(void)
{
	if (prctl(PR_SET_MDWE, 1, 0, 0, 0) != 0)
		_exit(2);
}

static void space_limit(void)
{
	limit(RLIMIT_AS, MEGABYTES(16));
}

/* Root has no such limit. */
static void memory_lock(void)
{
	limit(RLIMIT_MEMLOCK, MEGABYTES(8));
	if ((geteuid() == 0 && setuid(NOBODY) != 0) || mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
		_exit(2);
}

static void files_open(void)
{
	limit(RLIMIT_NOFILE, 16);
	while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
		;
}

static const struct kind {
	const char *name;
	void (*become)(void);
} kinds[] = { { "apart", apart_load }, { "written", written_refuse }, { "space", space_limit },
	{ "locked", memory_lock }, { "files", files_open } };

int main(int argc, char **argv)
{
	struct timespec nap = { .tv_nsec = 5000000 };
	unsigned state = 1;

	if (argc < 3)
		return 2;
	page_open(argv[1]);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(argv[2], kinds[i].name) == 0)
			kinds[i].become();
	page_ready();
	while (!page_stopped()) {
		page_allocate(&state);
		page_goes_on();
		nanosleep(&nap, NULL);
	}
	return page_end();
}
