/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a segment belongs to a core's process (agree.h): compares the pid, the start time, the
 * address of the library's own data (which differs in a new image of the same process), and the
 * modules: paths, addresses, build-ids.
 */
#include "src/core/agree.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/copy.h"
#include "src/read/read.h"

#define BEGIN_BYTES  4096u /* of a file: its headers, and the build-id near them */
#define HEADERS_MOST 32u
/* A file's time is of a clock that only ticks, and may be that of another machine. */
#define CLOCKS_DIFFER_NS UINT64_C(1000000000)
#define DELETED		 " (deleted)"

struct agreement {
	const struct core *c;
	struct read_segment *segment;
	const char *path;
	char *message;
	/* Too large for the stack. */
	struct read_identity id;
	struct read_module module, other;
	uint32_t modules;
	unsigned char page[BEGIN_BYTES];
};

__attribute__((format(printf, 2, 3))) static int differ(
	const struct agreement *a, const char *format, ...)
{
	size_t at = (size_t)snprintf(a->message, CORE_MESSAGE_MAX,
		"%.80s is not the segment of %.60s: ", a->path, a->c->path);
	va_list args;

	va_start(args, format);
	vsnprintf(a->message + at, CORE_MESSAGE_MAX - at, format, args);
	va_end(args);
	return -ESTALE;
}

/* ---- the process ---- */

static int process_check(const struct agreement *a, const struct read_identity *id)
{
	if (id->pid != a->c->pid)
		return differ(
			a, "process %d, and the core is of process %d", id->pid, (int)a->c->pid);
	if (id->created_realtime_ns > (uint64_t)a->c->written_ns + CLOCKS_DIFFER_NS)
		return differ(a, "it was made after the core was written");
	return 0;
}

/* The name of a segment that the library made itself says whose it is: PID-START-GENERATION. */
static int name_check(const struct agreement *a, const struct read_identity *id)
{
	for (size_t i = 0; i < a->c->files; i++) {
		const char *slash = strrchr(a->c->file[i].path, '/');
		unsigned long long start;
		unsigned pid, generation;

		if (!slash ||
			sscanf(slash, "/heaptop-%u-%llu-%u", &pid, &start, &generation) != 3 ||
			pid != (unsigned)id->pid)
			continue;
		if (start != id->start_ticks)
			return differ(
				a, "another process with the same pid: it started at another time");
		if (generation != id->exec_gen)
			return differ(a, "image %u of the process, and the core is of image %u",
				id->exec_gen, generation);
		return 0;
	}
	return 0;
}

/* The library's data are where this image of the process, and no other, has them. */
static int image_check(const struct agreement *a)
{
	uint64_t at = read_copy_at(a->segment), magic;
	const struct core_load *l = at ? core_load_at(a->c, at) : NULL;

	if (at && !l && a->c->file_bytes >= a->c->whole_bytes)
		return differ(a, "another image of the program: exec came in between");
	if (l && core_read_own(a->c, at, &magic, sizeof(magic)) == sizeof(magic) &&
		magic != HT_COPY_MAGIC)
		return differ(a, "another image of the program: exec came in between");
	return 0;
}

/* ---- modules ---- */

/* The build-id in a note of `page`, the beginning of a file: its bytes, 0: none. */
static size_t note_id(
	const unsigned char *page, size_t bytes, const Elf64_Phdr *p, const unsigned char **id)
{
	uint64_t at = p->p_offset, end = p->p_offset + p->p_filesz;
	Elf64_Nhdr n;

	if (p->p_offset > bytes || p->p_filesz > bytes - p->p_offset)
		return 0;
	while (end - at >= sizeof(n)) {
		uint64_t name = at + sizeof(n), desc, next;

		memcpy(&n, page + at, sizeof(n));
		desc = name + ((n.n_namesz + UINT64_C(3)) & ~UINT64_C(3));
		next = desc + ((n.n_descsz + UINT64_C(3)) & ~UINT64_C(3));
		if (next > end)
			return 0;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
			memcmp(page + name, "GNU", 4) == 0) {
			*id = page + desc;
			return n.n_descsz;
		}
		at = next;
	}
	return 0;
}

