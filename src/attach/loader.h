/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loader of a process, and its locks. */
#ifndef SRC_ATTACH_LOADER_H
#define SRC_ATTACH_LOADER_H

#include "src/attach/process.h"

/* A function of the dlopen family that the program calls: libc's, or before glibc 2.34 libdl's. */
bool attach_loader_symbol(
	const struct attach_process *p, const char *name, struct trace_symbol *out);

/* What is known of its locks. */
struct attach_loader {
	uint64_t lock; /* address of dlopen's; 0: not found */
	size_t locks; /* as many lie there */
	uint64_t try_it, unlock; /* libc's functions; 0: the lock cannot be tried for */
	bool busy; /* a thread holds one of them, perhaps until another thread has done something */
};

/* Looks at them, in a stopped process. */
void attach_loader_look(const struct attach_process *p, struct attach_loader *l);
/*
 * Has the thread take the lock that dlopen takes, while the others run, if at some instant soon
 * nobody holds any of them. It never waits for a lock, and gives it back however we end. 0;
 * -EAGAIN: they were held all the time; -EIO: the thread is lost. 0, too, if it cannot be tried
 * for: then only a process that is not busy may be made to load.
 */
int attach_loader_take(const struct attach_loader *l, struct trace_remote *r);
/* Has it given back after attach_loader_take. 0; -EIO: the thread is lost, and gives it back
 * itself. */
int attach_loader_give(const struct attach_loader *l, struct trace_remote *r);

#endif
