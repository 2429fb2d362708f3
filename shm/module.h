/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The module table: the object files that return addresses lie in. An entry is never changed or
 * reused, so an address recorded before a dlclose keeps its module. Lock-free; any thread.
 */
#ifndef SHM_MODULE_H
#define SHM_MODULE_H

#include "shm/commit.h"

struct module_info {
	uint64_t start, end, bias;
	const char *path;
	const uint8_t *build_id;
	uint32_t build_id_bytes; /* the first HT_BUILD_ID_MAX are kept */
	uint32_t flags; /* HT_MODULE_PINNED */
	uint64_t fingerprint; /* of an object without build-id: distinguishes it from a later one of
				 its name */
};

/* The index of an object file mapped at this range: the entry with the same range, path, build-id
 * and fingerprint, created if missing. 0 when the table is full (counted). */
uint32_t module_intern(const struct segment *s, const struct module_info *info);

/* Copies the modules of another segment into a fresh one, under the same numbers. Reads what is
 * mapped of `from`. Its writers may have stopped anywhere: an incomplete module is skipped, and its
 * number stays free. 0, or -ENOMEM. */
int module_inherit(const struct segment *s, const struct segment *from);

/* Copies a text into the strings. Its place there; 0 (the empty text) when there is no room. */
uint32_t module_text(const struct segment *s, const char *text, uint32_t bytes);

static inline struct ht_module *module_at(const struct segment *s, uint32_t index)
{
	return segment_at(
		s, segment_element(s, HT_REGION_MODULES, index, sizeof(struct ht_module)));
}

#endif
