/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The secret that both sides of a TCP connection have. Main thread. */
#ifndef SRC_RUN_FAR_TOKEN_H
#define SRC_RUN_FAR_TOKEN_H

#include <stdbool.h>

#define FAR_TOKEN_MAX	128 /* with its end */
#define FAR_TOKEN_LEAST 16u

/*
 * Reads the first line of a file that only its owner may read. 0, or FAILURE_EXIT after one line on
 * stderr: it cannot be read, others may read it, or it is shorter than FAR_TOKEN_LEAST.
 */
int far_token_read(const char *path, char token[FAR_TOKEN_MAX]);
/* Whether two tokens are equal, in a time that does not say where they differ. */
bool far_token_equal(const char *a, const char *b);

#endif
