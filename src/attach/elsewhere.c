/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Attaching where it is not supported (attach.h): the code that patches functions of a running
 * program and makes its threads call functions is written for x86-64. On x86-64 this file is not
 * built; on other machines it is the only file of this folder that is.
 */
#include "src/attach/attach.h"

#include <errno.h>
#include <stdio.h>

static int refuse(pid_t pid, char *message)
{
	snprintf(message, ATTACH_MESSAGE_MAX,
		"process %d cannot be attached to: it was not started with heaptop, and a program "
		"that "
		"runs "
		"already can be recorded only on x86-64; start it with heaptop",
		(int)pid);
	return -ENOTSUP;
}

int attach_check(pid_t pid, char *message)
{
	return refuse(pid, message);
}

enum attach_state attach_state_of(pid_t pid)
{
	return ATTACH_NONE;
}

int attach_begin(pid_t pid, const struct attach_options *o, struct attach_pauses *p, char *message)
{
	return refuse(pid, message);
}

int attach_end(
	pid_t pid, uint64_t timeout_ns, struct attach_pauses *p, uint64_t *stays, char *message)
{
	*stays = 0;
	snprintf(message, ATTACH_MESSAGE_MAX,
		"process %d cannot be detached from: that is possible only on x86-64", (int)pid);
	return -ENOTSUP;
}
