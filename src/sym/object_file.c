/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tries the sources of names of one object file in their order. Called by resolve.c on the
 * symboliser's worker thread.
 */
#include "src/sym/object_file.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/sym/symtab.h"
#include "src/util/shortage.h"

/* libdw and libelf may crash without memory, so this much must be free before they are called. */
#define SPARE_BYTES (4u << 20)

struct object_file {
	struct elffile file; /* the file that the program mapped */
	struct elffile debug; /* its separate debug file, if it was needed */
	struct elffile alt; /* the part that dwz moved out of them */
	Dwarf *dwarf, *alt_dwarf;
	struct dwarf_reader *reader;
	struct symtab *symtab, *dynsym;
	enum sym_quality quality;
};

static enum sym_quality quality_of(const struct object_file *o)
{
	if (o->reader)
		return SYM_DWARF;
	if (o->symtab)
		return SYM_SYMTAB;
	return o->dynsym ? SYM_DYNSYM : SYM_NONE;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* "[vdso]", "" (JIT code) and removed files have no path to the mapped content. */
static bool is_file_path(const char *path)
{
	return path[0] == '/' && !ends_with(path, " (deleted)");
}

static int file_open(
	struct object_file *o, const struct sym_module *m, const struct debugfile_dirs *dirs)
{
	char path[PATH_MAX];
	int rc;

	if (!is_file_path(m->path))
		return -ENOENT;
	if (snprintf(path, sizeof(path), "%s%s", dirs->root, m->path) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	rc = shortage_has_memory(SPARE_BYTES) ? elffile_open(&o->file, path) : -ENOMEM;
	if (rc == 0 && m->build_id_len > 0 &&
		!elffile_build_id_is(&o->file, m->build_id, m->build_id_len)) {
		elffile_close(&o->file);
		rc = -ESTALE;
	}
	return rc;
}

/*
 * When out of memory, libdw ends the process unless its handler does not return. The state of the
 * handle is unknown after that, so it is neither used nor freed.
 */
static __thread jmp_buf *without_memory;

__attribute__((noreturn)) static void on_no_memory(void)
{
	longjmp(*without_memory, 1);
}

static void dwarf_give_up(struct object_file *o)
{
	shortage_note(ENOMEM);
	o->reader = NULL;
	o->dwarf = o->alt_dwarf = NULL;
}

static Dwarf *handle_new(const struct elffile *f)
{
	Dwarf *dwarf;

	errno = 0;
	dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	if (dwarf)
		dwarf_new_oom_handler(dwarf, on_no_memory);
	else
		shortage_note(errno);
	return dwarf;
}

/* The dwz part must be set before libdw searches for it itself. */
static bool alt_open(struct object_file *o, const char *path, const struct debugfile_dirs *dirs)
{
	int rc = debugfile_find_alt(o->dwarf, path, dirs, &o->alt);

	if (rc == -ENOENT)
		return true;
	if (rc != 0)
		return false;
	o->alt_dwarf = handle_new(&o->alt);
	if (o->alt_dwarf && !elffile_strings_end(&o->alt))
		return false;
	if (o->alt_dwarf)
		dwarf_setalt(o->dwarf, o->alt_dwarf);
	return true;
}

static void reader_open(struct object_file *o, const struct debugfile_dirs *dirs)
{
	jmp_buf here;

	without_memory = &here;
	if (setjmp(here) == 0)
		o->reader = dwarf_reader_new(o->dwarf, dirs->stop);
	else
		dwarf_give_up(o);
}

static size_t reader_find(
	struct object_file *o, uint64_t vaddr, struct raw_frame out[RAW_FRAMES_MAX])
{
	jmp_buf here;

