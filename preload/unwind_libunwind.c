/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The unwinder on libunwind: unw_backtrace with its per-thread trace cache. The library is opened
 * privately instead of linked: libunwind also defines _Unwind_RaiseException and its kin, and as a
 * dependency of a preloaded library it would take over the program's C++ exceptions. It also keeps
 * a pipe open, writes bytes into it to learn whether an address is readable, and reads whatever
 * file the program may meanwhile have under that number; and it may open debug files. Its calls for
 * these are redirected here, in its own jump table. Sources: unw_backtrace(3),
 * unw_set_caching_policy(3), the ELF gABI's and x86-64 psABI's dynamic linking chapters.
 */
#include "preload/unwind_libunwind.h"

#ifdef __i386__

/* It is rarely installed for a second architecture. */
bool unwind_libunwind_load(void)
{
	return false;
}

void unwind_libunwind(struct unwind *u)
{
	u->count = 0;
}

#else

#include <dlfcn.h>
#include <errno.h>
#include <elf.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "preload/modules.h"
#include "preload/old_version.h"
#include "preload/state.h"

extern __typeof__(dlopen) dlopen __attribute__((weak));
extern __typeof__(dlsym) dlsym __attribute__((weak));
OLD_VERSION(dlopen);
OLD_VERSION(dlsym);

#define STRINGIFY(x) #x
#define NAME(symbol) STRINGIFY(symbol) /* libunwind's headers add a prefix by macro */

static int (*backtrace_into)(void **, int);

/* Instead of pipe2 and open: no descriptors. */
static int no_descriptor(void)
{
	errno = EMFILE;
	return -1;
}

/* Instead of read: the pipe seems empty and open. */
static ssize_t no_bytes(int fd, void *buf, size_t count)
{
	errno = EAGAIN;
	return -1;
}

/* Instead of its write of one byte at `addr`, where EFAULT means that the address is unreadable.
 * rt_sigprocmask copies its argument in before it checks `how`, and fails either way, so nothing is
 * changed. (libunwind 1.6 writes through syscall(2), so as not to be a cancellation point.) */
static long probe_readable(long number, long fd, uintptr_t addr, long count)
{
	if (number != SYS_write)
		return syscall(number, fd, addr, count);
	syscall(SYS_rt_sigprocmask, ~0L, addr & ~(uintptr_t)7, NULL, 8L);
	return errno == EFAULT ? -1 : 1;
}

static ssize_t probe_by_write(int fd, const void *addr, size_t count)
{
	return probe_readable(SYS_write, fd, (uintptr_t)addr, (long)count);
}

struct redirect {
	const char *symbol;
	void *to;
};

static const struct redirect redirects[] = {
	{ "pipe2", (void *)no_descriptor },
	{ "open", (void *)no_descriptor },
	{ "read", (void *)no_bytes },
	{ "write", (void *)probe_by_write },
	{ "syscall", (void *)probe_readable },
};

static const Elf64_Dyn *dynamic_entry(const struct link_map *map, Elf64_Sxword tag)
{
	for (const Elf64_Dyn *d = map->l_ld; d->d_tag != DT_NULL; d++)
		if (d->d_tag == tag)
			return d;
	return NULL;
}

static void redirect_slot(const struct link_map *map, const Elf64_Rela *r, const char *name)
{
	for (unsigned i = 0; i < sizeof(redirects) / sizeof(redirects[0]); i++)
		if (__builtin_strcmp(name, redirects[i].symbol) == 0)
			*(void **)(uintptr_t)(map->l_addr + r->r_offset) = redirects[i].to;
}

