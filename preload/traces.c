/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stacks seen lately (traces.h): a direct-mapped table of copies. An entry is found by hash and
 * proved by comparing every return address, so a hash collision costs time and nothing else.
 * Entries are rewritten in place under a sequence number (odd while a writer is at it; a second
 * writer gives up, a reader takes it for a miss), so the table never grows and no thread waits.
 */
#include "preload/traces.h"

#include "preload/state.h"

#define ENTRIES_LOG2 13u /* x 512 bytes: 4 MB of private memory when all are used */
#define FRAMES_KEPT  60u /* fills the 512 bytes; deeper stacks are proved by the tree itself */

struct entry {
	uint32_t sequence;
	uint32_t site;
	uint64_t hash;
	uint32_t function; /* and HT_LEAF_TRUNCATED */
	uint32_t count; /* frames, and HT_NODE_UNPINNED if any is in code that may be unloaded */
	uint64_t pcs[FRAMES_KEPT];
};

static struct entry entries[1u << ENTRIES_LOG2];

static uint64_t mix(uint64_t h, uint64_t v)
{
	return (h ^ v) * 0x9fb21c651e98df25ull;
}

/* Four chains of multiplications side by side: one alone would wait for itself at every frame. */
static uint64_t hash_of(const struct stack_trace *t)
{
	uint64_t a = t->function + 64u * t->truncated, b = 1, c = 2, d = 3;
	uint32_t i = 0;

	for (; i + 4 <= t->count; i += 4) {
		a = mix(a, t->pcs[i]);
		b = mix(b, t->pcs[i + 1]);
		c = mix(c, t->pcs[i + 2]);
		d = mix(d, t->pcs[i + 3]);
	}
	for (; i < t->count; i++)
		a = mix(a ^ a >> 29, t->pcs[i]);
	a = mix(a ^ a >> 31, b ^ b >> 33) ^ mix(c ^ c >> 35, d ^ d >> 37);
	return a ^ a >> 32;
}

static uint32_t leaf_of(const struct stack_trace *t)
{
	return t->function | (t->truncated ? HT_LEAF_TRUNCATED : 0);
}

/*
 * What an entry says of a stack: a site to be trusted, or 0. *candidate: same addresses, but in
 * code that may have changed hands. The plain reads race with a writer; the sequence tells, and
 * whatever was read in such a case is not used.
 */
static uint32_t entry_site(
	const struct entry *e, const struct stack_trace *t, uint64_t hash, uint32_t *candidate)
{
	uint32_t sequence = ht_load_acquire_32(&e->sequence), site = e->site, count = e->count;
	bool same = e->hash == hash && e->function == leaf_of(t) &&
		    (count & ~HT_NODE_UNPINNED) == t->count;

	if (sequence % 2 || site == 0 || !same)
		return 0;
	if (t->count <= FRAMES_KEPT)
		same = __builtin_memcmp(e->pcs, t->pcs, t->count * sizeof(*t->pcs)) == 0;
	ht_fence_acquire();
	if (!same || ht_load_relaxed_32(&e->sequence) != sequence)
		return 0;
	if (count & HT_NODE_UNPINNED || t->count > FRAMES_KEPT) {
		*candidate = site;
		return 0;
	}
	return site;
}

static void entry_write(struct entry *e, const struct stack_trace *t, uint64_t hash, uint32_t site)
{
	uint32_t sequence = ht_load_relaxed_32(&e->sequence), unpinned = 0;

	if (sequence % 2 || !ht_cas_acquire_32(&e->sequence, &sequence, sequence + 1))
		return;
	ht_fence_release(); /* odd before the words change */
	for (uint32_t i = 0; i < t->count; i++) {
		unpinned |= t->modules[i] & HT_NODE_UNPINNED;
		if (i < FRAMES_KEPT)
			ht_store_relaxed_64(&e->pcs[i], t->pcs[i]);
	}
	ht_store_relaxed_64(&e->hash, hash);
	ht_store_relaxed_32(&e->site, site);
	ht_store_relaxed_32(&e->function, leaf_of(t));
	ht_store_relaxed_32(&e->count, t->count | unpinned);
	ht_store_release_32(&e->sequence, sequence + 2);
}

uint32_t traces_site(const struct stack_trace *t)
{
	uint64_t hash = hash_of(t);
	struct entry *e = &entries[hash >> (64 - ENTRIES_LOG2)];
	uint32_t candidate = 0, site = entry_site(e, t, hash, &candidate);

	if (site)
		return site;
	if (candidate && stack_compare(&state_segment, candidate, t) == STACK_SAME)
		return candidate;
	site = stack_intern(&state_segment, t);
	entry_write(e, t, hash, site);
	return site;
}
