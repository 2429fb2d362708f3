/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Access to a copy-on-write copy of the process (forked_copy.h): the process is stopped, made to
 * fork, and continues while the copy is read. Where a copy must not be made, the process is
 * stopped while it is read, and the report says why.
 */
#ifndef SRC_LEAK_ACCESS_COPY_ACCESS_H
#define SRC_LEAK_ACCESS_COPY_ACCESS_H

struct leak_access_ops;

extern const struct leak_access_ops leak_copy_access;

#endif
