/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The C++ hooks, as far as the rest of the library knows of them. */
#ifndef PRELOAD_HOOKS_CXX_H
#define PRELOAD_HOOKS_CXX_H

#include <stdbool.h>

/*
 * Finds the next definition of every operator new and delete. At start, on the thread that starts;
 * may allocate.
 */
void hooks_cxx_find(void);
/* After that: whether the program finds another malloc before ours, so that we see nothing of it.
 */
bool hooks_cxx_has_front(void);

#endif
