/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Access to a copy that the program's library makes of the program and lends us: for a program that
 * we must not trace. The library reads the copy's memory for us. Registers of other threads than
 * the one that made the copy are unknown, so where the program has several threads a scan takes
 * several copies.
 */
#ifndef SRC_LEAK_ACCESS_LENT_ACCESS_H
#define SRC_LEAK_ACCESS_LENT_ACCESS_H

struct leak_access_ops;

extern const struct leak_access_ops leak_lent_access;

#endif
