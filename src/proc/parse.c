/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parsers of /proc/PID/{stat,status,smaps_rollup}: pure functions over a buffer of any bytes,
 * called by proc.c and by tests, on any thread. The fields are described in proc(5).
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include "src/proc/proc.h"

/* The input that is not parsed yet. */
struct cursor {
	const char *at, *end;
};

static void cursor_blanks(struct cursor *c)
{
	while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
		c->at++;
}

/* One decimal number, which must end at a blank or the end. */
static bool cursor_number(struct cursor *c, uint64_t *value)
{
	const char *first = c->at;
	uint64_t sum = 0;

	for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
		if (__builtin_mul_overflow(sum, 10u, &sum) ||
			__builtin_add_overflow(sum, (uint64_t)(*c->at - '0'), &sum))
			return false;
	}
	if (c->at == first || (c->at < c->end && !strchr(" \t\n", *c->at)))
		return false;
	*value = sum;
	return true;
}

static void cursor_word_skip(struct cursor *c)
{
	while (c->at < c->end && *c->at != ' ' && *c->at != '\n')
		c->at++;
}

/* Field numbers as in proc(5). Parsing begins after the command's name, so the first one is 3. */
enum {
	STAT_STATE = 3,
	STAT_PPID = 4,
	STAT_FLAGS = 9,
	STAT_MINFLT = 10,
	STAT_MAJFLT = 12,
	STAT_UTIME = 14,
	STAT_STIME = 15,
	STAT_THREADS = 20,
	STAT_START = 22, /* the last that must be there */
	STAT_EXIT_SIGNAL = 38
};

static void stat_take(struct proc_reading *r, unsigned field, uint64_t value)
{
	switch (field) {
	case STAT_PPID:
		r->ppid = (pid_t)value;
		break;
	case STAT_FLAGS:
		r->flags = (uint32_t)value;
		break;
	case STAT_MINFLT:
		r->minor_faults = value;
		break;
	case STAT_MAJFLT:
		r->major_faults = value;
		break;
	case STAT_UTIME:
		r->cpu_ticks = value;
		break;
	case STAT_STIME:
		r->cpu_ticks += value;
		break;
	case STAT_THREADS:
		r->threads = (uint32_t)value;
		break;
	case STAT_START:
		r->start_ticks = value;
		break;
	case STAT_EXIT_SIGNAL:
		r->ends_unsaid = value == 0;
		break;
	default:
		break;
	}
}

/*
 * "PID (COMM) S PPID ...": the program chooses COMM, which may contain blanks, parentheses and
 * newlines, so it ends at the last parenthesis of the buffer.
 */
static bool stat_comm(struct cursor *c, struct proc_reading *r)
{
	const char *open = memchr(c->at, '(', (size_t)(c->end - c->at));
	const char *close = memrchr(c->at, ')', (size_t)(c->end - c->at));
	size_t len;

	if (!open || !close || close < open)
		return false;
	len = (size_t)(close - open - 1);
	if (len >= sizeof(r->comm))
		len = sizeof(r->comm) - 1;
	memcpy(r->comm, open + 1, len);
	r->comm[len] = '\0';
	c->at = close + 1;
	return true;
}

int proc_parse_stat(const char *buf, size_t len, struct proc_reading *r)
{
	struct cursor c = { buf, buf + len };
	struct proc_reading read = *r;
	unsigned field;

	if (len == 0 || !stat_comm(&c, &read))
		return -EINVAL;
	cursor_blanks(&c);
	if (c.at == c.end || !strchr("RSDTtZXxKWPI", *c.at) || !*c.at)
		return -EINVAL;
	read.state = *c.at++;
	for (field = STAT_STATE + 1; field <= STAT_EXIT_SIGNAL; field++) {
		uint64_t value = 0;

		cursor_blanks(&c);
		if ((c.at == c.end || *c.at == '\n') && field > STAT_START)
			break;
		if (c.at == c.end || *c.at == '\n')
			return -EINVAL;
		if (*c.at == '-')
			cursor_word_skip(&c); /* tpgid, priority, nice: not needed */
		else if (cursor_number(&c, &value))
			stat_take(&read, field, value);
		else
			return -EINVAL;
	}
	*r = read;
	return 0;
}

