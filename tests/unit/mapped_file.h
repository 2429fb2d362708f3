/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A module's file, mapped to be read and no more, at a lower address than the module. */
#ifndef TESTS_UNIT_MAPPED_FILE_H
#define TESTS_UNIT_MAPPED_FILE_H

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAPPED_FILE_AT ((void *)0x200000000) /* nothing else is so low */
#define MAPPED_FILE_ROOM                                                                           \
	(64u << 20) /* more than any module; what is after the file is mapped, too */

struct mapped_file {
	void *at; /* NULL: it could not be */
};

/* The file of the module that has the function. */
static inline struct mapped_file mapped_file_of(void *function)
{
	struct mapped_file f = { mmap(MAPPED_FILE_AT, MAPPED_FILE_ROOM, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) };
	struct stat s;
	Dl_info info;
	int fd = -1;

	if (f.at == MAP_FAILED)
		return (struct mapped_file){ NULL };
	if (dladdr(function, &info) != 0)
		fd = open(info.dli_fname, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &s) != 0 || (uint64_t)s.st_size > MAPPED_FILE_ROOM ||
		mmap(f.at, (size_t)s.st_size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) != f.at) {
		munmap(f.at, MAPPED_FILE_ROOM);
		f.at = NULL;
	}
	close(fd);
	return f;
}

static inline void mapped_file_drop(struct mapped_file *f)
{
	if (f->at)
		munmap(f->at, MAPPED_FILE_ROOM);
	f->at = NULL;
}

#endif
