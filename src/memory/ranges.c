/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recorded mappings (ranges.h). */
#include "src/memory/ranges.h"

#include <errno.h>
#include <stdlib.h>

int ranges_read(struct read_segment *s, uint32_t sites, const struct map_range **out, size_t *count)
{
	struct read_mapping *mapping = NULL;
	struct map_range *range;
	bool whole;
	ssize_t n = read_mappings(s, &mapping, &whole);

	if (n < 0)
		return (int)n;
	range = malloc(((size_t)n + 1) * sizeof(*range));
	*count = 0;
	for (ssize_t i = 0; range && i < n; i++) {
		const struct read_mapping *m = &mapping[i];
		bool allocator = m->kind == HT_MAPPING_ALLOCATOR;

		if (allocator || (m->site > 0 && m->site < sites))
			range[(*count)++] =
				(struct map_range){ m->start, m->end, allocator ? 0 : m->site };
	}
	free(mapping);
	*out = range;
	return range ? 0 : -ENOMEM;
}
