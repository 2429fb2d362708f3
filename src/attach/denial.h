/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Explains why the kernel refuses to let a process be traced, and what would help; the kernel
 * itself says only "permission denied". Pure. Sources: ptrace(2) "Ptrace access mode checking",
 * Documentation/admin-guide/LSM/Yama.rst, proc_pid_attr(5), the kernel's
 * Documentation/arch/x86/shstk.rst.
 */
#ifndef SRC_ATTACH_DENIAL_H
#define SRC_ATTACH_DENIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define DENIAL_LABEL 96

/* What can be seen of both sides. */
struct denial_facts {
	uid_t uid, euid; /* ours */
	bool may_trace; /* we have CAP_SYS_PTRACE */
	uid_t owner; /* the process's real user */
	bool private; /* its files in /proc are not its user's: it is not dumpable */
	bool apart; /* it is in another user namespace */
	long scope; /* Yama's ptrace_scope; 0, too, without Yama */
	bool deny_ptrace; /* SELinux's boolean of this name is on */
	/* AppArmor's profiles or SELinux's contexts; "": none, or not confined. */
	char label[DENIAL_LABEL], its_label[DENIAL_LABEL];
};

/* Writes one line, without the pid. */
void denial_explain(const struct denial_facts *f, char *text, size_t size);
/* What /proc/.../attr/current says, as a label: "" for "unconfined". */
void denial_label(const char *current, char *label);
/* What else would go wrong, by the text of /proc/PID/status and its number of seccomp filters;
 * NULL: nothing. A static text, and *rc: -errno. */
const char *denial_protection(const char *status, unsigned filters, bool is_root, int *rc);

#endif
