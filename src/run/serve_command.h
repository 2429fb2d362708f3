/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --serve: this heaptop runs on the program's machine, the user's on another. Main thread. */
#ifndef SRC_RUN_SERVE_COMMAND_H
#define SRC_RUN_SERVE_COMMAND_H

#include "src/run/options.h"

/* Serves until the desk leaves (standard input and output), or the program ends (a socket). The
 * exit status. */
int serve_command_run(struct options *o);

#endif
