/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Another heaptop at a process (other.h). Source: proc(5) on TracerPid, which is a thread's id. */
#include "src/trace/other.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/proc/proc.h"
#include "src/trace/stop.h"

static bool is_ours(pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d", (int)tid);
	return access(path, F_OK) == 0;
}

/* Only the name of another user's process can be read. */
static bool is_heaptop(pid_t tid)
{
	char path[64], name[32];
	struct stat its, ours;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)tid);
	if (stat(path, &its) == 0 && stat("/proc/self/exe", &ours) == 0 &&
		its.st_dev == ours.st_dev && its.st_ino == ours.st_ino)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)tid);
	return proc_file_read(path, name, sizeof(name)) > 0 && strcmp(name, "heaptop\n") == 0;
}

pid_t trace_other_heaptop(pid_t pid)
{
	pid_t last = 0, tracer_tid = 0;
	struct dirent *d;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && tracer_tid == 0 && (d = readdir(dir))) {
		pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);
		pid_t tracer = tid > 0 ? trace_stop_tracer(tid) : 0;

		if (tracer > 0 && tracer != last && !is_ours(tracer) && is_heaptop(tracer))
			tracer_tid = tracer;
		last = tracer;
	}
	if (dir)
		closedir(dir);
	return tracer_tid;
}
