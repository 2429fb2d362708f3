/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Symbols of allocators (inner_symbols.h). The tables in an object's memory have what it exports,
 * and finding nothing there costs some nanoseconds a name. The symbol table in its file has local
 * functions, too; it is read for the executable, and for objects that export something listed.
 */
#include "preload/inner_symbols.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "preload/call.h"

struct found {
	inner_symbols_called *is_called;
	struct inner_symbol *out;
	unsigned count, room;
};

static void add(struct found *f, const struct inner_symbol *s)
{
	for (unsigned i = 0; i < f->count; i++) {
		bool is_operator = f->out[i].is_operator || s->is_operator;

		if (f->out[i].at != s->at)
			continue;
		if (s->name->is_plain && !f->out[i].name->is_plain)
			f->out[i] = *s;
		f->out[i].is_operator = is_operator;
		return;
	}
	if (f->count < f->room)
		f->out[f->count++] = *s;
}

static bool is_function(const ElfW(Sym) * s)
{
	unsigned type = s->st_info & 0xf;

	return (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
	       s->st_shndx != SHN_UNDEF && s->st_shndx != SHN_ABS && s->st_value != 0;
}

static void add_symbol(struct found *f, const struct inner_object *o, const struct inner_name *name,
	const ElfW(Sym) * s, bool is_called)
{
	struct inner_symbol symbol = { .name = name,
		.at = o->bias + s->st_value,
		.bytes = s->st_size,
		.is_operator = name->name[0] == '_' && name->name[1] == 'Z',
		.is_indirect = (s->st_info & 0xf) == STT_GNU_IFUNC,
		.is_called = is_called };

	if (is_function(s) && symbol.at >= o->code_start && symbol.at < o->code_end)
		add(f, &symbol);
}

const ElfW(Sym) * inner_symbols_definition(const struct inner_object *o, const char *symbol)
{
	struct symbols_table t = symbols_table_read(o->bias, o->dynamic);
	uint32_t h = 5381;

	for (const char *c = symbol; *c; c++)
		h = h * 33 + (unsigned char)*c;
	return symbols_table_find(&t, symbol, __builtin_strlen(symbol), h);
}

/* Whether a name that is everyone's is to be patched there. */
static bool is_wanted(const struct found *f, const struct inner_object *o,
	const struct inner_name *n, const ElfW(Sym) * s)
{
	return !n->is_plain || (f->is_called && f->is_called(n, o->bias + s->st_value));
}

static void find_exported(const struct inner_object *o, struct found *f)
{
	struct symbols_table t = symbols_table_read(o->bias, o->dynamic);

	for (uint32_t i = f->is_called ? 0 : inner_list_plain(); i < inner_list_count(); i++) {
		const struct inner_name *n;
		const ElfW(Sym) * s;

		if (!symbols_table_may_have(&t, inner_list_hash(i)))
			continue;
		n = inner_list_at(i);
		s = symbols_table_find(&t, n->name, n->name_bytes, n->hash);
		if (s && is_wanted(f, o, n, s))
			add_symbol(f, o, n, s, n->is_plain);
	}
}

/* ---- the file ---- */

struct file {
	const char *at;
	uint64_t bytes;
};

#if defined(CALL_EXISTS) && !defined(__i386__)
#define SECTIONS_AT_ONCE 16u

/* Whether a file may have a symbol table. Most have none, and mapping one takes longer. */
static bool may_have_symtab(long fd)
{
	ElfW(Shdr) section[SECTIONS_AT_ONCE] = { 0 };
	ElfW(Ehdr) e = { 0 };

	if (call(SYS_pread64, fd, call_pointer(&e), sizeof(e), 0, 0) != sizeof(e) ||
		e.e_shentsize != sizeof(*section))
		return true;
	for (unsigned i = 0; i < e.e_shnum; i += SECTIONS_AT_ONCE) {
		unsigned left = e.e_shnum - i,
			 n = left < SECTIONS_AT_ONCE ? left : SECTIONS_AT_ONCE;
		long bytes = (long)(n * sizeof(*section));

		if (call(SYS_pread64, fd, call_pointer(section), bytes,
			    (long)(e.e_shoff + i * sizeof(*section)), 0) != bytes)
			return true;
		for (unsigned k = 0; k < n; k++)
			if (section[k].sh_type == SHT_SYMTAB)
				return true;
	}
	return false;
}

static bool file_map(const struct inner_object *o, struct file *f)
{
	const char *path = o->is_executable ? "/proc/self/exe" : o->path;
	struct stat st = { 0 };
	long fd = call(SYS_openat, AT_FDCWD, call_pointer(path), O_RDONLY | O_CLOEXEC, 0, 0), at;

	if (fd < 0)
		return false;
	at = may_have_symtab(fd) ? call(SYS_fstat, fd, call_pointer(&st), 0, 0, 0) : -1;
	if (at == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size >= sizeof(ElfW(Ehdr)))
		at = call(SYS_mmap, 0, st.st_size, PROT_READ, MAP_PRIVATE, fd);
	call(SYS_close, fd, 0, 0, 0, 0);
	if (at <= 0)
		return false;
	f->at = (const char *)at;
	f->bytes = (uint64_t)st.st_size;
	return true;
}

static void file_unmap(const struct file *f)
{
	call(SYS_munmap, call_pointer(f->at), (long)f->bytes, 0, 0, 0);
}
#else
static bool file_map(const struct inner_object *o, struct file *f)
{
	return false;
}

static void file_unmap(const struct file *f)
{
}
#endif

/* A part of the file; NULL: not all of it is there. */
static const void *part(const struct file *f, uint64_t at, uint64_t bytes)
{
	return at <= f->bytes && bytes <= f->bytes - at ? f->at + at : NULL;
}

/* Whether the file is still the one that was loaded: its headers are those in memory. */
static bool is_same(const struct file *f, const struct inner_object *o)
{
	const ElfW(Ehdr) *e = (const void *)f->at;
	const void *loaded = (const void *)(uintptr_t)o->start;
	uint64_t bytes = sizeof(*e) + (uint64_t)e->e_phnum * sizeof(ElfW(Phdr));

	return __builtin_memcmp(e->e_ident, ELFMAG, SELFMAG) == 0 && e->e_phoff == sizeof(*e) &&
	       e->e_phentsize == sizeof(ElfW(Phdr)) && e->e_shentsize == sizeof(ElfW(Shdr)) &&
	       bytes <= o->end - o->start && bytes <= 4096 && part(f, 0, bytes) &&
	       __builtin_memcmp(loaded, f->at, bytes) == 0;
}

struct symtab {
	const ElfW(Sym) * symbols;
	uint64_t count;
	const char *strings;
	uint64_t strings_bytes;
};

static bool find_symtab(const struct file *f, struct symtab *t)
{
	const ElfW(Ehdr) *e = (const void *)f->at;
	const ElfW(Shdr) *sections = part(f, e->e_shoff, (uint64_t)e->e_shnum * sizeof(*sections));
	const ElfW(Shdr) *s = sections, *strings;

	for (unsigned i = 0; sections && i < e->e_shnum; i++, s++) {
		if (s->sh_type != SHT_SYMTAB || s->sh_link >= e->e_shnum ||
			s->sh_offset % sizeof(uint64_t) != 0)
			continue;
		strings = &sections[s->sh_link];
		t->symbols = part(f, s->sh_offset, s->sh_size);
		t->count = s->sh_size / sizeof(*t->symbols);
		t->strings = part(f, strings->sh_offset, strings->sh_size);
		t->strings_bytes = strings->sh_size;
		return t->symbols && t->strings && t->strings_bytes > 0 &&
		       t->strings[t->strings_bytes - 1] == '\0';
	}
	return false;
}

/* Whether the loader binds no reference to it. */
static bool is_local(const ElfW(Sym) * s)
{
	unsigned visibility = s->st_other & 3;

	return s->st_info >> 4 == STB_LOCAL || visibility == STV_HIDDEN ||
	       visibility == STV_INTERNAL;
}

static void find_local(const struct inner_object *o, struct found *f)
{
	struct symtab t;
	struct file file;

	if (!file_map(o, &file))
		return;
	if (!is_same(&file, o) || !find_symtab(&file, &t))
		t.count = 0;
	for (uint64_t i = 0; i < t.count; i++) {
		const ElfW(Sym) *s = &t.symbols[i];
		const struct inner_name *n;

		if (s->st_name >= t.strings_bytes || s->st_value == 0)
			continue;
		n = inner_list_find(t.strings + s->st_name);
		if (n && (is_local(s) || is_wanted(f, o, n, s)))
			add_symbol(f, o, n, s, n->is_plain && !is_local(s));
	}
	file_unmap(&file);
}

unsigned inner_symbols_find(const struct inner_object *o, inner_symbols_called *is_called,
	struct inner_symbol *out, unsigned room)
{
	struct found f = { .is_called = is_called, .out = out, .room = room };

	find_exported(o, &f);
	if (o->is_executable || f.count > 0)
		find_local(o, &f);
	return f.count;
}

/* ---- objects ---- */

static void note_segment(struct inner_object *o, const ElfW(Phdr) * ph)
{
	uint64_t start = o->bias + ph->p_vaddr, end = start + ph->p_memsz;

	o->start = start < o->start ? start : o->start;
	o->end = end > o->end ? end : o->end;
	if (!(ph->p_flags & PF_X))
		return;
	o->code_start = start < o->code_start ? start : o->code_start;
	o->code_end = end > o->code_end ? end : o->code_end;
}

bool inner_symbols_object(const struct dl_phdr_info *info, struct inner_object *out)
{
	*out = (struct inner_object){ .info = info,
		.path = info->dlpi_name ? info->dlpi_name : "",
		.bias = info->dlpi_addr,
		.start = UINT64_MAX,
		.code_start = UINT64_MAX };
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD)
			note_segment(out, ph);
		else if (ph->p_type == PT_DYNAMIC)
			out->dynamic = (const void *)(uintptr_t)(out->bias + ph->p_vaddr);
	}
	for (const ElfW(Dyn) *d = out->dynamic; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_TEXTREL ||
			(d->d_tag == DT_FLAGS && (d->d_un.d_val & DF_TEXTREL)))
			out->code_relocated = true;
	out->is_executable = out->path[0] == '\0';
	return out->code_start < out->code_end;
}

/* By its first relocation, which is relative, as linkers sort them. The dynamic section's pointer
 * may be relocated already, which comes first. */
bool inner_symbols_unrelocated(const struct inner_object *o)
{
	const ElfW(Rela) *rela = NULL;
	uint64_t at = 0, bytes = 0;

	for (const ElfW(Dyn) *d = o->dynamic; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_RELA)
			at = d->d_un.d_ptr;
		if (d->d_tag == DT_RELASZ)
			bytes = d->d_un.d_val;
	}
	if (at == 0 || bytes < sizeof(*rela))
		return false;
	rela = (const void *)(uintptr_t)(at < o->bias ? at + o->bias : at);
	if (ELF64_R_TYPE(rela->r_info) != R_X86_64_RELATIVE)
		return false;
	return *(const uint64_t *)(uintptr_t)(o->bias + rela->r_offset) !=
	       o->bias + (uint64_t)rela->r_addend;
}
