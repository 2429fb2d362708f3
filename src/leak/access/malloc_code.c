/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The code of glibc's malloc (malloc_code.h). */
#include "src/leak/access/malloc_code.h"

#include <stdlib.h>
#include <string.h>

#include "src/leak/access/dynamic_symbols.h"

#define BEFORE_BYTES 0x8000u /* of static functions before the first exported one: some 20 KB */
#define AFTER_BYTES  0x1000u /* of the last function */
#define TABLE_MOST   (4u << 20)

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
	struct leak_range r = { 0, 0 };
	struct leak_dynamic_symbols y;

	if (leak_dynamic_symbols_read(s, base, TABLE_MOST, &y)) {
		r = range_of(base, y.symbol, y.count, y.names, y.name_bytes);
		leak_dynamic_symbols_free(&y);
	}
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
