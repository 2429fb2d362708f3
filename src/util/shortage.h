/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What heaptop itself has run out of, so that what is missing for it is not missing in silence. Any
 * thread. */
#ifndef SRC_UTIL_SHORTAGE_H
#define SRC_UTIL_SHORTAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether an errno, of either sign, says that there is no more of something. */
bool shortage_is(int error);
/* Notes that something was left out for this reason, if it is one. */
void shortage_note(int error);
/* Whether there is so much memory now, for what cannot go on without: some libraries crash then. */
bool shortage_has_memory(size_t bytes);
/* A line for the user once one was noted, or NULL. Valid until the next call; main thread. */
const char *shortage_line(void);

#endif
