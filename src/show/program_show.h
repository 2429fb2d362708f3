/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program, or the segment that it left, on the screen. Main thread. */
#ifndef SRC_SHOW_PROGRAM_SHOW_H
#define SRC_SHOW_PROGRAM_SHOW_H

#include "src/show/screen_run.h"

/* Until the user leaves. `size`: the terminal's. The exit status. */
int program_show(const struct options *o, const struct config *config, struct script *script,
	const struct winsize *size);

#endif
