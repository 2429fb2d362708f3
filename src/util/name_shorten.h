/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shortens demangled C++ and Rust names to fit a column. Pure; any thread. */
#ifndef SRC_UTIL_NAME_SHORTEN_H
#define SRC_UTIL_NAME_SHORTEN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes the demangled `name` into `out`, in at most `cells` cells. When it is too long: arguments
 * become (…), then template arguments become <…>, then the beginning is elided ("…::insert(…)").
 * With `always`, arguments and templates are folded even if the full name fits. `ascii` writes
 * "..." for "…". Returns the cells used.
 */
size_t name_shorten(char *out, size_t cap, const char *name, size_t cells, bool always, bool ascii);

#endif
