/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A single moment on the screen: a JSON report, or a diff. Main thread. */
#ifndef SRC_SHOW_STILL_SHOW_H
#define SRC_SHOW_STILL_SHOW_H

#include "src/show/screen_run.h"

/* Until the user leaves. Both return the exit status. */
int still_show_report(const struct options *o, const struct config *config, struct script *script);
int still_show_diff(const struct options *o, const struct config *config, struct script *script);

#endif
