/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opens a core file and reads the memory in it (core.h). All reads are of the file by pread, so
 * that a file that shrinks meanwhile is a short read.
 */
#include "src/core/open.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/core/notes.h"
#include "src/core/objects.h"
#include "src/util/error_hint.h"

#define HEADERS_MOST (1u << 20) /* more than a process can have mappings */

#ifdef __x86_64__
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

/* ---- kinds of files ---- */

static const struct {
	const char *magic;
	size_t bytes;
	const char *tool;
} packers[] = {
	{ "\x28\xb5\x2f\xfd", 4, "zstd -d" },
	{ "\x1f\x8b", 2, "gunzip" },
	{ "\xfd\x37zXZ", 5, "xz -d" },
	{ "\x04\x22\x4d\x18", 4, "lz4 -d" },
	{ "BZh", 3, "bunzip2" },
};

/* The tool that decompresses a file that begins so; NULL: it is not compressed. */
static const char *packer_of(const void *begin, size_t bytes)
{
	for (size_t i = 0; i < sizeof(packers) / sizeof(packers[0]); i++)
		if (bytes >= packers[i].bytes &&
			memcmp(begin, packers[i].magic, packers[i].bytes) == 0)
			return packers[i].tool;
	return NULL;
}

static int file_open(const char *path)
{
	return open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

bool core_is(const char *path)
{
	unsigned char h[EI_NIDENT + 2];
	int fd = file_open(path);
	ssize_t got = fd < 0 ? -1 : pread(fd, h, sizeof(h), 0);

	if (fd >= 0)
		close(fd);
	if (got < 0)
		return false;
	if (packer_of(h, (size_t)got))
		return true;
	/* Any file of this format: that it is no core, or another machine's, is said when opened.
	 */
	return got >= SELFMAG && memcmp(h, ELFMAG, SELFMAG) == 0;
}

/* ---- headers ---- */

static int refuse(char *message, const char *path, const char *why)
{
	snprintf(message, CORE_MESSAGE_MAX, "%.120s: %s", path, why);
	return -EPROTO;
}

static int header_check(const Elf64_Ehdr *h, const char *path, char *message)
{
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
		return refuse(message, path, "not a core file");
	if (h->e_ident[EI_CLASS] != ELFCLASS64)
		return refuse(message, path,
			"the core file of a 32-bit program, which heaptop "
			"does not read");
	if (h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_machine != MACHINE)
		return refuse(message, path, "the core file of another kind of processor");
	if (h->e_type != ET_CORE)
		return refuse(message, path, "a program or library, not a core file");
	if (h->e_phentsize != sizeof(Elf64_Phdr))
		return refuse(message, path, "damaged core file: the size of its program headers");
	return 0;
}

/* Too many for the header are counted in the first section's. 0: none, or unknown. */
static size_t headers_count(const struct core *c, const Elf64_Ehdr *h)
{
	Elf64_Shdr s;

	if (h->e_phnum != PN_XNUM)
		return h->e_phnum;
	if (h->e_shoff == 0 || h->e_shoff > INT64_MAX ||
		pread(c->fd, &s, sizeof(s), (off_t)h->e_shoff) != sizeof(s))
		return 0;
	return s.sh_info;
}

static void load_add(struct core *c, const Elf64_Phdr *p)
{
	uint64_t has = p->p_filesz < p->p_memsz ? p->p_filesz : p->p_memsz, left;

	if (p->p_memsz == 0 || p->p_vaddr > UINT64_MAX - p->p_memsz)
		return;
	left = p->p_offset < c->file_bytes ? c->file_bytes - p->p_offset : 0;
	c->load[c->loads++] = (struct core_load){ .start = p->p_vaddr,
		.end = p->p_vaddr + p->p_memsz,
		.offset = p->p_offset,
		.bytes = has < left ? has : left,
		.cut = has < left ? 0 : has - left,
		.readable = p->p_flags & PF_R,
		.writable = p->p_flags & PF_W,
		.executable = p->p_flags & PF_X };
}

static void whole_note(struct core *c, const Elf64_Phdr *p)
{
	uint64_t end = p->p_offset + p->p_filesz;

	if (end >= p->p_offset && end > c->whole_bytes)
		c->whole_bytes = end;
}

static int headers_take(struct core *c, const Elf64_Phdr *p, size_t count)
{
	int rc = 0;

	c->load = calloc(count, sizeof(*c->load));
	if (!c->load)
		return -ENOMEM;
	for (size_t i = 0; i < count && rc == 0; i++) {
		whole_note(c, &p[i]);
		if (p[i].p_type == PT_LOAD)
			load_add(c, &p[i]);
		else if (p[i].p_type == PT_NOTE && p[i].p_offset < c->file_bytes)
			rc = core_notes_read(c, p[i].p_offset, p[i].p_filesz);
	}
	return rc;
}

static int headers_read(struct core *c, const Elf64_Ehdr *h, char *message)
{
	size_t count = headers_count(c, h), bytes = count * sizeof(Elf64_Phdr);
	Elf64_Phdr *p;
	int rc;

	if (count == 0 || count > HEADERS_MOST || h->e_phoff > INT64_MAX)
		return refuse(message, c->path, "damaged core file: its program headers");
	p = malloc(bytes);
	if (!p)
		return -ENOMEM;
	rc = pread(c->fd, p, bytes, (off_t)h->e_phoff) == (ssize_t)bytes
		     ? headers_take(c, p, count)
		     : refuse(message, c->path, "cut short within its program headers");
	free(p);
	return rc;
}

/* ---- order ---- */

static int load_order(const void *a, const void *b)
{
	const struct core_load *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int file_order(const void *a, const void *b)
{
	const struct core_file *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Sorts, and drops what overlaps something before it. */
static void order(struct core *c)
{
	size_t n = 0;

	qsort(c->load, c->loads, sizeof(*c->load), load_order);
	for (size_t i = 0; i < c->loads; i++)
		if (n == 0 || c->load[i].start >= c->load[n - 1].end)
			c->load[n++] = c->load[i];
	c->loads = n;
	n = 0;
	if (c->files)
		qsort(c->file, c->files, sizeof(*c->file), file_order);
	for (size_t i = 0; i < c->files; i++)
		if (n == 0 || c->file[i].start >= c->file[n - 1].end)
			c->file[n++] = c->file[i];
	c->files = n;
}

static void files_join(struct core *c)
{
	for (size_t i = 0; i < c->loads; i++) {
		const struct core_file *f = core_file_at(c, c->load[i].start);

		c->load[i].file = f ? (uint32_t)(f - c->file) + 1 : 0;
	}
}

/* ---- opening ---- */

static int core_load(struct core *c, char *message)
{
	Elf64_Ehdr h = { 0 };
	ssize_t got = pread(c->fd, &h, sizeof(h), 0);
	const char *tool = got > 0 ? packer_of(&h, (size_t)got) : NULL;
	char why[96];
	int rc;

	if (tool) {
		snprintf(why, sizeof(why), "compressed: decompress it first (%s FILE)", tool);
		return refuse(message, c->path, why);
	}
	if (got >= 0 && got < (ssize_t)sizeof(h))
		return refuse(message, c->path, "cut short within its header");
	rc = got < 0 ? -errno : header_check(&h, c->path, message);
	if (rc == 0)
		rc = headers_read(c, &h, message);
	if (rc != 0)
		return rc;
	core_notes_page(c);
	order(c);
	files_join(c);
	if (c->threads == 0)
		return refuse(message, c->path,
			c->file_bytes < c->whole_bytes ? "cut short: it has no thread's registers"
						       : "it has no thread's registers");
	if (c->pid == 0)
		c->pid = c->thread[0].tid;
	return core_objects_open(c);
}

static int file_take(struct core *c, char *message)
{
	struct stat st;

	c->fd = file_open(c->path);
	if (c->fd < 0 || fstat(c->fd, &st) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return refuse(message, c->path, "not a regular file");
	c->file_bytes = (uint64_t)st.st_size;
	c->written_ns = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
	return core_load(c, message);
}

struct core *core_open(const char *path, char *message)
{
	struct core *c = calloc(1, sizeof(*c));
	char what[128];
	int rc = -ENOMEM;

	*message = '\0';
	if (c) {
		c->fd = -1;
		c->path = strdup(path);
		rc = c->path ? file_take(c, message) : -ENOMEM;
	}
	if (rc == 0)
		return c;
	core_close(c);
	if (!*message) {
		snprintf(what, sizeof(what), "%.120s", path);
		error_hint_line(message, CORE_MESSAGE_MAX, what, -rc);
	}
	return NULL;
}

void core_close(struct core *c)
{
	if (!c)
		return;
	core_objects_close(c);
	for (size_t i = 0; i < c->nblocks; i++)
		free(c->blocks[i]);
	free(c->blocks);
	free(c->thread);
	free(c->load);
	free(c->file);
	free(c->path);
	if (c->fd >= 0)
		close(c->fd);
	free(c);
}
