/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signals of a run without a screen: heaptop forwards those sent to it alone. Main thread. */
#ifndef SRC_RUN_SIGNALS_H
#define SRC_RUN_SIGNALS_H

#include <stdatomic.h>
#include <stdbool.h>

/*
 * Catches SIGTERM, SIGHUP, SIGINT and SIGQUIT until signals_restore. A launched program gets the
 * terminal's signals itself and decides what they mean, so heaptop ignores them then. Signals that
 * our parent had us ignore (nohup) stay ignored. SIGPIPE is ignored for good: a reader that goes
 * away is a failed write, after which heaptop still cleans up. Each signal also sets `cancelled`,
 * if it is not NULL.
 */
void signals_catch(bool launched, atomic_bool *cancelled);
/* Signals mean heaptop again: it waits for nothing any more. */
void signals_restore(void);
/* The last signal caught since signals_clear; 0: none. */
int signals_pending(void);
/* Forgets that signal, and resets `cancelled`. */
void signals_clear(void);
/* Whether our parent had us ignore SIGINT. */
bool signals_interrupt_ignored(void);

#endif
