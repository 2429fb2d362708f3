/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An ELF file opened for reading. Only regular files: the path comes from another process and may
 * name a FIFO or a device. No function trusts the file's content. Worker thread of the symboliser.
 */
#ifndef SRC_SYM_ELFFILE_H
#define SRC_SYM_ELFFILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elffile {
	int fd; /* -1 once sealed */
	Elf *elf; /* NULL: not open */
	bool has_dwarf; /* has a .debug_info that is not empty */
	bool has_symtab;
	bool has_dynsym;
	uint64_t debug_bytes; /* size of all .debug_* sections in the file */
	bool is_compressed; /* some .debug_* sections are */
};

#define ELFFILE_NONE                                                                               \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/*
 * 0; -ENOENT, -EACCES, ... from the system; -ENOEXEC if it is not an ELF file that libelf can read.
 */
int elffile_open(struct elffile *f, const char *path);
/* The same for a descriptor, which `f` then owns (closed on failure, too). */
int elffile_open_fd(struct elffile *f, int fd);
/* Closes the descriptor. Sections read so far stay usable; the others read as missing. */
void elffile_seal(struct elffile *f);
/* A file that was never opened, or is closed already, is fine. */
void elffile_close(struct elffile *f);
/* Bytes of the GNU build-id, 0 when it has none; *id points into the file's memory. */
size_t elffile_build_id(const struct elffile *f, const uint8_t **id);
/* True when both have a build-id, and the same one. */
bool elffile_build_id_is(const struct elffile *f, const uint8_t *id, size_t len);
/*
 * True if all debug strings end within their section, which libdw assumes. Call it after
 * dwarf_begin_elf, which decompresses them.
 */
bool elffile_strings_end(const struct elffile *f);

#endif
