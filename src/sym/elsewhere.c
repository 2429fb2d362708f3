/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Object files of a program on another machine (elsewhere.h). */
#include "src/sym/elsewhere.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* `named`: by the user, so that a file without a build-id counts. */
static bool file_try(struct elffile *f, const struct sym_module *m, const char *path, bool named)
{
	const uint8_t *id;

	if (elffile_open(f, path) != 0)
		return false;
	if (m->build_id_len > 0 ? elffile_build_id_is(f, m->build_id, m->build_id_len)
				: named && elffile_build_id(f, &id) == 0)
		return true;
	elffile_close(f);
	return false;
}

static bool sysroot_try(struct elffile *f, const struct sym_module *m, const char *root)
{
	char path[PATH_MAX];

	return root && snprintf(path, sizeof(path), "%s%s", root, m->path) < (int)sizeof(path) &&
	       file_try(f, m, path, true);
}

static bool binpath_try(struct elffile *f, const struct sym_module *m, const char *list)
{
	const char *slash = strrchr(m->path, '/'), *name = slash ? slash + 1 : m->path;
	char path[PATH_MAX];

	while (list && *list) {
		size_t len = strcspn(list, ":");

		if (len > 0 &&
			snprintf(path, sizeof(path), "%.*s/%s", (int)len, list, name) <
				(int)sizeof(path) &&
			file_try(f, m, path, true))
			return true;
		list += len + (list[len] != 0);
	}
	return false;
}

bool elsewhere_object(
	const struct sym_module *m, const struct sym_elsewhere *places, char *path, size_t cap)
{
	int n;

	if (!places->objects || m->build_id_len == 0)
		return false;
	n = snprintf(path, cap, "%s/", places->objects);
	for (size_t i = 0; i < m->build_id_len && n > 0 && (size_t)n < cap; i++)
		n += snprintf(path + n, cap - (size_t)n, "%02x", m->build_id[i]);
	return n > 0 && (size_t)n < cap;
}

int elsewhere_open(
	struct elffile *f, const struct sym_module *m, const struct sym_elsewhere *places)
{
	char path[PATH_MAX];

	if (m->path[0] != '/')
		return -ENOENT;
	if (sysroot_try(f, m, places->sysroot) || binpath_try(f, m, places->binpath) ||
		(elsewhere_object(m, places, path, sizeof(path)) && file_try(f, m, path, false)) ||
		file_try(f, m, m->path, false))
		return 0;
	return -ENOENT;
}

bool elsewhere_is_of(const struct sym_module *m, const char *path)
{
	struct elffile f = ELFFILE_NONE;
	bool is = file_try(&f, m, path, false);

	elffile_close(&f);
	return is;
}

bool elsewhere_has(const struct sym_module *m, const struct sym_elsewhere *places)
{
	struct elffile f = ELFFILE_NONE;
	bool has = elsewhere_open(&f, m, places) == 0;

	elffile_close(&f);
	return has;
}
