/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * (module, address) -> finished frames. Modules with the same object file share it, and every
 * answer is cached. Worker thread of the symboliser; any thread may read the answers until
 * resolve_free.
 */
#ifndef SRC_SYM_RESOLVE_H
#define SRC_SYM_RESOLVE_H

#include "src/sym/debugfile.h"
#include "src/sym/sym_types.h"

struct resolve;
struct resolve_module;

/* `dirs` and what it points to must outlive it. NULL: out of memory. */
struct resolve *resolve_new(const struct debugfile_dirs *dirs);
/* Sets the stack that the resolving thread has for long names; initially DEMANGLE_STACK_BYTES. */
void resolve_stack(struct resolve *r, size_t bytes);
void resolve_free(struct resolve *r);
/* A module of one program, with its own copy of the description. Any thread, as are the next two.
 */
struct resolve_module *resolve_module_new(const struct sym_module *m);
struct resolve_module *resolve_module_ref(struct resolve_module *m);
void resolve_module_unref(struct resolve_module *m);
/* The frames at `vaddr`, at least one; unknown fields are NULL. */
const struct sym_frame *resolve_address(
	struct resolve *r, struct resolve_module *m, uint64_t vaddr, uint32_t *nframes);
/* SYM_PENDING before the first address. Any thread. */
enum sym_quality resolve_quality(const struct resolve_module *m);

#endif
