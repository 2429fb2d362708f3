/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The desk, on the user's machine, requests ticks from an agent, and keeps a copy of each
 * segment, which the rest of heaptop reads like any other. View 0 is the process that the agent was
 * given, the others those that far_desk_choose opens. Trusts nothing that it receives. Main thread.
 */
#ifndef SRC_FAR_DESK_H
#define SRC_FAR_DESK_H

#include "src/far/desk_work.h"
#include "src/far/moment.h"
#include "src/far/peer.h"

struct far_desk;

/*
 * Takes over a connection, also on failure, and waits for the first tick: at most `timeout_ms`
 * without anything coming, or until a signal (-EINTR). 0, or -errno and one line in `message`
 * (FAR_PEER_MESSAGE).
 */
int far_desk_open(
	struct far_desk **out, const struct far_peer *peer, int timeout_ms, char *message);
void far_desk_close(struct far_desk *d);
/* True once when the view's process has another image by exec, which is followed: from now on path,
 * moment and files are those of that one. */
bool far_desk_image(struct far_desk *d, unsigned view);
/* The copy. Opened once, its name may go: far_desk_opened. */
const char *far_desk_path(const struct far_desk *d, unsigned view);
void far_desk_opened(struct far_desk *d, unsigned view);
/* The last moment that came, of which the copy is. */
const struct far_moment *far_desk_moment(const struct far_desk *d, unsigned view);
/*
 * Takes what has come, and asks for the next moment of all that are open unless that was done.
 * Waits for it `timeout_ms` at most. True: a copy is of a new moment.
 */
bool far_desk_tick(struct far_desk *d, int timeout_ms);
/* Takes what has come, parts of ticks too, and waits for it `timeout_ms` at most. */
void far_desk_listen(struct far_desk *d, int timeout_ms);
/* Readable when there is something to take. */
int far_desk_fd(const struct far_desk *d);
/* For how long nothing has come though an answer is due; 0: none is, or it is not late. */
uint64_t far_desk_silent_ns(const struct far_desk *d);
/* When the last bytes came: CLOCK_REALTIME. */
uint64_t far_desk_heard_ns(const struct far_desk *d);
/* Why nothing more comes: a line; NULL: the connection is there. */
const char *far_desk_ended(const struct far_desk *d);
/*
 * Begins to copy the object file of a module into `fd`, if the agent has it; one before it is given
 * up. It comes by far_desk_listen and far_desk_tick, as far_desk_copied says. 0, -ENOENT, -EPIPE or
 * -errno: it does not come.
 */
int far_desk_copy(struct far_desk *d, unsigned view, uint32_t module, int fd, uint64_t most);
/* 1: it comes, `*done` bytes of `*bytes` are here (0: not known yet); 0: it is whole; -ENOENT,
 * -EFBIG over `most` bytes, -EPIPE, or -errno. */
int far_desk_copied(const struct far_desk *d, uint64_t *done, uint64_t *bytes);
/* What comes of it from now on is dropped. */
void far_desk_copy_end(struct far_desk *d);
/*
 * Copies the object file of a module into `fd`, if the agent has it: waits for each piece
 * `timeout_ms` at most. 0, -ENOENT, -EFBIG over `most` bytes, -EPIPE, -EINTR, -ETIMEDOUT, or
 * -errno. After any of these the connection goes on, if it is there.
 */
int far_desk_file(
	struct far_desk *d, unsigned view, uint32_t module, int fd, uint64_t most, int timeout_ms);

/* The processes to choose from, as last reported; asks for them anew. Valid until the next call;
 * *more: those without a row. */
size_t far_desk_rows(struct far_desk *d, const struct far_row **rows, uint64_t *more);
/* Begins to show the process `id` as `view`, which is not 0 and whose copy is not read any more.
 * far_desk_tick and far_desk_listen take what comes. 0, -EBUSY: the one before is still to come;
 * -EPIPE or -errno. */
int far_desk_choose(struct far_desk *d, unsigned view, uint64_t id);
/* 1: its first moment is there; 0: it comes; -ESRCH: it does not, for which `*why` is a line, valid
 * until the next call. */
int far_desk_chosen(const struct far_desk *d, unsigned view, const char **why);

/*
 * Asks for work there, with a request that only the rooms of that work read; what was asked for of
 * its kind before is forgotten. 0, -EPERM: the agent may only read; -EPIPE or -errno.
 */
int far_desk_order(
	struct far_desk *d, enum far_kind kind, unsigned view, const struct bytes *request);
void far_desk_order_end(struct far_desk *d, enum far_kind kind);
/* That work: where `runs` is false, `said.state` says what came of it; valid until the next call of
 * any of these. */
const struct far_desk_work *far_desk_ordered(const struct far_desk *d, enum far_kind kind);

#endif
