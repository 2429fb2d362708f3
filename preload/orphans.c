/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Removes the segments of a killed viewer's launch (orphans.h). Plain system calls. Another
 * process of the launch may do this at the same time: a file that is already gone is no error.
 */
#include "preload/orphans.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/segment_file.h"
#include "shm/kernel.h"
#include "shm/layout.h"

#define PATH_BYTES 1024u
#define NAME_HEAD  "heaptop-"

/* The beginning of a header. */
union head {
	uint8_t bytes[offsetof(struct ht_header, region)];
	struct {
		uint64_t magic;
		uint32_t version, signature;
	} layout;
};

/* The process that owns a segment. */
struct owner {
	uint64_t family, start_ticks, pid_namespace;
	uint32_t pid, state, exec_gen;
};

#define FIELD(head, field)                                                                         \
	({                                                                                         \
		typeof(((struct ht_header *)0)->field) value;                                      \
                                                                                                   \
		memcpy(&value, (head)->bytes + offsetof(struct ht_header, field), sizeof(value));  \
		value;                                                                             \
	})

/* False: not our user's, or of another layout. */
static bool owner_read(const char *path, struct owner *out)
{
	long fd = syscall(SYS_openat, AT_FDCWD, path,
		O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_LARGEFILE);
	union head h;
	bool is_whole;

	if (fd < 0)
		return false;
	is_whole = segment_file_is_ours((int)fd) &&
		   kernel_pread((int)fd, h.bytes, sizeof(h.bytes), 0) == sizeof(h.bytes);
	syscall(SYS_close, fd);
	if (!is_whole || h.layout.magic != HT_MAGIC || h.layout.version != HT_VERSION ||
		h.layout.signature != HT_SIGNATURE)
		return false;
	*out = (struct owner){ .family = FIELD(&h, family),
		.start_ticks = FIELD(&h, start_ticks),
		.pid_namespace = FIELD(&h, pid_namespace),
		.pid = FIELD(&h, pid),
		.state = FIELD(&h, state),
		.exec_gen = FIELD(&h, exec_gen) };
	return true;
}

static bool is_earlier(const struct owner *a, const struct owner *of)
{
	return a->pid == of->pid && a->start_ticks == of->start_ticks &&
	       a->pid_namespace == of->pid_namespace && a->exec_gen < of->exec_gen;
}

static bool path_make(char *out, const char *directory, const char *name)
{
	size_t head = strlen(directory), bytes = strlen(name);

	if (head + bytes + 2 > PATH_BYTES)
		return false;
	memcpy(out, directory, head);
	out[head] = '/';
	memcpy(out + head + 1, name, bytes + 1);
	return true;
}

/* Replaces the generation at the end of a path by a smaller one. */
static void generation_set(char *path, uint32_t generation)
{
	char *at = strrchr(path, '-') + 1, digits[12], *p = digits + sizeof(digits) - 1;

	*p = '\0';
	do {
		*--p = (char)('0' + generation % 10);
		generation /= 10;
	} while (generation);
	memcpy(at, p, (size_t)(digits + sizeof(digits) - p));
}

/* Removes the segments of a process's earlier images: they bear its name, except the launch's
 * first. */
static void earlier_remove(const char *path, const struct owner *of, const char *first)
{
	char name[PATH_BYTES];
	size_t bytes = strlen(path) + 1;
	struct owner o;

	if (owner_read(first, &o) && is_earlier(&o, of))
		segment_file_remove(first);
	if (bytes > sizeof(name) || !strrchr(path, '-'))
		return;
	memcpy(name, path, bytes);
	for (uint32_t generation = of->exec_gen; generation-- > 0;) {
		generation_set(name, generation);
		if (owner_read(name, &o) && is_earlier(&o, of))
			segment_file_remove(name);
	}
}

static void directory_entry(
	const char *directory, const char *name, uint64_t family, const char *first)
{
	char path[PATH_BYTES];
	struct owner o;

	if (strncmp(name, NAME_HEAD, sizeof(NAME_HEAD) - 1) != 0 ||
		!path_make(path, directory, name) || !owner_read(path, &o) || o.family != family ||
		o.state != HT_STATE_EXITED)
		return;
	earlier_remove(path, &o, first);
	segment_file_remove(path);
}

void orphans_remove(const char *directory, uint64_t family, const char *own, const char *first)
{
	long fd = syscall(SYS_openat, AT_FDCWD, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), got;
	char entries[2048] __attribute__((aligned(8)));
	const struct dirent64 *d;
	struct owner o;

	if (owner_read(own, &o))
		earlier_remove(own, &o, first);
	if (fd < 0)
		return;
	while ((got = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0)
		for (long at = 0; at < got; at += d->d_reclen) {
			d = (const void *)(entries + at);
			directory_entry(directory, d->d_name, family, first);
		}
	syscall(SYS_close, fd);
}
