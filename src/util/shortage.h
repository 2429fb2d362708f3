/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resources that heaptop itself ran out of, so that gaps in the result are reported. Any thread. */
#ifndef SRC_UTIL_SHORTAGE_H
#define SRC_UTIL_SHORTAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether an errno, of either sign, means that a resource is exhausted. */
bool shortage_is(int error);
/* Records that something was left out for this error, if it is a shortage. */
void shortage_note(int error);
/* Whether this much memory is available now. Check it before code that cannot handle failure: some
 * libraries crash. */
bool shortage_has_memory(size_t bytes);
/* A line for the user once a shortage was recorded, or NULL. Valid until the next call; main
 * thread. */
const char *shortage_line(void);

#endif
