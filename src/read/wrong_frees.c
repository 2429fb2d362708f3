/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the table of wrong frees (read.h), trusting nothing in it. Main thread. */
#include <errno.h>
#include <stdlib.h>
#include "src/read/segment.h"

/* False: the entry is unused, or none that the library writes. */
static bool entry_read(const struct ht_wrong_free *e, uint32_t sites, struct read_wrong_free *out)
{
	uint32_t kind =
		(uint32_t)(e->key >> HT_WRONG_KIND_SHIFT & ((1u << HT_WRONG_KIND_BITS) - 1));
	struct read_wrong_free free = { .kind = kind,
		.site = (uint32_t)e->key & (HT_SITES_MAX - 1),
		.alloc_site = (uint32_t)(e->key >> HT_WRONG_ALLOC_SHIFT) & (HT_SITES_MAX - 1),
		.first_site = e->first_site < sites ? (uint32_t)e->first_site : 0,
		.count = e->count,
		.bytes = e->bytes,
		.addr = e->addr,
		.offset = e->offset,
		.want = e->want };

	*out = free;
	return (e->key & HT_WRONG_USED) != 0 && e->count != 0 && kind < HT_WRONG_KINDS &&
	       free.site < sites && free.alloc_site < sites;
}

static int entries_read(struct read_segment *s, uint32_t sites, struct read_wrong_frees *out)
{
	struct ht_wrong_frees *table = malloc(sizeof(*table));
	int rc = table ? read_elements(s, HT_REGION_WRONG_FREES, 0, 1, sizeof(*table), table)
		       : -ENOMEM;

	for (uint32_t i = 0; i < HT_WRONG_MOST && rc == 0; i++)
		out->entries += entry_read(&table->entry[i], sites, &out->entry[out->entries]);
	free(table);
	return rc;
}

int read_wrong_frees(struct read_segment *s, uint32_t sites, struct read_wrong_frees *out)
{
	uint64_t head[offsetof(struct ht_wrong_frees, entry) / sizeof(uint64_t)];
	const uint64_t *count = head + offsetof(struct ht_wrong_frees, count) / sizeof(uint64_t),
		       *refused =
			       head + offsetof(struct ht_wrong_frees, refused) / sizeof(uint64_t);
	uint64_t at = s->header->region[HT_REGION_WRONG_FREES].offset, all = 0;
	int rc = read_at(s, at, head, sizeof(head));

	out->entries = 0;
	out->refused = 0;
	for (unsigned i = 0; i < HT_WRONG_KINDS; i++) {
		out->count[i] = rc == 0 ? count[i] : 0;
		out->refused += rc == 0 ? refused[i] : 0;
		all |= out->count[i];
	}
	return rc == 0 && all != 0 ? entries_read(s, sites, out) : rc;
}
