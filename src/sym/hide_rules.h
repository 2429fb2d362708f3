/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules by which a site is named after the program's own code. Pure; main thread. */
#ifndef SRC_SYM_HIDE_RULES_H
#define SRC_SYM_HIDE_RULES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The rule by which a site is named after the program's own code: true when a frame belongs to an
 * allocator or to a standard library's container or runtime (operator new, std::, __gnu_cxx::,
 * g_malloc, xmalloc, strdup, alloc::alloc::, ...) and should be passed over. `function` may be
 * NULL. Pure; the table is in hide.c and is printed by the help screen (sym_hide_rules).
 */
bool sym_hidden(const char *function, const char *module_path);
/*
 * Rules besides these, of functions only; they replace those given before. They are copied; without
 * memory none hold. Main thread, as sym_hidden.
 */
int sym_hide_more(const char *const *patterns, size_t count);
/* The rules, one per line of text; static. */
const char *const *sym_hide_rules(size_t *count);

#endif
