/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How to reach an agent: by a command that connects its standard input and output (ssh, docker
 * exec, kubectl exec), or by a socket. Main thread of the desk.
 */
#ifndef SRC_FAR_PEER_H
#define SRC_FAR_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define FAR_PEER_MESSAGE 640 /* the longest reasons of an agent take 500 */

/* One of `host`, `via`, `socket` and `address` is set. Strings must outlive the peer. */
struct far_place {
	const char *host; /* "user@host", for ssh; never begins with '-' */
	const char *port; /* of ssh; or NULL */
	const char *via; /* a shell command, as "docker exec -i C" */
	const char *socket; /* path of a UNIX socket */
	const char *address, *service; /* of a TCP socket */
	const char *token; /* which the agent there wants first */
	const char *agent; /* the command on the other side: "heaptop" */
	bool steer; /* it is to be allowed to act on the program */
	const char *process; /* what it is to serve: a number or a name */
};

struct far_peer {
	int in, out;
	int said; /* the command's standard error, -1: none */
	pid_t pid; /* of the command; 0: none, or it has ended */
	char last[FAR_PEER_MESSAGE]; /* the last line that it wrote there, cleaned */
	bool exits; /* the program is to be scanned for leaks at its end; the caller's */
};

/*
 * Splits "ssh://[USER@]HOST[:PORT]/PROCESS" in place. 0, or -EINVAL and one line in `why` (static):
 * a host or a process that ssh or a shell there could take for something else is refused.
 */
int far_place_parse(char *url, struct far_place *out, const char **why);
/* Whether `text` is a number, or a name of letters, digits and ._+-, and does not begin with '-'.
 */
int far_place_check_process(const char *text);

/* 0, or -errno and a line in `message`. */
int far_peer_open(struct far_peer *p, const struct far_place *where, char *message);
/* Whether the command has ended, `wait_ms` at most from now, because there is no such program
 * there: the status of shells, of docker and of kubectl. */
bool far_peer_lacks_agent(struct far_peer *p, int wait_ms);
/* Reads what the command has said, and what it says until it ends, for `wait_ms` at most. */
void far_peer_listen(struct far_peer *p, int wait_ms);
/* Closes the connection and ends the command: waits while an agent detaches, but hardly for one
 * that is `lost`. */
void far_peer_close(struct far_peer *p, bool lost);

#endif
