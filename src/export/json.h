/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of the JSON report that other documents have, too. Pure. */
#ifndef SRC_EXPORT_JSON_H
#define SRC_EXPORT_JSON_H

#include "src/export/writer.h"
#include "src/model/snapshot.h"

/* An array of frames, as `sites[].stack`. */
void json_stack(struct writer *w, const char *key, const struct stack *stack);

#endif
