/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The function to which a patched execve jumps; programs cannot find it by name. */
#ifndef PRELOAD_HOOKS_EXEC_H
#define PRELOAD_HOOKS_EXEC_H

int hook_execve(const char *path, char *const *argv, char *const *envp);

#endif
