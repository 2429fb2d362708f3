/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes to choose from, on the screen. Main thread. */
#ifndef SRC_SHOW_CHOOSE_SHOW_H
#define SRC_SHOW_CHOOSE_SHOW_H

#include "src/run/options.h"

/* Finds the processes that -a means (attach_choice.h), on a screen if the user must choose and
 * there is one. -1: go on, or the exit status. */
int choose_show(struct options *o);

#endif