	if (!shortage_has_memory(SPARE_BYTES)) {
		shortage_note(ENOMEM);
		return 0;
	}
	without_memory = &here;
	if (setjmp(here) == 0)
		return dwarf_reader_find(o->reader, vaddr, out);
	dwarf_give_up(o);
	o->quality = quality_of(o);
	return 0;
}

static void dwarf_close(struct object_file *o)
{
	dwarf_reader_free(o->reader);
	dwarf_end(o->dwarf);
	dwarf_end(o->alt_dwarf);
	elffile_close(&o->alt);
	o->reader = NULL;
	o->dwarf = o->alt_dwarf = NULL;
}

static void dwarf_open(struct object_file *o, const struct elffile *f, const char *path,
	const struct debugfile_dirs *dirs)
{
	if (!f->has_dwarf)
		return;
	/* The sections as read, and libdw's own data. */
	if (!shortage_has_memory(f->debug_bytes * (f->is_compressed ? 8 : 2) + SPARE_BYTES)) {
		shortage_note(ENOMEM);
		return;
	}
	o->dwarf = handle_new(f);
	if (o->dwarf && elffile_strings_end(f) && alt_open(o, path, dirs))
		reader_open(o, dirs);
	if (!o->reader)
		dwarf_close(o);
}

static void symbols_open(struct object_file *o, const atomic_bool *stop)
{
	o->symtab = symtab_new(&o->file, SHT_SYMTAB, stop);
	if (!o->symtab && o->debug.elf)
		o->symtab = symtab_new(&o->debug, SHT_SYMTAB, stop);
	o->dynsym = symtab_new(&o->file, SHT_DYNSYM, stop);
}

struct object_file *object_file_open(const struct sym_module *m, const struct debugfile_dirs *dirs)
{
	struct object_file *o = calloc(1, sizeof(*o));
	int rc;

	if (!o)
		return NULL;
	o->file = o->debug = o->alt = (struct elffile)ELFFILE_NONE;
	rc = file_open(o, m, dirs);
	shortage_note(rc);
	if (rc == 0) {
		dwarf_open(o, &o->file, m->path, dirs);
		if (!o->reader && debugfile_find(&o->file, m->path, dirs, &o->debug) == 0)
			dwarf_open(o, &o->debug, m->path, dirs);
		symbols_open(o, dirs->stop);
		/* All that is needed has been read: do not hold a descriptor per library. */
		elffile_seal(&o->file);
		elffile_seal(&o->debug);
		elffile_seal(&o->alt);
	}
	o->quality = quality_of(o);
	return o;
}

void object_file_close(struct object_file *o)
{
	if (!o)
		return;
	dwarf_close(o);
	symtab_free(o->symtab);
	symtab_free(o->dynsym);
	elffile_close(&o->debug);
	elffile_close(&o->file);
	free(o);
}

enum sym_quality object_file_quality(const struct object_file *o)
{
	return o->quality;
}

uint64_t object_file_bytes(const struct object_file *o)
{
	return o->reader ? o->file.debug_bytes + o->debug.debug_bytes + o->alt.debug_bytes : 0;
}

static const char *symbol_find(const struct object_file *o, uint64_t vaddr)
{
	const char *name = symtab_find(o->symtab, vaddr);

	return name ? name : symtab_find(o->dynsym, vaddr);
}

static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

size_t object_file_find(struct object_file *o, uint64_t vaddr, struct raw_frame out[RAW_FRAMES_MAX])
{
	size_t n = o->reader ? reader_find(o, vaddr, out) : 0;
	struct raw_frame *f = n > 0 ? &out[n - 1] : &out[0];
	const char *symbol;

	if (n > 0 && f->linkage)
		return n;
	symbol = symbol_find(o, vaddr);
	if (n == 0)
		out[0] = (struct raw_frame){ 0 };
	/* DWARF without a mangled name has only the last part of a C++ name; the linker's symbol
	 * has all of it. */
	if (symbol && (!f->name || is_mangled(symbol)))
		f->linkage = symbol;
	return n > 0 || symbol ? (n > 0 ? n : 1) : 0;
}
