/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opens ELF files: which kinds of file are accepted, how they are read, what they contain. Called
 * on the symboliser's worker thread.
 */
#include "src/sym/elffile.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Files are read, not mapped, so that a file overwritten in place (a rebuild) causes wrong names
 * and not a SIGBUS. With more debug information than this, the file is mapped: the memory would
 * cost more.
 */
#define READ_MAX_BYTES ((uint64_t)256 * 1024 * 1024)

static int regular_open(const char *path)
{
	struct stat st;
	int fd;

	/* Checked before the open, because opening a device can have effects. */
	if (stat(path, &st) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

static bool name_is(const char *name, const char *base)
{
	return !strncmp(name, ".debug_", 7) && !strcmp(name + 7, base);
}

static void section_note(struct elffile *f, const char *name, const GElf_Shdr *sh)
{
	bool filled = sh->sh_type != SHT_NOBITS && sh->sh_size > 0;

	if (sh->sh_type == SHT_SYMTAB && filled)
		f->has_symtab = true;
	if (sh->sh_type == SHT_DYNSYM && filled)
		f->has_dynsym = true;
	if (!name || !filled)
		return;
	if (name_is(name, "info") || !strcmp(name, ".zdebug_info"))
		f->has_dwarf = true;
	if (!strncmp(name, ".debug_", 7) || !strncmp(name, ".zdebug_", 8))
		f->debug_bytes += sh->sh_size;
	if (f->has_dwarf && ((sh->sh_flags & SHF_COMPRESSED) || !strncmp(name, ".zdebug_", 8)))
		f->is_compressed = true;
}

static void sections_note(struct elffile *f)
{
	size_t names;
	Elf_Scn *scn = NULL;

	f->has_dwarf = f->has_symtab = f->has_dynsym = f->is_compressed = false;
	f->debug_bytes = 0;
	if (elf_getshdrstrndx(f->elf, &names) != 0)
		return;
	while ((scn = elf_nextscn(f->elf, scn))) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh))
			section_note(f, elf_strptr(f->elf, names, sh.sh_name), &sh);
	}
}

static int elf_start(struct elffile *f, Elf_Cmd how)
{
	GElf_Ehdr ehdr;

	elf_version(EV_CURRENT);
	errno = 0;
	f->elf = elf_begin(f->fd, how, NULL);
	if (!f->elf && errno == ENOMEM)
		return -ENOMEM;
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &ehdr))
		return -ENOEXEC;
	sections_note(f);
	return 0;
}

int elffile_open_fd(struct elffile *f, int fd)
{
	struct stat st;
	int rc;

	*f = (struct elffile)ELFFILE_NONE;
	f->fd = fd;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		rc = -ENOEXEC;
		goto fail;
	}
	rc = elf_start(f, ELF_C_READ);
	if (rc == 0 && f->debug_bytes > READ_MAX_BYTES) {
		elf_end(f->elf);
		rc = elf_start(f, ELF_C_READ_MMAP);
	}
	if (rc == 0)
		return 0;
fail:
	elffile_close(f);
	return rc;
}

int elffile_open(struct elffile *f, const char *path)
{
	int fd = regular_open(path);

	*f = (struct elffile)ELFFILE_NONE;
	return fd < 0 ? fd : elffile_open_fd(f, fd);
}

void elffile_seal(struct elffile *f)
{
	if (f->fd < 0)
		return;
	elf_cntl(f->elf, ELF_C_FDDONE);
	close(f->fd);
	f->fd = -1;
}

void elffile_close(struct elffile *f)
{
	if (f->elf)
		elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	*f = (struct elffile)ELFFILE_NONE;
}

size_t elffile_build_id(const struct elffile *f, const uint8_t **id)
{
	const void *bytes;
	ssize_t len = f->elf ? dwelf_elf_gnu_build_id(f->elf, &bytes) : 0;

	if (len <= 0)
		return 0;
	*id = bytes;
	return (size_t)len;
}

bool elffile_build_id_is(const struct elffile *f, const uint8_t *id, size_t len)
{
	const uint8_t *own;

	return len > 0 && elffile_build_id(f, &own) == len && !memcmp(own, id, len);
}

static bool ends_with(const char *text, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && memcmp(text + len - n, end, n) == 0;
}

/* Includes compressed and split ones: .zdebug_str, .debug_str.dwo. */
static bool is_debug_strings(const char *name)
{
	size_t len = strlen(name);

	if (ends_with(name, len, ".dwo"))
		len -= strlen(".dwo");
	return ends_with(name, len, "debug_str") || ends_with(name, len, "debug_line_str");
}

static bool section_terminated(Elf_Scn *scn, const GElf_Shdr *shdr)
{
	const Elf_Data *data;

	if (shdr->sh_type == SHT_NOBITS || (shdr->sh_flags & SHF_COMPRESSED) != 0)
		return false;
	data = elf_getdata(scn, NULL);
	if (!data)
		return false;
	return data->d_size == 0 || ((const char *)data->d_buf)[data->d_size - 1] == '\0';
}

bool elffile_strings_end(const struct elffile *f)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t names;

	if (!f->elf || elf_getshdrstrndx(f->elf, &names) != 0)
		return false;
	while ((scn = elf_nextscn(f->elf, scn))) {
		const char *s =
			gelf_getshdr(scn, &shdr) ? elf_strptr(f->elf, names, shdr.sh_name) : NULL;

		if (s && is_debug_strings(s) && !section_terminated(scn, &shdr))
			return false;
	}
	return true;
}
