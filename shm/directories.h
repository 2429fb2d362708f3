/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The directories for segments: one rule for the library, for the viewer that prepares one, and for
 * code that searches for them. No malloc, no locks.
 */
#ifndef SHM_DIRECTORIES_H
#define SHM_DIRECTORIES_H

#define DIRECTORIES_MAX 2

/* The value of an environment variable, or NULL when there is none or it is empty. */
typedef const char *directories_variable(const char *name);

/* The directories, in the order tried: HEAPTOP_DIR alone, or without it /dev/shm, then
 * XDG_RUNTIME_DIR. Returns their number. */
unsigned directories_list(directories_variable *variable, const char *place[DIRECTORIES_MAX]);
/* Calls `make` for each until it returns 0. Returns the last call's result. */
int directories_try(
	directories_variable *variable, int (*make)(void *ctx, const char *directory), void *ctx);

#endif
