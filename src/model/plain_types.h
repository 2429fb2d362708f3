/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of C++ functions as their sources write them. Pure. */
#ifndef SRC_MODEL_PLAIN_TYPES_H
#define SRC_MODEL_PLAIN_TYPES_H

#include <stddef.h>

/*
 * Copies a demangled name without "std::" and without the template arguments that the standard
 * library adds itself: "vector<string>" for "std::vector<std::__cxx11::basic_string<char,
 * std::char_traits<char>, std::allocator<char> >, std::allocator<...> >". At most cap - 1 bytes.
 */
void plain_types_text(const char *name, char *out, size_t cap);

#endif
