/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of segments (segment_name.h). Plain system calls. */
#include "preload/segment_name.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Inode of the initial pid namespace: PROC_PID_INIT_INO of linux/proc_ns.h, unchanged since it
 * exists. */
#define PID_NAMESPACE_FIRST 0xeffffffcu

uint64_t segment_name_number(const char *text)
{
	uint64_t value = 0;

	while (*text >= '0' && *text <= '9')
		value = value * 10 + (uint64_t)(*text++ - '0');
	return value;
}

static char *append(char *at, const char *end, const char *text)
{
	while (*text && at < end - 1)
		*at++ = *text++;
	*at = '\0';
	return at;
}

static char *append_number(char *at, const char *end, uint64_t value)
{
	char digits[24], *p = digits + sizeof(digits) - 1;

	*p = '\0';
	do {
		*--p = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	return append(at, end, p);
}

void segment_name_copy(char *out, size_t cap, const char *path)
{
	append(out, out + cap, path);
}

/* Appends a segment's name without its generation. */
static char *append_family(char *at, const char *end, const struct segment_identity *id)
{
	at = append(at, end, "heaptop-");
	at = append_number(at, end, id->pid);
	if (id->pid_namespace != 0 && id->pid_namespace != PID_NAMESPACE_FIRST) {
		at = append(at, end, ".");
		at = append_number(at, end, id->pid_namespace);
	}
	at = append(at, end, "-");
	at = append_number(at, end, id->start_ticks);
	return append(at, end, "-");
}

void segment_name_of(char *buf, size_t cap, const char *dir, const struct segment_identity *id,
	uint32_t generation)
{
	const char *end = buf + cap;
	char *p = append(append(buf, end, dir), end, "/");

	append_number(append_family(p, end, id), end, generation);
}

/* The generation after the newest in one buffer of directory entries; at least `next`. */
static uint32_t newer(const char *entries, long bytes, const char *stem, uint32_t next)
{
	const struct dirent64 *d;
	size_t length = strlen(stem);

	for (long at = 0; at < bytes; at += d->d_reclen) {
		d = (const void *)(entries + at);
		if (strncmp(d->d_name, stem, length) == 0 &&
			segment_name_number(d->d_name + length) >= next)
			next = (uint32_t)segment_name_number(d->d_name + length) + 1;
	}
	return next;
}

uint32_t segment_name_generation(const char *dir, const struct segment_identity *id)
{
	long fd = syscall(SYS_openat, AT_FDCWD, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), got;
	char stem[96], entries[1024] __attribute__((aligned(8)));
	uint32_t next = id->exec_gen;

	if (fd < 0)
		return next;
	append_family(stem, stem + sizeof(stem), id);
	while ((got = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0)
		next = newer(entries, got, stem, next);
	syscall(SYS_close, fd);
	return next;
}
