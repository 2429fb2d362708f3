/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a core file (core_write.h): headers, the notes that gdb reads, our own notes, and each
 * mapping at a page of the file, with holes where nothing was touched. Sources: elf(5), core(5),
 * fs/binfmt_elf.c.
 */
#include "src/leak/core_write.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <unistd.h>

#include "src/leak/access/pages.h"
#include "src/proc/proc.h"
#include "src/util/strbuf.h"

#ifdef __x86_64__
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif
#define PAGE	      UINT64_C(4096) /* the unit of the file; a kernel's pages have one or more */
#define FXSAVE	      512u
#define PAGES_AT_ONCE 256u
#define ACCOUNT_MOST  (UINT64_C(4000) << 20) /* a note has 32 bits for its size */

struct writer {
	int fd;
	const struct leak_core *c;
	struct leak_space *space;
	Elf64_Phdr *load; /* of each mapping */
	uint64_t shift; /* of the mapping that is written: file offset less address */
	uint64_t end;
	int rc;
};

/* ---- notes ---- */

static void note_head(struct strbuf *out, const char *name, uint32_t type, uint64_t bytes)
{
	Elf64_Nhdr h = { (uint32_t)strlen(name) + 1, (uint32_t)bytes, type };

	strbuf_add(out, (const char *)&h, sizeof(h));
	strbuf_add(out, name, h.n_namesz);
	strbuf_fill(out, '\0', -(size_t)h.n_namesz & 3);
}

static void note_put(
	struct strbuf *out, const char *name, uint32_t type, const void *desc, size_t bytes)
{
	note_head(out, name, type, bytes);
	strbuf_add(out, desc, bytes);
	strbuf_fill(out, '\0', -bytes & 3);
}

static void thread_put(struct strbuf *out, const struct leak_core *c, const struct trace_thread *t)
{
	struct elf_prstatus s = { .pr_pid = t->tid, .pr_ppid = c->pid };

	memcpy(&s.pr_reg, &t->regs, sizeof(t->regs));
	note_put(out, "CORE", NT_PRSTATUS, &s, sizeof(s));
#ifdef __aarch64__
	if (t->vector_bytes > 0)
		note_put(out, "CORE", NT_FPREGSET, t->vectors, t->vector_bytes);
	note_put(out, "LINUX", NT_ARM_TLS, &t->system.pointer, sizeof(t->system.pointer));
#else
	if (t->vector_bytes >= FXSAVE)
		note_put(out, "CORE", NT_FPREGSET, t->vectors, FXSAVE);
	if (t->vector_bytes > FXSAVE)
		note_put(out, "LINUX", NT_X86_XSTATE, t->vectors, t->vector_bytes);
#endif
}

static void process_put(struct strbuf *out, const struct leak_core *c)
{
	struct elf_prpsinfo p = { .pr_pid = c->pid };

	snprintf(p.pr_fname, sizeof(p.pr_fname), "%s", c->command);
	note_put(out, "CORE", NT_PRPSINFO, &p, sizeof(p));
}

/* NT_FILE: the mapped files. */
static void files_put(struct strbuf *out, const struct leak_space *s)
{
	struct strbuf words = STRBUF_INIT, names = STRBUF_INIT;
	uint64_t head[2] = { 0, PAGE };

	for (size_t i = 0; i < s->maps; i++) {
		const struct leak_map *m = &s->map[i];
		uint64_t file[3] = { m->start, m->end, m->offset / PAGE };

		if (m->inode == 0 || m->path[0] != '/')
			continue;
		head[0]++;
		strbuf_add(&words, (const char *)file, sizeof(file));
		strbuf_add(&names, m->path, strlen(m->path) + 1);
	}
	out->failed |= words.failed || names.failed;
	note_head(out, "CORE", NT_FILE, sizeof(head) + words.len + names.len);
	strbuf_add(out, (const char *)head, sizeof(head));
	if (head[0] > 0) {
		strbuf_add(out, words.data, words.len);
		strbuf_add(out, names.data, names.len);
	}
	strbuf_fill(out, '\0', -(words.len + names.len) & 3);
	strbuf_free(&words);
	strbuf_free(&names);
}

