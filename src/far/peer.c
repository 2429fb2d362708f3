/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reaching an agent (peer.h). */
#include "src/far/peer.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/util/error_hint.h"
#include "src/util/text.h"

#define ARGUMENTS_MAX 12
#define PAUSE_MS      20
#define END_WAITS     500 /* of 20 ms, to detach: then the command gets SIGTERM, and as many */
#define LOST_WAITS    25 /* the same of one that does not answer any more */
#define NOT_RUN	      126 /* statuses of a command that cannot be run, */
#define NOT_FOUND     127 /* or is not there */
#define SAID_READS    16 /* at a time: who writes without end is not listened to without end */

extern char **environ;

/* ---- names ---- */

static int is_plain(const char *text, const char *also)
{
	if (!*text || *text == '-')
		return 0;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr(also, *text))
			return 0;
	return 1;
}

int far_place_check_process(const char *text)
{
	return is_plain(text, "._+-");
}

static int refuse(const char **why, const char *line)
{
	*why = line;
	return -EINVAL;
}

/* Those around an address of IPv6, which ssh does not take. */
static void brackets_remove(char *name)
{
	char *end = *name == '[' ? strchr(name, ']') : NULL;

	if (!end || end[1])
		return;
	*end = 0;
	memmove(name, name + 1, strlen(name));
}

/* [USER@]HOST[:PORT] */
static int host_parse(char *host, struct far_place *out, const char **why)
{
	char *user_end = strrchr(host, '@'), *name = user_end ? user_end + 1 : host;
	char *after = *name == '[' ? strchr(name, ']') : name;
	char *port = after ? strrchr(after, ':') : NULL;

	if (port) {
		*port = 0;
		out->port = port + 1;
		if (!is_plain(out->port, "") ||
			strspn(out->port, "0123456789") != strlen(out->port))
			return refuse(why, "the port of an ssh host is a number");
	}
	if (*host == '-' || *name == '-' || !is_plain(name, "._-[]:%"))
		return refuse(why, "not a valid host name");
	if (user_end &&
		strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			     "._-+@") < (size_t)(user_end - host))
		return refuse(why, "not a valid user name");
	brackets_remove(name);
	if (!*name || *name == '-')
		return refuse(why, "not a valid host name");
	out->host = host;
	return 0;
}

int far_place_parse(char *url, struct far_place *out, const char **why)
{
	static const char scheme[] = "ssh://";
	char *host = url + sizeof(scheme) - 1, *slash;

	if (strncmp(url, scheme, sizeof(scheme) - 1) != 0)
		return refuse(why, "a process on another machine is given as ssh://HOST/PID");
	slash = strchr(host, '/');
	if (!slash || !slash[1])
		return refuse(why, "the process is missing: ssh://HOST/PID");
	*slash = 0;
	out->process = slash + 1;
	if (!far_place_check_process(out->process))
		return refuse(why, "after the host comes a pid or the name of a program");
	return host_parse(host, out, why);
}

/* ---- a command ---- */

/* ssh joins its arguments with spaces for the shell on the other side, which is why they are
 * checked names; --via is a command of the user's own shell. */
static int arguments_make(const struct far_place *w, const char **v, char *via, size_t cap)
{
	size_t n = 0;

	if (w->via) {
		if (snprintf(via, cap, "%s \"$@\"", w->via) >= (int)cap)
			return -E2BIG;
		v[n++] = "/bin/sh";
		v[n++] = "-c";
		v[n++] = via;
		v[n++] = "heaptop";
	} else {
		v[n++] = "ssh";
		if (w->port) {
			v[n++] = "-p";
			v[n++] = w->port;
		}
		v[n++] = "-T";
		v[n++] = "--";
		v[n++] = w->host;
	}
	v[n++] = w->agent;
	v[n++] = w->steer ? "--serve=steer" : "--serve=-";
	v[n++] = w->process;
	v[n] = NULL;
	return 0;
}

static void pair_close(int pair[2])
{
	for (int i = 0; i < 2; i++)
		if (pair[i] >= 0)
			close(pair[i]);
}

