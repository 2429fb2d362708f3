/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program's output as lines (output.h). A terminal's cursor movement is not followed: escape
 * sequences are dropped, a carriage return starts the line again, a backspace takes one character
 * back. That is right for logs, prompts and progress bars.
 */
#include "src/target/output.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/util/error_hint.h"
#include "src/util/text.h"

#define LINES_MAX      10000u /* scrollback: some MB at worst */
#define LINE_MAX_BYTES 4096u

enum escape { TEXT, ESCAPE, CSI, STRING };

struct output {
	int fd;
	char *lines[LINES_MAX]; /* a ring */
	size_t first, count;
	char now[LINE_MAX_BYTES]; /* the line being written, raw */
	size_t now_len;
	bool restart; /* after a carriage return: the next character restarts the line */
	enum escape escape;
	char clean[LINE_MAX_BYTES * 3 + 1];
};

struct output *output_new(int fd)
{
	struct output *o = calloc(1, sizeof(*o));

	if (o)
		o->fd = fd;
	return o;
}

void output_free(struct output *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < LINES_MAX; i++)
		free(o->lines[i]);
	free(o);
}

static void line_end(struct output *o)
{
	size_t at = (o->first + o->count) % LINES_MAX;

	text_clean(o->clean, sizeof(o->clean), o->now, o->now_len);
	free(o->lines[at]);
	o->lines[at] = strdup(o->clean);
	if (o->count < LINES_MAX)
		o->count++;
	else
		o->first = (o->first + 1) % LINES_MAX;
	o->now_len = 0;
	o->restart = false;
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* The offset of the line's last character. UTF-8: up to three bytes follow its first. */
static size_t last_character(const struct output *o)
{
	size_t at = o->now_len;

	for (int i = 0; i < 4 && at > 0 && is_continuation(o->now[--at]); i++)
		;
	return at;
}

/* The line is full before its last character is complete: moves that one to the next line. */
static void line_break(struct output *o, char c)
{
	size_t at = is_continuation(c) ? last_character(o) : o->now_len, kept = o->now_len - at;
	char held[4];

	memcpy(held, o->now + at, kept);
	o->now_len = at;
	line_end(o);
	memcpy(o->now, held, kept);
	o->now_len = kept;
}

static void put(struct output *o, char c)
{
	if (o->restart)
		o->now_len = 0;
	o->restart = false;
	if (o->now_len == sizeof(o->now))
		line_break(o, c);
	o->now[o->now_len++] = c;
}

static void text_byte(struct output *o, char c)
{
	switch (c) {
	case '\n':
		line_end(o);
		break;
	case '\r':
		o->restart = true;
		break;
	case '\b':
		o->now_len = last_character(o);
		break;
	case '\t':
		do
			put(o, ' ');
		while (o->now_len % 8);
		break;
	case '\033':
		o->escape = ESCAPE;
		break;
	default:
		if ((unsigned char)c >= ' ')
			put(o, c);
	}
}

/*
 * ECMA-48: ESC [ ... final byte; ESC ] and similar strings run to BEL or ESC \. ESC restarts the
 * sequence anywhere; NUL is ignored.
 */
static void escape_byte(struct output *o, char c)
{
	if (c == '\0')
		return;
	if (c == '\033')
		o->escape = ESCAPE;
	else if (o->escape == ESCAPE)
		o->escape = c == '['		   ? CSI
			    : strchr("]P^_X", c)   ? STRING
			    : c >= ' ' && c <= '/' ? ESCAPE
						   : TEXT;
	else if (o->escape == CSI)
		o->escape = c >= '@' && c <= '~' ? TEXT : CSI;
	else if (c == '\a')
		o->escape = TEXT;
}

bool output_read(struct output *o, bool *ended)
{
	char buf[4096];
	bool any = false;

	*ended = false;
	/* A program that writes faster than we read must not keep us here. */
	for (int round = 0; round < 32; round++) {
		ssize_t got = read(o->fd, buf, sizeof(buf));

		if (got < 0 && errno == EINTR)
			continue;
		/* A pty whose other side is closed reads as EIO. */
		*ended = got == 0 || (got < 0 && errno != EAGAIN);
		if (got <= 0)
			break;
		for (ssize_t i = 0; i < got; i++)
			if (o->escape == TEXT)
				text_byte(o, buf[i]);
			else
				escape_byte(o, buf[i]);
		any = true;
	}
	return any;
}

size_t output_lines(const struct output *o)
{
	return o->count + (o->now_len > 0);
}

const char *output_line(const struct output *o, size_t i)
{
	if (i < o->count)
		return o->lines[(o->first + i) % LINES_MAX] ?: "";
	text_clean((char *)(uintptr_t)o->clean, sizeof(o->clean), o->now, o->now_len);
	return o->clean;
}

/* ---- a program that outlives us ---- */

static void close_others(int fd)
{
	struct rlimit most = { .rlim_cur = 1024 };

	if ((fd == 0 || close_range(0, (unsigned)fd - 1, 0) == 0) &&
		close_range((unsigned)fd + 1, ~0u, 0) == 0)
		return;
	getrlimit(RLIMIT_NOFILE, &most); /* a kernel before Linux 5.9 */
	for (int other = 0; (rlim_t)other < most.rlim_cur; other++)
		if (other != fd)
			close(other);
}

static void drain(int fd)
{
	char buf[4096];

	for (;;) {
		struct pollfd p = { fd, POLLIN, 0 };

		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			break;
		if (read(fd, buf, sizeof(buf)) <= 0 && errno != EAGAIN && errno != EINTR)
			break;
	}
}

void output_leave(int fd, pid_t program)
{
	char what[128];
	char line[256];
	pid_t pid = fork();

	if (pid > 0)
		return;
	if (pid < 0) {
		snprintf(what, sizeof(what),
			"cannot start a process that drains the terminal of %d, so heaptop stays "
			"until that program ends",
			(int)program);
		fprintf(stderr, "heaptop: %s\n", error_hint_line(line, sizeof(line), what, errno));
		drain(fd);
		return;
	}
	setsid();
	signal(SIGHUP, SIG_IGN);
	close_others(fd);
	drain(fd);
	_exit(0);
}
