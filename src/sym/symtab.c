/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One sorted array per symbol table, made once per module when its first address is requested.
 * Called by object_file.c on the symboliser's worker thread.
 */
#include "src/sym/symtab.h"

#include <stdlib.h>
#include <string.h>
#include "src/util/sorted.h"

/* Few symbols begin inside another one (labels in assembly): number of symbols checked backwards
 * for the outer one. */
#define LOOK_BACK 16u
/* Symbols between two checks of the stop flag. */
#define STOP_EVERY 4096u

struct symbol {
	uint64_t start;
	uint64_t size;
	uint32_t name; /* offset in the string table */
	uint16_t rank; /* the highest of several at one address gives the name */
	bool open_ended; /* size not recorded: it ends where the next symbol or its section does */
};

struct symtab {
	const char *strings;
	size_t strings_bytes; /* strings in these bytes are terminated */
	size_t count;
	struct symbol symbols[];
};

/* How likely this symbol is the function's usual name, by its kind. */
static uint16_t rank_of(const GElf_Sym *s, const char *name)
{
	static const uint16_t by_binding[3] = { [STB_LOCAL] = 1, [STB_GLOBAL] = 3, [STB_WEAK] = 2 };
	unsigned bind = GELF_ST_BIND(s->st_info), type = GELF_ST_TYPE(s->st_info);
	uint16_t rank = bind < 3 ? by_binding[bind] : 1;

	/* "malloc" rather than "__libc_malloc", but "_ZN..." is as good as a plain name. */
	if (name[0] != '_' || name[1] == 'Z' || name[1] == 'R')
		rank += 4;
	if (s->st_size > 0)
		rank += 8;
	if (type != STT_NOTYPE)
		rank += 16;
	return rank;
}

/* Functions; and untyped symbols in code, because assembly often leaves its functions untyped. */
static bool is_code(const GElf_Sym *s, const GElf_Shdr *sh)
{
	unsigned type = GELF_ST_TYPE(s->st_info);

	if (s->st_value == 0)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	return type == STT_NOTYPE && sh && sh->sh_flags & SHF_EXECINSTR;
}

/* Untyped symbols in data are labels of linkers: _end and its like. A thread-local variable may
 * have the address 0. */
static bool is_wanted(enum symtab_kind kind, const GElf_Sym *s, const GElf_Shdr *sh)
{
	unsigned type = GELF_ST_TYPE(s->st_info);

	if (s->st_shndx == SHN_UNDEF)
		return false;
	if (kind == SYMTAB_CODE)
		return is_code(s, sh);
	return s->st_size > 0 && type == (kind == SYMTAB_DATA ? STT_OBJECT : STT_TLS);
}

static uint64_t bytes_left(const GElf_Sym *s, const GElf_Shdr *sh)
{
	if (!sh || s->st_value - sh->sh_addr >= sh->sh_size)
		return 0;
	return sh->sh_size - (s->st_value - sh->sh_addr);
}

/* ".L12" are compiler labels; "$x" and "$d" mark code and data on ARM. */
static bool is_label(const char *name)
{
	return name[0] == '\0' || name[0] == '$' || (name[0] == '.' && name[1] == 'L');
}

static int symbol_compare(const void *pa, const void *pb)
{
	const struct symbol *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static size_t duplicates_drop(struct symbol *s, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (kept > 0 && s[kept - 1].start == s[i].start) {
			if (s[kept - 1].open_ended && !s[i].open_ended) {
				s[kept - 1].open_ended = false;
				s[kept - 1].size = s[i].size;
			}
		} else {
			s[kept++] = s[i];
		}
	}
	return kept;
}

static Elf_Data *section_of_type(const struct elffile *f, uint32_t type, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(f->elf, scn))) {
		if (gelf_getshdr(scn, sh) && sh->sh_type == type)
			return elf_getdata(scn, NULL);
	}
	return NULL;
}

