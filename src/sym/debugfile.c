/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Searches for separate debug files: a list of places, tried in turn until one holds a file that
 * matches. Called by object_file.c on the symboliser's worker thread.
 */
#include "src/sym/debugfile.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "src/sym/debuginfod.h"

/* A build-id is 20 bytes by default; no linker writes more than this. */
#define BUILD_ID_MAX 64u

struct search {
	const struct elffile *f; /* the stripped file; NULL: the search is for a dwz file */
	const struct debugfile_dirs *dirs;
	const char *path; /* of f, as the program saw it */
	const uint8_t *id;
	size_t id_len;
	const char *link; /* .gnu_debuglink's file name, or NULL */
	GElf_Word crc;
	struct elffile *out;
};

/* CRC-32 as .gnu_debuglink has it (the one of zlib and Ethernet), four bits at a time. */
static uint32_t crc32_add(uint32_t crc, const uint8_t *bytes, size_t len)
{
	static const uint32_t nibble[16] = { 0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
		0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8,
		0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c };

	for (size_t i = 0; i < len; i++) {
		crc ^= bytes[i];
		crc = crc >> 4 ^ nibble[crc & 15];
		crc = crc >> 4 ^ nibble[crc & 15];
	}
	return crc;
}

static bool crc_is(const char *path, uint32_t want, const atomic_bool *stop)
{
	uint8_t buf[4096];
	uint32_t crc = ~0u;
	FILE *file = fopen(path, "rbe");
	size_t n;

	if (!file)
		return false;
	while (!*stop && (n = fread(buf, 1, sizeof(buf), file)) > 0)
		crc = crc32_add(crc, buf, n);
	fclose(file);
	return ~crc == want;
}

/* Whether it has what the stripped file lacks. A link may have the stripped file's own name. */
static bool has_more(const struct search *s, const struct elffile *f)
{
	return f->has_dwarf || (f->has_symtab && !(s->f && s->f->has_symtab));
}

/* Whether this open file belongs to the stripped file of the search. */
static bool fits(const struct search *s, const struct elffile *f, const char *path)
{
	const uint8_t *id;

	if (!has_more(s, f))
		return false;
	if (s->id_len > 0 && elffile_build_id(f, &id) > 0)
		return elffile_build_id_is(f, s->id, s->id_len);
	return path && s->link && crc_is(path, s->crc, s->dirs->stop);
}

static bool path_try(
	struct search *s, const char *root, const char *dir, const char *sub, const char *name)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s%s%s/%s", root, dir, sub, name);

	if (n < 0 || (size_t)n >= sizeof(path) || elffile_open(s->out, path) != 0)
		return false;
	if (fits(s, s->out, path))
		return true;
	elffile_close(s->out);
	return false;
}

/* Searches debug directories below the program's root first, then below the viewer's. */
static bool debug_dir_try(struct search *s, const char *sub, const char *name)
{
	const struct debugfile_dirs *d = s->dirs;

	return (d->root[0] && path_try(s, d->root, d->debug_dir, sub, name)) ||
	       path_try(s, "", d->debug_dir, sub, name);
}

/* The directory part of `path`, which the caller frees. NULL: it has none, or out of memory. */
static char *dir_new(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? strndup(path, (size_t)(slash - path)) : NULL;
}

static bool link_try_in(struct search *s, const char *dir)
{
	return path_try(s, s->dirs->root, dir, "", s->link) ||
	       path_try(s, s->dirs->root, dir, "/.debug", s->link) ||
	       debug_dir_try(s, dir, s->link);
}

static bool link_try(struct search *s)
{
	char *dir = dir_new(s->path), *real = NULL, *real_dir = NULL;
	bool found = s->link && dir && link_try_in(s, dir);

	/* /lib may be a link to /usr/lib, and debug files are filed under the real name. */
	if (!found && s->link && dir && !s->dirs->root[0])
		real = realpath(s->path, NULL);
	if (real)
		real_dir = dir_new(real);
	if (real_dir && strcmp(dir, real_dir) != 0)
		found = link_try_in(s, real_dir);
	free(dir);
	free(real);
	free(real_dir);
	return found;
}

