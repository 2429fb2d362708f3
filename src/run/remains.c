/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages about a program when heaptop ends (remains.h). Main thread. */
#include "src/run/remains.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

bool remains_is_crash(int wait_status)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP,
		SIGKILL };

	for (size_t i = 0; WIFSIGNALED(wait_status) && i < sizeof(signals) / sizeof(signals[0]);
		i++)
		if (WTERMSIG(wait_status) == signals[i])
			return true;
	return false;
}

void remains_print(const struct remains *r)
{
	if (r->kept)
		fprintf(stderr,
			"heaptop: the program was killed by SIG%s; to inspect its heap: heaptop -r "
			"%s\n",
			sigabbrev_np(WTERMSIG(r->wait_status)), r->kept);
	else if (r->asked && !r->ended && !r->hung_up)
		fprintf(stderr,
			"heaptop: process %d did not end on SIGTERM and is still running: kill -9 "
			"%d\n",
			r->child, r->child);
	else if (r->child && !r->ended && !r->hung_up)
		fprintf(stderr,
			"heaptop: process %d is still running; to watch it again: heaptop -a %d\n",
			r->child, r->child);
}
