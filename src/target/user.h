/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of users. Main thread. */
#ifndef SRC_TARGET_USER_H
#define SRC_TARGET_USER_H

#include <sys/types.h>

/* Cleaned; the number where there is no name. */
void user_name(uid_t uid, char *out, size_t cap);

#endif
