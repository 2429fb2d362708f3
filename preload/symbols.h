/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Symbols of the loaded objects, read from their own tables. dlsym is not used, for three reasons:
 * its failure allocates a message (before glibc 2.34, success does, too), which runs the program's
 * malloc before its main; it sets or clears dlerror's state; and a program may define a dlsym of
 * its own before the loader's. This code allocates nothing and calls nothing of the program's. At
 * start, on the thread that starts.
 */
#ifndef PRELOAD_SYMBOLS_H
#define PRELOAD_SYMBOLS_H

/* The next definition of `name` after this library's place in the search order, as
 * dlsym(RTLD_NEXT) finds it: the default version. NULL: there is none. */
void *symbols_next(const char *name);
/* The first definition in the search order, the program's own included. An executable's entry that
 * only jumps to a definition elsewhere does not count. NULL: there is none. */
void *symbols_first(const char *name);

#endif
