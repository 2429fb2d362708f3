/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loader of a stopped process. */
#ifndef SRC_ATTACH_LOADER_H
#define SRC_ATTACH_LOADER_H

#include "src/attach/process.h"

/* Whether a thread holds one of its locks, perhaps until another thread of the process has done
 * something. False, too, if the locks are not found. */
bool attach_loader_is_busy(const struct attach_process *p);

#endif
