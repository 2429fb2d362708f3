/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mappings of a core's process (maps.h). Sources: proc(5); fs/binfmt_elf.c; mm/util.c's
 * arch_randomize_brk. */
#include "src/core/maps.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/core/objects.h"
#include "src/proc/proc.h"
#include "src/util/strbuf.h"

#define SAMPLE	     4096u /* bytes of memory that are checked: no page is smaller */
#define MAPS_MOST    (UINT64_C(256) << 20)
#define HEADERS_MOST 32u
#define HEAP_FAR     (UINT64_C(1) << 30) /* brk begins at most so far behind the program */
#define THREAD_BYTES 16384u /* glibc's struct pthread, at the end of a stack: some 2 KB */

struct maker {
	const struct core *c;
	struct strbuf text;
	uint64_t stack, heap, vdso; /* the start of these mappings; 0: unknown */
	uint64_t below; /* where the mapping before ends */
	bool sizes; /* of smaps */
};

/* ---- heap and stack ---- */

/* The end of the program's image, as its headers in memory say; 0: unknown. */
static uint64_t image_end(const struct core *c)
{
	uint64_t at = c->auxv[AT_PHDR], count = c->auxv[AT_PHNUM], base = 0, end = 0;
	Elf64_Phdr p[HEADERS_MOST];
	ssize_t bytes = (ssize_t)(count * sizeof(*p));

	if (at == 0 || count > HEADERS_MOST || core_read(c, at, p, (size_t)bytes) != bytes)
		return 0;
	for (uint64_t i = 0; i < count; i++) {
		if (p[i].p_type == PT_PHDR)
			base = at - p[i].p_vaddr;
		if (p[i].p_type == PT_LOAD && p[i].p_vaddr + p[i].p_memsz > end)
			end = p[i].p_vaddr + p[i].p_memsz;
	}
	return end ? base + ((end + c->page - 1) & ~(c->page - 1)) : 0;
}

/* The memory of no file that follows the program's image first. The kernel may have merged it with
 * the .bss. */
static uint64_t heap_find(const struct core *c)
{
	uint64_t end = image_end(c);

	for (size_t i = 0; end && i < c->loads; i++) {
		const struct core_load *l = &c->load[i];

		if (l->end <= end)
			continue;
		return !l->file && l->writable && l->readable && l->start < end + HEAP_FAR
			       ? l->start
			       : 0;
	}
	return 0;
}

static uint64_t start_of(const struct core *c, uint64_t addr)
{
	const struct core_load *l = addr ? core_load_at(c, addr) : NULL;

	return l ? l->start : 0;
}

/* ---- stacks of threads ---- */

static uint64_t stack_pointer(const struct core_thread *t)
{
#ifdef __x86_64__
	return t->regs.rsp;
#else
	return t->regs.sp;
#endif
}

static bool lies_in(const struct core_load *l, uint64_t addr)
{
	return addr >= l->start && addr < l->end;
}

/*
 * gdb leaves out what has no rights, such as the guard below a stack. A gap below memory of no file
 * counts as one, unless the memory holds the data of a thread that has its stack elsewhere.
 */
static bool has_gap_guard(const struct maker *m, const struct core_load *l)
{
	if (l->file || !l->writable || l->start - m->below < m->c->page || l->start == m->stack ||
		l->start == m->heap)
		return false;
	for (size_t i = 0; i < m->c->threads; i++) {
		uint64_t data = m->c->thread[i].pointer;

		if (lies_in(l, data))
			return l->end - data < THREAD_BYTES &&
			       lies_in(l, stack_pointer(&m->c->thread[i]));
	}
	return true;
}

/* ---- lines ---- */

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Memory that is named as shared, or a file that is written and has no code: data. */
static bool is_shared(const struct core *c, const struct core_file *f, bool writable)
{
	const struct core_object *o = &c->object[f->object];

	return core_objects_is_account(f->path) || begins(f->path, "/dev/shm/") ||
	       begins(f->path, "/memfd:") || begins(f->path, "/SYSV") ||
	       begins(f->path, "/dev/zero") || (writable && o->fd >= 0 && !o->code);
}

/* What the core has of [start, end) is resident. */
static void sizes_put(struct maker *m, uint64_t start, uint64_t end)
{
	uint64_t bytes = 0;
	struct core_range r;

	if (!m->sizes)
		return;
	for (uint64_t at = start; core_next(m->c, at, end, &r); at = r.end)
		bytes += r.own ? r.end - r.start : 0;
	strbuf_printf(&m->text, "Rss: %" PRIu64 " kB\nSwap: 0 kB\n", bytes / 1024);
}

/* A newline would end the line. */
static void name_put(struct strbuf *text, const char *name)
{
	strbuf_putc(text, ' ');
	for (; *name; name++)
		if (*name == '\n')
			strbuf_puts(text, "\\012");
		else
			strbuf_putc(text, *name);
}

