/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From raw frames to what the rest of the viewer takes: demangled, cleaned, interned, cached.
 * Called by the worker in sym.c.
 */
#include "src/sym/resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/sym/demangle.h"
#include "src/sym/intern.h"
#include "src/sym/object.h"
#include "src/util/text.h"

/* Above this much debug information at once, modules longest unused give theirs back. */
#define DEBUG_MAX_BYTES ((uint64_t)1024 * 1024 * 1024)
/* A file name longer than any the system opens is not one. */
#define FILE_MAX 4096u

struct resolve_module {
	struct sym_module info;
	char *path; /* owned, as is build_id */
	uint8_t *build_id;
	struct object *object; /* NULL: not opened, or closed again */
	enum sym_quality quality;
	uint64_t used; /* the resolver's clock when last asked */
	struct resolve_module *older, *newer; /* open ones */
};

struct answer {
	const struct resolve_module *module; /* NULL: empty slot */
	uint64_t vaddr;
	const struct sym_frame *frames;
	uint32_t nframes;
};

struct resolve {
	const struct debugfile_dirs *dirs;
	struct intern *texts;
	struct answer *answers; /* open addressing, power of two, at most half full */
	size_t nslots, count;
	struct resolve_module *oldest, *newest; /* open modules by last use */
	uint64_t open_bytes;
};

static const struct sym_frame unknown_frame;

struct resolve *resolve_new(const struct debugfile_dirs *dirs)
{
	struct resolve *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->dirs = dirs;
	r->texts = intern_new();
	if (r->texts)
		return r;
	free(r);
	return NULL;
}

void resolve_free(struct resolve *r)
{
	if (!r)
		return;
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
	m->info = *info;
	m->quality = SYM_PENDING;
	m->path = strdup(info->path ? info->path : "");
	m->build_id = malloc(info->build_id_len + 1);
	if (!m->path || !m->build_id) {
		resolve_module_free(m);
		return NULL;
	}
	m->info.path = m->path;
	m->info.build_id = m->build_id;
	m->info.build_id_len = info->build_id ? info->build_id_len : 0;
	if (m->info.build_id_len > 0)
		memcpy(m->build_id, info->build_id, info->build_id_len);
	return m;
}

void resolve_module_free(struct resolve_module *m)
{
	if (!m)
		return;
	object_close(m->object);
	free(m->path);
	free(m->build_id);
	free(m);
}

static void open_list_remove(struct resolve *r, struct resolve_module *m)
{
	*(m->older ? &m->older->newer : &r->oldest) = m->newer;
	*(m->newer ? &m->newer->older : &r->newest) = m->older;
	m->older = m->newer = NULL;
}

static void open_list_append(struct resolve *r, struct resolve_module *m)
{
	m->older = r->newest;
	*(r->newest ? &r->newest->newer : &r->oldest) = m;
	r->newest = m;
}

static void module_close(struct resolve *r, struct resolve_module *m)
{
	open_list_remove(r, m);
	r->open_bytes -= object_bytes(m->object);
	object_close(m->object);
	m->object = NULL;
}

static bool module_open(struct resolve *r, struct resolve_module *m)
{
	m->object = object_open(&m->info, r->dirs);
	if (!m->object)
		return false;
	m->quality = object_quality(m->object);
	r->open_bytes += object_bytes(m->object);
	open_list_append(r, m);
	while (r->open_bytes > DEBUG_MAX_BYTES && r->oldest != m)
		module_close(r, r->oldest);
	return true;
}

static struct object *module_object(struct resolve *r, struct resolve_module *m)
{
	if (!m->object)
		return module_open(r, m) ? m->object : NULL;
	if (r->newest != m) {
		open_list_remove(r, m);
		open_list_append(r, m);
	}
	return m->object;
}

enum sym_quality resolve_quality(const struct resolve_module *m)
{
	return m->quality;
}

/* ---- answers -------------------------------------------------------------------------------- */

static size_t hash_of(const struct resolve_module *m, uint64_t vaddr)
{
	uint64_t h = (vaddr + (uintptr_t)m) * 0x9e3779b97f4a7c15u;

	return (size_t)(h ^ h >> 29);
}

static struct answer *answer_slot(struct resolve *r, const struct resolve_module *m, uint64_t vaddr)
{
	size_t i = hash_of(m, vaddr) & (r->nslots - 1);

	while (r->answers[i].module && (r->answers[i].module != m || r->answers[i].vaddr != vaddr))
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
		if (old[i].module)
			*answer_slot(r, old[i].module, old[i].vaddr) = old[i];
	}
	free(old);
	return true;
}

static const char *clean(struct resolve *r, const char *text, size_t max)
{
	char buf[DEMANGLE_MAX];
	size_t len;

	if (!text || text[0] == '\0')
		return NULL;
	len = text_clean(buf, max, text, strnlen(text, max));
	return intern_text(r->texts, buf, len);
}

static const char *file_of(struct resolve *r, const struct scope_frame *raw)
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

static struct sym_frame frame_finish(struct resolve *r, const struct scope_frame *raw, bool inlined)
{
	const char *name = raw->linkage && raw->linkage[0] ? raw->linkage : raw->name;
	struct sym_frame f = { .line = raw->line, .inlined = inlined };
	char text[DEMANGLE_MAX];

	if (name && name[0])
		f.function = intern_text(r->texts, text, demangle_name(text, name));
	f.function_raw = clean(r, name, DEMANGLE_MAX);
	f.file = file_of(r, raw);
	if (!f.file)
		f.line = 0;
	return f;
}

static void frames_make(
	struct resolve *r, const struct scope_frame *raw, size_t n, struct answer *a)
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
	struct resolve *r, struct resolve_module *m, uint64_t vaddr, struct answer *a)
{
	struct scope_frame raw[SCOPE_FRAMES_MAX];
	struct object *o = module_object(r, m);
	size_t n = o ? object_find(o, vaddr, raw) : 0;

	*a = (struct answer){ .module = m, .vaddr = vaddr, .frames = &unknown_frame, .nframes = 1 };
	if (n > 0)
		frames_make(r, raw, n, a);
}

const struct sym_frame *resolve_address(
	struct resolve *r, struct resolve_module *m, uint64_t vaddr, uint32_t *nframes)
{
	struct answer made, *a = &made;

	if (r->count * 2 < r->nslots || answers_grow(r)) {
		a = answer_slot(r, m, vaddr);
		if (!a->module) {
			answer_make(r, m, vaddr, a);
			r->count++;
		}
	} else {
		answer_make(r, m, vaddr, a); /* no memory to remember it */
	}
	*nframes = a->nframes;
	return a->frames;
}
