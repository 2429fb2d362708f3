/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The notes of a core file: threads, files, the auxiliary vector. For core.c. */
#ifndef SRC_CORE_NOTES_H
#define SRC_CORE_NOTES_H

#include "src/core/core.h"

/* Reads the notes in [offset, offset + bytes) of the core. 0 or -ENOMEM. What is malformed or cut
 * short is left out. */
int core_notes_read(struct core *c, uint64_t offset, uint64_t bytes);

/* The bytes of a page, once the notes are read: core.page. By NT_AUXV, or else NT_FILE. */
void core_notes_page(struct core *c);

#endif