/* The command gets the far ends of three pipes; the others are closed by exec. */
static int command_spawn(struct far_peer *p, const char *const *v, int pipes[3][2])
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, defaults;
	int rc;

	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipes[0][0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, pipes[1][1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, pipes[2][1], STDERR_FILENO);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	rc = posix_spawnp(
		&p->pid, v[0], &actions, &attributes, (char *const *)(uintptr_t)v, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return -rc;
}

static int command_open(struct far_peer *p, const struct far_place *where, char *message)
{
	int pipes[3][2] = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
	const char *v[ARGUMENTS_MAX];
	char via[4096], what[128];
	int rc = arguments_make(where, v, via, sizeof(via));

	for (int i = 0; i < 3 && rc == 0; i++)
		rc = pipe2(pipes[i], O_CLOEXEC) == 0 ? 0 : -errno;
	if (rc == 0)
		rc = command_spawn(p, v, pipes);
	if (rc == 0) {
		p->out = pipes[0][1];
		p->in = pipes[1][0];
		p->said = pipes[2][0];
		pipes[0][1] = pipes[1][0] = pipes[2][0] = -1;
		fcntl(p->said, F_SETFL, O_NONBLOCK);
	} else {
		snprintf(
			what, sizeof(what), "cannot start %.100s", where->via ? where->via : "ssh");
		error_hint_line(message, FAR_PEER_MESSAGE, what, rc);
	}
	for (int i = 0; i < 3; i++)
		pair_close(pipes[i]);
	return rc;
}

/* ---- sockets ---- */

static int unix_open(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd, rc;

	if (strlen(path) >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	strcpy(a.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
		return fd < 0 ? -errno : fd;
	rc = -errno;
	close(fd);
	return rc;
}

static int address_try(const struct addrinfo *a)
{
	const int yes = 1;
	int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol), rc;

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
	if (fd < 0 || connect(fd, a->ai_addr, a->ai_addrlen) == 0)
		return fd < 0 ? -errno : fd;
	rc = -errno;
	close(fd);
	return rc;
}

static int tcp_open(const char *address, const char *service, char *message)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *all = NULL;
	int rc = -EHOSTUNREACH, failure;

	failure = getaddrinfo(address, service, &hints, &all);
	if (failure != 0) {
		snprintf(message, FAR_PEER_MESSAGE, "cannot find %.90s: %.120s", address,
			failure == EAI_SYSTEM ? strerror(errno) : gai_strerror(failure));
		return rc;
	}
	for (const struct addrinfo *a = all; a && rc < 0; a = a->ai_next)
		rc = address_try(a);
	freeaddrinfo(all);
	return rc;
}

static int token_send(int fd, const char *token)
{
	char line[256];
	int n = snprintf(line, sizeof(line), "%s\n", token);

	if (n >= (int)sizeof(line))
		return -EMSGSIZE;
	return send(fd, line, (size_t)n, MSG_NOSIGNAL) == n ? 0 : -EPIPE;
}

static int socket_open(struct far_peer *p, const struct far_place *w, char *message)
{
	char what[128];
	int fd, rc;

	message[0] = 0;
	fd = w->socket ? unix_open(w->socket) : tcp_open(w->address, w->service, message);
	rc = fd < 0 ? fd : w->token ? token_send(fd, w->token) : 0;
	p->in = p->out = fd;
	if (rc == 0 || message[0])
		return rc;
	snprintf(what, sizeof(what), "cannot connect to %.90s", w->socket ? w->socket : w->address);
	error_hint_line(message, FAR_PEER_MESSAGE, what, rc);
	return rc;
}

/* ---- both ---- */

int far_peer_open(struct far_peer *p, const struct far_place *where, char *message)
{
	int rc;

	*p = (struct far_peer){ .in = -1, .out = -1, .said = -1 };
	rc = where->host || where->via ? command_open(p, where, message)
				       : socket_open(p, where, message);
	if (rc != 0)
		far_peer_close(p, true);
	return rc;
}

static void line_keep(struct far_peer *p, const char *from, const char *to)
{
	if (to > from)
		text_clean(p->last, sizeof(p->last), from, (size_t)(to - from));
}

static ssize_t said_read(struct far_peer *p, char *buf, size_t cap, int wait_ms)
{
	struct pollfd f = { p->said, POLLIN, 0 };

	return p->said >= 0 && poll(&f, 1, wait_ms) > 0 ? read(p->said, buf, cap) : 0;
}

void far_peer_listen(struct far_peer *p, int wait_ms)
{
	char buf[4096];
	ssize_t n;

	for (int i = 0; i < SAID_READS && (n = said_read(p, buf, sizeof(buf), wait_ms)) > 0; i++) {
		const char *from = buf, *end = buf + n, *line;

		while ((line = memchr(from, '\n', (size_t)(end - from)))) {
			line_keep(p, from, line);
			from = line + 1;
		}
		line_keep(p, from, end);
	}
}

static bool command_await(pid_t pid, int waits, int *status)
{
	const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000 };

	for (int i = 0; i < waits; i++) {
		pid_t ended = waitpid(pid, status, WNOHANG);

		if (ended == pid || (ended < 0 && errno != EINTR))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* A command that does not notice that its input has ended gets a signal. It is never killed: an
 * agent may be detaching. */
static void command_end(pid_t pid, int waits)
{
	int status;

	if (command_await(pid, waits, &status))
		return;
	kill(pid, SIGTERM);
	command_await(pid, waits, &status);
}

bool far_peer_lacks_agent(struct far_peer *p, int wait_ms)
{
	int status = 0;

	if (p->pid <= 0 || !command_await(p->pid, wait_ms / PAUSE_MS + 1, &status))
		return false;
	p->pid = 0;
	return WIFEXITED(status) &&
	       (WEXITSTATUS(status) == NOT_RUN || WEXITSTATUS(status) == NOT_FOUND);
}

void far_peer_close(struct far_peer *p, bool lost)
{
	if (p->in >= 0)
		close(p->in);
	if (p->out >= 0 && p->out != p->in)
		close(p->out);
	if (p->said >= 0)
		close(p->said);
	if (p->pid > 0)
		command_end(p->pid, lost ? LOST_WAITS : END_WAITS);
	*p = (struct far_peer){ .in = -1, .out = -1, .said = -1 };
}
