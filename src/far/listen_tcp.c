/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ports of an agent (listen.h), apart: finding an address takes more of libc than a static program
 * can have. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/far/listen.h"

#define BACKLOG 4

static int tcp_try(struct far_listener *l, const struct addrinfo *a)
{
	const int yes = 1;

	l->fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
	if (l->fd < 0)
		return -errno;
	setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(l->fd, a->ai_addr, a->ai_addrlen) == 0 && listen(l->fd, BACKLOG) == 0)
		return 0;
	return -errno;
}

int far_listen_tcp(struct far_listener *l, const char *where)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	const char *port = strrchr(where, ':');
	struct addrinfo *all = NULL;
	char address[256];
	size_t len;
	int rc = -EADDRNOTAVAIL;

	*l = (struct far_listener){ .fd = -1 };
	snprintf(l->said, sizeof(l->said), "%s", where);
	if (!port || (size_t)(port - where) >= sizeof(address))
		return -EINVAL;
	/* An address of IPv6 is in brackets. */
	len = (size_t)(port - where);
	if (len >= 2 && where[0] == '[' && where[len - 1] == ']') {
		where++;
		len -= 2;
	}
	memcpy(address, where, len);
	address[len] = 0;
	if (getaddrinfo(address, port + 1, &hints, &all) != 0)
		return rc;
	for (const struct addrinfo *a = all; a && rc != 0; a = a->ai_next) {
		rc = tcp_try(l, a);
		if (rc != 0 && l->fd >= 0)
			close(l->fd);
	}
	freeaddrinfo(all);
	if (rc != 0)
		l->fd = -1;
	return rc;
}
