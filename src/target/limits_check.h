/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether the limits under which heaptop was started leave it enough to work with. Main thread. */
#ifndef SRC_TARGET_LIMITS_CHECK_H
#define SRC_TARGET_LIMITS_CHECK_H

/*
 * Before anything is started: fails here rather than later, in the middle of a reading. 0, or
 * -errno with a message (TARGET_MESSAGE_MAX).
 */
int limits_check(char *message);

#endif
