/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reference unwinder, by libunwind. Any thread, in hooks. */
#ifndef PRELOAD_UNWIND_LIBUNWIND_H
#define PRELOAD_UNWIND_LIBUNWIND_H

#include "preload/unwind_types.h"

/* Loads libunwind. Once, at start. False: it is not installed. */
bool unwind_libunwind_load(void);
/* Takes the stack. After a successful load. */
void unwind_libunwind(struct unwind *u);

#endif
