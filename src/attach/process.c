/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collects the facts about a process that heaptop attaches to (process.h). */
#include "src/attach/process.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/attach/terms.h"
#include "src/proc/proc.h"
#include "src/trace/borrow.h"

#define LIBRARY_NAME "libheaptop.so"
#define STARTS	     20u /* looks at a process, until its libc is there */
#define START_NS     10000000 /* between them */

static bool is_library(const struct trace_map *m)
{
	const char *name = trace_image_name(m);

	return strncmp(name, LIBRARY_NAME, strlen(LIBRARY_NAME)) == 0 ||
	       strncmp(m->path, ATTACH_MEMFD_PATH, strlen(ATTACH_MEMFD_PATH)) == 0;
}

static const struct trace_module *loader_find(const struct trace_image *i)
{
	struct trace_symbol s;

	for (size_t n = 0; n < i->modules; n++)
		if (trace_image_symbol(i, &i->module[n], "_r_debug", &s) &&
			trace_image_symbol(i, &i->module[n], "__tls_get_addr", &s))
			return &i->module[n];
	return NULL;
}

static void modules_name(struct attach_process *p)
{
	struct trace_symbol s;

	p->libc = p->threads = p->library = NULL;
	p->at = 0;
	p->loader = loader_find(&p->image);
	if (p->loader)
		trace_image_set_apart(&p->image, p->loader);
	for (size_t n = 0; n < p->image.modules; n++) {
		const struct trace_module *m = &p->image.module[n];

		if (m == p->loader || m->apart)
			continue;
		if (!p->libc && trace_image_symbol(&p->image, m, "gnu_get_libc_version", &s))
			p->libc = m;
		else if (strncmp(trace_image_name(m->map), "libpthread", 10) == 0)
			p->threads = m;
		else if (is_library(m->map)) {
			p->library = m;
			if (trace_image_symbol(&p->image, m, HT_ATTACHED_DATA, &s))
				p->at = s.at;
		}
	}
}

int attach_process_renew(struct attach_process *p)
{
	int rc;

	trace_image_free(&p->image);
	rc = trace_image_read(&p->image, p->pid, &p->memory);
	modules_name(p);
	return rc;
}

static int understand(struct attach_process *p, char *message)
{
	if (p->library && p->at == 0) {
		snprintf(message, ATTACH_MESSAGE_MAX,
			"process %d cannot be %s: its libheaptop.so is from another "
			"version of "
			"heaptop; restart the program",
			(int)p->pid, p->done);
		return -EPROTO;
	}
	if (!p->libc || !p->loader) {
		snprintf(message, ATTACH_MESSAGE_MAX,
			"process %d cannot be %s: it does not use glibc; nothing can be "
			"loaded "
			"into it",
			(int)p->pid, p->done);
		return -ENOTSUP;
	}
	if (!trace_remote_code_find(&p->code, &p->image, p->libc)) {
		snprintf(message, ATTACH_MESSAGE_MAX,
			"process %d cannot be %s: its C library (%s) is not one that "
			"heaptop "
			"understands; start the program with heaptop",
			(int)p->pid, p->done, trace_image_name(p->libc->map));
		return -ENOTSUP;
	}
	return 0;
}

static int open_now(struct attach_process *p, pid_t pid, const char *done, char *message)
{
	int rc;

	*p = (struct attach_process){ .pid = pid,
		.done = done,
		.memory.fd = -1,
		.filtered = trace_borrow_filtered(proc_memory_tid(pid)) };
	rc = trace_memory_open(&p->memory, pid);
	if (rc == 0)
		rc = attach_process_renew(p);
	if (rc != 0)
		snprintf(message, ATTACH_MESSAGE_MAX,
			"process %d cannot be %s: its memory cannot be read: %s", (int)pid, done,
			strerror(-rc));
	else
		rc = understand(p, message);
	if (rc != 0)
		attach_process_close(p);
	return rc;
}

/* One that has just been executed gets its libc from the loader within moments. */
int attach_process_open(struct attach_process *p, pid_t pid, const char *done, char *message)
{
	const struct timespec pause = { .tv_nsec = START_NS };
	int rc = open_now(p, pid, done, message);

	for (unsigned n = 0; rc == -ENOTSUP && n < STARTS; n++) {
		nanosleep(&pause, NULL);
		rc = open_now(p, pid, done, message);
	}
	return rc;
}

void attach_process_close(struct attach_process *p)
{
	trace_image_free(&p->image);
	trace_memory_close(&p->memory);
}

bool attach_process_read(const struct attach_process *p, struct ht_attached *a)
{
	return p->at != 0 && trace_memory_read(&p->memory, p->at, a, sizeof(*a)) &&
	       a->magic == HT_ATTACHED_MAGIC && a->version == HT_ATTACHED_VERSION &&
	       a->bytes == sizeof(*a) && a->jumps <= HT_ATTACHED_JUMPS;
}

uint64_t attach_process_function(const struct attach_process *p, const char *name)
{
	struct trace_symbol s;

	return p->library && trace_image_symbol(&p->image, p->library, name, &s) ? s.at : 0;
}

static bool is_in(const struct trace_module *m, uint64_t pc)
{
	return m && pc >= m->start && pc < m->end;
}

bool attach_process_is_libc(const struct attach_process *p, uint64_t pc)
{
	return is_in(p->libc, pc) || is_in(p->threads, pc);
}

int attach_process_descriptor(pid_t pid, const char *path)
{
	char folder[32], link[320], to[256];
	struct dirent *d;
	int found = -1;
	DIR *dir;

	snprintf(folder, sizeof(folder), "/proc/%d/fd", (int)proc_memory_tid(pid));
	dir = opendir(folder);
	while (dir && (d = readdir(dir))) {
		ssize_t n;
		int fd;

		snprintf(link, sizeof(link), "%s/%s", folder, d->d_name);
		n = readlink(link, to, sizeof(to) - 1);
		fd = n > 0 ? (int)strtol(d->d_name, NULL, 10) : -1;
		if (n < (ssize_t)strlen(path) || memcmp(to, path, strlen(path)) != 0)
			continue;
		found = found < 0 || fd < found ? fd : found;
	}
	if (dir)
		closedir(dir);
	return found;
}
