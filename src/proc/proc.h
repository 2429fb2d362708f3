/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel reports about a process. Each proc_parse_* is a pure function over a buffer with
 * any content (0 or -EINVAL; fields it does not find are unchanged); proc_read fills a whole
 * reading from /proc/PID. Nothing here knows heaptop's segments. The viewer's main thread calls
 * these once a tick; smaps_rollup is expensive for large processes, so the caller decides how
 * often. Sources: proc(5), Documentation/filesystems/proc.rst.
 */
#ifndef SRC_PROC_PROC_H
#define SRC_PROC_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_reading {
	char comm[64]; /* raw, as the kernel reports it: clean before printing */
	char state; /* R S D T t Z X, or 0 when not read */
	pid_t ppid;
	uint32_t flags; /* PF_* of the kernel, field 9 of stat */
	uint64_t start_ticks; /* clock ticks since boot, field 22 of stat: identifies the process,
				 with its pid */
	bool ends_unsaid; /* its end sends its parent no signal, unlike that of a child of fork: so
			     with the copies of leak scans */
	uint64_t minor_faults; /* since start */
	uint64_t major_faults;
	uint64_t cpu_ticks; /* utime + stime */
	uint32_t threads;
	uint64_t rss_bytes; /* status VmRSS */
	uint64_t hwm_bytes; /* status VmHWM: peak RSS */
	uint64_t swap_bytes; /* status VmSwap */
	uint64_t pss_bytes; /* smaps_rollup Pss; 0 and have_pss false if not readable */
	bool have_pss;
	uid_t uid; /* real uid */
	uint32_t filters; /* number of seccomp filters; before Linux 5.9: not 0 if there are any */
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

/* One mapping of /proc/PID/smaps; missing lines are 0. */
struct proc_smap {
	struct proc_map map;
	uint64_t rss_bytes, pss_bytes, anonymous_bytes, swap_bytes;
	bool wiped; /* MADV_WIPEONFORK: empty in a forked process */
	bool huge; /* of reserved huge pages (hugetlbfs) */
	bool watched; /* userfaultfd: faults and forks are reported to a handler */
};
/* As proc_parse_map, with the lines that follow the mapping's. */
int proc_parse_smap(const char *buf, size_t len, size_t *pos, struct proc_smap *m);
/* Reads a file of unknown length, terminated; the caller frees. NULL and errno. */
char *proc_file_read_all(const char *path, size_t *len);

#define PROC_FLAG_EXITING 0x00000004u /* PF_EXITING: the kernel takes the process apart */

/* The unit in which we count pages, on every machine: its pages may be larger, of a power of two.
 * Then an entry stands for each unit of a page. */
#define PROC_PAGE_BYTES	    4096u
#define PROC_PAGE_PRESENT   (UINT64_C(1) << 63) /* bits of a pagemap entry */
#define PROC_PAGE_SWAPPED   (UINT64_C(1) << 62)
#define PROC_PAGE_FILE	    (UINT64_C(1) << 61) /* a file's, or shared memory */
#define PROC_PAGE_GUARD	    (UINT64_C(1) << 58) /* MADV_GUARD_INSTALL; since Linux 6.15 */
#define PROC_PAGE_EXCLUSIVE (UINT64_C(1) << 56) /* mapped by no other process */
/* A descriptor of /proc/PID/pagemap, or -errno. Needs ptrace read access. */
int proc_pagemap_open(pid_t pid);
/* The size of this machine's pages. */
uint64_t proc_machine_page(void);
/* The entries of pages of `page` bytes that hold `units` units from `addr` on: the first's number,
 * and how many. */
uint64_t proc_pagemap_first(uint64_t addr, uint64_t page);
size_t proc_pagemap_count(uint64_t addr, size_t units, uint64_t page);
/* Makes of these entries, in place, those of the units. */
void proc_pagemap_spread(uint64_t *entries, uint64_t addr, size_t units, uint64_t page);
/* Reads the entries of `pages` units from `addr` on. False: not readable. */
bool proc_pagemap_read(int fd, uint64_t addr, uint64_t *entries, size_t pages);
/*
 * Finds the first page in [addr, end) that is present or swapped, and the number of such pages in a
 * row, at most `most`, in units. `addr` and `end` are multiples of a unit. Empty ranges cost no
 * extra time. 1: found; 0: none; or -errno; -ENOTTY: not supported by the kernel (before
 * Linux 6.7).
 */
int proc_pagemap_seek(
	int fd, uint64_t addr, uint64_t end, size_t most, uint64_t *found, size_t *pages);