/* "Name:\t 123 kB": the lines that are read, their destination and unit. */
struct line_field {
	const char *name;
	size_t offset;
	unsigned bytes; /* width of the member */
	unsigned unit;
};

#define LINE_FIELD(name, member, unit)                                                             \
	{                                                                                          \
		name, offsetof(struct proc_reading, member),                                       \
			sizeof(((struct proc_reading *)0)->member), unit                           \
	}

static const struct line_field status_fields[] = {
	LINE_FIELD("PPid", ppid, 1),
	LINE_FIELD("Uid", uid, 1), /* real, effective, saved, filesystem: the first */
	LINE_FIELD("VmHWM", hwm_bytes, 1024), LINE_FIELD("VmRSS", rss_bytes, 1024),
	LINE_FIELD("VmSwap", swap_bytes, 1024), LINE_FIELD("Threads", threads, 1),
	LINE_FIELD("Seccomp", filters, 1),
	LINE_FIELD("Seccomp_filters", filters, 1), /* follows that line and replaces it */
};

static const struct line_field rollup_fields[] = {
	LINE_FIELD("Pss", pss_bytes, 1024),
};

static bool line_store(const struct line_field *f, uint64_t value, struct proc_reading *r)
{
	char *member = (char *)r + f->offset;
	uint32_t narrow = (uint32_t)value;

	if (__builtin_mul_overflow(value, f->unit, &value))
		return false;
	if (f->bytes == sizeof(value))
		memcpy(member, &value, sizeof(value));
	else
		memcpy(member, &narrow, sizeof(narrow));
	return true;
}

static bool line_parse(
	const char *line, size_t len, const struct line_field *f, struct proc_reading *r)
{
	size_t name = strlen(f->name);
	struct cursor c = { line, line + len };
	uint64_t value;

	if (len <= name || memcmp(line, f->name, name) != 0 || line[name] != ':')
		return false;
	c.at += name + 1;
	cursor_blanks(&c);
	return cursor_number(&c, &value) && line_store(f, value, r);
}

/* Number of fields found. A last line without newline was cut off and is ignored. */
static unsigned lines_parse(const char *buf, size_t len, const struct line_field *fields,
	size_t nfields, struct proc_reading *r)
{
	const char *line = buf, *end = buf + len, *newline;
	unsigned found = 0;

	while (line < end && (newline = memchr(line, '\n', (size_t)(end - line)))) {
		for (size_t i = 0; i < nfields; i++)
			found += line_parse(line, (size_t)(newline - line), &fields[i], r);
		line = newline + 1;
	}
	return found;
}

int proc_parse_status(const char *buf, size_t len, struct proc_reading *r)
{
	size_t n = sizeof(status_fields) / sizeof(status_fields[0]);

	return lines_parse(buf, len, status_fields, n, r) ? 0 : -EINVAL;
}

uint64_t proc_parse_pending(const char *buf, size_t len)
{
	const char *at = memmem(buf, len, "\nSigPnd:\t", 9), *end = buf + len;
	uint64_t mask = 0;

	for (at = at ? at + 9 : end; at < end && isxdigit((unsigned char)*at); at++)
		mask = mask << 4 | (uint64_t)(*at <= '9' ? *at - '0' : (*at | 32) - 'a' + 10);
	return at < end ? mask : 0; /* otherwise it was cut off */
}

int proc_parse_smaps_rollup(const char *buf, size_t len, struct proc_reading *r)
{
	size_t n = sizeof(rollup_fields) / sizeof(rollup_fields[0]);

	if (!lines_parse(buf, len, rollup_fields, n, r))
		return -EINVAL;
	r->have_pss = true;
	return 0;
}
