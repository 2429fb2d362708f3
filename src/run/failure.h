/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages of heaptop's own failures: one line each on stderr. Main thread. */
#ifndef SRC_RUN_FAILURE_H
#define SRC_RUN_FAILURE_H

#define FAILURE_EXIT 125 /* the exit status when heaptop could not run or attach */

/* Each prints "heaptop: " and the message, and returns FAILURE_EXIT. */
int failure_print(const char *message);
int failure_print_reason(const char *what, const char *why);
/* The reason is `error`, an errno of either sign, with what the user can do about it. */
int failure_print_errno(const char *what, int error);

#endif
