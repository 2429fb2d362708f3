/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dynamic symbols in a process's memory (dynamic_symbols.h). Every word is checked. */
#include "src/leak/access/dynamic_symbols.h"

#include <stdlib.h>
#include <string.h>

#define HEADERS_MOST  64u
#define DYNAMICS_MOST 256u

/* Addresses, and how many bytes the names take. */
struct tables {
	uint64_t symbols, names, name_bytes;
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

static void dynamic_read(struct leak_space *s, uint64_t base, uint64_t at, struct tables *t)
{
	Elf64_Dyn d;

	for (unsigned i = 0; i < DYNAMICS_MOST; i++, at += sizeof(d)) {
		if (!get(s, at, &d, sizeof(d)) || d.d_tag == DT_NULL)
			return;
		if (d.d_tag == DT_SYMTAB)
			t->symbols = loaded(base, d.d_un.d_ptr);
		if (d.d_tag == DT_STRTAB)
			t->names = loaded(base, d.d_un.d_ptr);
		if (d.d_tag == DT_STRSZ)
			t->name_bytes = d.d_un.d_val;
	}
}

static bool tables_find(struct leak_space *s, uint64_t base, struct tables *t)
{
	uint64_t lowest = UINT64_MAX;
	Elf64_Ehdr e;
	Elf64_Phdr p;

	if (!get(s, base, &e, sizeof(e)) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
		e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_phentsize != sizeof(p) ||
		e.e_phnum > HEADERS_MOST)
		return false;
	for (unsigned i = 0; i < e.e_phnum; i++) {
		if (!get(s, base + e.e_phoff + i * sizeof(p), &p, sizeof(p)))
			return false;
		/* A program that is not position-independent is linked where it is mapped. */
		if (p.p_type == PT_LOAD && p.p_vaddr < lowest)
			lowest = p.p_vaddr;
		if (p.p_type == PT_DYNAMIC)
			dynamic_read(s, base, p.p_vaddr + (lowest == base ? 0 : base), t);
	}
	/* The names follow the symbols. */
	return t->symbols != 0 && t->names > t->symbols;
}

bool leak_dynamic_symbols_read(
	struct leak_space *s, uint64_t base, size_t most, struct leak_dynamic_symbols *out)
{
	struct tables t = { 0 };
	size_t bytes, names;
	char *both;

	if (!tables_find(s, base, &t) || t.names - t.symbols > most || t.name_bytes > most)
		return false;
	bytes = (size_t)(t.names - t.symbols);
	names = (size_t)t.name_bytes;
	both = bytes && names ? malloc(bytes + names) : NULL;
	if (!both || !get(s, t.symbols, both, bytes + names)) {
		free(both);
		return false;
	}
	both[bytes + names - 1] = '\0';
	*out = (struct leak_dynamic_symbols){ .symbol = (const Elf64_Sym *)(void *)both,
		.count = bytes / sizeof(Elf64_Sym),
		.names = both + bytes,
		.name_bytes = names };
	return true;
}

void leak_dynamic_symbols_free(struct leak_dynamic_symbols *y)
{
	free((void *)(uintptr_t)y->symbol);
}
