/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heaptop --record-service: starts a recorder for each process of this user that carries the
 * library and has HEAPTOP_RECORD in its environment. Nothing happens in those processes. Main
 * thread.
 */
#ifndef SRC_RUN_RECORD_SERVICE_H
#define SRC_RUN_RECORD_SERVICE_H

#include <stddef.h>
#include <sys/types.h>
#include "src/run/options.h"

/* Until a signal, which ends the recorders, too. Returns the exit status of heaptop. */
int record_service_run(const struct options *o);

/*
 * The file that HEAPTOP_RECORD in `environment` (`bytes` of NAME=VALUE, each ended by NUL) names
 * for process `pid`, whose directory is `cwd`: %p is the pid, %% a percent sign. 0; -ENOENT: it is
 * not set, or empty; -ENAMETOOLONG.
 */
int record_service_file(
	const char *environment, size_t bytes, pid_t pid, const char *cwd, char *out, size_t cap);

#endif
