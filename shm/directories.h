/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The directories for segments: one rule for the library, for the viewer that prepares one, and for
 * code that searches for them. No malloc, no locks.
 */
#ifndef SHM_PLACE_H
#define SHM_PLACE_H

#define PLACE_MAX 2

/* The value of an environment variable, or NULL when there is none or it is empty. */
typedef const char *place_variable(const char *name);

/* The directories, in the order tried: HEAPTOP_DIR alone, or without it /dev/shm, then
 * XDG_RUNTIME_DIR. Returns their number. */
unsigned place_list(place_variable *variable, const char *place[PLACE_MAX]);
/* Calls `make` for each until it returns 0. Returns the last call's result. */
int place_try(place_variable *variable, int (*make)(void *ctx, const char *directory), void *ctx);

#endif
