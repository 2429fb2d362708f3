/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether this process can be forked safely (self_check.h). Sources: proc(5) for smaps, fd and ns;
 * getdents(2). Files that belong to root for other processes are readable for the process itself.
 * It reads them by thread-self, since a main thread that has ended shows nothing.
 */
#include "preload/self_check.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "preload/call.h"

#if defined(__x86_64__) || defined(__aarch64__)

#define WIPED_MAX 1023u /* no known program has more: some libraries have one */
#define FDS_MAX	  65536u /* checked at most: some 10 ms */
#define LINK_MAX  64u /* "pid:[4026531836]" */

static const size_t text_at = (WIPED_MAX + 1) * sizeof(uint64_t);
static const size_t text_bytes = HT_COOP_DATA - (WIPED_MAX + 1) * sizeof(uint64_t);

static int open_own(const char *path, int flags)
{
	return (int)call(
		SYS_openat, AT_FDCWD, call_pointer(path), O_RDONLY | O_CLOEXEC | flags, 0, 0);
}

/* ---- mappings ---- */

struct lines {
	int fd;
	char *text;
	size_t used, next;
};

/* Reads the next line, without its end: 1; 0: there is none; -1: it cannot be read. */
static int line_next(struct lines *l, const char **line, const char **end)
{
	for (;;) {
		char *start = l->text + l->next;
		char *stop = memchr(start, '\n', l->used - l->next);
		long got;

		if (stop) {
			*line = start;
			*end = stop;
			l->next = (size_t)(stop + 1 - l->text);
			return 1;
		}
		l->used -= l->next;
		memmove(l->text, start, l->used);
		l->next = 0;
		if (l->used == text_bytes)
			return -1;
		got = call(SYS_read, l->fd, call_pointer(l->text + l->used),
			(long)(text_bytes - l->used), 0, 0);
		if (got <= 0)
			return got == 0 && l->used == 0 ? 0 : -1;
		l->used += (size_t)got;
	}
}

static bool has(const char *line, const char *end, const char *what)
{
	size_t len = strlen(what);

	for (; (size_t)(end - line) >= len; line++)
		if (memcmp(line, what, len) == 0)
			return true;
	return false;
}

struct mapping {
	uint64_t start;
	bool shared;
};

/* "start-end rwxs ...". */
static enum ht_coop_check head_check(struct mapping *m, const char *line, const char *end)
{
	const char *perms = memchr(line, ' ', (size_t)(end - line));

	m->start = 0;
	for (; line < end && *line != '-'; line++)
		m->start =
			m->start << 4 | (uint64_t)(*line <= '9' ? *line - '0' : *line - 'a' + 10);
	if (!perms || end - perms < 5)
		return HT_COOP_UNKNOWN;
	m->shared = perms[4] == 's';
	return has(perms, end, "[io_uring]") || has(perms, end, " /[aio]") ? HT_COOP_KERNEL_WRITES
									   : HT_COOP_SAFE;
}

static enum ht_coop_check flags_check(
	const struct mapping *m, const char *line, const char *end, uint64_t *data)
{
	if (has(line, end, " ht") && !m->shared)
		return HT_COOP_HUGE_PAGES;
	if (has(line, end, " um") || has(line, end, " uw") || has(line, end, " ui"))
		return HT_COOP_USERFAULT;
	if (!has(line, end, " wf"))
		return HT_COOP_SAFE;
	if (data[0] == WIPED_MAX)
		return HT_COOP_UNKNOWN;
	data[++data[0]] = m->start;
	return HT_COOP_SAFE;
}

static enum ht_coop_check mappings_read(struct lines *l, uint64_t *data)
{
	enum ht_coop_check is = HT_COOP_SAFE;
	struct mapping m = { 0 };
	const char *line, *end;
	bool any = false;
	int rc = 0;

	data[0] = 0;
	while (is == HT_COOP_SAFE && (rc = line_next(l, &line, &end)) > 0) {
		any = true;
		if (end > line && (*line < 'A' || *line > 'Z'))
			is = head_check(&m, line, end);
		else if (has(line, end, "VmFlags:"))
			is = flags_check(&m, line, end, data);
	}
	return rc < 0 || !any ? HT_COOP_UNKNOWN : is;
}

static enum ht_coop_check mappings_check(uint64_t *data)
{
	struct lines l = { .fd = open_own("/proc/thread-self/smaps", 0),
		.text = (char *)data + text_at };
	enum ht_coop_check is;

	if (l.fd < 0)
		return HT_COOP_UNKNOWN;
	is = mappings_read(&l, data);
	call(SYS_close, l.fd, 0, 0, 0, 0);
	return is;
}

/* ---- descriptors ---- */

struct entry {
	uint64_t inode, next;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

static bool reads_directly(const struct entry *e)
{
	const char *p = e->name;
	long fd = 0, flags;

	for (; *p >= '0' && *p <= '9'; p++)
		fd = fd * 10 + (*p - '0');
	if (*p != '\0')
		return false; /* "." */
	flags = call(SYS_fcntl, fd, F_GETFL, 0, 0, 0);
	return flags >= 0 && (flags & O_DIRECT);
}

static enum ht_coop_check entries_check(int dir, char *text)
{
	size_t count = 0;
	long got;

	while ((got = call(SYS_getdents64, dir, call_pointer(text), (long)text_bytes, 0, 0)) > 0)
		for (long at = 0; at < got; count++) {
			const struct entry *e = (const struct entry *)(const void *)(text + at);

			if (reads_directly(e))
				return HT_COOP_KERNEL_WRITES;
			if (count > FDS_MAX || e->bytes == 0)
				return HT_COOP_UNKNOWN;
			at += e->bytes;
		}
	return got == 0 && count > 0 ? HT_COOP_SAFE : HT_COOP_UNKNOWN;
}

static enum ht_coop_check descriptors_check(char *text)
{
	int dir = open_own("/proc/thread-self/fd", O_DIRECTORY);
	enum ht_coop_check is;

	if (dir < 0)
		return HT_COOP_UNKNOWN;
	is = entries_check(dir, text);
	call(SYS_close, dir, 0, 0, 0, 0);
	return is;
}

/* ---- its children ---- */

static long link_read(const char *path, char *text)
{
	return call(SYS_readlinkat, AT_FDCWD, call_pointer(path), call_pointer(text), LINK_MAX, 0);
}

static enum ht_coop_check namespace_check(char *text)
{
	char *other = text + LINK_MAX;
	long n = link_read("/proc/thread-self/ns/pid", text);

	if (n <= 0)
		return HT_COOP_UNKNOWN;
	if (link_read("/proc/thread-self/ns/pid_for_children", other) == n &&
		memcmp(text, other, (size_t)n) == 0)
		return HT_COOP_SAFE;
	return HT_COOP_OTHER_NAMESPACE;
}

enum ht_coop_check self_check(uint64_t *data)
{
	char *text = (char *)data + text_at;
	enum ht_coop_check is = mappings_check(data);

	if (is == HT_COOP_SAFE)
		is = descriptors_check(text);
	return is == HT_COOP_SAFE ? namespace_check(text) : is;
}

#endif
