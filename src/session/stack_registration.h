/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Call stacks on their way from the segment to the model: each new site's stack is read, its
 * modules made known to the symboliser, and names asked for. Main thread.
 */
#ifndef SRC_SESSION_STACK_REGISTRATION_H
#define SRC_SESSION_STACK_REGISTRATION_H

#include "src/model/model.h"
#include "src/read/read.h"
#include "src/sym/sym.h"

struct stack_registration;

/* Owns none of them; all must outlive it. NULL on allocation failure. */
struct stack_registration *stack_registration_new(
	struct read_segment *segment, struct model *model, struct sym *sym);
/* Frees the modules that frames of the model point to. */
void stack_registration_free(struct stack_registration *s);
/*
 * Registers those of the `count` sites that allocated and are not known yet, the largest first, so
 * that the names on the first screen come first.
 */
void stack_registration_register(
	struct stack_registration *s, const struct read_site *sites, uint32_t count);
/* Takes the names that have come in. True when there were any. */
bool stack_registration_collect(struct stack_registration *s);

/* The rules of naming changed. */
void stack_registration_rehide(struct stack_registration *s);

#endif
