/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run of a program on another machine: connects, takes each moment as it comes, and copies the
 * object files that this machine lacks. View 0 is the program, and others of its launch are shown
 * beside it. Main thread.
 */
#ifndef SRC_RUN_FAR_RUN_H
#define SRC_RUN_FAR_RUN_H

#include "src/far/moment.h"
#include "src/far/order.h"
#include "src/run/options.h"
#include "src/session/session.h"

struct far_run;

/* Connects, and waits for the first moment. 0, or after one line on stderr the exit status. */
int far_run_open(struct far_run **out, const struct options *o);
void far_run_close(struct far_run *f);
/* True once when a process goes on as another image by exec: path and modules are those of that
 * one. Of NULL: false. */
bool far_run_image(struct far_run *f, unsigned view);
/* A segment's copy; far_run_opened when it is open, since its name is not needed any more. */
const char *far_run_path(const struct far_run *f, unsigned view);
void far_run_opened(struct far_run *f, unsigned view);
/* What a session of a view needs; nothing where `f` is NULL. */
void far_run_session(const struct far_run *f, unsigned view, struct session_options *o);
/* While a file comes, or contents of blocks do: readable when there is more; -1: nothing does. */
int far_run_fd(const struct far_run *f);
/* Takes what has come of it. True: it is there, or will not come. Of NULL: false. */
bool far_run_listen(struct far_run *f);
/* Work there about the process whose session has this moment, as long as the run. Of NULL: NULL. */
const struct far_order *far_run_order(
	const struct far_run *f, enum far_kind kind, const struct far_moment *of);
/* Whether the program waits at its end for a leak scan of ours. Of NULL: false. */
bool far_run_exits(const struct far_run *f);
/* Contents of a block of that process: as far_contents_read. */
long far_run_contents(
	struct far_run *f, const struct far_moment *of, uint64_t addr, void *out, size_t bytes);
/* Takes what has come, or waits for it where nobody looks at a screen. Before each tick. Of NULL:
 * nothing. */
void far_run_tick(struct far_run *f);
/* Whether more can come. Of NULL: true. */
bool far_run_is_open(const struct far_run *f);
/* What is to be said of the program: that the connection is gone; or NULL. */
const char *far_run_notice(const struct far_run *f);
/* The same of another process that is shown: what is about the connection alone. Of NULL: NULL. */
const char *far_run_link_notice(const struct far_run *f);

/*
 * The other processes of the launch, as last reported; a call has them reported anew. Valid until
 * the next call; *more: those without a row.
 */
size_t far_run_rows(struct far_run *f, const struct far_row **rows, uint64_t *more);
/* Begins to show one of them as `view`, from 1 on, which no session reads. 0 or -errno. */
int far_run_choose(struct far_run *f, unsigned view, uint64_t id);
/* 1: it is there; 0: it comes; or -errno and one line in `message` (READ_MESSAGE_MAX). */
int far_run_chosen(struct far_run *f, unsigned view, char *message);
/* Why it is not shown, for far_run_notice, until another one is chosen. */
void far_run_say(struct far_run *f, const char *why);
/* Its session is closed. */
void far_run_leave(struct far_run *f, unsigned view);

#endif
