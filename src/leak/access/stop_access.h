/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plain method of access: the process is stopped (stop.h), read, and then released.
 */
#ifndef SRC_LEAK_ACCESS_STOP_ACCESS_H
#define SRC_LEAK_ACCESS_STOP_ACCESS_H

#include <stdbool.h>

struct leak_access;
struct leak_access_ops;

extern const struct leak_access_ops leak_stop_access;

/* These steps, for the way that reads a copy of a stopped process. */
void leak_stop_access_prepare(struct leak_access *a);
int leak_stop_access_take(struct leak_access *a);
int leak_stop_access_open(struct leak_access *a);
int leak_stop_access_detach(struct leak_access *a);
int leak_stop_access_release(struct leak_access *a);
/* Whether the process that was stopped has ended: what was read of it may not be whole. */
bool leak_stop_access_has_ended(const struct leak_access *a);

#endif
