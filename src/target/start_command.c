/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How to start a program under heaptop (start_command.h). Main thread. */
#include "src/target/start_command.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/proc/proc.h"
#include "src/util/text.h"

#define PREFIX	  "heaptop -- "
#define NAMED_MAX 1024 /* bytes of a path that names a program of several names */

/* ---- one word ----------------------------------------------------------------------------- */

/* Bytes that no shell takes for more than they are. */
static bool is_plain(char c)
{
	return isalnum((unsigned char)c) || strchr("_@%+=:,./-", c) != NULL;
}

static bool is_plain_word(const char *word, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!word[i] || !is_plain(word[i]))
			return false;
	return n > 0;
}

/* Whether cleaning leaves it as it is. */
static bool is_clean(const char *word, size_t n)
{
	char *clean = text_clean_copy(word, n);
	bool same = clean && strlen(clean) == n && memcmp(clean, word, n) == 0;

	free(clean);
	return same;
}

/* What one byte becomes between the quotes. */
static const char *quoted(char c, bool clean, char room[8])
{
	if (clean && c == '\'')
		return "'\\''";
	if (clean || (c >= ' ' && c <= '~' && c != '\'' && c != '\\')) {
		room[0] = c;
		room[1] = '\0';
	} else {
		snprintf(room, 8, "\\%03o", (unsigned)(unsigned char)c);
	}
	return room;
}

size_t start_command_quote(char *out, size_t cap, const char *word, size_t n)
{
	bool clean = is_clean(word, n);
	size_t used;
	char room[8];

	if (is_plain_word(word, n)) {
		used = (size_t)snprintf(out, cap, "%.*s", (int)n, word);
		return used < cap ? used : 0;
	}
	used = (size_t)snprintf(out, cap, "%s'", clean ? "" : "$");
	for (size_t i = 0; i < n && used < cap; i++)
		used += (size_t)snprintf(
			out + used, cap - used, "%s", quoted(word[i], clean, room));
	if (used < cap)
		used += (size_t)snprintf(out + used, cap - used, "'");
	return used < cap ? used : 0;
}

/* ---- the command -------------------------------------------------------------------------- */

struct command {
	char *line; /* owned: the arguments, each terminated */
	size_t bytes;
	char exe[PATH_MAX];
};

/* The kernel says so of a file that was removed, or replaced as by an upgrade. */
static void deleted_strip(char *path)
{
	static const char deleted[] = " (deleted)";
	size_t n = strlen(path), end = sizeof(deleted) - 1;

	if (n > end && strcmp(path + n - end, deleted) == 0)
		path[n - end] = '\0';
}

static int command_read(pid_t tid, struct command *c)
{
	char path[40];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)tid);
	n = readlink(path, c->exe, sizeof(c->exe) - 1);
	c->exe[n > 0 ? n : 0] = '\0';
	deleted_strip(c->exe);
	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)tid);
	c->line = proc_file_read_all(path, &c->bytes);
	if (!c->line)
		return -errno;
	return c->bytes ? 0 : -ENODATA;
}

/* A program that shows its state there ("nginx: worker process") has left one argument. */
static bool is_rewritten(const struct command *c)
{
	size_t first = strlen(c->line), end = c->bytes;

	while (end && !c->line[end - 1])
		end--;
	return first >= end && memchr(c->line, ' ', first) && c->exe[0] &&
	       strcmp(c->line, c->exe) != 0;
}

/* A program of several names (redis-server is redis-check-rdb) does what its own name in the
 * command line says, also in front of a state ("nginx: worker"). *exe becomes that, if it lies
 * beside. */
static void name_restore(struct command *c, pid_t tid)
{
	const char *slash = strrchr(c->exe, '/'), *name = c->line;
	size_t n = strcspn(name, " :");
	char path[NAMED_MAX], exe[40], there[NAMED_MAX + 40];
	struct stat is, its;
	int bytes;

	if (!slash || n == 0 || memchr(name, '/', n))
		return;
	bytes = snprintf(
		path, sizeof(path), "%.*s/%.*s", (int)(slash - c->exe), c->exe, (int)n, name);
	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)tid);
	snprintf(there, sizeof(there), "/proc/%d/root%s", (int)tid, path);
	if (bytes < (int)sizeof(path) && stat(exe, &is) == 0 && stat(there, &its) == 0 &&
		is.st_dev == its.st_dev && is.st_ino == its.st_ino)
		memcpy(c->exe, path, (size_t)bytes + 1);
}

/* The program: as it was called, if that is a path or a name that a shell finds again. */
static const char *program(const struct command *c)
{
	const char *name = strrchr(c->exe, '/');

	if (c->line[0] == '/' || !name)
		return c->line;
	return !is_rewritten(c) && !strcmp(c->line, name + 1) ? c->line : c->exe;
}

static size_t add(char *out, size_t cap, size_t used, const char *word, size_t n)
{
	size_t got;

	if (used == 0 || used + 1 >= cap)
		return 0;
	got = start_command_quote(out + used, cap - used, word, n);
	return got ? used + got : 0;
}

int start_command(pid_t pid, char *out, size_t cap)
{
	struct command c = { 0 };
	pid_t tid = proc_memory_tid(pid);
	int rc = command_read(tid, &c);
	size_t used = (size_t)snprintf(out, cap, "%s", PREFIX);

	if (rc == 0)
		name_restore(&c, tid);
	if (rc == 0) {
		const char *first = program(&c);
		const char *at = c.line + strlen(c.line) + 1, *end = c.line + c.bytes;

		used = add(out, cap, used < cap ? used : 0, first, strlen(first));
		for (; used && at < end && !is_rewritten(&c); at += strlen(at) + 1) {
			if (used + 1 < cap)
				out[used++] = ' ';
			used = add(out, cap, used, at, strnlen(at, (size_t)(end - at)));
		}
		rc = used ? 0 : -E2BIG;
	}
	free(c.line);
	return rc;
}
