/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The types of call sites' blocks in words. Pure. */
#ifndef SRC_MODEL_SITE_TYPE_H
#define SRC_MODEL_SITE_TYPE_H

#include "src/model/snapshot.h"

#define SITE_TYPE_MAX 288

/* "Session", or "Session (97 %)" if some of the blocks are not; "" if none is known. In `cells`, 0:
 * any number, the name is shortened before the share. Returns `out`. */
char *site_type_text(
	const struct snap_type *t, unsigned cells, bool ascii, char out[SITE_TYPE_MAX]);
/* "typed 8 % of bytes": of how much of the heap types are known. "" without a scan. Returns `out`.
 */
char *site_type_share(const struct snap_typed *t, char out[SITE_TYPE_MAX]);

#endif
