/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a core file does not have (missing.h). */
#include "src/core/missing.h"

#include <stdarg.h>
#include <stdio.h>

#include "src/core/objects.h"
#include "src/util/units.h"

void core_missing_find(const struct core *c, struct core_missing *out)
{
	*out = (struct core_missing){ 0 };
	for (size_t i = 0; i < c->loads; i++) {
		const struct core_load *l = &c->load[i];
		uint64_t rest = l->end - l->start - l->bytes - l->cut;
		const struct core_file *f = l->file ? &c->file[l->file - 1] : NULL;

		out->cut += l->cut;
		if (!l->writable || !l->readable)
			continue;
		if (!f)
			out->empty += rest;
		else if (c->object[f->object].fd >= 0)
			out->from_files += rest;
		else if (!core_objects_is_account(f->path))
			out->no_files += rest;
	}
	for (size_t i = 0; i < c->objects; i++) {
		const struct core_object *o = &c->object[i];

		if (o->fd >= 0 || core_objects_is_account(o->path) || o->path[0] != '/')
			continue;
		out->objects++;
		if (!out->object || (o->changed && !out->changed)) {
			out->object = o->path;
			out->changed = o->changed;
		}
	}
}

__attribute__((format(printf, 4, 5))) static size_t part_put(
	char *out, size_t cap, size_t at, const char *format, ...)
{
	va_list args;
	int n;

	if (at > 0 && at < cap)
		at += (size_t)snprintf(out + at, cap - at, "; ");
	if (at >= cap)
		return at;
	va_start(args, format);
	n = vsnprintf(out + at, cap - at, format, args);
	va_end(args);
	return at + (n > 0 ? (size_t)n : 0);
}

void core_missing_text(const struct core *c, char *out, size_t cap)
{
	char bytes[UNITS_MAX], whole[UNITS_MAX];
	struct core_missing m;
	size_t at = 0;

	core_missing_find(c, &m);
	*out = '\0';
	if (c->file_bytes < c->whole_bytes)
		at = part_put(out, cap, at,
			"it is cut short, at %s of %s: %s of memory are missing",
			units_bytes(bytes, c->file_bytes), units_bytes(whole, c->whole_bytes),
			units_bytes((char[UNITS_MAX]){ 0 }, m.cut));
	if (m.no_files)
		at = part_put(out, cap, at, "%s of files that are not here are not in it",
			units_bytes(bytes, m.no_files));
	if (m.objects)
		at = part_put(out, cap, at, "%u file%s %s, such as %.60s", m.objects,
			units_plural(m.objects),
			m.changed ? "have changed or are not here" : "are not here", m.object);
	if (m.from_files)
		at = part_put(
			out, cap, at, "%s are read from files", units_bytes(bytes, m.from_files));
	if (m.empty)
		part_put(out, cap, at, "%s were never touched, or are excluded (MADV_DONTDUMP)",
			units_bytes(bytes, m.empty));
}
