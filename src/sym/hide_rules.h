/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules that name a site after the program's own code. Pure; main thread. */
#ifndef SRC_SYM_HIDE_RULES_H
#define SRC_SYM_HIDE_RULES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * True if a frame belongs to an allocator or to a standard library's container or runtime (operator
 * new, std::, __gnu_cxx::, g_malloc, xmalloc, strdup, alloc::alloc::, ...), so that it names no
 * site. `function` may be NULL.
 */
bool hide_rules_match(const char *function, const char *module_path);
/*
 * Sets further patterns, which match functions only, in place of those set before. They are copied.
 * 0 or -ENOMEM: then there are none.
 */
int hide_rules_set(const char *const *patterns, size_t count);
/* The built-in rules as lines of text, for the help screen; static. */
const char *const *hide_rules_lines(size_t *count);

#endif
