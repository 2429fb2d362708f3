/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of roots, by the object files that the process maps (names.h). */
#include "src/leak/names/names.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/leak/analysis/types.h"
#include "src/leak/names/object_store.h"
#include "src/leak/names/stack_frames.h"
#include "src/proc/proc.h"
#include "src/sym/demangle.h"
#include "src/sym/object_file.h"
#include "src/util/array.h"
#include "src/util/name_shorten.h"
#include "src/util/text.h"

#define FRAMES_MAX     512u /* of a thread; deeper ones are named by the outermost of these */
#define NAME_CELLS     64u /* longer names of C++ are shortened */
#define NAME_BYTES     256u
#define FRAME_BYTES    (NAME_BYTES + 16u)
#define GLIBC_INTERNAL "__GI_" /* before glibc's names for calls within itself */

struct object {
	const char *path; /* the mapping's */
	struct cached_object *kept; /* in the store, if there is one */
	struct object_file *file; /* else; NULL: out of memory */
};

/* The words of one variable follow each other. */
struct last_variable {
	const char *path; /* NULL: none */
	uint64_t start;
	char text[2 * NAME_BYTES + 4];
};

struct stack {
	bool is_read;
	size_t count;
	size_t own; /* the innermost frame of the program; `count`: there is none */
	struct leak_frame *frame;
	char comm[32]; /* the thread's name; "": unknown */
	bool has_comm;
};

struct leak_names {
	const struct leak_root_context *found;
	const atomic_bool *stop;
	size_t stack_bytes; /* for demangling */
	struct debugfile_dirs dirs;
	struct leak_object_store *store; /* NULL: there is none, or another scan uses it */
	struct last_variable last;
	char root[64];
	struct object *object;
	size_t objects, object_capacity;
	struct leak_unwinder *unwinder;
	bool has_unwinder;
	struct stack *stack; /* per thread */
	struct raw_frame raw[RAW_FRAMES_MAX];
	char full[DEMANGLE_MAX];
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

struct leak_names *leak_names_new(const struct leak_root_context *found,
	struct leak_object_store *store, const atomic_bool *stop, size_t stack_bytes)
{
	struct leak_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->found = found;
	n->stop = stop;
	n->stack_bytes = stack_bytes / 4 * 3;
	n->stack = calloc(found->threads + 1, sizeof(*n->stack));
	snprintf(n->root, sizeof(n->root), "/proc/%d/root", (int)found->space->pid);
	if (found->space->core || access(n->root, X_OK) != 0)
		*n->root = '\0'; /* it has ended, or is another user's: most see the same files */
	n->dirs = (struct debugfile_dirs){
		.root = n->root, .debug_dir = "/usr/lib/debug", .stop = stop
	};
	if (!n->stack) {
		free(n);
		return NULL;
	}
	n->store = leak_object_store_begin(store, &n->dirs) ? store : NULL;
	return n;
}

void leak_names_free(struct leak_names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->objects; i++)
		object_file_close(n->object[i].file);
	for (size_t i = 0; i < n->found->threads; i++)
		free(n->stack[i].frame);
	leak_unwinder_free(n->unwinder);
	if (n->store)
		leak_object_store_end(n->store);
	free(n->object);
	free(n->stack);
	free(n);
}

/* ---- object files ---- */

/* NULL: out of memory. */
static struct object *object_add(struct leak_names *n, const char *path)
{
	const struct sym_module module = { .path = path };
	struct object *p = array_grow(n->object, n->objects, &n->object_capacity, sizeof(*p));

	if (!p)
		return NULL;
	n->object = p;
	p += n->objects++;
	*p = (struct object){ .path = path };
	if (n->store)
		p->kept = leak_object_store_find(n->store, path);
	else
		p->file = object_file_open(&module, &n->dirs);
	return p;
}

/* Valid until the next call. NULL: out of memory. */
static struct object_file *object_of(struct leak_names *n, const char *path)
{
	struct object *p = NULL;

	for (size_t i = 0; i < n->objects && !p; i++)
		if (n->object[i].path == path || strcmp(n->object[i].path, path) == 0)
			p = &n->object[i];
	if (!p)
		p = object_add(n, path);
	return p && p->kept ? leak_object_store_open(n->store, p->kept) : p ? p->file : NULL;
}

/* "[abi:cxx11]", which marks the standard library's newer types, is noise to a reader. */
static void abi_drop(char *name)
{
	char *tag, *end;

	while ((tag = strstr(name, "[abi:")) != NULL && (end = strchr(tag, ']')) != NULL)
		memmove(tag, end + 1, strlen(end));
}

/* The readable form of a linker's name, short enough for a line. */
static void name_make(struct leak_names *n, const char *raw, char out[NAME_BYTES])
{
	demangle_name_within(n->full, raw, n->stack_bytes);
	abi_drop(n->full);
	name_shorten(out, NAME_BYTES, n->full, NAME_CELLS, false, true);
}

/* ---- variables ---- */

