/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The viewer's side of a program's terminal (output.h): bytes to and from it. */
#include "src/target/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/target/terminal.h"
#include "src/util/error_hint.h"

#define TYPED_MAX 65536u /* that the program has not taken */

struct output {
	int fd;
	struct terminal *terminal;
};

struct output *output_new(int fd, int rows, int cols)
{
	struct output *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	*o = (struct output){ fd, terminal_new(rows, cols) };
	if (o->terminal)
		return o;
	free(o);
	return NULL;
}

void output_free(struct output *o)
{
	if (!o)
		return;
	terminal_free(o->terminal);
	free(o);
}

/* As much as the program's terminal takes; the rest waits for the next time. */
static void answers_write(struct output *o)
{
	struct strbuf *answers = terminal_answers(o->terminal);
	ssize_t n = answers->len ? write(o->fd, answers->data, answers->len) : 0;

	if (n <= 0)
		return;
	memmove(answers->data, answers->data + n, answers->len - (size_t)n);
	answers->len -= (size_t)n;
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
		terminal_feed(o->terminal, buf, (size_t)got);
		any = true;
	}
	if (!*ended)
		answers_write(o);
	return any;
}

void output_resize(struct output *o, int rows, int cols)
{
	struct winsize size = { .ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols };

	ioctl(o->fd, TIOCSWINSZ, &size);
	terminal_resize(o->terminal, rows, cols);
}

size_t output_lines(const struct output *o)
{
	return terminal_lines(o->terminal);
}

uint64_t output_dropped(const struct output *o)
{
	return terminal_dropped(o->terminal);
}

void output_line(struct output *o, size_t i, struct term_line *out)
{
	terminal_line(o->terminal, i, out);
}

bool output_cursor(const struct output *o, size_t *line, unsigned *cell)
{
	return terminal_cursor(o->terminal, line, cell);
}

void output_type(struct output *o, const char *bytes, size_t n)
{
	struct strbuf *answers = terminal_answers(o->terminal);

	if (answers->len < TYPED_MAX)
		strbuf_add(answers, bytes, n);
	answers_write(o);
}

void output_press(struct output *o, enum term_press key)
{
	terminal_press(o->terminal, key);
	answers_write(o);
}

/* ---- a program that outlives us ---- */

static int close_between(int after, int before)
{
	if (before - after < 2)
		return 0;
	return close_range((unsigned)after + 1, (unsigned)before - 1, 0);
}

static void close_others(int low, int high)
{
	struct rlimit most = { .rlim_cur = 1024 };

	if (close_between(-1, low) == 0 && close_between(low, high) == 0 &&
		close_range((unsigned)high + 1, ~0u, 0) == 0)
		return;
	getrlimit(RLIMIT_NOFILE, &most); /* a kernel before Linux 5.9 */
	for (int other = 0; (rlim_t)other < most.rlim_cur; other++)
		if (other != low && other != high)
			close(other);
}

static void drain(int fd)
{
	char buf[4096];

	for (;;) {
		struct pollfd p = { fd, POLLIN, 0 };
		ssize_t got;

		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			break;
		got = read(fd, buf, sizeof(buf));
		if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
			break;
	}
}

/*
 * The new process shares the locks of our files until it has closed them, and nobody removes a
 * segment that is locked. So it closes its end of `closed` after all others, and we wait for that.
 */
static void closed_await(int closed[2])
{
	char none;

	close(closed[1]);
	while (read(closed[0], &none, 1) < 0 && errno == EINTR)
		;
	close(closed[0]);
}

static void closed_say(int fd, int closed)
{
	if (closed < 0) {
		close_others(fd, fd);
		return;
	}
	close_others(fd < closed ? fd : closed, fd < closed ? closed : fd);
	close(closed);
}

void output_leave(int fd, pid_t program)
{
	char what[128];
	char line[256];
	int closed[2] = { -1, -1 };
	bool waits = pipe2(closed, O_CLOEXEC) == 0; /* without: locks may stay for a moment */
	pid_t pid = fork();

	if (pid != 0 && waits)
		closed_await(closed);
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
	closed_say(fd, closed[1]);
	drain(fd);
	_exit(0);
}
