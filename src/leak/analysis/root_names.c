/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of roots (root_names.h). */
#include "src/leak/analysis/root_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/user.h>

#define FIXED_END (UINT64_C(1) << 32) /* no position-independent file is mapped below it */

/* In the order of struct user_regs_struct: sys/user.h. */
#ifdef __aarch64__
static const char *const register_names[] = { "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8",
	"x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
	"x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp", "pc", "pstate" };
#else
static const char *const register_names[] = { "r15", "r14", "r13", "r12", "rbp", "rbx", "r11",
	"r10", "r9", "r8", "rax", "rcx", "rdx", "rsi", "rdi", "orig_rax", "rip", "cs", "eflags",
	"rsp", "ss", "fs_base", "gs_base", "ds", "es", "fs", "gs" };
#endif

int leak_root_names_register(uint64_t at, char *out, size_t cap)
{
	unsigned index = (unsigned)(at >> 3 & 0x1fff);

	if (index < sizeof(register_names) / sizeof(register_names[0]))
		snprintf(out, cap, "register %s", register_names[index]);
	else
		snprintf(out, cap, "a vector register");
	return (int)(at >> 16 & 0xffffffff);
}

static bool lies_in(const struct leak_map *m, uint64_t addr)
{
	return addr >= m->start && addr < m->end;
}

/* The thread whose stack is in `m`; 0: none that stopped. */
static int thread_of(const struct leak_root_context *f, const struct leak_map *m)
{
	for (size_t i = 0; i < f->threads; i++)
		if (lies_in(m, f->thread[i].stack))
			return f->thread[i].tid;
	return 0;
}

/* The thread whose own data `addr` is in; 0: none. */
static int thread_with(const struct leak_root_context *f, uint64_t addr)
{
	for (size_t i = 0; i < f->threads; i++)
		if (addr >= f->thread[i].tls.start && addr < f->thread[i].tls.end)
			return f->thread[i].tid;
	return 0;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The mapping of the file that `m` belongs to: `m` itself, or the one before it, whose zeroed rest
 * it is; NULL: none. */
static const struct leak_map *file_of(const struct leak_space *space, const struct leak_map *m)
{
	const struct leak_map *below = m > space->map ? m - 1 : NULL;

	if (m->inode != 0)
		return m;
	return !*m->path && below && below->end == m->start && below->inode != 0 && below->writable
		       ? below
		       : NULL;
}

/* The start of the file's first mapping, going down from `m`. */
static uint64_t file_start(const struct leak_space *space, const struct leak_map *m)
{
	const struct leak_map *first = m;

	for (const struct leak_map *at = m; at >= space->map; at--)
		if (at->inode == m->inode && strcmp(at->path, m->path) == 0)
			first = at;
		else if (m->start - at->end > (UINT64_C(1) << 32))
			break;
	/* A position-dependent program has the addresses of its symbol table. */
	return first->start < FIXED_END ? 0 : first->start;
}

const char *leak_root_names_file(const struct leak_space *space, uint64_t at, uint64_t *vaddr)
{
	const struct leak_map *m = leak_space_map(space, at);
	const struct leak_map *file = m ? file_of(space, m) : NULL;

	if (!file)
		return NULL;
	*vaddr = at - file_start(space, file);
	return file->path;
}

void leak_root_names_text(const struct leak_root_context *f, uint64_t at, char *out, size_t cap)
{
	const struct leak_map *m;
	const char *file;
	uint64_t vaddr;
	char name[32];
	int tid, tls;

	if (at != 0 && f->name && f->name(f->names, at, out, cap))
		return;
	if (at >> 63) {
		tid = leak_root_names_register(at, name, sizeof(name));
		snprintf(out, cap, "%s of thread %d", name, tid);
		return;
	}
	m = at != 0 ? leak_space_map(f->space, at) : NULL;
	file = m ? leak_root_names_file(f->space, at, &vaddr) : NULL;
	tls = m ? thread_with(f, at) : 0;
	tid = m ? thread_of(f, m) : 0;
	if (!m)
		snprintf(out, cap, "the loader, or heaptop_leak_intended");
	else if (file)
		snprintf(out, cap, "data of %.100s at 0x%" PRIx64, file_name(file), vaddr);
	else if (tls)
		snprintf(out, cap, "tls of thread %d", tls);
	else if (strcmp(m->path, "[stack]") == 0)
		snprintf(out, cap, "stack of the first thread");
	else if (tid)
		snprintf(out, cap, "stack of thread %d", tid);
	else
		snprintf(out, cap, "a mapping of %" PRIu64 "K at 0x%" PRIx64,
			(m->end - m->start) >> 10, m->start);
}
