/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stacks seen lately and their sites: most allocations come from a stack that was there before,
 * and comparing it with a copy is cheaper than walking the calling-context tree. Process-private;
 * any thread, in hooks.
 */
#ifndef PRELOAD_TRACES_H
#define PRELOAD_TRACES_H

#include "shm/stack.h"

/* The site of a stack. */
uint32_t traces_site(const struct stack_trace *t);

#endif
