/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unwinding kept stacks by libdw (stack_frames.h). */
#include "src/leak/names/stack_frames.h"

#include <elfutils/libdwfl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/sym/elffile.h"
#include "src/util/shortage.h"

#define SPARE_BYTES ((size_t)4 << 20) /* libdw may crash without memory */

struct leak_unwinder {
	Dwfl *dwfl;
	const char *root;
	const struct leak_thread_places *thread; /* that is unwound */
	struct leak_frame *out;
	size_t count, most;
};

#if defined(__x86_64__) || defined(__aarch64__)
/* DWARF's number of the stack pointer: psABI, figure 3.36; DWARF for the Arm 64-bit Architecture,
 * 4.1. */
#ifdef __aarch64__
#define SP_NUMBER 31
#else
#define SP_NUMBER 7
#endif

/* Read, not mapped: the file may shrink meanwhile. libdw ends the handle. */
static int elf_find(Dwfl_Module *mod, void **user, const char *name, Dwarf_Addr base,
	char **file_name, Elf **elf)
{
	struct elffile f;

	if (elffile_open(&f, name) != 0)
		return -1;
	*elf = f.elf;
	*file_name = strdup(name);
	return f.fd;
}

/* Only .eh_frame is needed, which is in the file itself. */
static int debuginfo_find(Dwfl_Module *mod, void **user, const char *name, Dwarf_Addr base,
	const char *file_name, const char *link, GElf_Word crc, char **debuginfo)
{
	return -1;
}

static pid_t thread_next(Dwfl *dwfl, void *ctx, void **thread)
{
	struct leak_unwinder *u = ctx;
	bool first = *thread == NULL;

	*thread = u;
	return first ? u->thread->tid : 0;
}

static bool word_read(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *out, void *ctx)
{
	const struct leak_thread_places *t = ((struct leak_unwinder *)ctx)->thread;
	uint64_t at = addr - t->stack;

	if (addr < t->stack || at % sizeof(*t->words) != 0 ||
		at / sizeof(*t->words) >= t->word_count)
		return false;
	*out = t->words[at / sizeof(*t->words)];
	return true;
}

static bool registers_set(Dwfl_Thread *thread, void *ctx)
{
	const struct user_regs_struct *r = &((struct leak_unwinder *)ctx)->thread->regs;
#ifdef __aarch64__
	Dwarf_Word words[32];

	memcpy(words, r->regs, sizeof(r->regs));
	words[31] = r->sp;
	dwfl_thread_state_register_pc(thread, r->pc);
#else
	const Dwarf_Word words[] = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp,
		r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip };
#endif

	return dwfl_thread_state_registers(thread, 0, sizeof(words) / sizeof(words[0]), words);
}

static int frame_take(Dwfl_Frame *frame, void *ctx)
{
	struct leak_unwinder *u = ctx;
	Dwarf_Addr pc;
	Dwarf_Word sp;
	bool exact; /* not behind a call */

	if (u->count == u->most || !dwfl_frame_pc(frame, &pc, &exact) ||
		dwfl_frame_reg(frame, SP_NUMBER, &sp) != 0)
		return DWARF_CB_ABORT;
	if (u->count > 0 && sp <= u->out[u->count - 1].sp)
		return DWARF_CB_ABORT;
	u->out[u->count++] = (struct leak_frame){ sp, exact ? pc : pc - 1 };
	return DWARF_CB_OK;
}

static const Dwfl_Callbacks file_callbacks = {
	.find_elf = elf_find,
	.find_debuginfo = debuginfo_find,
	.section_address = dwfl_offline_section_address,
};
static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = thread_next,
	.memory_read = word_read,
	.set_initial_registers = registers_set,
};

/* The end of the file whose mappings begin with `m`. */
static uint64_t file_end(const struct leak_space *s, const struct leak_map *m)
{
	uint64_t end = m->end;

	for (const struct leak_map *at = m; at < s->map + s->maps; at++)
		if (at->inode == m->inode && strcmp(at->path, m->path) == 0)
			end = at->end;
		else if (at->inode != 0)
			break;
	return end;
}

static void files_report(struct leak_unwinder *u, const struct leak_space *s)
{
	char *path = malloc(PATH_MAX);

	dwfl_report_begin(u->dwfl);
	for (size_t i = 0; path && i < s->maps; i++) {
		const struct leak_map *m = &s->map[i];

		if (m->inode == 0 || m->offset != 0 || m->path[0] != '/' ||
			snprintf(path, PATH_MAX, "%s%s", u->root, m->path) >= PATH_MAX)
			continue;
		dwfl_report_module(u->dwfl, path, m->start, file_end(s, m));
	}
	dwfl_report_end(u->dwfl, NULL, NULL);
	free(path);
}

struct leak_unwinder *leak_unwinder_new(const struct leak_space *space, const char *root)
{
	struct leak_unwinder *u;

	if (!shortage_has_memory(SPARE_BYTES))
		return NULL;
	u = calloc(1, sizeof(*u));
	if (!u)
		return NULL;
	u->root = root;
	u->dwfl = dwfl_begin(&file_callbacks);
	if (u->dwfl) {
		files_report(u, space);
		if (dwfl_attach_state(u->dwfl, NULL, space->pid, &thread_callbacks, u))
			return u;
	}
	leak_unwinder_free(u);
	return NULL;
}

size_t leak_unwinder_frames(struct leak_unwinder *u, const struct leak_thread_places *t,
	struct leak_frame *out, size_t most)
{
	if (!u || !t->words || !shortage_has_memory(SPARE_BYTES))
		return 0;
	u->thread = t;
	u->out = out;
	u->count = 0;
	u->most = most;
	dwfl_getthread_frames(u->dwfl, t->tid, frame_take, u);
	return u->count;
}

void leak_unwinder_free(struct leak_unwinder *u)
{
	if (!u)
		return;
	dwfl_end(u->dwfl);
	free(u);
}
#else
struct leak_unwinder *leak_unwinder_new(const struct leak_space *space, const char *root)
{
	return NULL;
}

size_t leak_unwinder_frames(struct leak_unwinder *u, const struct leak_thread_places *t,
	struct leak_frame *out, size_t most)
{
	return 0;
}

void leak_unwinder_free(struct leak_unwinder *u)
{
}
#endif
