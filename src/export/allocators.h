/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocators inside the program, in a report. Pure. */
#ifndef SRC_EXPORT_ALLOCATORS_H
#define SRC_EXPORT_ALLOCATORS_H

#include "src/export/writer.h"
#include "src/model/snapshot.h"

/* The array "allocators"; none if the program brings none. */
void allocators_json(struct writer *w, const struct snapshot *s);
/* A few lines: by module, how many functions are recorded, and what is not, with the reason. */
void allocators_text(struct strbuf *out, const struct snapshot *s);

#endif
