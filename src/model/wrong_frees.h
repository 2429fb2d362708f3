/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wrong frees in words and figures, for screen and reports. Pure. */
#ifndef SRC_MODEL_WRONG_FREES_H
#define SRC_MODEL_WRONG_FREES_H

#include "src/model/snapshot.h"

/* The process's wrong frees, without its children's: all kinds. */
uint64_t wrong_frees_count(const struct snapshot *s);
/* Those of an address that is no block's, or of a freed one; and those of a block by a function or
 * with a size that do not fit it. */
uint64_t wrong_frees_bad(const struct snapshot *s);
uint64_t wrong_frees_mismatched(const struct snapshot *s);

/* "mismatched: 3 blocks, 48 bytes, of operator new freed by free". Returns buf. */
#define WRONG_FREES_LINE_MAX 256
const char *wrong_frees_line(const struct snap_wrong_free *f, char buf[WRONG_FREES_LINE_MAX]);

#endif
