/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The code of glibc's malloc (malloc_code.h). */
#include "src/leak/access/malloc_code.h"

#include <elf.h>
#include <string.h>

#define BEFORE_BYTES  0x8000u /* of static functions before the first exported one: some 20 KB */
#define AFTER_BYTES   0x1000u /* of the last function */
#define SYMBOLS_MOST  65536u
#define HEADERS_MOST  64u
#define DYNAMICS_MOST 256u
#define NAME_MOST     24u

struct symbols {
	struct leak_space *space;
	uint64_t base;
	uint64_t table, names; /* addresses */
};

static bool get(struct leak_space *s, uint64_t at, void *out, size_t bytes)
{
	return leak_space_read(s, at, out, bytes, leak_space_has_shared(s)) == (ssize_t)bytes;
}

/* The loader has relocated these entries, in its own copy or in place. */
static uint64_t loaded(uint64_t base, uint64_t value)
{
	return value < base ? base + value : value;
}

static void dynamic_read(struct symbols *y, uint64_t at)
{
	Elf64_Dyn d;

	for (unsigned i = 0; i < DYNAMICS_MOST; i++, at += sizeof(d)) {
		if (!get(y->space, at, &d, sizeof(d)) || d.d_tag == DT_NULL)
			return;
		if (d.d_tag == DT_SYMTAB)
			y->table = loaded(y->base, d.d_un.d_ptr);
		if (d.d_tag == DT_STRTAB)
			y->names = loaded(y->base, d.d_un.d_ptr);
	}
}

/* Finds the tables of the file that is mapped at y->base. */
static bool tables_find(struct symbols *y)
{
	Elf64_Ehdr e;
	Elf64_Phdr p;

	if (!get(y->space, y->base, &e, sizeof(e)) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
		e.e_phentsize != sizeof(p) || e.e_phnum > HEADERS_MOST)
		return false;
	for (unsigned i = 0; i < e.e_phnum; i++)
		if (get(y->space, y->base + e.e_phoff + i * sizeof(p), &p, sizeof(p)) &&
			p.p_type == PT_DYNAMIC)
			dynamic_read(y, y->base + p.p_vaddr);
	/* The names follow the symbols. */
	return y->table != 0 && y->names > y->table;
}

static bool is_of_malloc(const char *name)
{
	static const char *const names[] = { "malloc", "free", "calloc", "realloc", "memalign",
		"aligned_alloc", "posix_memalign", "valloc", "pvalloc", "malloc_trim",
		"malloc_usable_size", "malloc_stats", "malloc_info", "mallopt", "mallinfo" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static void range_grow(struct leak_range *r, const struct symbols *y, const Elf64_Sym *symbol)
{
	char name[NAME_MOST];
	uint64_t at = y->base + symbol->st_value;

	if (symbol->st_value == 0 || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC ||
		!get(y->space, y->names + symbol->st_name, name, sizeof(name)))
		return;
	name[sizeof(name) - 1] = '\0';
	if (!is_of_malloc(name))
		return;
	if (r->end == 0 || at < r->start)
		r->start = at;
	if (at + symbol->st_size > r->end)
		r->end = at + symbol->st_size;
}

static struct leak_range code_of(struct leak_space *s, uint64_t base)
{
	struct symbols y = { .space = s, .base = base };
	struct leak_range r = { 0, 0 };
	Elf64_Sym symbol[128];
	size_t count;

	if (!tables_find(&y))
		return r;
	count = (y.names - y.table) / sizeof(symbol[0]);
	count = count < SYMBOLS_MOST ? count : SYMBOLS_MOST;
	for (size_t i = 0; i < count; i++) {
		size_t n = i % 128;
		size_t piece = count - i < 128 ? count - i : 128;

		if (n == 0 &&
			!get(s, y.table + i * sizeof(symbol[0]), symbol, piece * sizeof(symbol[0])))
			break;
		range_grow(&r, &y, &symbol[n]);
	}
	if (r.end != 0)
		r = (struct leak_range){ r.start - BEFORE_BYTES, r.end + AFTER_BYTES };
	return r;
}

static bool is_libc(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return strncmp(name, "libc.so.", 8) == 0 || strncmp(name, "libc-2.", 7) == 0;
}

struct leak_range leak_malloc_code_find(struct leak_space *s)
{
	for (size_t i = 0; i < s->maps; i++)
		if (s->map[i].offset == 0 && s->map[i].readable && is_libc(s->map[i].path))
			return code_of(s, s->map[i].start);
	return (struct leak_range){ 0, 0 };
}