/* Whether the page of an address is known to be in memory, so that reading it allocates none. False
 * for an `fd` below 0. */
bool proc_pagemap_present(int fd, uint64_t addr);

/*
 * Reads stat and status, and smaps_rollup when `with_pss` (otherwise have_pss is false). 0, -ESRCH
 * if gone, or -errno. A process that has released its memory (a zombie, or about to be one) counts
 * as gone.
 */
int proc_read(pid_t pid, bool with_pss, struct proc_reading *r);
/*
 * A thread id by which the process's memory is accessible in /proc and by process_vm_readv: the
 * first thread's or, if that has ended and the process runs on, another one's. `pid` if there is
 * none.
 */
pid_t proc_memory_tid(pid_t pid);
/* A thread's name, cleaned. False: it cannot be read, and `out` is as it was. */
bool proc_thread_name(pid_t pid, pid_t tid, char *out, size_t cap);
/* The arguments that a process shows now, each terminated: it may have rewritten them. At most
 * `cap` bytes. Their number; 0: none, and `line` is as it was, or it is not the process that began
 * then.
 */
size_t proc_command(pid_t pid, uint64_t start_ticks, char *line, size_t cap);
/* Processor time of all its threads so far, those that ended included. 0 or -errno; pid 0, a
 * process that is not visible from here, is -ESRCH. */
int proc_cpu_ns(pid_t pid, uint64_t *ns);
/* Our own resident bytes; 0: unknown. */
uint64_t proc_own_rss(void);
/* Start time alone, for identity checks. 0, -ESRCH or -errno. A process without a living thread (a
 * zombie) counts as gone (-ESRCH). */
int proc_start_ticks(pid_t pid, uint64_t *ticks);
/* From status: the signals pending for the first thread; bit n - 1 for signal n. */
uint64_t proc_parse_pending(const char *buf, size_t len);
/*
 * Whether the process has ended or certainly ends soon. Once any fatal signal is sent, each thread
 * has SIGKILL pending (kernel/signal.c, complete_signal).
 */
bool proc_is_ending(pid_t pid);
/* The last number of status's NSpid: the pid in the process's own namespace. 0: none. */
pid_t proc_parse_inner_pid(const char *buf, size_t len);
/* Whether a process maps a file of this name, in any directory. 1, 0 or -errno; -ESRCH, too, if it
 * has no memory, as it ends or is the kernel's. */
int proc_maps_name(pid_t pid, const char *name);
/* How many looks in a row have found no such file mapped: `looks` before this one. It stays as it
 * is if the process ends or cannot be read, which proves nothing. */
unsigned proc_maps_missing(pid_t pid, const char *name, unsigned looks);
/* Whether a 64-bit viewer looks at a 32-bit program. False where its executable cannot be read. */
bool proc_is_narrow(pid_t pid);
/* Whether it maps this very file, under any name. The same results. */
int proc_maps_file(pid_t pid, const char *path);
/* Whether it maps a file whose name begins with `prefix` and is not `but`. The same results. */
int proc_maps_other(pid_t pid, const char *prefix, const char *but);
/* Calls `visit` for each child of a process, if the kernel lists them (CONFIG_PROC_CHILDREN). */
void proc_children(pid_t pid, void (*visit)(void *ctx, pid_t child), void *ctx);

#define PROC_PID_NAMESPACE_FIRST 0xeffffffcu /* the initial namespace: linux/proc_ns.h */
/* The inode of our own pid namespace; 0: unknown. */
uint64_t proc_pid_namespace(void);
/* A process as it describes itself. */
struct proc_claim {
	pid_t pid;
	uint64_t pid_namespace; /* namespace of the pid; 0: unknown, assumed to be ours */
	uint64_t start_ticks;
	const char *maps; /* name of a file that it maps */
};
/*
 * Finds its pid in our namespace. 0, -ESRCH if it is gone, or -EXDEV: it may be in a namespace that
 * is not visible from ours. Searches all of /proc if the namespaces differ.
 */
int proc_resolve(const struct proc_claim *c, pid_t *pid);

/* Reads a file into `buf` (NUL-terminated), as far as it fits. Bytes read, or -errno. */
ssize_t proc_file_read(const char *path, char *buf, size_t cap);
/* A number of a /proc/.../status, by its name as in "\nSeccomp:"; `last`: the last of several.
 * False: not found. */
bool proc_status_number(const char *path, const char *name, bool last, long *value);

#define PROC_BOOT_ID_BYTES 16
/* This boot's id. False if the kernel does not provide it. */
bool proc_boot_id(uint8_t out[PROC_BOOT_ID_BYTES]);

#endif
