/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether running a file raises the privileges of its process; the loader then ignores LD_PRELOAD
 * (AT_SECURE). Any thread. Sources: execve(2), capabilities(7), ld.so(8) "secure-execution mode".
 */
#ifndef SRC_TARGET_PRIVILEGE_H
#define SRC_TARGET_PRIVILEGE_H

#include <sys/types.h>

/*
 * What a process of real user `uid` and group `gid` gains by running the open file `fd`: "setuid",
 * "setgid", "given file capabilities", or NULL for nothing. Static.
 */
const char *privilege_gained(int fd, uid_t uid, gid_t gid);

#endif
