/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Valgrind's client requests in the program's code: 19 bytes that do nothing on a processor, and
 * that no compiler makes otherwise. They are replaced by a call, so that what they say is
 * recorded. Only on request, since all code is read for it: 0.2 ms a megabyte. At start, while
 * there is one thread.
 */
#ifndef PRELOAD_VALGRIND_FIND_H
#define PRELOAD_VALGRIND_FIND_H

#include "preload/inner_symbols.h"

/* Once: whether HEAPTOP_REQUESTS asks for it. */
void valgrind_find_start(void);
/* Patches the requests of an object whose code no other thread can be in, if that is asked for. */
void valgrind_find(const struct inner_object *o);

#endif