/* "count in fill()", or the name alone. */
static void variable_name(struct leak_names *n, const struct raw_variable *v, char out[NAME_BYTES])
{
	bool is_mangled = v->symbol[0] == '_' && (v->symbol[1] == 'Z' || v->symbol[1] == 'R');

	if (is_mangled || !v->name)
		name_make(n, v->symbol, out);
	else if (v->function)
		snprintf(out, NAME_BYTES, "%.100s in %.100s()", v->name, v->function);
	else
		snprintf(out, NAME_BYTES, "%.200s", v->name);
}

static void variable_place(const struct raw_variable *v, const char *path, char *out, size_t cap)
{
	char file[NAME_BYTES];

	text_clean(file, 100, base_name(v->file ? v->file : path),
		strlen(base_name(v->file ? v->file : path)));
	if (v->file && v->line)
		snprintf(out, cap, "%.100s:%u", file, v->line);
	else
		snprintf(out, cap, "%s%.100s", v->file ? "" : "data of ", file);
}

static bool variable_text(struct leak_names *n, uint64_t at, char *out, size_t cap)
{
	char name[NAME_BYTES], clean[NAME_BYTES], place[NAME_BYTES];
	struct object_file *o;
	struct raw_variable v;
	const char *path;
	uint64_t vaddr;

	path = leak_root_names_file(n->found->space, at, &vaddr);
	o = path ? object_of(n, path) : NULL;
	if (!o || !object_file_variable(o, vaddr, false, n->stop, &v))
		return false;
	if (n->last.path != path || n->last.start != v.start) {
		variable_name(n, &v, name);
		text_clean(clean, sizeof(clean), name, strlen(name));
		variable_place(&v, path, place, sizeof(place));
		snprintf(n->last.text, sizeof(n->last.text), "%s (%s)", clean, place);
		n->last.path = path;
		n->last.start = v.start;
	}
	snprintf(out, cap, "%s", n->last.text);
	return true;
}

/* ---- threads ---- */

/* "thread 4211 (worker)", "the first thread". */
static void thread_text(struct leak_names *n, size_t i, char *out, size_t cap)
{
	int tid = n->found->thread[i].tid;
	struct stack *s = &n->stack[i];

	if (tid == n->found->space->pid) {
		snprintf(out, cap, "the first thread");
		return;
	}
	if (!s->has_comm) {
		s->has_comm = true;
		if (!n->found->space->core)
			proc_thread_name(n->found->space->pid, tid, s->comm, sizeof(s->comm));
	}
	if (*s->comm)
		snprintf(out, cap, "thread %d (%s)", tid, s->comm);
	else
		snprintf(out, cap, "thread %d", tid);
}

/* The program's own path: its thread-local variables lie directly below the thread pointer. */
static const char *program_path(const struct leak_space *s)
{
	for (size_t i = 0; i < s->maps; i++)
		if (s->map[i].inode != 0 && s->map[i].path[0] == '/')
			return s->map[i].path;
	return NULL;
}

/* The thread-local variable of the program at `at`; ELF TLS, variant II. */
static bool own_variable(struct leak_names *n, const struct leak_thread_places *t, uint64_t at,
	struct raw_variable *v)
{
	const char *path = program_path(n->found->space);
	struct object_file *o = path ? object_of(n, path) : NULL;
	uint64_t bytes, align, start;

	if (!o || !object_file_tls(o, &bytes, &align))
		return false;
	start = t->data - (bytes + align - 1) / align * align;
	return at >= start && at < t->data && object_file_variable(o, at - start, true, n->stop, v);
}

static bool thread_local_text(struct leak_names *n, size_t i, uint64_t at, char *out, size_t cap)
{
	char thread[64], name[NAME_BYTES], clean[NAME_BYTES], place[NAME_BYTES];
	struct raw_variable v;

	thread_text(n, i, thread, sizeof(thread));
	if (!own_variable(n, &n->found->thread[i], at, &v)) {
		snprintf(out, cap, "thread-local data of %s", thread);
		return true;
	}
	variable_name(n, &v, name);
	text_clean(clean, sizeof(clean), name, strlen(name));
	variable_place(&v, program_path(n->found->space), place, sizeof(place));
	snprintf(out, cap, "thread-local %s of %s (%s)", clean, thread, place);
	return true;
}

/* ---- stacks ---- */

static bool is_program(const struct leak_names *n, uint64_t pc)
{
	const char *program = program_path(n->found->space), *path;
	uint64_t vaddr;

	path = leak_root_names_file(n->found->space, pc, &vaddr);
	return program && path && strcmp(path, program) == 0;
}

static struct stack *frames_of(struct leak_names *n, size_t i)
{
	struct stack *s = &n->stack[i];
	struct leak_frame *frame;

	if (s->is_read)
		return s;
	s->is_read = true;
	if (!n->has_unwinder)
		n->unwinder = leak_unwinder_new(n->found->space, n->root);
	n->has_unwinder = true;
	frame = calloc(FRAMES_MAX, sizeof(*frame));
	if (!frame)
		return s;
	s->count = leak_unwinder_frames(n->unwinder, &n->found->thread[i], frame, FRAMES_MAX);
	s->frame = frame;
	while (s->own < s->count && !is_program(n, frame[s->own].pc))
		s->own++;
	return s;
}

