/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel says of a process. Each proc_parse_* is a pure function over a buffer and may be
 * fed anything (0 or -EINVAL; fields it does not find stay as they were); proc_read fills a whole
 * reading from /proc/PID. The viewer's main thread calls these, once a tick; smaps_rollup is dear
 * for big processes, so the caller says how often. Sources: proc(5),
 * Documentation/filesystems/proc.rst.
 */
#ifndef SRC_PROC_PROC_H
#define SRC_PROC_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_reading {
	char comm[64]; /* raw, as the kernel gave it: clean before printing */
	char state; /* R S D T t Z X, or 0 when not read */
	pid_t ppid;
	uint32_t flags; /* PF_* of the kernel, field 9 of stat */
	uint64_t start_ticks; /* clock ticks since boot, field 22 of stat: names the process with
				 its pid */
	uint64_t minor_faults; /* since start */
	uint64_t major_faults;
	uint64_t cpu_ticks; /* utime + stime */
	uint32_t threads;
	uint64_t rss_bytes; /* status VmRSS */
	uint64_t hwm_bytes; /* status VmHWM: peak RSS */
	uint64_t swap_bytes; /* status VmSwap */
	uint64_t pss_bytes; /* smaps_rollup Pss; 0 with have_pss false when not readable */
	bool have_pss;
	uid_t uid; /* real uid */
	uint32_t filters; /* of its system calls (seccomp); before Linux 5.9: whether there are any
			   */
};

int proc_parse_stat(const char *buf, size_t len, struct proc_reading *r);
int proc_parse_status(const char *buf, size_t len, struct proc_reading *r);
int proc_parse_smaps_rollup(const char *buf, size_t len, struct proc_reading *r);

/* One line of /proc/PID/maps. `path` points into `buf` and is not terminated. */
struct proc_map {
	uint64_t start, end, offset;
	char perms[5];
	dev_t device;
	uint64_t inode;
	const char *path;
	size_t path_len;
};
/* Parses the line at *pos, advances *pos past it. 1: a map; 0: end; -EINVAL: bad line (skipped). */
int proc_parse_map(const char *buf, size_t len, size_t *pos, struct proc_map *m);

/* One mapping of /proc/PID/smaps; what its lines do not say is 0. */
struct proc_smap {
	struct proc_map map;
	uint64_t rss_bytes, pss_bytes, anonymous_bytes, swap_bytes;
	bool wiped; /* a forked process has it empty: MADV_WIPEONFORK */
	bool huge; /* of huge pages that are set aside (hugetlbfs) */
	bool watched; /* faults, and forks, are told to somebody (userfaultfd) */
};
/* As proc_parse_map, with the lines that follow it. */
int proc_parse_smap(const char *buf, size_t len, size_t *pos, struct proc_smap *m);
/* Reads a file of unknown length, terminated; the caller frees. NULL and errno. */
char *proc_slurp_all(const char *path, size_t *len);

#define PROC_PAGE_BYTES	    4096u
#define PROC_PAGE_PRESENT   (UINT64_C(1) << 63) /* bits of a pagemap entry */
#define PROC_PAGE_SWAPPED   (UINT64_C(1) << 62)
#define PROC_PAGE_FILE	    (UINT64_C(1) << 61) /* of a file, or shared memory */
#define PROC_PAGE_EXCLUSIVE (UINT64_C(1) << 56) /* of no other process */
/* A descriptor of /proc/PID/pagemap, or -errno: it takes the rights of ptrace, for reading. */
int proc_pagemap_open(pid_t pid);
/* The entries of `pages` pages from `addr` on. False: it cannot be told. */
bool proc_pagemap_read(int fd, uint64_t addr, uint64_t *entries, size_t pages);
/*
 * The first page in [addr, end) that is present or swapped, both of them whole pages, and how many
 * such follow each other from it on, up to `most` of them. It takes no longer where there are
 * none. 1, 0: there is none, or -errno; -ENOTTY: the kernel has no way to (before Linux 6.7).
 */
