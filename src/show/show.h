/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the command line asks for, on the screen. Main thread. */
#ifndef SRC_SHOW_SHOW_H
#define SRC_SHOW_SHOW_H

#include "src/run/config.h"
#include "src/run/options.h"

/* Until the user leaves. The exit status. */
int show_run(const struct options *o, const struct config *config);

#endif
