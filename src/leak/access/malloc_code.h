/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the code of glibc's malloc lies in a process: by the dynamic symbols of libc, read from the
 * process's memory, every word checked. Its static functions have none, but are linked in before
 * and between them. One thread.
 */
#ifndef SRC_LEAK_ACCESS_MALLOC_CODE_H
#define SRC_LEAK_ACCESS_MALLOC_CODE_H

#include "src/leak/access/space.h"

/* Rather too much than too little. Empty: there is no such libc. Takes about a millisecond: before
 * the process is stopped. */
struct leak_range leak_malloc_code_find(pid_t pid);

#endif
