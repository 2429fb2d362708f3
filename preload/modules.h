/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the object file that contains a return address at this moment. Objects loaded at start stay
 * (their ranges are a sorted table); for others each lookup asks the loader, which distinguishes an
 * unloaded library from its successor at the same address. Any thread, in hooks; takes no lock of
 * ours.
 *
 * Code that remembers a result need not ask again while nothing was unloaded. Interposing dlclose
 * would not show that: libc's own dlclose of NSS and character set modules would escape it. But the
 * loader frees an object's data by the program's free, that is by our hook, right after it has
 * unmapped the object and removed it from its tables, and before it can load another in its place
 * (glibc's _dl_close_worker: the same in 2.31, 2.36 and 2.41). So a free called from the loader's
 * own code, for whatever reason, begins a new generation.
 *
 * Edge UNLOAD: the loader changes its tables before the generation changes; code that remembers
 * loads the generation before it asks. A stack in code that came later is reached only through the
 * loader's locks, after the generation has changed.
 */
#ifndef PRELOAD_MODULES_H
#define PRELOAD_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/atomic.h"

/* Lists the objects that stay, and determines whether the loader's frees come to us. Before the
 * first modules_find, and whenever recording starts again. Those loaded so far stay; unless the
 * program may have opened some itself (`is_late`): then those that it cannot do without do. */
void modules_start(bool is_late);
/* The rest, where functions are patched: the loader's frees come to us now. */
void modules_watched(void);

struct modules_loader {
	uint64_t start, bytes; /* the loader's code */
	uint32_t generation; /* up to MODULES_NEVER: proves nothing. Never 0 */
};
extern struct modules_loader modules_loader __attribute__((visibility("hidden")));

#define MODULES_NEVER 2u

/* The loader has freed something. */
void modules_unloaded(void);

/* Ends the current generation: frees have bypassed the hook, and may have been the loader's. */
void modules_invalidate(void);

/* Called by each recorded free with its return address. */
static inline void modules_free_called(uint64_t return_address)
{
	if (__builtin_expect(return_address - modules_loader.start < modules_loader.bytes, 0))
		modules_unloaded();
}

static inline uint32_t modules_generation(void)
{
	return ht_load_acquire_32(&modules_loader.generation); /* UNLOAD */
}

/* A range of code and its module, as ht_node.module wants it. */
struct module_range {
	uint64_t start, end;
	uint32_t module;
};

/* Fills the range that holds `pc`. Code outside any object: module 0, unpinned, a range of one
 * byte. */
void modules_find(uint64_t pc, struct module_range *out);

/* The module of an object in dl_iterate_phdr's list, which modules_find may not know yet. */
struct dl_phdr_info;
uint32_t modules_of(const struct dl_phdr_info *info);

/* Fills in the module of each address; neighbours are often in one object. */
void modules_fill(const uint64_t *pcs, uint32_t count, uint32_t *modules);
/* The .eh_frame_hdr of the object that holds `pc`, or NULL. */
const uint8_t *modules_eh_frame_hdr(uint64_t pc);

#endif