/* The function of a frame. False: it has no name. */
static bool function_name(struct leak_names *n, uint64_t pc, char out[NAME_BYTES])
{
	uint64_t vaddr;
	const char *path = leak_root_names_file(n->found->space, pc, &vaddr);
	struct object_file *o = path ? object_of(n, path) : NULL;
	size_t count = o ? object_file_find(o, vaddr, n->raw) : 0;
	const char *raw;

	if (count == 0)
		return false;
	raw = n->raw[count - 1].linkage ? n->raw[count - 1].linkage : n->raw[count - 1].name;
	if (!raw)
		return false;
	if (strncmp(raw, GLIBC_INTERNAL, sizeof(GLIBC_INTERNAL) - 1) == 0)
		raw += sizeof(GLIBC_INTERNAL) - 1;
	name_make(n, raw, out);
	return true;
}

/* ", in parse_line()", for a frame; "": it has no name. */
static void frame_text(
	struct leak_names *n, const struct leak_frame *f, const char *before, char *out, size_t cap)
{
	char name[NAME_BYTES];

	*out = '\0';
	if (function_name(n, f->pc, name))
		snprintf(out, cap, ", %s %s%s", before, name, strchr(name, '(') ? "" : "()");
}

static bool stack_text(struct leak_names *n, size_t i, uint64_t at, char *out, size_t cap)
{
	struct stack *s = frames_of(n, i);
	char thread[64], frame[FRAME_BYTES] = "";
	size_t k = 0;

	thread_text(n, i, thread, sizeof(thread));
	while (k + 1 < s->count && s->frame[k + 1].sp <= at)
		k++;
	if (s->count)
		frame_text(n, &s->frame[k], "in", frame, sizeof(frame));
	snprintf(out, cap, "stack of %s%s", thread, frame);
	return true;
}

/* Most registers are the caller's while the thread waits in a library: the program's own function
 * is named, too. */
static bool register_text(struct leak_names *n, uint64_t at, char *out, size_t cap)
{
	char name[32], thread[64], inner[FRAME_BYTES] = "", outer[FRAME_BYTES] = "";
	int tid = leak_root_names_register(at, name, sizeof(name));
	const struct stack *s;
	size_t i = 0;

	while (i < n->found->threads && n->found->thread[i].tid != tid)
		i++;
	if (i == n->found->threads)
		return false;
	thread_text(n, i, thread, sizeof(thread));
	s = frames_of(n, i);
	if (s->count)
		frame_text(n, &s->frame[0], "in", inner, sizeof(inner));
	if (s->own > 0 && s->own < s->count)
		frame_text(n, &s->frame[s->own], "called from", outer, sizeof(outer));
	snprintf(out, cap, "%s of %s%s%s", name, thread, inner, outer);
	return true;
}

static bool is_stack_of(const struct leak_space *s, const struct leak_thread_places *t, uint64_t at)
{
	const struct leak_map *m = t->stack ? leak_space_map(s, t->stack) : NULL;

	return m && m->inode == 0 && at >= m->start && at < m->end;
}

bool leak_names_text(void *names, uint64_t at, char *out, size_t cap)
{
	struct leak_names *n = names;
	const struct leak_root_context *f = n->found;

	if (at >> 63)
		return register_text(n, at, out, cap);
	for (size_t i = 0; i < f->threads; i++)
		if (at >= f->thread[i].tls.start && at < f->thread[i].tls.end)
			return thread_local_text(n, i, at, out, cap);
	for (size_t i = 0; i < f->threads; i++)
		if (is_stack_of(f->space, &f->thread[i], at))
			return stack_text(n, i, at, out, cap);
	return variable_text(n, at, out, cap);
}

/* ---- classes ---- */

#define VTABLE_PREFIX "vtable for "
#define VTABLE_HEAD   16u /* the offset to the top and the type, before the first function */

bool leak_names_class(void *names, uint64_t word, char *out, size_t cap)
{
	struct leak_names *n = names;
	char name[NAME_BYTES];
	struct object_file *o;
	struct raw_variable v;
	const char *path;
	uint64_t vaddr;

	path = leak_root_names_file(n->found->space, word, &vaddr);
	o = path && word % sizeof(word) == 0 ? object_of(n, path) : NULL;
	if (!o || !object_file_variable(o, vaddr, false, n->stop, &v) ||
		strncmp(v.symbol, "_ZTV", 4) != 0 || vaddr - v.start < VTABLE_HEAD)
		return false;
	demangle_name_within(n->full, v.symbol, n->stack_bytes);
	if (strncmp(n->full, VTABLE_PREFIX, strlen(VTABLE_PREFIX)) != 0)
		return false;
	abi_drop(n->full);
	leak_types_word(n->full + strlen(VTABLE_PREFIX), name, sizeof(name));
	name_shorten(out, cap, name, NAME_CELLS, false, true);
	return true;
}
