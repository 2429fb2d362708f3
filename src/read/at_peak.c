/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was live at the peak (at_peak.h). The counters are copied first, and their saved values
 * read afterwards. A counter that had not saved anything in the epoch by then had not counted
 * anything in it when it was copied: so the copy is as of the peak. Main thread.
 */
#include "src/read/at_peak.h"

#include "shm/counter_batch.h"

int at_peak_epoch(struct read_segment *s, uint32_t *epoch)
{
	int rc = read_at(s, offsetof(struct ht_header, peak_epoch), epoch, sizeof(*epoch));

	*epoch >>= HT_SIZE_BITS;
	return rc;
}

static struct ht_at_peak live_now(const struct ht_counter *c)
{
	return (struct ht_at_peak){ c->alloc_bytes - c->free_bytes, c->allocs - c->frees };
}

/* Saved values are two words, and a copy may have one from before and one from after the save: so
 * it only says whether the save was over, and a second copy has the values. */
int at_peak_read(struct read_segment *s, uint32_t epoch, uint32_t at, uint32_t n,
	const struct ht_counter *counters, struct at_peak_piece *out)
{
	int rc = read_elements(s, HT_REGION_AT_PEAK, at, n, sizeof(*out->seen), out->seen);

	if (rc == 0 && epoch != 0)
		rc = read_elements(s, HT_REGION_AT_PEAK, at, n, sizeof(*out->value), out->value);
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		if (epoch != 0 && ht_at_peak_epoch(out->seen[i].blocks) >= epoch)
			out->value[i].blocks = ht_at_peak_blocks(out->value[i].blocks);
		else
			out->value[i] = live_now(&counters[i]);
	}
	return rc;
}

/* A total above the last epoch's is a maximum that has not ended: the peak is now. But the counters
 * are not read at one instant, and their sum may be above what the program ever had. */
void read_at_peak_choose(struct read_site *sites, size_t count, uint64_t peak_bytes)
{
	uint64_t now = 0, saved = 0;

	for (size_t i = 0; i < count; i++) {
		now += sites[i].live_bytes;
		saved += sites[i].at_peak_bytes;
	}
	for (size_t i = 0; i < count && now > saved && peak_bytes > saved; i++) {
		uint64_t blocks = sites[i].allocs - sites[i].frees;

		sites[i].at_peak_bytes = sites[i].live_bytes;
		sites[i].at_peak_blocks = counter_batch_above(0, blocks) ? 0 : blocks;
	}
}
