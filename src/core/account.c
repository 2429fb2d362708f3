/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the account of a core (account.h). */
#include "src/core/account.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/layout.h"
#include "src/core/agree.h"
#include "src/core/objects.h"
#include "src/read/read.h"

#define PARTS_MOST    (UINT64_C(1) << 20)
#define ACCOUNT_MOST  (UINT64_C(1) << 46) /* the address space: a segment is mapped */
#define COPY_BYTES    (1u << 20)
#define SEGMENTS_MOST 8u /* its own, and the first of its launch */
#define DELETED	      " (deleted)"

static int refuse(char *message, const struct core *c, const char *why)
{
	snprintf(message, CORE_MESSAGE_MAX, "%.80s: %.170s", c->path, why);
	return -ENODATA;
}

/* ---- from the core itself ---- */

/* Memory that is named by its descriptor. 0 or -errno; -ENXIO: without /proc it has no name. */
static int memory_new(struct core_account *a, uint64_t bytes)
{
	a->fd = memfd_create("heaptop-account", MFD_CLOEXEC);
	if (a->fd < 0 || fchmod(a->fd, 0600) != 0 || ftruncate(a->fd, (off_t)bytes) != 0)
		return -errno;
	snprintf(a->path, sizeof(a->path), "/proc/self/fd/%d", a->fd);
	return access(a->path, F_OK) == 0 ? 0 : -ENXIO;
}

/* Copies bytes of the core into the account's memory, but not zeros. 0 or -errno. */
static int bytes_copy(const struct core_account *a, const struct core *c, uint64_t from,
	uint64_t to, uint64_t bytes)
{
	char *buf = malloc(COPY_BYTES);
	int rc = buf ? 0 : -ENOMEM;

	while (rc == 0 && bytes > 0) {
		size_t n = bytes < COPY_BYTES ? bytes : COPY_BYTES;
		ssize_t got = pread(c->fd, buf, n, (off_t)from);

		if (got <= 0)
			rc = -EIO;
		else if (pwrite(a->fd, buf, (size_t)got, (off_t)to) != got)
			rc = -ENOSPC;
		from += (uint64_t)(got > 0 ? got : 0);
		to += (uint64_t)(got > 0 ? got : 0);
		bytes -= (uint64_t)(got > 0 ? got : 0);
	}
	free(buf);
	return rc;
}

static int parts_copy(struct core_account *a, const struct core *c,
	const struct core_account_part *part, uint64_t parts, uint64_t file_bytes)
{
	uint64_t used = sizeof(struct core_account_head) + parts * sizeof(*part);
	int rc = 0;

	for (uint64_t i = 0; i < parts && rc == 0; i++) {
		if (part[i].bytes > c->account.bytes - used || part[i].offset > file_bytes ||
			part[i].bytes > file_bytes - part[i].offset)
			return -EPROTO;
		rc = bytes_copy(a, c, c->account.offset + used, part[i].offset, part[i].bytes);
		used += part[i].bytes;
	}
	return rc;
}

/* The account in the note of a core that heaptop wrote. 0 or -errno. */
static int note_take(struct core_account *a, const struct core *c)
{
	struct core_account_head h;
	struct core_account_part *part;
	size_t bytes;
	int rc;

	if (c->account.bytes < sizeof(h) ||
		pread(c->fd, &h, sizeof(h), (off_t)c->account.offset) != sizeof(h) ||
		h.parts > PARTS_MOST || h.file_bytes > ACCOUNT_MOST ||
		h.parts * sizeof(*part) > c->account.bytes - sizeof(h))
		return -EPROTO;
	bytes = h.parts * sizeof(*part);
	part = malloc(bytes + 1);
	if (!part)
		return -ENOMEM;
	rc = pread(c->fd, part, bytes, (off_t)(c->account.offset + sizeof(h))) == (ssize_t)bytes
		     ? memory_new(a, h.file_bytes)
		     : -EIO;
	if (rc == 0)
		rc = parts_copy(a, c, part, h.parts, h.file_bytes);
	free(part);
	return rc;
}

/* Whether the core was cut short within what it has of this file. */
static bool is_cut(const struct core *c, const char *path)
{
	for (size_t i = 0; i < c->loads; i++) {
		const struct core_load *l = &c->load[i];

		if (l->cut > 0 && l->file && strcmp(c->file[l->file - 1].path, path) == 0)
			return true;
	}
	return false;
}

/* What the core itself has of a segment. */
struct inside {
	bool header; /* its beginning: then HEAPTOP_CORE put all of it there */
	bool cut; /* but no longer all */
	uint64_t file_bytes; /* of the segment */
};

static bool has_header(const struct core *c, const struct core_file *f, uint64_t *file_bytes)
{
	const uint64_t at = f->start + offsetof(struct ht_header, segment_bytes);
	uint64_t magic = 0;

	return f->offset == 0 &&
	       core_read_own(c, f->start, &magic, sizeof(magic)) == sizeof(magic) &&
	       magic == HT_MAGIC &&
	       core_read_own(c, at, file_bytes, sizeof(*file_bytes)) == sizeof(*file_bytes) &&
	       *file_bytes <= ACCOUNT_MOST;
}

