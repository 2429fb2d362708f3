/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the counts of each thread slot that was ever used. Main thread. */
#include <string.h>

#include "src/read/segment.h"

static void thread_add(struct read_thread *out, uint32_t slot, const struct ht_thread *t)
{
	*out = (struct read_thread){ .slot = slot,
		.tid = t->tid == HT_NONE ? 0 : t->tid,
		.owners = t->owners,
		.reallocs = t->reallocs,
		.temporary = t->temporary,
		.foreign_frees = t->foreign_frees,
		.foreign_bytes = t->foreign_bytes };
	for (unsigned i = 0; i < HT_SIZE_BUCKETS; i++) {
		out->allocs += t->size[i].allocs;
		out->alloc_bytes += t->size[i].alloc_bytes;
		out->frees += t->size[i].frees;
		out->free_bytes += t->size[i].free_bytes;
	}
}

ssize_t read_threads(struct read_segment *s, struct read_thread *out, uint32_t max)
{
	uint64_t capacity = read_capacity(s, HT_REGION_THREADS, sizeof(struct ht_thread));
	uint32_t used, count = 0;
	struct ht_thread t;
	int rc = read_at(s, offsetof(struct ht_header, threads), &used, sizeof(used));

	for (uint32_t i = 0; rc == 0 && i < used && i < capacity && count < max; i++) {
		rc = read_elements(s, HT_REGION_THREADS, i, 1, sizeof(t), &t);
		if (rc == 0)
			thread_add(&out[count], i, &t);
		if (rc == 0 && (out[count].allocs || out[count].frees || out[count].tid))
			count++;
	}
	return rc ? rc : (ssize_t)count;
}