/* The first thread comes first: it has the process's id. */
static void notes_make(struct strbuf *out, const struct leak_core *c, const struct leak_space *s)
{
	for (int first = 1; first >= 0; first--)
		for (size_t i = 0; i < c->stop->count; i++)
			if (c->stop->thread[i].state == TRACE_THREAD_STOPPED &&
				(c->stop->thread[i].tid == c->stop->pid) == first)
				thread_put(out, c, &c->stop->thread[i]);
	process_put(out, c);
	note_put(out, "CORE", NT_AUXV, c->auxv, c->auxv_bytes);
	files_put(out, s);
}

/* Ours. The account's bytes follow. */
static void own_notes_make(struct strbuf *out, const struct leak_core *c)
{
	struct core_account_head h = { c->segment_bytes, c->parts };

	note_put(out, CORE_NOTE_NAME, CORE_NOTE_MAPS, c->maps, c->maps_bytes);
	note_head(out, CORE_NOTE_NAME, CORE_NOTE_ACCOUNT,
		sizeof(h) + c->parts * sizeof(*c->part) + c->account_bytes);
	strbuf_add(out, (const char *)&h, sizeof(h));
	if (c->parts > 0)
		strbuf_add(out, (const char *)c->part, c->parts * sizeof(*c->part));
}

/* ---- memory ---- */

static bool put(struct writer *w, uint64_t offset, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (w->rc == 0 && n > 0) {
		ssize_t done = pwrite(w->fd, p, n, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			w->rc = done < 0 ? -errno : -ENOSPC;
			break;
		}
		p += done;
		offset += (uint64_t)done;
		n -= (size_t)done;
	}
	return w->rc == 0;
}

static void words_put(void *ctx, uint64_t addr, const uint64_t *words, size_t count)
{
	struct writer *w = ctx;

	put(w, addr + w->shift, words, count * sizeof(*words));
}

/* Memory of a device, the segment, and the kernel's own pages are not the program's. */
static bool is_dumped(const struct leak_map *m)
{
	return m->readable && !leak_map_is_device(m) && !leak_map_is_segment(m) &&
	       strncmp(m->path, "[v", 2) != 0;
}

/* Whether the program has changed its private memory of a file, such as the loader what it
 * relocates before it takes the right to write. Unknown pages count. */
static bool is_changed(const struct leak_space *s, const struct leak_map *m)
{
	uint64_t entries[PAGES_AT_ONCE];

	for (uint64_t at = m->start; at < m->end; at += PAGES_AT_ONCE * PAGE) {
		uint64_t left = (m->end - at) / PAGE;
		size_t n = left < PAGES_AT_ONCE ? left : PAGES_AT_ONCE;

		if (!leak_space_pages(s, at, entries, n))
			return true;
		for (size_t i = 0; i < n; i++)
			if ((entries[i] & LEAK_PAGE_THERE) && !(entries[i] & PROC_PAGE_FILE))
				return true;
	}
	return false;
}

/* How much of a mapping is in the file: of a file's that was not changed the first page only, which
 * has its build-id. */
static uint64_t dumped_bytes(const struct leak_space *s, const struct leak_map *m)
{
	if (!is_dumped(m))
		return 0;
	if (m->inode == 0 || m->writable || m->shared || is_changed(s, m))
		return m->end - m->start;
	return m->offset == 0 ? PAGE : 0;
}

/* Private memory of a file holds the file's bytes where it was not touched. */
static void file_memory_put(struct writer *w, uint64_t start, uint64_t end)
{
	unsigned char page[PAGE];

	for (uint64_t at = start; at < end && w->rc == 0; at += PAGE) {
		ssize_t got = leak_space_read(w->space, at, page, PAGE, true);

		if (got > 0)
			put(w, at + w->shift, page, (size_t)got);
	}
}

