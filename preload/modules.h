/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which object file a return address is in, at this moment. Objects loaded at start stay (their
 * ranges are a sorted table); others are asked of the loader each time, so that a library unloaded
 * and another loaded at its address are told apart. Any thread, in hooks; takes no lock of ours.
 */
#ifndef PRELOAD_MODULES_H
#define PRELOAD_MODULES_H

#include <stdbool.h>
#include <stdint.h>

/* Lists the objects loaded so far. Once, before the first module_of. */
void modules_start(void);

/* A range of code and its module, as ht_node.module wants it. */
struct module_range {
	uint64_t start, end;
	uint32_t module;
};

/* Fills the range that holds `pc`. Code outside any object: module 0, unpinned, a range of one
 * byte. */
void modules_find(uint64_t pc, struct module_range *out);

/* The same for each of a stack's addresses; neighbours are often in one object. */
void modules_fill(const uint64_t *pcs, uint32_t count, uint32_t *modules);
/* The .eh_frame_hdr of the object that holds `pc`, or NULL. */
const uint8_t *modules_eh_frame_hdr(uint64_t pc);

#endif
