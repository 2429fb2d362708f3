/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Segments of a launch whose viewer was killed: its processes remove them. */
#ifndef PRELOAD_ORPHANS_H
#define PRELOAD_ORPHANS_H

#include <stdint.h>

/*
 * Removes, of the launch `family`, the segments in `directory` of processes that have ended by
 * themselves, and those of their earlier images; the earlier ones of our own, whose segment is
 * `own`; and `first`, with which the launch began, if it is one of these. What a viewer
 * has open stays, and so does what a crash left. At the end, on the thread that ends the program.
 */
void orphans_remove(const char *directory, uint64_t family, const char *own, const char *first);

#endif
