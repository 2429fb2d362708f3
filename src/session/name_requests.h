/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which frame of which site waits for the name of which address. Connects the model, which holds
 * stacks, and the symboliser, which resolves addresses. Each address is requested once. Main
 * thread.
 */
#ifndef SRC_SESSION_NAME_REQUESTS_H
#define SRC_SESSION_NAME_REQUESTS_H

#include "src/model/model.h"
#include "src/sym/sym.h"

struct name_requests;

/* Borrows its arguments; both must outlive it. NULL: out of memory. */
struct name_requests *name_requests_new(struct model *model, struct sym *sym);
void name_requests_free(struct name_requests *n);

/* An address of a registered site: frame `index` of it, innermost 0. */
struct name_requests_frame {
	uint32_t site, index;
	uint32_t module_id; /* as the symboliser knows it */
	const struct snap_module *module;
	uint64_t pc, offset;
};
/* Modules from `*below` on may not be asked about yet: their files are on their way. It may only
 * rise, and is read again by name_requests_collect. NULL: all may. */
void name_requests_hold(struct name_requests *n, const uint32_t *below);
/* Names the frame at once when the address is known, else when the answer comes. 0 or -errno. */
int name_requests_want(struct name_requests *n, const struct name_requests_frame *f);
/* The rules changed: decides again which frames may name a site. */
void name_requests_hide_again(struct name_requests *n);
/* Passes every finished answer to the frames that wait for it. True when there was one. */
bool name_requests_collect(struct name_requests *n);

#endif
