/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Directories for segments in other roots (places.h). */
#include "src/target/places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/proc/proc.h"

#define PATH_BYTES 40u

/* In the order tried: in memory first. */
static const char *const names[] = { "dev/shm", "run", "tmp" };

static struct place {
	char path[PATH_BYTES]; /* /proc/self/fd/N */
	const char *name; /* in its root */
	dev_t device;
	ino_t inode;
} list[PLACES_MAX];
static unsigned count;

static int root_open(pid_t pid)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "/proc/%d/root", (int)proc_memory_tid(pid));
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool is_ours(int root)
{
	struct stat own, its;

	return stat("/", &own) == 0 && fstat(root, &its) == 0 && own.st_dev == its.st_dev &&
	       own.st_ino == its.st_ino;
}

/* Whether its mounts are ours. */
static bool has_our_mounts(pid_t pid)
{
	struct stat own, its;
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)proc_memory_tid(pid));
	return stat("/proc/self/ns/mnt", &own) == 0 && stat(path, &its) == 0 &&
	       own.st_ino == its.st_ino;
}

/* Below `root`, one name after the other; no link is followed. */
static int directory_open(int root, const char *name)
{
	int at = fcntl(root, F_DUPFD_CLOEXEC, 0);

	while (at >= 0 && *name) {
		size_t n = strcspn(name, "/");
		char part[16];
		int next;

		snprintf(part, sizeof(part), "%.*s", (int)n, name);
		next = openat(at, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(at);
		at = next;
		name += name[n] ? n + 1 : n;
	}
	return at;
}

static struct place *place_find(dev_t device, ino_t inode)
{
	for (unsigned i = 0; i < count; i++)
		if (list[i].device == device && list[i].inode == inode)
			return &list[i];
	return NULL;
}

static void place_add(int root, const char *name)
{
	int fd = directory_open(root, name);
	struct stat st;

	if (fd < 0)
		return;
	if (count == PLACES_MAX || fstat(fd, &st) != 0 || place_find(st.st_dev, st.st_ino)) {
		close(fd);
		return;
	}
	list[count] = (struct place){ .name = name, .device = st.st_dev, .inode = st.st_ino };
	snprintf(list[count++].path, PATH_BYTES, "/proc/self/fd/%d", fd);
}

void places_add(pid_t pid)
{
	int root = root_open(pid);

	if (root < 0)
		return;
	if (!is_ours(root) || !has_our_mounts(pid))
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			place_add(root, names[i]);
	close(root);
}

unsigned places_list(const char *out[PLACES_MAX])
{
	for (unsigned i = 0; i < count; i++)
		out[i] = list[i].path;
	return count;
}

/* The place of a name in the process's root, which may have been added with another process. */
static struct place *place_of(int root, const char *name)
{
	int fd = directory_open(root, name);
	struct place *found = NULL;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0)
		found = place_find(st.st_dev, st.st_ino);
	if (fd >= 0)
		close(fd);
	return found;
}

int places_try(pid_t pid, int (*make)(void *ctx, const char *directory), void *ctx)
{
	int root = root_open(pid), rc = -ENOENT;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && root >= 0 && rc != 0; i++) {
		struct place *p = place_of(root, names[i]);

		if (p)
			rc = make(ctx, p->path);
	}
	if (root >= 0)
		close(root);
	return rc;
}

bool places_inside(const char *path, char *out, size_t cap)
{
	for (unsigned i = 0; i < count; i++) {
		size_t n = strlen(list[i].path);

		if (strncmp(path, list[i].path, n) == 0 && path[n] == '/')
			return (size_t)snprintf(out, cap, "/%s%s", list[i].name, path + n) < cap;
	}
	return false;
}
