/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What patched calls of execve lead to; not a name that programs find. */
#ifndef PRELOAD_HOOKS_EXEC_H
#define PRELOAD_HOOKS_EXEC_H

int hook_execve(const char *path, char *const *argv, char *const *envp);

#endif
