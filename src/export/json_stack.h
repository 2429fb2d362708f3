/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Call stacks in JSON: in the report, and in other documents. Pure. */
#ifndef SRC_EXPORT_JSON_STACK_H
#define SRC_EXPORT_JSON_STACK_H

#include "src/export/writer.h"
#include "src/model/snapshot.h"

/* An array of frames, as `sites[].stack`. */
void json_stack(struct writer *w, const char *key, const struct stack *stack);

#endif
