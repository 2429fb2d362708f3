/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * (module, address) -> finished frames, each pair once: opens modules as they are needed, closes
 * the debug information of those longest unused when it takes too much memory, and keeps every
 * answer. Worker thread of the symboliser; the answers may be read by any thread until
 * resolve_free.
 */
#ifndef SRC_SYM_RESOLVE_H
#define SRC_SYM_RESOLVE_H

#include "src/sym/debugfile.h"
#include "src/sym/sym.h"

struct resolve;
struct resolve_module;

/* `dirs` and what it points to must outlive it. NULL: no memory. */
struct resolve *resolve_new(const struct debugfile_dirs *dirs);
void resolve_free(struct resolve *r);
/* A module, by its own copy of the description. Any thread: touches nothing shared. */
struct resolve_module *resolve_module_new(const struct sym_module *m);
void resolve_module_free(struct resolve_module *m);
/* The frames at `vaddr`, at least one; what is unknown in them is NULL. */
const struct sym_frame *resolve_address(
	struct resolve *r, struct resolve_module *m, uint64_t vaddr, uint32_t *nframes);
/* SYM_PENDING before the first address. */
enum sym_quality resolve_quality(const struct resolve_module *m);

#endif
