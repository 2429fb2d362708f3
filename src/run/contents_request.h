/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How contents of blocks cross: what the desk asks for and the agent answers (FAR_CONTENTS). Pure.
 */
#ifndef SRC_RUN_CONTENTS_REQUEST_H
#define SRC_RUN_CONTENTS_REQUEST_H

#include "src/util/bytes.h"

#define CONTENTS_RANGES	    16u /* of a request, which fits FAR_REQUEST_MAX */
#define CONTENTS_RANGE_MOST 256u /* bytes of a range */

struct contents_range {
	uint64_t addr;
	size_t bytes; /* wanted */
	size_t got; /* of an answer: read, the first of them */
	uint8_t data[CONTENTS_RANGE_MOST];
};

void contents_request_put(struct bytes *b, const struct contents_range *r, size_t count);
/* At most CONTENTS_RANGES. 0 or -EPROTO. */
int contents_request_get(struct bytes_cursor *c, struct contents_range *r, size_t *count);
/* What was read of them, in the same order. */
void contents_answer_put(struct bytes *b, const struct contents_range *r, size_t count);
int contents_answer_get(struct bytes_cursor *c, struct contents_range *r, size_t count);

#endif