int proc_pagemap_seek(
	int fd, uint64_t addr, uint64_t end, size_t most, uint64_t *found, size_t *pages);
/* Whether the page of an address is in memory, and known to be: reading it brings none into being.
 * Not with an `fd` below 0. */
bool proc_pagemap_present(int fd, uint64_t addr);

/*
 * Reads stat and status, and smaps_rollup when `with_pss` (otherwise have_pss is false). 0, -ESRCH
 * when gone, or -errno. One that has given up its memory (a zombie, or about to be one) counts as
 * gone.
 */
int proc_read(pid_t pid, bool with_pss, struct proc_reading *r);
/*
 * A thread by whose number the process's memory is to be had in /proc, and by process_vm_readv: its
 * first, or when that has ended and the process goes on, another one. `pid` if there is none.
 */
pid_t proc_memory_tid(pid_t pid);
/* Processor time of all its threads so far, those that ended included. 0 or -errno. */
int proc_cpu_ns(pid_t pid, uint64_t *ns);
/* Resident bytes of our own; 0: not known. */
uint64_t proc_own_rss(void);
/* Start time alone, for identity checks. 0, -ESRCH or -errno. One of which no thread
 * lives counts as gone (-ESRCH): a zombie. */
int proc_start_ticks(pid_t pid, uint64_t *ticks);
/* From status: the signals that wait for the first thread alone; bit n - 1 for signal n. */
uint64_t proc_parse_pending(const char *buf, size_t len);
/*
 * Whether nothing can keep it from ending soon, or it has. A process that a signal kills, whichever
 * it is, has SIGKILL pending in each thread from when it was sent (kernel/signal.c,
 * complete_signal).
 */
bool proc_is_ending(pid_t pid);
/* The last number of status's NSpid: a process's pid as itself sees it. 0: there is none. */
pid_t proc_parse_inner_pid(const char *buf, size_t len);
/* Whether a process has a file of this name mapped, in whatever directory. 1, 0 or -errno. */
int proc_maps_name(pid_t pid, const char *name);
/* Whether it has this very file mapped, by whatever name. The same. */
int proc_maps_file(pid_t pid, const char *path);
/* The first of one whose name begins with `prefix`, and is not `but`. */
int proc_maps_other(pid_t pid, const char *prefix, const char *but);
/* Calls `visit` for each child of a process, if the kernel tells (CONFIG_PROC_CHILDREN). */
void proc_children(pid_t pid, void (*visit)(void *ctx, pid_t child), void *ctx);

#define PROC_PID_NAMESPACE_FIRST 0xeffffffcu /* the machine's own: linux/proc_ns.h */
/* The inode of our own pid namespace; 0: unknown. */
uint64_t proc_pid_namespace(void);
/* What a process says of itself. */
struct proc_claim {
	pid_t pid;
	uint64_t pid_namespace; /* that the number is of; 0: unknown, taken for ours */
	uint64_t start_ticks;
	const char *maps; /* name of a file that it has mapped */
};
/*
 * Its pid as we see it. 0, -ESRCH when it is gone, or -EXDEV: it may be in a namespace that cannot
 * be seen from ours. Goes through all of /proc if the namespace is another one.
 */
int proc_resolve(const struct proc_claim *c, pid_t *pid);

/* Reads a file into `buf` (NUL-terminated), as far as it fits. Bytes read, or -errno. */
ssize_t proc_slurp(const char *path, char *buf, size_t cap);
/* A number of a /proc/.../status, by its name as in "\nSeccomp:"; `last`: of several. False: not
 * there. */
bool proc_status_number(const char *path, const char *name, bool last, long *value);

#define PROC_BOOT_ID_BYTES 16
/* This boot's id, from its text with dashes. False when the kernel does not tell. */
bool proc_boot_id(uint8_t out[PROC_BOOT_ID_BYTES]);

#endif
