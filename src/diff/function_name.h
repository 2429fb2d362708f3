/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Function names as they compare across builds. Pure; any thread. */
#ifndef SRC_DIFF_FUNCTION_NAME_H
#define SRC_DIFF_FUNCTION_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Length of a demangled name without what a compiler adds to it when it optimises, alone or in a
 * row: .isra.N .part.N .constprop.N .lto_priv.N .cold .localalias .llvm.N, also as " [clone
 * .isra.0]" (GCC, clang: names of clones), and Rust's hash ("::h" and 16 hex digits).
 */
size_t function_name_plain(const char *name);
/* Whether it is what calls main or a thread's function: no part of the program. */
bool function_name_starts(const char *name);

#endif
