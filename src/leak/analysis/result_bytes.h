/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The result of a leak scan as bytes, for a heaptop on another machine: all of struct leak_result.
 * What is read is not trusted: every index is within what came, and no count takes more memory than
 * some ten times the bytes that hold it. Pure; any thread.
 */
#ifndef SRC_LEAK_ANALYSIS_RESULT_BYTES_H
#define SRC_LEAK_ANALYSIS_RESULT_BYTES_H

#include "src/leak/analysis/result.h"
#include "src/util/bytes.h"

/* Appends a result. */
void leak_result_bytes_put(struct bytes *b, const struct leak_result *r);
/* 0 and a result that the caller frees; -EPROTO or -ENOMEM, with nothing to free. */
int leak_result_bytes_get(struct bytes_cursor *c, struct leak_result *r);

#endif
