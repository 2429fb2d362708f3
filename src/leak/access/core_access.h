/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Access to the process of a core file: its threads and its memory as they were. */
#ifndef SRC_LEAK_ACCESS_CORE_ACCESS_H
#define SRC_LEAK_ACCESS_CORE_ACCESS_H

struct leak_access_ops;

extern const struct leak_access_ops leak_core_access;

#endif
