/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Walks the live table of a segment: the pieces of its directly mapped part, then the levels of its
 * overflow. An entry of several words is copied twice and visited only if both copies are equal, so
 * that no block is reported with another block's data. Main thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "shm/live_overflow.h"
#include "shm/live.h"
#include "src/read/segment.h"

#define CHUNK_BUCKETS 1024u /* three commit units */
#define CHUNK_BYTES   (CHUNK_BUCKETS * sizeof(struct ht_bucket))
#define GROUP_ENTRIES (HT_GROUP_PAGES * HT_PAGE_ENTRIES)

static_assert((GROUP_ENTRIES + 2) * sizeof(uint64_t) <= CHUNK_BYTES, "a group fits a buffer");

struct walk {
	struct read_segment *s;
	uint64_t committed[HT_COMMITTED_WORDS];
	uint64_t tags[HT_PIECES_MAX];
	uint8_t state[HT_PIECE_PAGES]; /* of the current piece */
	void *first, *second; /* copies, CHUNK_BYTES each */
	uint64_t *owner; /* ht_owner_word, by counter: [0, owners) */
	uint32_t owners;
	void (*visit)(void *ctx, const struct read_block *b);
	void *ctx;
	ssize_t blocks;
};

/* ---- owners ---- */

/* Reads the owners that were added since the last call; they never change. */
static int owners_read(struct walk *w)
{
	uint64_t most = read_capacity(w->s, HT_REGION_OWNERS, sizeof(*w->owner));
	uint32_t used;
	uint64_t *grown;
	int rc = read_at(w->s, offsetof(struct ht_header, counters), &used, sizeof(used));

	if (rc != 0)
		return rc;
	if (used > most)
		used = (uint32_t)most;
	if (used <= w->owners)
		return 0;
	grown = realloc(w->owner, used * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	w->owner = grown;
	rc = read_elements(w->s, HT_REGION_OWNERS, w->owners, used - w->owners, sizeof(*grown),
		grown + w->owners);
	if (rc == 0)
		w->owners = used;
	return rc;
}

/* Whether the owner of a block's counter is known. Rereads the owners if the counter is newer than
 * our copy. */
static bool owner_is_known(struct walk *w, uint32_t counter)
{
	if (counter >= w->owners && counter < HT_COUNTER_HIDDEN)
		(void)owners_read(w);
	return counter < w->owners;
}

/* Completes `out`, of which only `at` and `word` are set, and visits it. */
static void block_visit(
	struct walk *w, uint64_t addr, const struct live_block *b, struct read_block *out)
{
	uint32_t counter = live_counter(b);

	if (addr <= HT_KEY_CLAIMED || !owner_is_known(w, counter))
		return;
	out->addr = addr;
	out->size = b->size;
	out->tick = b->tick;
	out->rate = live_rate(b);
	out->site = ht_owner_site((uint32_t)w->owner[counter]);
	out->slot = ht_owner_slot((uint32_t)w->owner[counter]);
	out->counter = counter;
	w->visit(w->ctx, out);
	w->blocks++;
}

static int copy_twice(struct walk *w, uint64_t offset, uint64_t bytes)
{
	int rc = read_at(w->s, offset, w->first, bytes);

	return rc != 0 ? rc : read_at(w->s, offset, w->second, bytes);
}

/* ---- pieces ---- */

/* One of a piece's two tables. */
struct table {
	uint64_t start; /* address that the piece begins at */
	uint64_t offset; /* its place in the file */
	bool is_second, is_odd;
};

/*
 * A block's address, from its entry's position and low bits. 0: no block can have this entry here.
 */
static uint64_t address_of(const struct table *t, uint64_t index, uint64_t word)
{
	uint64_t granule = (t->is_second ? 2 : 0) + (t->is_odd ? 1 : 0);
	uint64_t low = (word & HT_ENTRY_WHICH) - HT_ENTRY_BLOCK;
	/* The last address of the granule; a block with an entry here starts less than a line
	 * before it. */
	uint64_t last = index * HT_LINE_BYTES + granule * HT_GRANULE_BYTES + HT_GRANULE_BYTES / 2;
	uint64_t at = last - ((last - low) & (HT_LINE_BYTES - 1));
	bool valid;

	if (t->is_odd)
		valid = at / HT_GRANULE_BYTES == last / HT_GRANULE_BYTES;
	else if (t->is_second)
		valid = live_is_second(at);
	else
		valid = at <
			HT_PIECE_BYTES; /* an address before the piece wraps to a large number */
	return valid ? t->start + at : 0;
}

/* `a` and `b`: two copies of an entry and the one after it. */
static void entry_visit(
	struct walk *w, const struct table *t, uint64_t index, const uint64_t *a, const uint64_t *b)
{
	struct live_block block;
	uint64_t at = t->offset + index * sizeof(*a);
	struct read_block out = { .at = { at, at }, .word = { a[0], a[0] } };

	if ((a[0] & HT_ENTRY_BLOCK) == 0 || a[0] != b[0])
		return;
	block = live_unpack(a[0]);
	if (block.size == HT_ENTRY_SIZE) {
		if (t->is_second || a[1] != b[1] || (a[1] & HT_ENTRY_KIND) != HT_ENTRY_EXTENSION)
			return;
		block.size = a[1] >> HT_ENTRY_LONG_SHIFT;
		out.at[1] = at + sizeof(*a);
		out.word[1] = a[1];
	}
	block_visit(w, address_of(t, index, a[0]), &block, &out);
}

/* A hole of the file has no blocks, whatever the page states say. Skipping holes saves reads: there
 * are many. */
static bool is_hole(const struct read_segment *s, uint64_t offset, uint64_t bytes)
{
	off_t data = lseek(s->fd, (off_t)offset, SEEK_DATA);

	return data < 0 ? errno == ENXIO : (uint64_t)data >= offset + bytes;
}

static int entries_walk(struct walk *w, const struct table *t, uint64_t index, uint32_t count)
{
	uint64_t at = t->offset + index * sizeof(uint64_t);
	/* In the first table the last entry's size may be in the entry after it. */
	uint64_t bytes = (count + !t->is_second) * sizeof(uint64_t);
	const uint64_t *a = w->first, *b = w->second;
	int rc;

	if (is_hole(w->s, at, bytes))
		return 0;
	rc = copy_twice(w, at, bytes);
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		entry_visit(w, t, index + i, a + i, b + i);
	return rc;
}

/* Whether a group has a page that may have been written. */
static bool is_used(const struct walk *w, const struct table *t, uint32_t page)
{
	uint8_t bit = t->is_second ? HT_PAGE_SECOND : HT_PAGE_FIRST;
	/* A block's entry in first[] may be the first one of the next page. */
	uint32_t from = page > 0 && !t->is_second ? page - 1 : page;

	for (uint32_t i = from; i < page + HT_GROUP_PAGES && i < HT_PIECE_PAGES; i++)
		if (ht_page_state(w->state[i]) & bit)
			return true;
	return false;
}

static int table_walk(struct walk *w, const struct table *t)
{
	int rc = 0;

	for (uint32_t page = 0; rc == 0 && page < HT_PIECE_PAGES; page += HT_GROUP_PAGES)
		if (is_used(w, t, page))
			rc = entries_walk(w, t, page * HT_PAGE_ENTRIES, GROUP_ENTRIES);
	if (rc == 0 && !t->is_second)
		rc = entries_walk(w, t, HT_PIECE_LINES, HT_PIECE_SPARE - 1);
	return rc;
}

static int piece_walk(struct walk *w, uint32_t slot)
{
	struct table t = { .start = w->tags[slot] & ~(HT_PIECE_BYTES - 1),
		.is_odd = (w->tags[slot] & HT_PIECE_ODD) != 0 };
	uint64_t offset;
	int rc;

	offset = w->s->header->region[HT_REGION_PIECES].offset + slot * sizeof(struct ht_piece);
	rc = read_at(w->s, offset + offsetof(struct ht_piece, state), w->state, sizeof(w->state));
	t.offset = offset + offsetof(struct ht_piece, first);
	if (rc == 0)
		rc = table_walk(w, &t);
	t.offset = offset + offsetof(struct ht_piece, second);
	t.is_second = true;
	return rc != 0 ? rc : table_walk(w, &t);
}

/* ---- levels ---- */

static bool is_committed(const struct walk *w, uint64_t offset, uint64_t bytes)
{
	for (uint64_t unit = offset / HT_COMMIT_BYTES;
		unit <= (offset + bytes - 1) / HT_COMMIT_BYTES; unit++)
		if (w->committed[unit / 64] >> (unit % 64) & 1)
			return true;
	return false;
}

/* `at`: the bucket's place in the file. */
static void slot_visit(struct walk *w, uint64_t at, const struct ht_bucket *a,
	const struct ht_bucket *b, unsigned i)
{
	struct live_block block;
	struct read_block out = { .at = { at + offsetof(struct ht_bucket, key[i]),
					  at + offsetof(
						       struct ht_bucket, payload[i].counter_tick) },
		.word = { a->key[i], a->payload[i].counter_tick } };

	if (a->key[i] <= HT_KEY_CLAIMED || a->key[i] != b->key[i] ||
		a->payload[i].size_rate != b->payload[i].size_rate ||
		a->payload[i].counter_tick != b->payload[i].counter_tick)
		return;
	live_overflow_unpack(&a->payload[i], &block);
	block_visit(w, a->key[i], &block, &out);
}

static int buckets_walk(struct walk *w, uint64_t offset, uint32_t buckets)
{
	uint64_t bytes = buckets * sizeof(struct ht_bucket);
	const struct ht_bucket *a = w->first, *b = w->second;
	int rc;

	if (!is_committed(w, offset, bytes))
		return 0;
	rc = copy_twice(w, offset, bytes);
	for (uint32_t i = 0; rc == 0 && i < buckets; i++)
		for (unsigned slot = 0; slot < HT_BUCKET_SLOTS; slot++)
			slot_visit(w, offset + i * sizeof(*a), &a[i], &b[i], slot);
	return rc;
}

static int level_walk(struct walk *w, uint32_t level)
{
	uint64_t offset = segment_level_offset(w->s->header, level);
	uint64_t buckets = 1ull << segment_level_log2(w->s->header, level);

	for (uint64_t at = 0; at < buckets; at += CHUNK_BUCKETS) {
		uint64_t left = buckets - at;
		int rc = buckets_walk(w, offset + at * sizeof(struct ht_bucket),
			left < CHUNK_BUCKETS ? (uint32_t)left : CHUNK_BUCKETS);

		if (rc != 0)
			return rc;
	}
	return 0;
}

/* ---- pieces and levels ---- */

static int tables_read(struct walk *w, uint32_t *levels)
{
	int rc = read_at(
		w->s, offsetof(struct ht_header, committed), w->committed, sizeof(w->committed));

	if (rc == 0)
		rc = read_at(w->s, offsetof(struct ht_header, pieces), w->tags, sizeof(w->tags));
	if (rc == 0)
		rc = read_at(
			w->s, offsetof(struct ht_header, live_levels), levels, sizeof(*levels));
	if (*levels > w->s->header->live_levels_max)
		*levels = w->s->header->live_levels_max;
	return rc;
}

static int walk_start(struct walk *w, uint32_t *levels)
{
	int rc = tables_read(w, levels);

	return rc != 0 ? rc : owners_read(w);
}

/* Walks the pieces of one kind. */
static int pieces_walk(struct walk *w, bool odd)
{
	int rc = 0;

	for (uint32_t slot = 0; rc == 0 && slot < w->s->header->live_pieces_max; slot++)
		if (w->tags[slot] != 0 && ((w->tags[slot] & HT_PIECE_ODD) != 0) == odd)
			rc = piece_walk(w, slot);
	return rc;
}

/* Walks the odd pieces, whose page states are not used, and the levels, which have no pages. */
static int unpaged_walk(struct walk *w, uint32_t levels)
{
	int rc = pieces_walk(w, true);

	for (uint32_t level = 0; rc == 0 && level < levels; level++)
		rc = level_walk(w, level);
	return rc;
}

static int paged_walk(struct walk *w, void *ctx)
{
	uint32_t levels = 0;
	int rc = walk_start(w, &levels);

	return rc != 0 ? rc : pieces_walk(w, false);
}

static int all_walk(struct walk *w, void *ctx)
{
	uint32_t levels = 0;
	int rc = walk_start(w, &levels);

	if (rc == 0)
		rc = pieces_walk(w, false);
	return rc != 0 ? rc : unpaged_walk(w, levels);
}

/* ---- changes ---- */

/* Walks a run of pages of a piece; no run is longer than a group. */
static int pages_walk(struct walk *w, struct table *t, uint32_t first, uint32_t count)
{
	/* A block's entry may be the one after the run. That entry may also belong to another
	 * block, which is then visited again. */
	return entries_walk(w, t, first * HT_PAGE_ENTRIES, count * HT_PAGE_ENTRIES + !t->is_second);
}

/* End of the run that begins with page `i`. */
static uint32_t run_end(const struct walk *w, uint32_t i)
{
	uint8_t is = ht_page_state(w->state[i]);

	do
		i++;
	while (i % HT_GROUP_PAGES != 0 && ht_page_state(w->state[i]) == is);
	return i;
}

/* One whole table of a piece before the other, so that blocks come in few ascending runs. */
static int table_changed(struct walk *w, struct table *t, const struct read_changes *c)
{
	uint8_t bit = t->is_second ? HT_PAGE_SECOND : HT_PAGE_FIRST;
	int rc = 0;

	for (uint32_t i = 0, end; rc == 0 && i < HT_PIECE_PAGES; i = end) {
		end = run_end(w, i);
		if ((ht_page_state(w->state[i]) & bit) == 0)
			continue;
		if (!t->is_second)
			c->gone(c->ctx, t->start + i * (uint64_t)HT_PAGE_SPAN,
				t->start + end * (uint64_t)HT_PAGE_SPAN);
		rc = pages_walk(w, t, i, end - i);
	}
	return rc;
}

static int piece_changed(struct walk *w, uint32_t slot, const struct read_changes *c)
{
	uint64_t offset =
		w->s->header->region[HT_REGION_PIECES].offset + slot * sizeof(struct ht_piece);
	struct table t = { .start = w->tags[slot] & ~(HT_PIECE_BYTES - 1),
		.offset = offset + offsetof(struct ht_piece, first) };
	int rc = table_changed(w, &t, c);

	t.offset = offset + offsetof(struct ht_piece, second);
	t.is_second = true;
	return rc != 0 ? rc : table_changed(w, &t, c);
}

struct changes_request {
	const struct read_live_changes *watch;
	const struct read_changes *changes;
};

static int changed_walk(struct walk *w, void *ctx)
{
	const struct changes_request *a = ctx;
	uint32_t levels = 0;
	int rc = walk_start(w, &levels);

	for (uint32_t slot = 0; rc == 0 && slot < w->s->header->live_pieces_max; slot++) {
		if (w->tags[slot] == 0 || (w->tags[slot] & HT_PIECE_ODD))
			continue;
		rc = read_live_changes_state(a->watch, slot, w->state);
		if (rc == 0)
			rc = piece_changed(w, slot, a->changes);
	}
	return rc != 0 ? rc : unpaged_walk(w, levels);
}

/* ---- entry points ---- */

static ssize_t walk(struct walk *w, int (*how)(struct walk *w, void *ctx), void *ctx)
{
	ssize_t result = -ENOMEM;

	w->first = malloc(CHUNK_BYTES);
	w->second = malloc(CHUNK_BYTES);
	if (w->first && w->second) {
		int rc = how(w, ctx);

		result = rc != 0 ? rc : w->blocks;
	}
	free(w->first);
	free(w->second);
	free(w->owner);
	free(w);
	return result;
}

static struct walk *walk_new(
	struct read_segment *s, void (*visit)(void *, const struct read_block *), void *ctx)
{
	struct walk *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->s = s;
	w->visit = visit;
	w->ctx = ctx;
	return w;
}

ssize_t read_blocks(
	struct read_segment *s, void (*visit)(void *, const struct read_block *), void *ctx)
{
	struct walk *w = walk_new(s, visit, ctx);

	return w ? walk(w, all_walk, NULL) : -ENOMEM;
}

ssize_t read_blocks_paged(
	struct read_segment *s, void (*visit)(void *, const struct read_block *), void *ctx)
{
	struct walk *w = walk_new(s, visit, ctx);

	return w ? walk(w, paged_walk, NULL) : -ENOMEM;
}

ssize_t read_blocks_changed(
	const struct read_live_changes *watch, const struct read_changes *changes)
{
	struct changes_request request = { watch, changes };
	struct walk *w = walk_new(watch->segment, changes->visit, changes->ctx);

	return w ? walk(w, changed_walk, &request) : -ENOMEM;
}

bool read_block_is_unchanged(const struct read_segment *s, const struct read_block *b)
{
	uint64_t word;

	for (unsigned i = 0; i < 2; i++)
		if (read_at(s, b->at[i], &word, sizeof(word)) != 0 || word != b->word[i])
			return false;
	return true;
}

uint32_t read_tick_pack(uint64_t tick)
{
	return live_birth(tick);
}

uint64_t read_tick_unpack(uint32_t birth)
{
	return live_tick(birth);
}