static void line_put(struct maker *m, uint64_t start, uint64_t end, const char *rights,
	const struct core_file *f, const char *name)
{
	strbuf_printf(&m->text, "%" PRIx64 "-%" PRIx64 " %s %08" PRIx64 " %s %" PRIu32, start, end,
		rights, f ? f->offset + (start - f->start) : 0, f ? "00:01" : "00:00",
		f ? f->object + 1 : 0);
	if (*name)
		name_put(&m->text, name);
	strbuf_putc(&m->text, '\n');
	sizes_put(m, start, end);
	m->below = end;
}

/* gdb writes that memory without rights, such as the guard below a stack, may be read: it holds
 * zeros. */
static bool is_without_rights(const struct core *c, const struct core_load *l)
{
	uint64_t page[SAMPLE / sizeof(uint64_t)];
	ssize_t got;

	if (!c->by_debugger || l->file || l->writable || l->executable)
		return !l->readable;
	got = core_read_own(c, l->start, page, sizeof(page));
	for (ssize_t i = 0; i < got / (ssize_t)sizeof(*page); i++)
		if (page[i] != 0)
			return false;
	return true;
}

static void load_put(struct maker *m, const struct core_load *l)
{
	const struct core_file *f = l->file ? &m->c->file[l->file - 1] : NULL;
	const char rights[] = { is_without_rights(m->c, l) ? '-' : 'r', l->writable ? 'w' : '-',
		l->executable ? 'x' : '-', f && is_shared(m->c, f, l->writable) ? 's' : 'p', '\0' };
	const char *name = f			  ? f->path
			   : l->start == m->heap  ? "[heap]"
			   : l->start == m->stack ? "[stack]"
			   : l->start == m->vdso  ? "[vdso]"
						  : "";

	if (has_gap_guard(m, l))
		line_put(m, l->start - m->c->page, l->start, "---p", NULL, "");
	line_put(m, l->start, l->end, rights, f, name);
}

/* A part of a file that is in no load: it was not changed. */
static void file_put(struct maker *m, const struct core_file *f)
{
	const char *rights = core_objects_is_account(f->path) ? "rw-s"
			     : core_objects_is_code(m->c, f)  ? "r-xp"
							      : "r--p";

	line_put(m, f->start, f->end, rights, f, f->path);
}

static void maps_put(struct maker *m)
{
	const struct core *c = m->c;
	size_t i = 0, j = 0;

	while (i < c->loads || j < c->files) {
		if (j < c->files && (i == c->loads || c->file[j].end <= c->load[i].start))
			file_put(m, &c->file[j++]);
		else if (j < c->files && c->file[j].start < c->load[i].end)
			j++; /* the load has its name */
		else
			load_put(m, &c->load[i++]);
	}
}

static char *text_make(const struct core *c, bool sizes, size_t *len)
{
	struct maker m = { .c = c,
		.text = STRBUF_INIT,
		.sizes = sizes,
		.stack = start_of(c, c->auxv[AT_RANDOM]),
		.vdso = c->auxv[AT_SYSINFO_EHDR],
		.heap = heap_find(c) };

	maps_put(&m);
	if (m.text.failed || !m.text.data) {
		strbuf_free(&m.text);
		return NULL;
	}
	*len = m.text.len;
	return m.text.data;
}

/* ---- a core of heaptop's ---- */

static char *note_text(const struct core *c, size_t *len)
{
	char *text = c->maps.bytes <= MAPS_MOST ? malloc(c->maps.bytes + 1) : NULL;

	if (!text)
		return NULL;
	if (pread(c->fd, text, c->maps.bytes, (off_t)c->maps.offset) != (ssize_t)c->maps.bytes) {
		free(text);
		return NULL;
	}
	text[c->maps.bytes] = '\0';
	*len = c->maps.bytes;
	return text;
}

char *core_maps_text(const struct core *c, size_t *len)
{
	return c->maps.bytes > 0 ? note_text(c, len) : text_make(c, false, len);
}

/* Adds the sizes to each line of the text, which it frees. */
static char *sizes_add(const struct core *c, char *text, size_t *len)
{
	struct maker m = { .c = c, .text = STRBUF_INIT, .sizes = true };
	size_t pos = 0, before = 0;
	struct proc_map map;
	int rc;

	while (text && (rc = proc_parse_map(text, *len, &pos, &map)) != 0) {
		if (rc > 0) {
			strbuf_add(&m.text, text + before, pos - before);
			sizes_put(&m, map.start, map.end);
		}
		before = pos;
	}
	free(text);
	if (m.text.failed || !m.text.data) {
		strbuf_free(&m.text);
		return NULL;
	}
	*len = m.text.len;
	return m.text.data;
}

char *core_maps_smaps(const struct core *c, size_t *len)
{
	return c->maps.bytes > 0 ? sizes_add(c, note_text(c, len), len) : text_make(c, true, len);
}
