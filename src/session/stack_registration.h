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

struct intake;

/* Owns none of them; all must outlive it. NULL on allocation failure. */
struct intake *intake_new(struct read_segment *segment, struct model *model, struct sym *sym);
/* Frees the modules that frames of the model point to. */
void intake_free(struct intake *s);
/*
 * Registers those of the `count` sites that allocated and are not known yet, the largest first, so
 * that the names on the first screen come first.
 */
void intake_register(struct intake *s, const struct read_site *sites, uint32_t count);
/* Takes the names that have come in. True when there were any. */
bool intake_collect(struct intake *s);

/* The rules of naming changed. */
void intake_rehide(struct intake *s);

#endif