/* Finds the string table and its usable size: up to its last NUL. */
static bool strings_find(struct symtab *t, const struct elffile *f, uint32_t link)
{
	Elf_Scn *scn = elf_getscn(f->elf, link);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	const char *last = data && data->d_buf ? memrchr(data->d_buf, '\0', data->d_size) : NULL;

	if (!last)
		return false;
	t->strings = data->d_buf;
	t->strings_bytes = (size_t)(last - t->strings) + 1;
	return true;
}

static void symbol_take(
	struct symtab *t, const struct elffile *f, enum symtab_kind kind, const GElf_Sym *s)
{
	GElf_Shdr mem, *sh = NULL;

	if (s->st_name >= t->strings_bytes || is_label(t->strings + s->st_name))
		return;
	if ((s->st_size == 0 || GELF_ST_TYPE(s->st_info) == STT_NOTYPE) &&
		s->st_shndx < SHN_LORESERVE)
		sh = gelf_getshdr(elf_getscn(f->elf, s->st_shndx), &mem);
	if (!is_wanted(kind, s, sh))
		return;
	t->symbols[t->count++] = (struct symbol){
		.start = s->st_value,
		.size = s->st_size ? s->st_size : bytes_left(s, sh),
		.open_ended = s->st_size == 0,
		.name = s->st_name,
		.rank = rank_of(s, t->strings + s->st_name),
	};
}

static bool symbols_read(struct symtab *t, const struct elffile *f, enum symtab_kind kind,
	Elf_Data *data, size_t n, const atomic_bool *stop)
{
	for (size_t i = 0; i < n; i++) {
		GElf_Sym s;

		if (i % STOP_EVERY == 0 && *stop)
			return false;
		if (gelf_getsym(data, (int)i, &s))
			symbol_take(t, f, kind, &s);
	}
	return t->count > 0;
}

struct symtab *symtab_new(
	const struct elffile *f, uint32_t type, enum symtab_kind kind, const atomic_bool *stop)
{
	GElf_Shdr sh;
	Elf_Data *data = f->elf ? section_of_type(f, type, &sh) : NULL;
	size_t each = f->elf ? gelf_fsize(f->elf, ELF_T_SYM, 1, EV_CURRENT) : 0;
	size_t n = data && each ? data->d_size / each : 0;
	struct symtab *t, *fit;

	if (n == 0 || n > INT32_MAX)
		return NULL;
	t = malloc(sizeof(*t) + n * sizeof(struct symbol));
	if (!t)
		return NULL;
	t->count = 0;
	if (!strings_find(t, f, sh.sh_link) || !symbols_read(t, f, kind, data, n, stop)) {
		free(t);
		return NULL;
	}
	qsort(t->symbols, t->count, sizeof(struct symbol), symbol_compare);
	t->count = duplicates_drop(t->symbols, t->count);
	fit = realloc(t, sizeof(*t) + t->count * sizeof(struct symbol));
	return fit ? fit : t;
}

void symtab_free(struct symtab *t)
{
	free(t);
}

/* The number of symbols that begin at or before `vaddr`. */
static size_t upper_bound(const struct symtab *t, uint64_t vaddr)
{
	return sorted_through(SORTED_BY(t->symbols, t->count, start), vaddr);
}

/* A symbol that ends where the next begins may be a label inside one whose size is recorded. */
static const struct symbol *find(const struct symtab *t, uint64_t vaddr)
{
	size_t n = t ? upper_bound(t, vaddr) : 0;
	const struct symbol *nearest = NULL;

	for (size_t back = 0; back < LOOK_BACK && n > 0; back++, n--) {
		const struct symbol *s = &t->symbols[n - 1];

		if (vaddr - s->start >= s->size)
			continue;
		if (!s->open_ended)
			return s;
		if (back == 0)
			nearest = s;
	}
	return nearest;
}

const char *symtab_find(const struct symtab *t, uint64_t vaddr)
{
	uint64_t start;

	return symtab_find_start(t, vaddr, &start);
}

const char *symtab_find_start(const struct symtab *t, uint64_t vaddr, uint64_t *start)
{
	const struct symbol *s = find(t, vaddr);

	*start = s ? s->start : 0;
	return s ? t->strings + s->name : NULL;
}
