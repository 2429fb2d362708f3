/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Access with consent (consent_access.h). Source: the kernel's
 * Documentation/admin-guide/LSM/Yama.rst; prctl(2) on PR_SET_PTRACER.
 */
#include "src/leak/access/consent_access.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "src/leak/access/access_ops.h"
#include "src/proc/proc.h"

/* Yama's ptrace_scope; -1: the kernel has no Yama. */
static long yama_scope(void)
{
	char text[16];

	return proc_file_read("/proc/sys/kernel/yama/ptrace_scope", text, sizeof(text)) > 0
		       ? strtol(text, NULL, 10)
		       : -1;
}

/* Whether our pid means us in the program's pid namespace. */
static bool shares_namespace(struct read_segment *s)
{
	struct read_identity id;
	struct stat st;

	return read_identity(s, &id) == 0 && stat("/proc/self/ns/pid", &st) == 0 &&
	       st.st_ino == id.pid_namespace;
}

/* Asks the program's library to let us trace it. NULL: it does. */
static const char *consent_ask(struct leak_access *a)
{
	int rc;

	if (yama_scope() != 1)
		return "the program cannot allow it";
	if (!shares_namespace(a->segment))
		return "it is in another pid namespace";
	rc = leak_library_request_ask(a->library, HT_COOP_TRACER);
	a->traced = rc == 0;
	return rc == 0		  ? NULL
	       : rc == -ETIMEDOUT ? LEAK_LIBRARY_REQUEST_IDLE
				  : "its library could not allow it";
}

static int stop_take(struct leak_access *a)
{
	int rc;

	a->report->consented = false;
	a->refusal = consent_ask(a);
	if (a->refusal)
		return -EPERM;
	*a->message = '\0';
	rc = trace_stop(&a->stop, a->pid, "scanned", a->message);
	a->report->consented = rc != -EPERM && rc != -EACCES;
	return rc;
}

static int memory_open(struct leak_access *a)
{
	return a->direct->open(a);
}

static int direct_detach(struct leak_access *a)
{
	return a->direct->detach(a);
}

static int direct_release(struct leak_access *a)
{
	return a->direct->release(a);
}

static void consent_withdraw(struct leak_access *a)
{
	if (a->traced)
		(void)leak_library_request_ask(a->library, HT_COOP_NO_TRACER);
	a->traced = false;
}

const struct leak_access_ops leak_consent_access = {
	.take = stop_take,
	.open = memory_open,
	.detach = direct_detach,
	.release = direct_release,
	.close = consent_withdraw,
};
