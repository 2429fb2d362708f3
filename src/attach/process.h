/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of a process while heaptop attaches to it. Used by the calling thread alone. */
#ifndef SRC_ATTACH_PROCESS_H
#define SRC_ATTACH_PROCESS_H

#include "shm/attached.h"
#include "src/trace/image.h"
#include "src/trace/memory.h"
#include "src/trace/remote.h"

struct attach_process {
	pid_t pid;
	const char *done; /* what messages say it cannot be */
	struct trace_memory memory;
	struct trace_image image;
	const struct trace_module *libc, *loader;
	const struct trace_module *threads; /* libpthread, where it is not part of libc */
	const struct trace_module *library; /* ours; NULL: not loaded */
	uint64_t at; /* of its heaptop_attached */
	struct trace_remote_code code;
	bool filtered; /* by seccomp */
};

#define ATTACH_TO   "attached to"
#define ATTACH_FROM "detached from"

/* 0, or -errno with a message (ATTACH_MESSAGE_MAX): also for one whose libc is not understood. */
int attach_process_open(struct attach_process *p, pid_t pid, const char *done, char *message);
void attach_process_close(struct attach_process *p);
/* Looks at its mappings again, for instance for our library. 0 or -errno. */
int attach_process_renew(struct attach_process *p);
/* Reads what our library says. False: it is not there, or not of this version. */
bool attach_process_read(const struct attach_process *p, struct ht_attached *a);
/* The address of a function of our library. 0: it has none. */
uint64_t attach_process_function(const struct attach_process *p, const char *name);
/* Whether code at `pc` is libc's own, libpthread's included. */
bool attach_process_is_libc(const struct attach_process *p, uint64_t pc);
/* The lowest descriptor of the process that refers to a file whose path begins so; -1: none. */
int attach_process_descriptor(pid_t pid, const char *path);

/* What our library is called when it is loaded from memory. */
#define ATTACH_MEMFD	  "libheaptop.so"
#define ATTACH_MEMFD_PATH "/memfd:" ATTACH_MEMFD

#endif