/* Goes through the jump table of an object whose slots are writable (not fully RELRO). */
static void redirect_calls(void *lib)
{
	const Elf64_Dyn *table, *bytes, *symbols, *strings;
	const struct link_map *map = lib; /* in glibc a handle is that */

	table = dynamic_entry(map, DT_JMPREL);
	bytes = dynamic_entry(map, DT_PLTRELSZ);
	symbols = dynamic_entry(map, DT_SYMTAB);
	strings = dynamic_entry(map, DT_STRTAB);
	if (!table || !bytes || !symbols || !strings || dynamic_entry(map, DT_BIND_NOW))
		return;
	for (uint64_t i = 0; i < bytes->d_un.d_val / sizeof(Elf64_Rela); i++) {
		const Elf64_Rela *r = (const Elf64_Rela *)table->d_un.d_ptr + i;
		const Elf64_Sym *sym =
			(const Elf64_Sym *)symbols->d_un.d_ptr + ELF64_R_SYM(r->r_info);

		redirect_slot(map, r, (const char *)strings->d_un.d_ptr + sym->st_name);
	}
}

static bool load(void)
{
	/* DEEPBIND: its own functions and libc's malloc, whatever the program defines. */
	void *lib = dlopen && dlsym
			    ? dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)
			    : NULL;
	int (*set_policy)(unw_addr_space_t, unw_caching_policy_t);
	unw_addr_space_t *local;

	if (!lib)
		return false;
	redirect_calls(lib);
	set_policy = (int (*)(unw_addr_space_t, unw_caching_policy_t))dlsym(
		lib, NAME(unw_set_caching_policy));
	local = dlsym(lib, NAME(unw_local_addr_space));
	/* The default cache is behind a lock whose holder blocks signals, by system calls. */
	if (set_policy && local)
		set_policy(*local, UNW_CACHE_PER_THREAD);
	backtrace_into = (int (*)(void **, int))dlsym(lib, "unw_backtrace");
	return backtrace_into != NULL;
}

bool unwind_libunwind_load(void)
{
	bool loaded = load();

	/* Our failed lookups are not the program's error. A successful call clears the state;
	 * dlerror would translate it, under a lock of libc's that this thread may hold. */
	if (dlsym)
		(void)dlsym(RTLD_DEFAULT, "free");
	return loaded;
}

/* It may allocate: that block is ours, not the program's. */
static int backtrace_aside(uint64_t *pcs, int room)
{
	int got;

	state_thread.unwinding = 1;
	got = backtrace_into((void **)pcs, room);
	state_thread.unwinding = 0;
	return got;
}

/*
 * On aarch64 it returns the address before a return address: we make it that of an instruction
 * again. And it repeats the outermost frame where that has no information, as those of makecontext,
 * since it then goes by x29 and x30: no function that was called is outermost twice. Returns the
 * number of frames.
 */
static uint32_t aarch64_correct(uint64_t *pcs, uint32_t count, bool all)
{
#ifdef __aarch64__
	for (uint32_t i = 0; i < count; i++)
		pcs[i] = (pcs[i] + 3) & ~UINT64_C(3);
	while (all && count > 1 && pcs[count - 1] == pcs[count - 2])
		count--;
#endif
	return count;
}

void unwind_libunwind(struct unwind *u)
{
	uint64_t *pcs = u->fresh.pcs_end - u->fresh.room;
	uint32_t *modules = u->fresh.modules_end - u->fresh.room;
	int room = (int)(u->depth + UNWIND_SPARE);
	int got = backtrace_aside(pcs, room);
	uint32_t taken = got > 0 ? (uint32_t)got : 0;

	taken = aarch64_correct(pcs, taken, got < room);
	u->count = 0;
	for (uint32_t i = 0; i < taken; i++)
		/* The outermost frame of a thread ends in a null return address. */
		if (!unwind_is_ours(pcs[i]) && pcs[i] != 0)
			pcs[u->count++] = pcs[i];
	/* Full: libunwind had no room for more. Nothing: it could not even begin. */
	u->truncated = got == room || u->count > u->depth || u->count == 0;
	if (u->count > u->depth)
		u->count = u->depth;
	modules_fill(pcs, u->count, modules);
	u->pcs = pcs;
	u->modules = modules;
	u->repeatable = false;
	u->kept = u->shared = 0;
}

#endif
