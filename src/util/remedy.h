/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a person may do about an error of the system. Pure; any thread. */
#ifndef SRC_UTIL_REMEDY_H
#define SRC_UTIL_REMEDY_H

#include <stddef.h>

/* In a few words, or NULL: nothing that is known from the number alone. */
const char *remedy(int error);
/* "WHAT: WHY (REMEDY)", for a message. `error` is an errno, of either sign. Returns `out`. */
char *remedy_line(char *out, size_t cap, const char *what, int error);

#endif
