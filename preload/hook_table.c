/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of hooks (hook_table.h). An allocator's function has its hook here if it calls no other
 * patched one, or (operators) if its hook expects that. The thunk calls the others: it marks the
 * thread.
 */
#include "preload/hook_table.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "preload/hooks_exec.h"
#include "preload/next_operators.h"

int _Fork(void);
int hook_daemon(int nochdir, int noclose);
int hook_forkpty(int *master, char *name, const struct termios *t, const struct winsize *size);
int hook_brk(void *end);
void *hook_sbrk(intptr_t more);

extern struct next_cxx *__start_next_cxx[] __attribute__((visibility("hidden")));
extern struct next_cxx *__stop_next_cxx[] __attribute__((visibility("hidden")));

const struct hook_system hook_table_system[] = {
	{ "fork", (const void *)fork },
	{ "_Fork", (const void *)_Fork },
	{ "daemon", (const void *)hook_daemon },
	{ "forkpty", (const void *)hook_forkpty },
	{ "_exit", (const void *)(uintptr_t)_exit },
	{ "quick_exit", (const void *)(uintptr_t)quick_exit },
	{ "mmap", (const void *)mmap },
	{ "mmap64", (const void *)mmap64 },
	{ "munmap", (const void *)munmap },
	{ "mremap", (const void *)mremap },
	{ "brk", (const void *)hook_brk },
	{ "sbrk", (const void *)hook_sbrk },
	{ "shmat", (const void *)shmat },
	{ "shmdt", (const void *)shmdt },
	{ "execve", (const void *)hook_execve },
};
const unsigned hook_table_systems = sizeof(hook_table_system) / sizeof(hook_table_system[0]);

static bool is(const char *symbol, const char *name, size_t bytes)
{
	return __builtin_strlen(symbol) == bytes && __builtin_memcmp(symbol, name, bytes) == 0;
}

const void *hook_table_find(const char *name, size_t bytes)
{
	if (is("malloc", name, bytes))
		return (const void *)malloc;
	if (is("free", name, bytes))
		return (const void *)free;
	for (struct next_cxx **n = __start_next_cxx; n < __stop_next_cxx; n++)
		if (is((*n)->symbol, name, bytes))
			return (*n)->hook;
	return NULL;
}
