/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes that share a process's address space but are none of its threads: children of clone
 * with CLONE_VM alone, as some sandboxes and runtimes make them. They run on while the process
 * is stopped, and their registers are unknown. The scan reports that, and makes no copy, which
 * would not be of one instant. A child of vfork is one, too, until it calls exec; its parent
 * does not stop, which is reported already.
 */
#ifndef SRC_LEAK_ACCESS_VM_SHARERS_H
#define SRC_LEAK_ACCESS_VM_SHARERS_H

#include "src/trace/stop.h"

#define LEAK_VM_SHARERS_MAX 16u /* one is enough to report it */

struct leak_vm_sharers {
	pid_t of;
	pid_t pid[LEAK_VM_SHARERS_MAX];
	size_t count;
};

/* Before the process is stopped: lists its children, thread by thread. */
void leak_vm_sharers_find(struct leak_vm_sharers *s, pid_t pid);
/* While it is stopped: adds those that still share its memory to the threads, as not stopped. */
void leak_vm_sharers_note(const struct leak_vm_sharers *s, struct trace_stop *stop);

#endif
