/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the user can do about a system error. Pure; any thread. */
#ifndef SRC_UTIL_ERROR_HINT_H
#define SRC_UTIL_ERROR_HINT_H

#include <stddef.h>

/* In a few words; NULL if the error number alone suggests nothing. */
const char *remedy(int error);
/* "WHAT: WHY (REMEDY)", for a message. `error` is an errno, of either sign. Returns `out`. */
char *error_hint_line(char *out, size_t cap, const char *what, int error);

#endif
