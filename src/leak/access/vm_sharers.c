/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes that share an address space (vm_sharers.h). Source: kcmp(2). */
#include "src/leak/access/vm_sharers.h"

#include <linux/kcmp.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/proc/proc.h"

/* False, too, where the kernel lacks CONFIG_KCMP, or we may not call it. */
static bool is_shared(pid_t one, pid_t other)
{
	return syscall(SYS_kcmp, one, other, KCMP_VM, 0, 0) == 0;
}

static void child_visit(void *ctx, pid_t child)
{
	struct leak_vm_sharers *s = ctx;

	if (s->count < LEAK_VM_SHARERS_MAX && is_shared(s->of, child))
		s->pid[s->count++] = child;
}

void leak_vm_sharers_find(struct leak_vm_sharers *s, pid_t pid)
{
	*s = (struct leak_vm_sharers){ .of = proc_memory_tid(pid) };
	proc_children(pid, child_visit, s);
}

void leak_vm_sharers_note(const struct leak_vm_sharers *s, struct trace_stop *stop)
{
	if (trace_stop_running(stop) > 0)
		return;
	for (size_t i = 0; i < s->count; i++) {
		struct trace_thread *t;

		if (!is_shared(s->of, s->pid[i]))
			continue;
		t = realloc(stop->thread, (stop->count + 1) * sizeof(*t));
		if (!t)
			return;
		stop->thread = t;
		t[stop->count++] =
			(struct trace_thread){ .tid = s->pid[i], .state = TRACE_THREAD_UNSEIZED };
	}
}
