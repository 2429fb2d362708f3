/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes that share a process's memory and are none of its threads: of clone with CLONE_VM
 * alone, as some sandboxes and runtimes make them. They go on while it stands still, and what they
 * have in registers alone is not seen: that is to be said, and a copy would be of no one moment. A
 * child of vfork is one, too, until it calls exec; its parent waits for it and does not stop, which
 * is said already.
 */
#ifndef SRC_LEAK_ACCESS_VM_SHARERS_H
#define SRC_LEAK_ACCESS_VM_SHARERS_H

#include "src/leak/access/stop.h"

#define LEAK_VM_SHARERS_MAX 16u /* one is enough to say so */

struct leak_vm_sharers {
	pid_t of;
	pid_t pid[LEAK_VM_SHARERS_MAX];
	size_t count;
};

/* Before it stands still: its children are listed thread by thread. */
void leak_vm_sharers_find(struct leak_vm_sharers *s, pid_t pid);
/* When it does: those that still share it are among the threads from now on, as not stopped. */
void leak_vm_sharers_note(const struct leak_vm_sharers *s, struct leak_stop *stop);

#endif
