/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop -r CORE (core_target.h). */
#include "src/run/core_target.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/account.h"
#include "src/core/missing.h"
#include "src/core/open.h"
#include "src/run/failure.h"

struct core_target {
	struct core *core;
	struct core_account account;
	struct liveness_core session;
};

/* What ended the process, and what the core does not have. */
static void notice_make(struct core_target *t)
{
	char missing[LIVENESS_CORE_MAX / 2];
	const char *signal = t->core->signal ? sigabbrev_np(t->core->signal) : NULL;

	core_missing_text(t->core, missing, sizeof(missing));
	snprintf(t->session.notice, sizeof(t->session.notice), "from a core file%s%s%s%s",
		signal ? ", killed by SIG" : "", signal ? signal : "", *missing ? ": " : "",
		missing);
}

/* gdb writes the signal with which it stopped a process that runs on. */
static int signal_of(const struct core *c)
{
	return c->signal == SIGSTOP || c->signal == SIGTRAP ? 0 : c->signal;
}

static int target_fill(struct core_target *t, const struct options *o, char *message)
{
	int rc;

	t->account.fd = -1;
	t->core = core_open(o->file, message);
	if (!t->core)
		return -ENODATA;
	rc = core_account_open(&t->account, t->core, o->account, message);
	if (rc != 0)
		return rc;
	t->session.pid = t->core->pid;
	t->session.signal = signal_of(t->core);
	notice_make(t);
	return 0;
}

int core_target_open(struct options *o)
{
	struct core_target *t = calloc(1, sizeof(*t));
	char message[CORE_MESSAGE_MAX];

	if (!t)
		return failure_print_errno("cannot read the core file", -ENOMEM);
	o->core = t;
	if (target_fill(t, o, message) == 0)
		return 0;
	core_target_close(o);
	return failure_print(message);
}

void core_target_close(struct options *o)
{
	struct core_target *t = o->core;

	if (!t)
		return;
	core_account_close(&t->account);
	core_close(t->core);
	free(t);
	o->core = NULL;
}

const struct core *core_target_core(const struct options *o)
{
	return o->core ? o->core->core : NULL;
}

const char *core_target_path(const struct options *o)
{
	return o->core ? o->core->account.path : o->file;
}

const struct liveness_core *core_target_session(const struct options *o)
{
	return o->core ? &o->core->session : NULL;
}
