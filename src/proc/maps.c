/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parses lines of /proc/PID/maps: "START-END PERMS OFFSET DEV INODE PATH", from proc(5). A pure
 * function over a buffer of any bytes; any thread.
 */
#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>
#include "src/proc/proc.h"

static int maps_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* Reads a number of `base` up to `stop`, and skips `stop`. */
static bool maps_number(const char **at, const char *end, unsigned base, char stop, uint64_t *value)
{
	const char *first = *at, *p;
	uint64_t sum = 0;

	for (p = first; p < end && *p != stop; p++) {
		int digit = maps_digit(*p);

		if (digit < 0 || (unsigned)digit >= base)
			return false;
		if (__builtin_mul_overflow(sum, base, &sum) ||
			__builtin_add_overflow(sum, (uint64_t)digit, &sum))
			return false;
	}
	if (p == first || p == end)
		return false;
	*at = p + 1;
	*value = sum;
	return true;
}

static bool maps_perms(const char **at, const char *end, char perms[5])
{
	static const char *const allowed[] = { "r-", "w-", "x-", "sp" };

	if (end - *at < 5 || (*at)[4] != ' ')
		return false;
	for (int i = 0; i < 4; i++) {
		char c = (*at)[i];

		if (c != allowed[i][0] && c != allowed[i][1])
			return false;
		perms[i] = c;
	}
	perms[4] = '\0';
	*at += 5;
	return true;
}

/* The inode ends the line when the mapping has no name. */
static bool maps_inode(const char **at, const char *end, uint64_t *inode)
{
	const char *space = memchr(*at, ' ', (size_t)(end - *at));
	char digits[24];
	const char *p = digits;
	size_t n = (size_t)((space ? space : end) - *at);

	if (n >= sizeof(digits) - 1)
		return false;
	memcpy(digits, *at, n);
	digits[n] = ' ';
	*at += n;
	return maps_number(&p, digits + n + 1, 10, ' ', inode);
}

static bool maps_line(const char *at, const char *end, struct proc_map *m)
{
	uint64_t major, minor;

	if (!maps_number(&at, end, 16, '-', &m->start) ||
		!maps_number(&at, end, 16, ' ', &m->end) || !maps_perms(&at, end, m->perms) ||
		!maps_number(&at, end, 16, ' ', &m->offset) ||
		!maps_number(&at, end, 16, ':', &major) ||
		!maps_number(&at, end, 16, ' ', &minor) || !maps_inode(&at, end, &m->inode) ||
		m->start >= m->end)
		return false;
	m->device = makedev((unsigned)major, (unsigned)minor);
	while (at < end && *at == ' ')
		at++;
	m->path = at;
	m->path_len = (size_t)(end - at);
	return true;
}

int proc_parse_map(const char *buf, size_t len, size_t *pos, struct proc_map *m)
{
	const char *line, *newline, *end;

	if (*pos >= len)
		return 0;
	line = buf + *pos;
	newline = memchr(line, '\n', len - *pos);
	end = newline ? newline : buf + len;
	*pos = (size_t)(end - buf) + (newline != NULL);
	return maps_line(line, end, m) ? 1 : -EINVAL;
}
