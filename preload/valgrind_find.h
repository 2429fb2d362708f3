/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds Valgrind's client requests in the program's code: 19 bytes that do nothing on a processor,
 * and that no compiler emits for another purpose. Each is replaced by a call that records the
 * request. Only on the user's request, since all code must be read: 0.2 ms per megabyte. At start,
 * while there is one thread.
 */
#ifndef PRELOAD_VALGRIND_FIND_H
#define PRELOAD_VALGRIND_FIND_H

#include "preload/inner_symbols.h"

/* Once: whether HEAPTOP_REQUESTS asks for it. */
void valgrind_find_start(void);
/* Patches the requests of an object whose code no other thread can be in, if that is asked for. */
void valgrind_find(const struct inner_object *o);

#endif
