/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One screen, whatever it shows: its options, the terminal, drawing on it or playing a script, and
 * what follows from how it ended. Main thread.
 */
#ifndef SRC_SHOW_SCREEN_RUN_H
#define SRC_SHOW_SCREEN_RUN_H

#include <stdbool.h>
#include <sys/ioctl.h>

#include "src/export/export.h"
#include "src/run/config.h"
#include "src/run/options.h"
#include "tui/script.h"
#include "tui/tui.h"

/* Fills in what an exporter takes from what the screen shows. */
void screen_run_shown(struct export_options *e, const struct tui_shown *shown);
/* `launched`: heaptop has started the program. */
struct tui_options screen_run_options(
	bool launched, const struct options *o, const struct config *config);
/* Checks the terminal, before anything is started. 0, or after one line on stderr the exit status.
 */
int screen_run_terminal(struct winsize *size);
/* Draws on the terminal, or plays a script, until the user leaves: what tui_run returns. */
int screen_run(const struct tui_source *source, const struct tui_options *t, struct script *script,
	int *signal);
/* The exit status after the screen; `status` if it ended as it should. */
int screen_run_status(int rc, int signal, int status);

#endif
