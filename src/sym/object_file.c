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
#include "src/sym/elsewhere.h"
#include "src/sym/symtab.h"
#include "src/sym/variables.h"
#include "src/util/shortage.h"

/* libdw and libelf may crash without memory, so this much must be free before they are called. */
#define SPARE_BYTES (4u << 20)

/* Variables: read when the first is requested. */
struct data {
	bool is_read;
	/* Those of the file or its debug file, and those that it exports; by OBJECT_FILE_*. */
	struct symtab *symbols[2], *exported[2];
	struct variables *variables;
	uint64_t tls_bytes, tls_align; /* of the TLS segment; 0: there is none */
};

struct object_file {
	struct elffile file; /* the file that the program mapped */
	struct elffile debug; /* its separate debug file, if it was needed */
	struct elffile alt; /* the part that dwz moved out of them */
	Dwarf *dwarf, *alt_dwarf;
	struct dwarf_reader *reader;
	struct symtab *symtab, *dynsym;
	struct data data;
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

/* The file at `root` and `path`, if it has the module's build-id. */
static int file_try(
	struct object_file *o, const struct sym_module *m, const char *root, const char *file)
{
	char path[PATH_MAX];
	int rc;

	if (snprintf(path, sizeof(path), "%s%s", root, file) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	rc = elffile_open(&o->file, path);
	if (rc == 0 && m->build_id_len > 0 &&
		!elffile_build_id_is(&o->file, m->build_id, m->build_id_len)) {
		elffile_close(&o->file);
		rc = -ESTALE;
	}
	return rc;
}

/* Through the process that has mapped it: its own executable, whatever is at that path now, or the
 * path as that process sees it. Only a build-id proves that it is the file. */
static int process_file_open(struct object_file *o, const struct sym_module *m)
{
	char root[32];

	snprintf(root, sizeof(root), "/proc/%d/", (int)m->pid);
	if (file_try(o, m, root, "exe") == 0)
		return 0;
	snprintf(root, sizeof(root), "/proc/%d/root", (int)m->pid);
	return file_try(o, m, root, m->path);
}

static int file_open(
	struct object_file *o, const struct sym_module *m, const struct debugfile_dirs *dirs)
{
	int rc;

	if (!is_file_path(m->path))
		return -ENOENT;
	if (!shortage_has_memory(SPARE_BYTES))
		return -ENOMEM;
	if (dirs->elsewhere)
		return elsewhere_open(&o->file, m, dirs->elsewhere);
	rc = file_try(o, m, dirs->root, m->path);
	if (rc != 0 && rc != -ENOMEM && m->pid > 0 && m->build_id_len > 0 &&
		process_file_open(o, m) == 0)
		return 0;
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
	o->data.variables = NULL;
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
	variables_free(o->data.variables);
	o->data.variables = NULL;
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
	o->symtab = symtab_new(&o->file, SHT_SYMTAB, SYMTAB_CODE, stop);
	if (!o->symtab && o->debug.elf)
		o->symtab = symtab_new(&o->debug, SHT_SYMTAB, SYMTAB_CODE, stop);
	o->dynsym = symtab_new(&o->file, SHT_DYNSYM, SYMTAB_CODE, stop);
}

static void tls_note(struct object_file *o)
{
	GElf_Phdr ph;
	size_t n = 0;

	if (elf_getphdrnum(o->file.elf, &n) != 0)
		return;
	for (size_t i = 0; i < n && gelf_getphdr(o->file.elf, (int)i, &ph); i++)
		if (ph.p_type == PT_TLS) {
			o->data.tls_bytes = ph.p_memsz;
			o->data.tls_align = ph.p_align ? ph.p_align : 1;
		}
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
		tls_note(o);
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
	for (unsigned i = 0; i < 2; i++) {
		symtab_free(o->data.symbols[i]);
		symtab_free(o->data.exported[i]);
	}
	elffile_close(&o->debug);
	elffile_close(&o->file);
	free(o);
}

void object_file_stop_by(struct object_file *o, const atomic_bool *stop)
{
	dwarf_reader_stop_by(o->reader, stop);
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

/* ---- variables ---- */

static void variables_open(struct object_file *o, const atomic_bool *stop)
{
	jmp_buf here;

	if (!o->dwarf || !shortage_has_memory(SPARE_BYTES))
		return;
	without_memory = &here;
	if (setjmp(here) == 0) {
		o->data.variables = variables_new(o->dwarf, stop);
	} else {
		dwarf_give_up(o);
		o->quality = quality_of(o);
	}
}

static void data_open(struct object_file *o, const atomic_bool *stop)
{
	static const enum symtab_kind kinds[2] = { SYMTAB_DATA, SYMTAB_THREAD };
	struct data *d = &o->data;

	d->is_read = true;
	for (unsigned i = 0; i < 2; i++) {
		d->symbols[i] = symtab_new(&o->file, SHT_SYMTAB, kinds[i], stop);
		if (!d->symbols[i] && o->debug.elf)
			d->symbols[i] = symtab_new(&o->debug, SHT_SYMTAB, kinds[i], stop);
		d->exported[i] = symtab_new(&o->file, SHT_DYNSYM, kinds[i], stop);
	}
	variables_open(o, stop);
}

bool object_file_variable(struct object_file *o, uint64_t vaddr, bool is_thread,
	const atomic_bool *stop, struct raw_variable *out)
{
	const struct variable *v;
	uint64_t start;

	if (!o->data.is_read)
		data_open(o, stop);
	*out = (struct raw_variable){ .symbol = symtab_find_start(
					      o->data.symbols[is_thread], vaddr, &start) };
	if (!out->symbol)
		out->symbol = symtab_find_start(o->data.exported[is_thread], vaddr, &start);
	if (!out->symbol)
		return false;
	out->start = start;
	v = variables_find(o->data.variables, start, is_thread);
	if (v) {
		out->name = v->name;
		out->function = v->function;
		out->file = v->file;
		out->line = v->line;
	}
	return true;
}

bool object_file_tls(const struct object_file *o, uint64_t *bytes, uint64_t *align)
{
	*bytes = o->data.tls_bytes;
	*align = o->data.tls_align;
	return *align > 0;
}