static void memory_put(struct writer *w)
{
	for (size_t i = 0; i < w->space->maps && w->rc == 0; i++) {
		const struct leak_map *m = &w->space->map[i];
		uint64_t bytes = w->load[i].p_filesz;

		w->shift = w->load[i].p_offset - m->start;
		if (bytes == 0)
			continue;
		if (m->inode != 0 && !m->shared)
			file_memory_put(w, m->start, m->start + bytes);
		else
			leak_space_stream(w->space, m->start, m->start + bytes, words_put, w);
	}
}

/* ---- the file ---- */

static void loads_plan(struct writer *w, uint64_t at)
{
	for (size_t i = 0; i < w->space->maps; i++) {
		const struct leak_map *m = &w->space->map[i];

		at = (at + PAGE - 1) & ~(PAGE - 1);
		w->load[i] = (Elf64_Phdr){ .p_type = PT_LOAD,
			.p_flags = (m->readable ? PF_R : 0u) | (m->writable ? PF_W : 0u) |
				   (m->executable ? PF_X : 0u),
			.p_offset = at,
			.p_vaddr = m->start,
			.p_filesz = dumped_bytes(w->space, m),
			.p_memsz = m->end - m->start,
			.p_align = PAGE };
		at += w->load[i].p_filesz;
	}
	w->end = at;
}

static Elf64_Ehdr header(size_t phdrs, Elf64_Shdr *more)
{
	bool many = phdrs >= PN_XNUM; /* counted in a section, then */

	*more = (Elf64_Shdr){ .sh_info = (uint32_t)phdrs };
	return (Elf64_Ehdr){ .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
				     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE,
		.e_machine = MACHINE,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phoff = sizeof(Elf64_Ehdr) + sizeof(Elf64_Shdr),
		.e_phnum = many ? PN_XNUM : (uint16_t)phdrs,
		.e_shentsize = many ? sizeof(Elf64_Shdr) : 0,
		.e_shnum = many,
		.e_shoff = many ? sizeof(Elf64_Ehdr) : 0 };
}

/* Everything but the memory. */
static void parts_put(struct writer *w, const struct strbuf *notes, const struct strbuf *own)
{
	size_t phdrs = w->space->maps + 2;
	Elf64_Shdr more;
	Elf64_Ehdr h = header(phdrs, &more);
	uint64_t at = h.e_phoff + phdrs * sizeof(Elf64_Phdr);
	const Elf64_Phdr note[2] = {
		{ .p_type = PT_NOTE, .p_offset = at, .p_filesz = notes->len, .p_align = 4 },
		{ .p_type = PT_NOTE,
			.p_offset = at + notes->len,
			.p_filesz = own->len + w->c->account_bytes,
			.p_align = 4 },
	};

	loads_plan(w, note[1].p_offset + note[1].p_filesz);
	put(w, 0, &h, sizeof(h));
	put(w, sizeof(h), &more, sizeof(more));
	put(w, h.e_phoff, note, sizeof(note));
	put(w, h.e_phoff + sizeof(note), w->load, w->space->maps * sizeof(*w->load));
	put(w, at, notes->data, notes->len);
	put(w, note[1].p_offset, own->data, own->len);
	put(w, note[1].p_offset + own->len, w->c->account, w->c->account_bytes);
}

int leak_core_write(int fd, const struct leak_core *c, struct leak_space *s, uint64_t *bytes)
{
	struct strbuf notes = STRBUF_INIT, own = STRBUF_INIT;
	struct writer w = { .fd = fd, .c = c, .space = s };

	if (c->account_bytes > ACCOUNT_MOST)
		return -EFBIG;
	w.load = calloc(s->maps + 1, sizeof(*w.load));
	notes_make(&notes, c, s);
	own_notes_make(&own, c);
	if (!w.load || notes.failed || own.failed) {
		w.rc = -ENOMEM;
	} else {
		parts_put(&w, &notes, &own);
		memory_put(&w);
		if (w.rc == 0 && ftruncate(fd, (off_t)w.end) != 0)
			w.rc = -errno;
	}
	*bytes = w.end;
	free(w.load);
	strbuf_free(&notes);
	strbuf_free(&own);
	return w.rc;
}
