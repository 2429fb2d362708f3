/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Demangles linker names: C++, Rust, D. Pure; any thread. */
#ifndef SRC_SYM_DEMANGLE_H
#define SRC_SYM_DEMANGLE_H

#include <stddef.h>

/* Longest name returned, with the NUL; longer ones are cut. */
#define DEMANGLE_MAX 8192u

/*
 * Writes the readable, clean form of `raw` into `out` (DEMANGLE_MAX bytes) and returns its length.
 * A name that is not mangled, or malformed, stays as it is. The symbol version ("@GLIBC_2.2") and
 * the suffixes of compiler-made copies (".constprop.0", ".cold") are removed. Needs stack in
 * proportion to the name's length; DEMANGLE_STACK_BYTES are always enough. Time is bounded.
 */
size_t demangle_name(char out[DEMANGLE_MAX], const char *raw);
/* The same with less stack: names too long for it stay mangled. */
size_t demangle_name_within(char out[DEMANGLE_MAX], const char *raw, size_t stack_bytes);

#define DEMANGLE_STACK_BYTES ((size_t)32 * 1024 * 1024)

#endif
