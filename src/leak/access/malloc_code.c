/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The code of glibc's malloc (malloc_code.h). */
#include "src/leak/access/malloc_code.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define BEFORE_BYTES  0x8000u /* of static functions before the first exported one: some 20 KB */
#define AFTER_BYTES   0x1000u /* of the last function */
#define TABLE_MOST    (4u << 20)
#define HEADERS_MOST  64u
#define DYNAMICS_MOST 256u

struct symbols {
	struct leak_space *space;
	uint64_t base;
	uint64_t table, names, name_bytes; /* addresses, and how many bytes the names take */
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
		if (d.d_tag == DT_STRSZ)
			y->name_bytes = d.d_un.d_val;
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

static void range_grow(struct leak_range *r, uint64_t base, const Elf64_Sym *symbol)
{
	uint64_t at = base + symbol->st_value;

	if (r->end == 0 || at < r->start)
		r->start = at;
	if (at + symbol->st_size > r->end)
		r->end = at + symbol->st_size;
}

/* `names`: of `bytes`, the last one 0. */
static struct leak_range range_of(
	uint64_t base, const Elf64_Sym *symbol, size_t count, const char *names, size_t bytes)
{
	struct leak_range r = { 0, 0 };

	for (size_t i = 0; i < count; i++)
		if (symbol[i].st_value != 0 && symbol[i].st_name < bytes &&
			ELF64_ST_TYPE(symbol[i].st_info) == STT_FUNC &&
			is_of_malloc(names + symbol[i].st_name))
			range_grow(&r, base, &symbol[i]);
	if (r.end != 0)
		r = (struct leak_range){ r.start - BEFORE_BYTES, r.end + AFTER_BYTES };
	return r;
}

static struct leak_range code_of(struct leak_space *s, uint64_t base)
{
	struct symbols y = { .space = s, .base = base };
	struct leak_range r = { 0, 0 };
	size_t bytes, names;
	char *both;

	if (!tables_find(&y))
		return r;
	bytes = y.names - y.table < TABLE_MOST ? y.names - y.table : 0;
	names = y.name_bytes < TABLE_MOST ? y.name_bytes : 0;
	both = bytes && names ? malloc(bytes + names) : NULL;
	if (both && get(s, y.table, both, bytes + names)) {
		both[bytes + names - 1] = '\0';
		r = range_of(base, (const Elf64_Sym *)(void *)both, bytes / sizeof(Elf64_Sym),
			both + bytes, names);
	}
	free(both);
	return r;
}

/* Not if the file was mapped only to be read. */
static bool is_code(const struct leak_space *s, struct leak_range r)
{
	const struct leak_map *m = leak_space_map(s, r.end - AFTER_BYTES - 1);

	return m && m->executable;
}

static bool is_libc(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return strncmp(name, "libc.so.", 8) == 0 || strncmp(name, "libc-2.", 7) == 0;
}

struct leak_range leak_malloc_code_find(pid_t pid)
{
	struct leak_range r = { 0, 0 };
	struct leak_space s;

	if (leak_space_open(&s, pid) != 0)
		return r;
	for (size_t i = 0; i < s.maps && r.end == 0; i++) {
		if (s.map[i].offset == 0 && s.map[i].readable && is_libc(s.map[i].path))
			r = code_of(&s, s.map[i].start);
		if (r.end != 0 && !is_code(&s, r))
			r = (struct leak_range){ 0, 0 };
	}
	leak_space_close(&s);
	return r;
}
