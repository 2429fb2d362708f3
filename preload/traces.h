/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stacks seen lately and their sites: most allocations come from a stack that was there before,
 * and comparing it with a copy is cheaper than walking the calling-context tree. Process-private;
 * any thread, in hooks.
 */
#ifndef PRELOAD_TRACES_H
#define PRELOAD_TRACES_H

#include "shm/stack.h"

/* The site of a stack (t->modules is filled on the way if need be, into `modules`). */
uint32_t traces_site(struct stack_trace *t, uint32_t *modules);

#endif
