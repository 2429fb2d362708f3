/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Turns raw frames into those that the rest of the viewer uses: demangled, cleaned, interned,
 * cached. Called by worker.c on the symboliser's thread.
 */
#include "src/sym/resolve.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/sym/demangle.h"
#include "src/util/intern.h"
#include "src/sym/object_file.h"
#include "src/sym/object_cache.h"
#include "src/util/text.h"

/* Longer than any file name that the system can open. */
#define FILE_MAX 4096u

struct resolve_module {
	struct sym_module info;
	char *path; /* owned, as is build_id */
	uint8_t *build_id;
	struct cached_object *object; /* NULL before the first request; the worker's */
	_Atomic enum sym_quality quality;
	atomic_uint refs;
};

struct answer {
	const struct cached_object *object; /* NULL: empty slot */
	uint64_t vaddr;
	const struct sym_frame *frames;
	uint32_t nframes;
};

struct resolve {
	struct object_cache *objects;
	struct intern *texts;
	struct answer *answers; /* open addressing, power of two, at most half full */
	size_t nslots, count;
	size_t stack_bytes; /* for demangling */
	/* Scratch space of the answer in progress. */
	struct raw_frame raw[RAW_FRAMES_MAX];
	char name[DEMANGLE_MAX], text[DEMANGLE_MAX];
};

static const struct sym_frame unknown_frame;

void resolve_stack(struct resolve *r, size_t bytes)
{
	r->stack_bytes = bytes;
}

struct resolve *resolve_new(const struct debugfile_dirs *dirs)
{
	struct resolve *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->stack_bytes = DEMANGLE_STACK_BYTES;
	r->objects = object_cache_new(dirs);
	r->texts = intern_new();
	if (r->objects && r->texts)
		return r;
	resolve_free(r);
	return NULL;
}

void resolve_free(struct resolve *r)
{
	if (!r)
		return;
	object_cache_free(r->objects);
	intern_free(r->texts);
	free(r->answers);
	free(r);
}

/* ---- modules -------------------------------------------------------------------------------- */

struct resolve_module *resolve_module_new(const struct sym_module *info)
{
	struct resolve_module *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->refs = 1;
	m->info = *info;
	m->quality = SYM_PENDING;
	m->path = strdup(info->path ? info->path : "");
	m->build_id = malloc(info->build_id_len + 1);
	if (!m->path || !m->build_id) {
		resolve_module_unref(m);
		return NULL;
	}
	m->info.path = m->path;
	m->info.build_id = m->build_id;
	m->info.build_id_len = info->build_id ? info->build_id_len : 0;
	if (m->info.build_id_len > 0)
		memcpy(m->build_id, info->build_id, info->build_id_len);
	return m;
}

struct resolve_module *resolve_module_ref(struct resolve_module *m)
{
	m->refs++;
	return m;
}

void resolve_module_unref(struct resolve_module *m)
{
	if (!m || --m->refs > 0)
		return;
	free(m->path);
	free(m->build_id);
	free(m);
}

enum sym_quality resolve_quality(const struct resolve_module *m)
{
	return m->quality;
}

/* ---- answers -------------------------------------------------------------------------------- */

static size_t hash_of(const struct cached_object *object, uint64_t vaddr)
{
	uint64_t h = (vaddr + (uintptr_t)object) * 0x9e3779b97f4a7c15u;

	return (size_t)(h ^ h >> 29);
}

static struct answer *answer_slot(
	struct resolve *r, const struct cached_object *object, uint64_t vaddr)
{
	size_t i = hash_of(object, vaddr) & (r->nslots - 1);

	while (r->answers[i].object &&
		(r->answers[i].object != object || r->answers[i].vaddr != vaddr))
		i = (i + 1) & (r->nslots - 1);
	return &r->answers[i];
}

static bool answers_grow(struct resolve *r)
{
	struct answer *old = r->answers, *bigger;
	size_t old_n = r->nslots, n = old_n ? old_n * 2 : 1024;

	bigger = calloc(n, sizeof(*bigger));
	if (!bigger)
		return false;
	r->answers = bigger;
	r->nslots = n;
	for (size_t i = 0; i < old_n; i++) {
		if (old[i].object)
			*answer_slot(r, old[i].object, old[i].vaddr) = old[i];
	}
	free(old);
	return true;
}

static const char *clean(struct resolve *r, const char *text, size_t max)
{
	size_t len;

	if (!text || text[0] == '\0')
		return NULL;
	len = text_clean(r->text, max, text, strnlen(text, max));
	return intern_text(r->texts, r->text, len);
}

static const char *file_of(struct resolve *r, const struct raw_frame *raw)
{
	const char *file = raw->file;
	char path[FILE_MAX];

	if (!file || file[0] == '/' || !raw->dir)
		return clean(r, file, FILE_MAX);
	while (file[0] == '.' && file[1] == '/')
		file += 2;
	if (snprintf(path, sizeof(path), "%s/%s", raw->dir, file) >= (int)sizeof(path))
		return clean(r, raw->file, FILE_MAX);
	return clean(r, path, FILE_MAX);
}

static struct sym_frame frame_finish(struct resolve *r, const struct raw_frame *raw, bool inlined)
{
	const char *name = raw->linkage && raw->linkage[0] ? raw->linkage : raw->name;
	struct sym_frame f = { .line = raw->line, .inlined = inlined };

	if (name && name[0])
		f.function = intern_text(
			r->texts, r->name, demangle_name_within(r->name, name, r->stack_bytes));
	f.function_raw = clean(r, name, DEMANGLE_MAX);
	f.file = file_of(r, raw);
	if (!f.file)
		f.line = 0;
	return f;
}

static void frames_make(struct resolve *r, const struct raw_frame *raw, size_t n, struct answer *a)
{
	struct sym_frame *frames = intern_alloc(r->texts, n * sizeof(*frames));

	if (!frames)
		return;
	for (size_t i = 0; i < n; i++)
		frames[i] = frame_finish(r, &raw[i], i + 1 < n);
	a->frames = frames;
	a->nframes = (uint32_t)n;
}

static void answer_make(
	struct resolve *r, struct cached_object *object, uint64_t vaddr, struct answer *a)
{
	struct object_file *o = object_cache_open(r->objects, object);
	size_t n = o ? object_file_find(o, vaddr, r->raw) : 0;

	*a = (struct answer){
		.object = object, .vaddr = vaddr, .frames = &unknown_frame, .nframes = 1
	};
	if (n > 0)
		frames_make(r, r->raw, n, a);
}

static void answer_find(
	struct resolve *r, struct cached_object *object, uint64_t vaddr, struct answer *a)
{
	struct answer *kept;

	if (r->count * 2 >= r->nslots && !answers_grow(r)) {
		answer_make(r, object, vaddr, a); /* out of memory: not cached */
		return;
	}
	kept = answer_slot(r, object, vaddr);
	if (!kept->object) {
		answer_make(r, object, vaddr, kept);
		r->count++;
	}
	*a = *kept;
}

const struct sym_frame *resolve_address(
	struct resolve *r, struct resolve_module *m, uint64_t vaddr, uint32_t *nframes)
{
	struct answer a = { .frames = &unknown_frame, .nframes = 1 };

	if (!m->object)
		m->object = object_cache_find(r->objects, &m->info);
	if (m->object) {
		answer_find(r, m->object, vaddr, &a);
		m->quality = object_cache_quality(m->object);
	}
	*nframes = a.nframes;
	return a.frames;
}