static struct inside inside_of(const struct core *c, const char *path)
{
	struct inside in = { .cut = is_cut(c, path) };

	for (size_t i = 0; i < c->files && !in.header; i++)
		if (strcmp(c->file[i].path, path) == 0)
			in.header = has_header(c, &c->file[i], &in.file_bytes);
	return in;
}

/* Copies what the core has of one mapping of a segment. 0 or -errno. */
static int mapping_copy(struct core_account *a, const struct core *c, const struct core_file *f)
{
	struct core_range r;
	int rc = 0;

	for (uint64_t at = f->start; rc == 0 && core_next(c, at, f->end, &r); at = r.end) {
		const struct core_load *l = core_load_at(c, r.start);

		if (r.own && l)
			rc = bytes_copy(a, c, l->offset + (r.start - l->start),
				f->offset + (r.start - f->start), r.end - r.start);
	}
	return rc;
}

static int loads_take(
	struct core_account *a, const struct core *c, const char *path, uint64_t file_bytes)
{
	int rc = memory_new(a, file_bytes);

	for (size_t i = 0; i < c->files && rc == 0; i++)
		if (strcmp(c->file[i].path, path) == 0)
			rc = mapping_copy(a, c, &c->file[i]);
	return rc;
}

/* ---- from a file ---- */

/* The segments that the process had mapped, the one with the most memory first. */
struct segments {
	const char *path[SEGMENTS_MOST];
	uint64_t bytes[SEGMENTS_MOST];
	size_t count;
};

static void segment_note(struct segments *s, const struct core_file *f)
{
	size_t i = 0;

	while (i < s->count && strcmp(s->path[i], f->path) != 0)
		i++;
	if (i == SEGMENTS_MOST)
		return;
	if (i == s->count)
		s->bytes[s->count++] = 0;
	s->path[i] = f->path;
	s->bytes[i] += f->end - f->start;
	for (; i > 0 && s->bytes[i] > s->bytes[i - 1]; i--) {
		const char *path = s->path[i];
		uint64_t bytes = s->bytes[i];

		s->path[i] = s->path[i - 1];
		s->bytes[i] = s->bytes[i - 1];
		s->path[i - 1] = path;
		s->bytes[i - 1] = bytes;
	}
}

static void segments_find(struct segments *s, const struct core *c)
{
	*s = (struct segments){ 0 };
	for (size_t i = 0; i < c->files; i++) {
		if (core_objects_is_account(c->file[i].path))
			segment_note(s, &c->file[i]);
	}
}

/* The file that the core names, without what the kernel adds to the name of an unlinked one. */
static int file_take(
	struct core_account *a, const struct core *c, const char *path, bool cut, char *message)
{
	size_t len = strlen(path), tail = strlen(DELETED);
	char why[192];

	snprintf(a->path, sizeof(a->path), "%s", path);
	if (len > tail && len < sizeof(a->path) && strcmp(path + len - tail, DELETED) == 0)
		a->path[len - tail] = '\0';
	if (access(a->path, F_OK) == 0)
		return 0;
	snprintf(why, sizeof(why),
		"%sits segment %.80s is not here (if you have a copy: heaptop -r CORE COPY)",
		cut				 ? "cut short in its account, and "
		: c->file_bytes < c->whole_bytes ? "cut short, and "
						 : "",
		a->path);
	return refuse(message, c, why);
}

static int candidate_take(
	struct core_account *a, const struct core *c, const char *path, char *message)
{
	struct inside in = inside_of(c, path);
	int rc = in.header && !in.cut ? loads_take(a, c, path, in.file_bytes)
				      : file_take(a, c, path, in.cut, message);

	if (rc == 0)
		rc = core_agree_check(c, a->path, message);
	if (rc != 0)
		core_account_close(a);
	return rc;
}

/* The message is about the first: the others are mapped in part only. */
static int named_take(struct core_account *a, const struct core *c, char *message)
{
	char other[CORE_MESSAGE_MAX];
	struct segments s;
	int rc = -ENODATA;

	segments_find(&s, c);
	if (s.count == 0)
		return refuse(message, c,
			c->file_bytes < c->whole_bytes
				? "cut short, and it names no segment"
				: "it names no segment: its program was not recorded (start it "
				  "with heaptop -- PROGRAM)");
	for (size_t i = 0; i < s.count && rc != 0; i++)
		rc = candidate_take(a, c, s.path[i], i == 0 ? message : other);
	return rc;
}

int core_account_open(
	struct core_account *a, const struct core *c, const char *given, char *message)
{
	int rc;

	*message = '\0';
	a->fd = -1;
	if (given) {
		snprintf(a->path, sizeof(a->path), "%s", given);
		return core_agree_check(c, a->path, message);
	}
	if (c->account.bytes == 0)
		rc = named_take(a, c, message);
	else if ((rc = note_take(a, c)) == 0)
		rc = core_agree_check(c, a->path, message);
	if (rc != 0 && !*message)
		refuse(message, c,
			rc == -EPROTO  ? "its account is damaged"
			: rc == -ENXIO ? "its account is read through /proc, which is not mounted"
				       : strerror(-rc));
	return rc;
}

void core_account_close(struct core_account *a)
{
	if (a->fd >= 0)
		close(a->fd);
	a->fd = -1;
}
