/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that is freed all at once. Any thread, on data of its own. */
#ifndef SRC_RECORD_ARENA_H
#define SRC_RECORD_ARENA_H

#include <stddef.h>

/* All zeros: empty. */
struct arena {
	struct arena_chunk *chunk; /* owned; the newest first */
	size_t used, room; /* of the newest */
};

/* Zeroed bytes, aligned for any object. NULL: no memory. */
void *arena_alloc(struct arena *a, size_t bytes);
/* A text of a file, made safe for a terminal (text_clean). An empty one takes no memory. NULL: no
 * memory. */
const char *arena_text(struct arena *a, const char *text, size_t len);
void arena_free(struct arena *a);

#endif
