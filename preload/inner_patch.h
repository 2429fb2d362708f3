/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Patches functions: those of one object at a time, or the one by which the loader reports changes.
 * At start, and under the loader's lock. Nothing else writes the table of inner_table.h.
 */
#ifndef PRELOAD_INNER_PATCH_H
#define PRELOAD_INNER_PATCH_H

#include "preload/inner_symbols.h"

/* One object while its functions are patched. */
struct inner_patching {
	const struct inner_object *object;
	const struct inner_symbol *symbols;
	unsigned count;
	uint8_t *pads; /* made when they are needed */
	size_t used;
	bool is_next; /* it is the next allocator, */
	bool holds_next; /* whose own calls are its business */
	bool keeps_thunk; /* so that these are told apart: no hook is called instead */
	uint32_t module;
};

/* Makes all pads, then all jumps. Returns the pads; NULL: nothing is patched, or by pads of before
 * alone. */
void *inner_patch_all(struct inner_patching *p);
/* Lists all of them as not recorded, with the reason. */
void inner_patch_refuse_all(const struct inner_patching *p, const char *reason);
/* Lists a name as not recorded. */
uint32_t inner_patch_note(const struct inner_name *n, uint32_t module, const char *reason);
/* Has the loader's empty function call on_change. */
void inner_patch_loader(const struct inner_object *o, uint64_t function, void (*on_change)(void));
/* An object with these pads (NULL: none) is gone. */
void inner_patch_forget(uint64_t start, uint64_t end, void *pads);

/* While a viewer attaches, jumps are listed only (jumps.h): it writes them. */
void inner_patch_attaching(bool is);
/* Why the last function that was not patched was not. */
const char *inner_patch_refusal(void);
/* Whether the function at `at` is patched. */
bool inner_patch_has(uint64_t at);
/* Whether one by the name malloc is. */
bool inner_patch_has_malloc(void);
/* A viewer has taken all jumps out. Their pads stay: threads may be in them; and serve again. */
void inner_patch_detach(void);

#endif
