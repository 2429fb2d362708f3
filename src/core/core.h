/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A core file: the memory, the threads and the mapped files of a process at one instant. Written by
 * the kernel, by gdb's gcore, or by heaptop itself. Nothing in it is trusted, and it may be cut
 * short anywhere. Once it is open (open.h) nothing changes, so any number of threads may read.
 * Sources: elf(5), core(5), the kernel's fs/binfmt_elf.c.
 */
#ifndef SRC_CORE_CORE_H
#define SRC_CORE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#define CORE_MESSAGE_MAX 256

/* The notes that heaptop adds to a core of its own, by this name (account.h, src/leak/save.h). */
#define CORE_NOTE_NAME	  "heaptop"
#define CORE_NOTE_MAPS	  1u /* the text of /proc/PID/maps */
#define CORE_NOTE_ACCOUNT 2u /* the segment */

struct core_thread {
	pid_t tid;
	int signal; /* that it was taking; 0: none */
	struct user_regs_struct regs;
	uint64_t pointer; /* the thread pointer; 0: unknown */
	const void *vectors; /* the vector registers in XSAVE's layout; NULL: unknown */
	size_t vector_bytes;
};

/* A range of memory: a PT_LOAD, sorted by address, without overlaps. */
struct core_load {
	uint64_t start, end;
	uint64_t offset; /* of its bytes in the core */
	uint64_t bytes; /* that the core has, from the start on */
	uint64_t cut; /* bytes that it should have: the core was cut short */
	bool readable, writable, executable;
	uint32_t file; /* index + 1 in core.file; 0: of no file */
};

/* A mapped file, or a part of one: an entry of NT_FILE, sorted by address, without overlaps. */
struct core_file {
	uint64_t start, end, offset;
	const char *path;
	uint32_t object; /* index in core.object */
};

/* The file of a path, as it is here and now. */
struct core_object {
	const char *path;
	int fd; /* -1: it is not here, or is not the one that was mapped */
	bool changed; /* it is here, and is another one */
	bool code; /* some part is executable, as its headers say */
};

/* A note of heaptop's. */
struct core_own {
	uint64_t offset, bytes; /* in the core; 0: there is none */
};

struct core {
	int fd;
	char *path;
	uint64_t file_bytes, whole_bytes; /* as it is, and as its headers say */
	int64_t written_ns; /* CLOCK_REALTIME: its file's last change */
	pid_t pid;
	int signal; /* that ended the process; 0: none did */
	char command[17]; /* its name */
	bool by_debugger; /* gdb wrote it, for which all memory is readable */
	struct core_thread *thread;
	size_t threads;
	struct core_load *load;
	size_t loads;
	struct core_file *file;
	size_t files;
	struct core_object *object;
	size_t objects;
	uint64_t auxv[64]; /* by type; 0: not given */
	uint64_t page; /* bytes of its kernel's pages: a power of two, 4 KB at least */
	struct core_own maps, account;
	/* Memory that the paths, and the vector registers, point into. */
	char *paths;
	void **blocks;
	size_t nblocks;
};

/*
 * Copies memory: from the core or, where that has none of a mapped file, from the file. Memory of
 * no file that the core leaves out reads as zeros: it was never touched, or is excluded
 * (MADV_DONTDUMP), which a core does not tell apart. Returns how many bytes from `addr` on are
 * known, or -1.
 */
ssize_t core_read(const struct core *c, uint64_t addr, void *buf, size_t bytes);
/* The same from the core alone. */
ssize_t core_read_own(const struct core *c, uint64_t addr, void *buf, size_t bytes);

/* A part of memory in which all bytes are known, or all are not. */
struct core_range {
	uint64_t start, end;
	bool known;
	bool own; /* and in the core itself */
};
/* The first part of [addr, end) that holds data, or should: memory that was never touched is in
 * none. False: there is none. */
bool core_next(const struct core *c, uint64_t addr, uint64_t end, struct core_range *out);

/* The load, or the mapped file, that `addr` is in; or NULL. */
const struct core_load *core_load_at(const struct core *c, uint64_t addr);
const struct core_file *core_file_at(const struct core *c, uint64_t addr);

#endif
