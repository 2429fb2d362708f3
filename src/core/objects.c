/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The mapped files of a core (objects.h). Kernel and gdb put the first page of each ELF file into
 * the core, build-id included: a file whose first page is another one is not the one that was
 * mapped.
 */
#include "src/core/objects.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_BYTES  2048u /* headers, and the build-id behind them */
#define OBJECTS_MOST 512u /* descriptors that we hold; the other files count as missing */
#define HEADERS_MOST 32u

/* Only a regular file: opening a device may have effects. */
static int regular_open(const char *path)
{
	int there = open(path, O_PATH | O_CLOEXEC), fd = -1;
	char self[32];
	struct stat st;

	if (there < 0)
		return -1;
	if (fstat(there, &st) == 0 && S_ISREG(st.st_mode)) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", there);
		fd = open(self, O_RDONLY | O_CLOEXEC);
	}
	close(there);
	return fd;
}

bool core_objects_is_account(const char *path)
{
	const char *slash = strrchr(path, '/');

	/* "heaptop-" and 16 digits, or PID-START-GENERATION. */
	return slash && strncmp(slash + 1, "heaptop-", 8) == 0 &&
	       strspn(slash + 9, "0123456789abcdef-") >= 5;
}

/* Whether the core has an ELF file's first page, and the file another one. */
static bool is_changed(const struct core *c, const struct core_file *f, int fd)
{
	unsigned char mapped[FIRST_BYTES], here[FIRST_BYTES];
	ssize_t got, has = f->offset == 0 ? core_read_own(c, f->start, mapped, FIRST_BYTES) : -1;

	if (has < (ssize_t)SELFMAG || memcmp(mapped, ELFMAG, SELFMAG) != 0)
		return false;
	got = pread(fd, here, (size_t)has, 0);
	return got <= 0 || memcmp(mapped, here, (size_t)got) != 0;
}

static uint32_t object_of(struct core *c, const char *path)
{
	for (size_t i = c->objects; i-- > 0;)
		if (strcmp(c->object[i].path, path) == 0)
			return (uint32_t)i;
	if (c->objects == OBJECTS_MOST)
		return OBJECTS_MOST;
	c->object[c->objects] = (struct core_object){ .path = path, .fd = -1 };
	return (uint32_t)c->objects++;
}

static void object_check(struct core *c, const struct core_file *f)
{
	struct core_object *o = &c->object[f->object];

	o->code |= core_objects_is_code(c, f);
	if (o->fd < 0 || !is_changed(c, f, o->fd))
		return;
	close(o->fd);
	o->fd = -1;
	o->changed = true;
}

int core_objects_open(struct core *c)
{
	/* The last one stands for all files that are too many. */
	c->object = calloc(OBJECTS_MOST + 1, sizeof(*c->object));
	if (!c->object)
		return -ENOMEM;
	c->object[OBJECTS_MOST] = (struct core_object){ .path = "", .fd = -1 };
	for (size_t i = 0; i < c->files; i++)
		c->file[i].object = object_of(c, c->file[i].path);
	for (size_t i = 0; i < c->objects; i++)
		if (c->object[i].path[0] == '/' && !core_objects_is_account(c->object[i].path))
			c->object[i].fd = regular_open(c->object[i].path);
	for (size_t i = 0; i < c->files; i++)
		object_check(c, &c->file[i]);
	return 0;
}

void core_objects_close(struct core *c)
{
	for (size_t i = 0; i < c->objects; i++)
		if (c->object[i].fd >= 0)
			close(c->object[i].fd);
	free(c->object);
	c->object = NULL;
	c->objects = 0;
}

bool core_objects_is_code(const struct core *c, const struct core_file *f)
{
	int fd = c->object[f->object].fd;
	Elf64_Phdr p[HEADERS_MOST];
	Elf64_Ehdr h;
	size_t bytes;

	if (fd < 0 || pread(fd, &h, sizeof(h), 0) != sizeof(h) ||
		memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_phentsize != sizeof(*p) ||
		h.e_phnum > HEADERS_MOST || h.e_phoff > INT64_MAX)
		return false;
	bytes = h.e_phnum * sizeof(*p);
	if (pread(fd, p, bytes, (off_t)h.e_phoff) != (ssize_t)bytes)
		return false;
	for (unsigned i = 0; i < h.e_phnum; i++)
		if (p[i].p_type == PT_LOAD && (p[i].p_flags & PF_X) &&
			f->offset == (p[i].p_offset & ~(c->page - 1)))
			return true;
	return false;
}