/* "/.build-id/ab" and "cdef....debug" */
static bool build_id_path(const uint8_t *id, size_t len, char sub[16], char name[160])
{
	if (len < 2 || len > BUILD_ID_MAX)
		return false;
	snprintf(sub, 16, "/.build-id/%02x", id[0]);
	for (size_t i = 1; i < len; i++)
		snprintf(name + 2 * (i - 1), 3, "%02x", id[i]);
	strcpy(name + 2 * (len - 1), ".debug");
	return true;
}

static bool build_id_try(struct search *s)
{
	char sub[16], name[160];

	return build_id_path(s->id, s->id_len, sub, name) && debug_dir_try(s, sub, name);
}

static bool debuginfod_try(struct search *s)
{
	int fd;

	if (!s->dirs->use_debuginfod || s->id_len == 0)
		return false;
	fd = debuginfod_fetch(s->id, s->id_len, s->dirs->stop);
	if (fd < 0 || elffile_open_fd(s->out, fd) != 0)
		return false;
	if (fits(s, s->out, NULL))
		return true;
	elffile_close(s->out);
	return false;
}

int debugfile_find(const struct elffile *f, const char *path, const struct debugfile_dirs *dirs,
	struct elffile *out)
{
	static bool (*const places[])(
		struct search * s) = { link_try, build_id_try, debuginfod_try };
	struct search s = { .f = f, .dirs = dirs, .path = path, .out = out };

	s.id_len = elffile_build_id(f, &s.id);
	s.link = dwelf_elf_gnu_debuglink(f->elf, &s.crc);
	if (s.link && (s.link[0] == '\0' || strchr(s.link, '/')))
		s.link = NULL; /* only a file name is allowed, not a path: it must not lead
				  elsewhere */
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (!*dirs->stop && places[i](&s))
			return 0;
	}
	*out = (struct elffile)ELFFILE_NONE;
	return -ENOENT;
}

static bool is_irregular(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/* Checks the place where libdw itself searches for `name` if we find nothing: it must not open a
 * FIFO there. */
static bool default_is_irregular(const char *dir, const char *name)
{
	char path[PATH_MAX];

	if (name[0] == '/')
		return is_irregular(name);
	return snprintf(path, sizeof(path), "%s/%s", dir, name) >= PATH_MAX || is_irregular(path);
}

/* dwz records names like "/usr/lib/debug/.dwz/x86_64-linux-gnu/python3.11.debug". */
static bool alt_name_try(struct search *s, const char *dir, const char *name)
{
	const char *below = strstr(name, "/.dwz/");
	const char *from = name[0] == '/' ? "" : dir;

	return (below && debug_dir_try(s, "", below)) ||
	       path_try(s, s->dirs->root, from, "", name) ||
	       (s->dirs->root[0] && path_try(s, "", from, "", name));
}

int debugfile_find_alt(
	Dwarf *dwarf, const char *path, const struct debugfile_dirs *dirs, struct elffile *out)
{
	struct search s = { .dirs = dirs, .path = path, .out = out };
	const char *name;
	const void *id;
	char *dir;
	ssize_t len = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);
	int rc = 0;

	*out = (struct elffile)ELFFILE_NONE;
	if (len <= 0)
		return -ENOENT;
	s.id = id;
	s.id_len = (size_t)len;
	dir = dir_new(path);
	if (!build_id_try(&s) && !alt_name_try(&s, dir ? dir : "", name)) {
		*out = (struct elffile)ELFFILE_NONE;
		rc = default_is_irregular(dir ? dir : "", name) ? -ENOEXEC : -ENOENT;
	}
	free(dir);
	return rc;
}
