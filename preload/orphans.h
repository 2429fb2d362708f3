/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Orphaned segments: those of a launch whose viewer was killed. Its processes remove them. */
#ifndef PRELOAD_ORPHANS_H
#define PRELOAD_ORPHANS_H

#include <stdint.h>

/*
 * Removes orphaned segments of the launch `family`: those in `directory` of processes that exited
 * by themselves, with those of their earlier images; the earlier ones of this process, whose
 * segment is `own`; and `first`, with which the launch began, if it is one of these. Keeps a
 * segment that a viewer has open, and one that a crash left. At the end, on the thread that ends
 * the program.
 */
void orphans_remove(const char *directory, uint64_t family, const char *own, const char *first);

#endif