static size_t page_id(const unsigned char *page, size_t bytes, const unsigned char **id)
{
	Elf64_Phdr p;
	Elf64_Ehdr h;
	size_t found = 0;

	if (bytes < sizeof(h))
		return 0;
	memcpy(&h, page, sizeof(h));
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_phentsize != sizeof(p) ||
		h.e_phnum > HEADERS_MOST || h.e_phoff > bytes ||
		h.e_phnum * sizeof(p) > bytes - h.e_phoff)
		return 0;
	for (unsigned i = 0; i < h.e_phnum && found == 0; i++) {
		memcpy(&p, page + h.e_phoff + i * sizeof(p), sizeof(p));
		if (p.p_type == PT_NOTE)
			found = note_id(page, bytes, &p, id);
	}
	return found;
}

static bool path_is(const char *mapped, const char *path)
{
	size_t len = strlen(path);

	return strncmp(mapped, path, len) == 0 &&
	       (mapped[len] == '\0' || strcmp(mapped + len, DELETED) == 0);
}

/* Where the core has this path; NULL: nowhere. */
static const struct core_file *path_find(const struct core *c, const char *path)
{
	for (size_t i = 0; i < c->files; i++)
		if (path_is(c->file[i].path, path))
			return &c->file[i];
	return NULL;
}

static bool has_id(const struct read_module *m, const unsigned char *id, size_t bytes)
{
	return bytes == m->build_id_bytes && memcmp(id, m->build_id, bytes) == 0;
}

/* Whether the segment has a module of this id at `start`: what was mapped there later, or before.
 */
static bool knows_id(struct agreement *a, uint64_t start, const unsigned char *id, size_t bytes)
{
	for (uint32_t i = 0; i <= a->modules; i++)
		if (read_module(a->segment, i, &a->other) == 0 && a->other.start == start &&
			has_id(&a->other, id, bytes))
			return true;
	return false;
}

static int build_id_check(struct agreement *a, const struct read_module *m)
{
	const unsigned char *id = NULL;
	ssize_t got = core_read_own(a->c, m->start, a->page, sizeof(a->page));
	size_t bytes = got > 0 ? page_id(a->page, (size_t)got, &id) : 0;

	if (bytes == 0 || m->build_id_bytes == 0 || has_id(m, id, bytes) ||
		knows_id(a, m->start, id, bytes))
		return 0;
	return differ(a, "%.100s has another build-id", m->path);
}

/* The loader's name of a library may lead through links, such as /lib. */
static bool is_named_alike(const char *mapped, const char *path)
{
	const char *a = strrchr(mapped, '/'), *b = strrchr(path, '/');

	return a && b && path_is(a, b);
}

/* A module that was unloaded is no longer in the core, or something else is in its place; the
 * program itself stays. */
static int module_check(struct agreement *a, const struct read_module *m, bool is_program)
{
	const struct core_file *f = core_file_at(a->c, m->start);

	if (f && f->start == m->start && is_named_alike(f->path, m->path))
		return build_id_check(a, m);
	if (!is_program)
		return 0;
	f = path_find(a->c, m->path);
	if (f)
		return differ(a, "%.80s is at %#" PRIx64 ", and in the core at %#" PRIx64, m->path,
			m->start, f->start);
	return differ(a, "%.100s is not in the core", m->path);
}

static int modules_check(struct agreement *a)
{
	struct read_totals t;
	int rc = read_totals(a->segment, &t);

	if (rc != 0)
		return rc;
	if (a->c->files == 0)
		return 0; /* cut short: nothing is known of them */
	a->modules = t.modules;
	for (uint32_t i = 0; i <= t.modules && rc == 0; i++) {
		const struct read_module *m = &a->module;

		if (read_module(a->segment, i, &a->module) == 0 && m->path[0] == '/')
			rc = module_check(a, m, strcmp(m->path, a->id.exe) == 0);
	}
	return rc;
}

static int agreement_check(struct agreement *a)
{
	int rc = read_identity(a->segment, &a->id);

	if (rc == 0)
		rc = process_check(a, &a->id);
	if (rc == 0)
		rc = name_check(a, &a->id);
	if (rc == 0)
		rc = image_check(a);
	return rc == 0 ? modules_check(a) : rc;
}

int core_agree_check(const struct core *c, const char *segment, char *message)
{
	struct agreement *a = calloc(1, sizeof(*a));
	int rc = -ENOMEM;

	*message = '\0';
	if (a) {
		a->c = c;
		a->path = segment;
		a->message = message;
		a->segment = read_open(segment, message);
		rc = a->segment ? agreement_check(a) : -ENODATA;
		read_close(a->segment);
	}
	free(a);
	if (rc != 0 && !*message)
		snprintf(message, CORE_MESSAGE_MAX, "%.120s: %s", segment, strerror(-rc));
	return rc;
}
