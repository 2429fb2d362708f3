/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Source files (source_file.h). Called by the thread of src/source/source_cache.c. */
#include "src/source/source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "src/util/array.h"
#include "src/util/strbuf.h"
#include "src/util/text.h"
#include "src/util/units.h"

#define TAB_CELLS 8u

/* ---- directories -------------------------------------------------------------------------- */

int source_file_dirs_add(struct source_file_dirs *d, const char *list)
{
	for (;;) {
		size_t len = strcspn(list, ":");

		if (len == 0)
			return -EINVAL;
		if (d->count == SOURCE_FILE_DIRS_MAX)
			return -E2BIG;
		d->dir[d->count] = strndup(list, len);
		if (!d->dir[d->count])
			return -ENOMEM;
		d->count++;
		if (list[len] == '\0')
			return 0;
		list += len + 1;
	}
}

void source_file_dirs_free(struct source_file_dirs *d)
{
	for (unsigned i = 0; i < d->count; i++)
		free((char *)(uintptr_t)d->dir[i]);
	*d = (struct source_file_dirs){ 0 };
}

/* ---- opening ------------------------------------------------------------------------------ */

struct found {
	int fd;
	struct stat st;
	char path[PATH_MAX];
	const char *refused; /* why a file that was found was not taken; or NULL */
};

/* Files of /proc and /sys are regular only in name: reading one may wait, or have effects. */
static bool is_of_kernel(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) != 0)
		return true;
	return fs.f_type == PROC_SUPER_MAGIC || fs.f_type == SYSFS_MAGIC ||
	       fs.f_type == DEBUGFS_MAGIC || fs.f_type == TRACEFS_MAGIC;
}

/* Checked before opening: opening a FIFO would wait, and opening a device may have effects. */
static bool file_try(struct found *f, const char *path)
{
	char again[64];
	int at = open(path, O_PATH | O_CLOEXEC);
	const char *why = NULL;

	if (at < 0)
		return false;
	if (fstat(at, &f->st) != 0 || !S_ISREG(f->st.st_mode) || is_of_kernel(at)) {
		why = "is not a regular file";
	} else {
		snprintf(again, sizeof(again), "/proc/self/fd/%d", at);
		f->fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		why = f->fd < 0 ? strerrordesc_np(errno) : NULL;
	}
	close(at);
	if (!why || !f->refused)
		snprintf(f->path, sizeof(f->path), "%s", path);
	if (why && !f->refused)
		f->refused = why;
	return !why;
}

static bool file_try_in(struct found *f, const char *dir, const char *below)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", dir, below) >= (int)sizeof(path))
		return false;
	return file_try(f, path);
}

/* A path without its first component, or NULL. */
static const char *path_inner(const char *path)
{
	const char *slash = strchr(path, '/');

	while (slash && *slash == '/')
		slash++;
	return slash && *slash ? slash : NULL;
}

/* A rest that begins with ".." would lead out of the directory. */
static bool leads_out(const char *path)
{
	return !strncmp(path, "../", 3) || !strncmp(path, "./", 2);
}

static bool file_find_in(struct found *f, const char *dir, const char *file)
{
	while (*file == '/')
		file++;
	for (const char *rest = file; rest; rest = path_inner(rest))
		if (!leads_out(rest) && file_try_in(f, dir, rest))
			return true;
	return false;
}

static bool file_find(struct found *f, const char *file, const struct source_file_dirs *dirs)
{
	const char *slash = strrchr(file, '/');

	if (file_try(f, file))
		return true;
	for (unsigned i = 0; i < dirs->count; i++)
		if (file_find_in(f, dirs->dir[i], file))
			return true;
	return slash && slash[1] && file_try(f, slash + 1);
}

/* ---- reading ------------------------------------------------------------------------------ */

/* The bytes of a file; it may shrink while it is read, and growth is ignored. NULL and errno. */
static char *bytes_read(int fd, size_t want, size_t *got)
{
	char *bytes = malloc(want + 1);
	ssize_t n = 1;

	for (*got = 0; bytes && *got < want && n > 0; *got += n > 0 ? (size_t)n : 0)
		n = read(fd, bytes + *got, want - *got);
	if (!bytes || n >= 0)
		return bytes;
	free(bytes);
	return NULL;
}

/* One line with blanks instead of tabs. `out` has SOURCE_FILE_LINE_MAX bytes. */
static size_t tabs_expand(char *out, const char *line, size_t len)
{
	size_t used = 0, cell = 0;

	for (size_t i = 0; i < len && used + TAB_CELLS < SOURCE_FILE_LINE_MAX; i++) {
		/* Continuation bytes of UTF-8 have no cell of their own. */
		bool more = ((unsigned char)line[i] & 0xc0) == 0x80;

		if (line[i] != '\t') {
			out[used++] = line[i];
			cell += !more;
			continue;
		}
		do
			out[used++] = ' ';
		while (++cell % TAB_CELLS);
	}
	return used;
}

