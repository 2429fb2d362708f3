/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop --detach (detach_command.h). Main thread. */
#include "src/run/detach_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/run/attachment.h"
#include "src/run/failure.h"
#include "src/target/processes.h"
#include "src/util/text.h"

#define NAME_CELLS 60u

/* The exit status. */
static int detach(pid_t pid, const struct options *o)
{
	char message[ATTACH_MESSAGE_MAX];

	if (attachment_detach_process(pid, o, message, sizeof(message)) != 0)
		return failure_print(message);
	printf("%s\n", message);
	return 0;
}

static int none(const char *name, ssize_t running)
{
	char clean[NAME_CELLS * 4 + 1], line[sizeof(clean) + 128];

	text_clean(clean, NAME_CELLS, name, strlen(name));
	if (running > 0)
		snprintf(line, sizeof(line), "no process called %s is recorded, of %zd that run",
			clean, running);
	else
		snprintf(line, sizeof(line), "no process is called %s", clean);
	return failure_print(line);
}

/* All of this name that are recorded, parents first. */
static int detach_named(const struct options *o)
{
	struct target_process *list = calloc(PROCESSES_LIST_MAX, sizeof(*list));
	ssize_t n = list ? target_processes(o->attach.name, list, PROCESSES_LIST_MAX) : -ENOMEM;
	unsigned recorded = 0;
	int status = 0;

	for (ssize_t i = 0; i < n; i++) {
		enum attach_state state = attach_state_of(list[i].pid);
		int rc;

		if (state != ATTACH_RECORDED && state != ATTACH_BROKEN_OFF)
			continue;
		recorded++;
		rc = detach(list[i].pid, o);
		status = rc ? rc : status;
	}
	free(list);
	if (n < 0)
		return failure_print_errno("cannot list processes", (int)n);
	return recorded ? status : none(o->attach.name, n);
}

int detach_command_run(const struct options *o)
{
	int status = 0;

	if (o->attach.name)
		return detach_named(o);
	for (unsigned i = 0; i < o->attach.count; i++) {
		int rc = detach(o->attach.pids[i], o);

		status = rc ? rc : status;
	}
	return status;
}
