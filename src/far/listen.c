/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sockets of an agent (listen.h). */
#include "src/far/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/util/clock.h"

#define SHORTAGE_MS 100 /* from one attempt to the next, where descriptors have run out */

#define BACKLOG 4

/* A socket that nobody listens on any more is in the way of a new one. */
static bool is_left_behind(const struct sockaddr_un *a)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	bool refused = fd >= 0 && connect(fd, (const struct sockaddr *)a, sizeof(*a)) != 0 &&
		       errno == ECONNREFUSED;
	struct stat st;

	if (fd >= 0)
		close(fd);
	return refused && lstat(a->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) &&
	       st.st_uid == geteuid();
}

static int bind_private(int fd, const struct sockaddr_un *a)
{
	mode_t mask = umask(0177);
	int rc = bind(fd, (const struct sockaddr *)a, sizeof(*a)) == 0 ? 0 : -errno;

	umask(mask);
	return rc;
}

/* Gives the socket its name, which nothing else may have. */
static int name_move(const char *own, const char *path)
{
	struct stat st;

	if (renameat2(AT_FDCWD, own, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno == EEXIST)
		return -EADDRINUSE;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* The file system or the kernel does not know how. */
	if (lstat(path, &st) == 0)
		return -EADDRINUSE;
	return rename(own, path) == 0 ? 0 : -errno;
}

/*
 * Who sees the name can connect: the socket gets it when it listens already. Until then it has the
 * name of this process behind it; where that is too long, it is bound to its name.
 */
static int bind_and_listen(int fd, const struct sockaddr_un *a)
{
	struct sockaddr_un own = *a;
	size_t used = strlen(a->sun_path), room = sizeof(own.sun_path) - used;
	bool is_apart = snprintf(own.sun_path + used, room, ".%d", (int)getpid()) < (int)room;
	int rc;

	if (!is_apart)
		own = *a;
	rc = bind_private(fd, &own);
	if (rc == -EADDRINUSE && is_left_behind(&own) && unlink(own.sun_path) == 0)
		rc = bind_private(fd, &own);
	if (rc != 0)
		return rc;
	rc = listen(fd, BACKLOG) == 0 ? 0 : -errno;
	if (rc == 0 && is_apart)
		rc = name_move(own.sun_path, a->sun_path);
	if (rc == -EADDRINUSE && is_left_behind(a) && unlink(a->sun_path) == 0)
		rc = name_move(own.sun_path, a->sun_path);
	if (rc != 0)
		unlink(own.sun_path);
	return rc;
}

static int unix_listen(struct far_listener *l, const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int rc;

	*l = (struct far_listener){ .fd = -1 };
	snprintf(l->said, sizeof(l->said), "unix:%s", path);
	if (strlen(path) >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	strcpy(a.sun_path, path);
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (l->fd < 0)
		return -errno;
	rc = bind_and_listen(l->fd, &a);
	if (rc == 0)
		strcpy(l->path, path);
	return rc;
}

int far_listen_unix(struct far_listener *l, const char *path)
{
	int rc = unix_listen(l, path);

	if (rc != 0)
		far_listen_close(l);
	return rc;
}

/* A desk whose machine or network is gone gives way to others within a few minutes. */
static void keepalive(int fd)
{
	const int yes = 1, idle = 60, apart = 20, probes = 4;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &apart, sizeof(apart));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
}

/* The mode of the file keeps others out; root passes it. */
static bool is_ours(int fd)
{
	struct ucred c;
	socklen_t len = sizeof(c);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &len) == 0 &&
	       (c.uid == geteuid() || c.uid == 0);
}

/* Nothing is left to take the connection with: it stays, and poll returns for it at once. */
static bool is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

int far_listen_accept(struct far_listener *l, int timeout_ms)
{
	struct pollfd p = { l->fd, POLLIN, 0 };
	int rc = poll(&p, 1, timeout_ms), fd;

	if (rc <= 0)
		return rc < 0 ? -errno : -ETIMEDOUT;
	fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0) {
		rc = -errno;
		if (is_shortage(errno))
			(void)poll(NULL, 0, SHORTAGE_MS);
		return rc;
	}
	if (!l->path[0])
		keepalive(fd);
	if (!l->path[0] || is_ours(fd))
		return fd;
	close(fd);
	return -EACCES;
}

void far_listen_close(struct far_listener *l)
{
	if (l->fd >= 0)
		close(l->fd);
	if (l->path[0])
		unlink(l->path);
	*l = (struct far_listener){ .fd = -1 };
}

int far_line_read(int fd, char *line, size_t cap, int timeout_ms)
{
	uint64_t until = clock_monotonic_ns() + (uint64_t)timeout_ms * 1000000u;
	size_t n = 0;

	while (n < cap) {
		uint64_t now = clock_monotonic_ns();
		struct pollfd p = { fd, POLLIN, 0 };
		int rc = poll(&p, 1, now < until ? (int)((until - now) / 1000000u) : 0);

		if (rc < 0)
			return -errno;
		if (rc == 0 || now > until)
			return -ETIMEDOUT;
		if (read(fd, line + n, 1) != 1)
			return -EPIPE;
		if (line[n] == '\n') {
			line[n] = 0;
			return 0;
		}
		if ((unsigned char)line[n++] < ' ')
			return -EPROTO;
	}
	return -EMSGSIZE;
}
