/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why a process cannot be traced (denial.h). Where several reasons are possible, the first one
 * given certainly holds.
 */
#include "src/attach/denial.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SCOPE "/proc/sys/kernel/yama/ptrace_scope"

/* A Linux security module forbids it. */
static void explain_policy(const struct denial_facts *f, char *text, size_t size)
{
	const char *user = f->euid == 0 ? " even to root" : "";

	if (f->deny_ptrace)
		snprintf(text, size,
			"SELinux forbids it%s (deny_ptrace is on); try: sudo setsebool deny_ptrace "
			"off",
			user);
	else if (f->label[0])
		snprintf(text, size,
			"a security policy forbids it%s: this heaptop is confined by \"%s\"; run "
			"it unconfined",
			user, f->label);
	else if (f->its_label[0])
		snprintf(text, size,
			"a security policy forbids it%s: the process is confined by \"%s\", which "
			"must permit ptrace",
			user, f->its_label);
	else
		snprintf(text, size,
			"a security policy forbids it%s (AppArmor, SELinux, or a container); run "
			"heaptop as root, outside",
			user);
}

static void explain_to_root(const struct denial_facts *f, char *text, size_t size)
{
	if (!f->may_trace)
		snprintf(text, size,
			"root lacks CAP_SYS_PTRACE here, as in a container; "
			"start the container with --cap-add=SYS_PTRACE, or run heaptop outside");
	else if (f->apart)
		snprintf(text, size,
			"it is in a user namespace that is not below this one; run heaptop there, "
			"or as root outside of all containers");
	else
		explain_policy(f, text, size);
}

static void explain_to_user(const struct denial_facts *f, char *text, size_t size)
{
	if (f->owner != f->uid)
		snprintf(text, size, "it belongs to another user; run heaptop as root");
	else if (f->private)
		snprintf(text, size,
			"it protects itself, or was given privileges (it is not dumpable); run "
			"heaptop as root");
	else if (f->apart)
		snprintf(text, size, "it is in another user namespace; run heaptop as root");
	else if (f->scope == 1)
		snprintf(text, size,
			"this system lets users trace only their own children (" SCOPE
			" is 1); run heaptop as root, or: sudo sysctl kernel.yama.ptrace_scope=0");
	else if (f->scope == 2)
		snprintf(text, size,
			"this system lets only root trace processes (" SCOPE
			" is 2); run heaptop as root");
	else
		explain_policy(f, text, size);
}

void denial_explain(const struct denial_facts *f, char *text, size_t size)
{
	if (f->scope == 3)
		snprintf(text, size,
			"this system forbids tracing until it is rebooted (" SCOPE
			" is 3); start the program with heaptop");
	else if (f->euid == 0)
		explain_to_root(f, text, size);
	else
		explain_to_user(f, text, size);
}

void denial_label(const char *current, char *label)
{
	size_t n = strcspn(current, "\n");

	if (n >= DENIAL_LABEL)
		n = DENIAL_LABEL - 1;
	memcpy(label, current, n);
	label[n] = '\0';
	/* AppArmor's "unconfined"; SELinux's user_u:role_r:unconfined_t:s0. */
	if (strncmp(label, "unconfined", 10) == 0 || strstr(label, ":unconfined_t") ||
		strcmp(label, "kernel") == 0)
		label[0] = '\0';
	for (char *c = label; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

const char *denial_protection(const char *status, unsigned filters, bool is_root, int *rc)
{
	const char *features = strstr(status, "\nx86_Thread_features:");
	size_t line = features ? strcspn(features + 1, "\n") : 0;

	*rc = -ENOTSUP;
	if (features && memmem(features, line + 1, "shstk", 5))
		return "it has a shadow stack, which does not let it be called from outside; start "
		       "it with heaptop, or with GLIBC_TUNABLES=glibc.cpu.x86_shstk=off";
	*rc = -EPERM;
	if (strstr(status, "\nSeccomp:\t1\n"))
		return "it is in seccomp's strict mode, in which it may do nothing that a recorder "
		       "needs";
	if (filters > 0 && !is_root)
		return "it has a seccomp filter, which may kill it for what a recorder needs; run "
		       "heaptop as root, or start it with heaptop";
	return NULL;
}
