/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names for the addresses of call stacks. Connects the model, which holds stacks, and the
 * symboliser, which resolves addresses. Each address is requested once, however many stacks it is
 * in. Main thread.
 */
#ifndef SRC_SESSION_NAME_REQUESTS_H
#define SRC_SESSION_NAME_REQUESTS_H

#include "src/model/model.h"
#include "src/sym/sym.h"

struct name_requests;

/* Borrows its arguments; both must outlive it. NULL: out of memory. */
struct name_requests *name_requests_new(struct model *model, struct sym *sym);
void name_requests_free(struct name_requests *n);

/* Modules from `*below` on may not be asked about yet: their files are on their way. It may only
 * rise, and is read again by name_requests_collect. NULL: all may. */
void name_requests_hold(struct name_requests *n, const uint32_t *below);
/* Requests the names of a place unless they have been; `module_id`: as the symboliser knows its
 * object file. 0 or -errno. */
int name_requests_want(struct name_requests *n, struct stack_place *place, uint32_t module_id);
/* The rules changed: decides again which frames may name a site. */
void name_requests_hide_again(struct name_requests *n);
/*
 * Takes every finished answer. Stacks get their names when there are enough new ones to be worth a
 * visit to all stacks, or if `settle`. True: stacks have got names.
 */
bool name_requests_collect(struct name_requests *n, bool settle);

#endif
