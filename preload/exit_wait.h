/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * At the program's end, if a viewer requested it, waits until the viewer has scanned the memory
 * for leaks. On the thread that ends the program.
 */
#ifndef PRELOAD_EXIT_WAIT_H
#define PRELOAD_EXIT_WAIT_H

#include "preload/state.h"

/* Returns at once if no viewer asked, and within seconds of the viewer's end. errno may change. */
void exit_wait(struct ht_header *h);

#endif
