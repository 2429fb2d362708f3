/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads in /proc (thread_status.h). */
#include "src/leak/access/thread_status.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool leak_thread_status_visit(pid_t pid, leak_thread_status_visitor *visit, void *ctx)
{
	char path[80];
	bool found = false;
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return true;
	while (!found && (d = readdir(dir))) {
		pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);

		snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
		if (tid > 0 && access(path, F_OK) == 0)
			found = visit(ctx, tid, path);
	}
	closedir(dir);
	return found;
}