struct lines {
	struct strbuf text;
	uint32_t *start;
	uint32_t count;
	size_t room;
};

static bool line_add(struct lines *l, const char *line, size_t len)
{
	char wide[SOURCE_FILE_LINE_MAX], clean[SOURCE_FILE_LINE_MAX * 3];
	uint32_t *start;

	/* One more, for the start of the line after the last. */
	start = array_grow(l->start, l->count + 1, &l->room, sizeof(*start));
	if (!start)
		return false;
	l->start = start;
	if (len && line[len - 1] == '\r')
		len--;
	len = tabs_expand(wide, line, len);
	len = text_clean(clean, sizeof(clean), wide, len);
	l->start[l->count++] = (uint32_t)l->text.len;
	strbuf_add(&l->text, clean, len + 1);
	l->start[l->count] = (uint32_t)l->text.len;
	return !l->text.failed && l->text.len < UINT32_MAX / 2;
}

static bool lines_cut(struct lines *l, const char *bytes, size_t size)
{
	const char *at = bytes, *end = bytes + size;

	if (size >= 3 && !memcmp(at, "\xef\xbb\xbf", 3))
		at += 3;
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		if (!stop)
			stop = end;
		if (!line_add(l, at, (size_t)(stop - at)))
			return false;
		at = stop + 1;
	}
	return true;
}

static bool is_newer(const struct stat *source, const char *object)
{
	struct stat st;

	if (!object || stat(object, &st) != 0)
		return false;
	return source->st_mtim.tv_sec != st.st_mtim.tv_sec
		       ? source->st_mtim.tv_sec > st.st_mtim.tv_sec
		       : source->st_mtim.tv_nsec > st.st_mtim.tv_nsec;
}

/* ---- the reason for a missing file -------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void note_set(
	struct source_text *t, const char *fmt, ...)
{
	struct strbuf line = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vprintf(&line, fmt, ap);
	va_end(ap);
	t->note = text_clean_copy(strbuf_text(&line), line.len);
	strbuf_free(&line);
}

static void note_missing(
	struct source_text *t, const char *file, const struct source_file_dirs *dirs)
{
	if (dirs->count == 0)
		note_set(t, "%s not found; --source-path DIR searches DIR, too", file);
	else if (dirs->count == 1)
		note_set(t, "%s not found, nor any end of that path in %s (--source-path)", file,
			dirs->dir[0]);
	else
		note_set(t,
			"%s not found, nor any end of that path in the %u directories of "
			"--source-path",
			file, dirs->count);
}

static void file_load(struct source_text *t, const struct found *f, const char *object)
{
	struct lines l = { 0 };
	char size[UNITS_MAX], most[UNITS_MAX];
	char *bytes = NULL;
	size_t got;

	if ((uint64_t)f->st.st_size > SOURCE_FILE_BYTES_MAX) {
		note_set(t, "%s is too large: %s, and at most %s is read", f->path,
			units_bytes(size, (uint64_t)f->st.st_size),
			units_bytes(most, SOURCE_FILE_BYTES_MAX));
		return;
	}
	bytes = bytes_read(f->fd, (size_t)f->st.st_size, &got);
	if (!bytes || !lines_cut(&l, bytes, got)) {
		note_set(t, "%s: %s", f->path, strerrordesc_np(bytes ? ENOMEM : errno));
		free(l.start);
		strbuf_free(&l.text);
	} else {
		t->path = strdup(f->path);
		t->newer = is_newer(&f->st, object);
		t->lines = l.count;
		t->start = l.start;
		t->text = l.text.data;
	}
	free(bytes);
}

struct source_text *source_file_read(
	const char *file, const char *object, const struct source_file_dirs *dirs)
{
	struct source_text *t = calloc(1, sizeof(*t));
	struct found *f = calloc(1, sizeof(*f));

	if (!t || !f) {
		free(f);
		free(t);
		return NULL;
	}
	if (file_find(f, file, dirs)) {
		file_load(t, f, object);
		close(f->fd);
	} else if (f->refused) {
		note_set(t, "%s: %s", f->path, f->refused);
	} else {
		note_missing(t, file, dirs);
	}
	free(f);
	return t;
}

void source_file_free(struct source_text *t)
{
	if (!t)
		return;
	free(t->path);
	free(t->note);
	free((uint32_t *)(uintptr_t)t->start);
	free((char *)(uintptr_t)t->text);
	free(t);
}
