/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Registers call stacks: reads each new site's stack from the segment, gives its modules to the
 * symboliser, registers the site with the model, and requests names. Main thread.
 */
#ifndef SRC_SESSION_STACK_REGISTRATION_H
#define SRC_SESSION_STACK_REGISTRATION_H

#include "src/model/model.h"
#include "src/read/read.h"
#include "src/sym/sym.h"

struct stack_registration;

/* Borrows its arguments; all must outlive it. NULL: out of memory. */
struct stack_registration *stack_registration_new(
	struct read_segment *segment, struct model *model, struct sym *sym);
/* The process whose modules they are, as /proc here names it: it leads to files that are no longer
 * at their paths. 0: unknown. */
void stack_registration_process(struct stack_registration *s, pid_t pid);
/* Frees the modules that frames of the model point to. */
void stack_registration_free(struct stack_registration *s);
/*
 * Registers the new ones of the `count` sites, once they have allocated; the largest first, so that
 * the names on the first screen come first.
 */
void stack_registration_register(
	struct stack_registration *s, const struct read_site *sites, uint32_t count);
/* Registers a site that allocates nothing: one that frees wrongly. */
void stack_registration_add(struct stack_registration *s, uint32_t id);
/*
 * Registers a site that maps memory, unless it is known. True: it is in the model; *function is its
 * HT_FN_*.
 */
bool stack_registration_register_mapped(
	struct stack_registration *s, uint32_t site, uint32_t *function);
/*
 * Registers a site of the segment `parent` that maps memory, under another id: the modules of a
 * forked child have the numbers of its parent's. True: it is in the model.
 */
bool stack_registration_inherit(struct stack_registration *s, struct read_segment *parent,
	uint32_t site, uint32_t id, uint32_t *function);
/* As name_requests_hold. */
void stack_registration_hold(struct stack_registration *s, const uint32_t *below);
/* Registers at most so many sites, and site 0; no limit at first. */
void stack_registration_limit(struct stack_registration *s, uint32_t most);
bool stack_registration_is_full(const struct stack_registration *s);
/* As name_requests_collect. */
bool stack_registration_collect(struct stack_registration *s, bool settle);

/* The rules for naming sites changed. */
void stack_registration_hide_again(struct stack_registration *s);

/* Points `head` at the allocators that the program brings along. */
void stack_registration_allocators(struct stack_registration *s, struct snapshot *head);

#endif
