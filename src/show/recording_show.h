/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording on the screen. Main thread. */
#ifndef SRC_SHOW_RECORDING_SHOW_H
#define SRC_SHOW_RECORDING_SHOW_H

#include "src/show/screen_run.h"

/* Until the user leaves. The exit status. */
int recording_show(const struct options *o, const struct config *config, struct script *script);

#endif
