/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sockets on which an agent waits for desks. Main thread of the agent. */
#ifndef SRC_FAR_LISTEN_H
#define SRC_FAR_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

#define FAR_LISTEN_TEXT 256

struct far_listener {
	int fd;
	char path[108]; /* of a UNIX socket, which its end removes; "" */
	char said[FAR_LISTEN_TEXT]; /* where it listens */
};

/* A socket that only this user can reach. 0 or -errno; -EADDRINUSE: there is one already. */
int far_listen_unix(struct far_listener *l, const char *path);
/* "ADDRESS:PORT". */
int far_listen_tcp(struct far_listener *l, const char *where);
/*
 * Waits for a connection, `timeout_ms` at most (-1: for ever). The descriptor; -ETIMEDOUT, -EINTR,
 * or -errno, after a pause where descriptors or memory ran out; -EACCES: another user's process
 * connected to a UNIX socket, and was sent away.
 */
int far_listen_accept(struct far_listener *l, int timeout_ms);
void far_listen_close(struct far_listener *l);
/* Reads a line of less than `cap` bytes without its end, all of it within `timeout_ms`. 0,
 * -ETIMEDOUT, -EPIPE, -EPROTO (a control byte: it is no line), -EMSGSIZE or -errno. */
int far_line_read(int fd, char *line, size_t cap, int timeout_ms);

#endif
