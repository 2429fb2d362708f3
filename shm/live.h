/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The live table: which blocks are alive, by address, and what is known of each. Most are in the
 * directly mapped part (shm/direct.h), where a block's entry follows from its address; its usual
 * ways are inlined here. What that part cannot take is in the overflow (shm/levels.h).
 *
 * Any thread may insert and remove, as long as the two follow the program's own ownership of the
 * block: it is removed before the real free and inserted after the real malloc. Then the direct
 * part needs no atomic changes, only loads and stores that are whole:
 *
 *   - An entry is that of a granule, and a block's granules are its own: from insertion to removal
 *     no other live block owns any of them (layout.h), so no other thread's insertion or removal
 *     touches its entries.
 *   - Between removal and the next insertion with the same entry lie the real free, and the real
 *     malloc that hands the memory out again. The allocator orders the two as it must order its own
 *     records of that memory, whichever threads they are on; so the second sees what the first
 * wrote.
 *   - A thread that is given a block to free was given it by the program in an order that makes the
 *     block's contents visible, and so its entry.
 *
 * Two blocks that claim one granule mean that a free was missed, or a wild pointer: then the older
 * ends, and that is told. With stores that race an entry may be lost, but entries are words, and
 * all that is in one is checked, so nothing else is harmed. A handler that interrupts one of these
 * functions works on other blocks: this one is not the program's yet, or no longer.
 *
 * Readers outside (src/read) see entries in any state between. ENTRY orders what they see of a
 * block that has two: the size is stored after whatever took the block before out, and before the
 * entry.
 */
#ifndef SHM_LIVE_H
#define SHM_LIVE_H

#include "shm/live_entry.h"
#include "shm/pieces.h"

/* How many frees one insertion can show to have been missed: each of them is a block whose granules
 * the new one owns, or that had its address. */
#define LIVE_MISSED_MAX 6u
/* Added to that number: the block itself found no room. */
#define LIVE_REFUSED 8u

/* The same as live_insert and live_remove, out of line, and at home in unusual cases. */
unsigned live_insert_slow(const struct segment *s, uint64_t addr, uint64_t size, uint64_t tick,
	uint32_t counter, struct live_block *old);
bool live_remove_slow(const struct segment *s, uint64_t addr, struct live_block *out);
/* Looks without taking. */
bool live_find(const struct segment *s, uint64_t addr, struct live_block *out);

/*
 * Where to live_store a block if all is as usual: its piece is in its place, the page populated and
 * not mixed, the entry free, and nobody's but this block's. NULL: it is not; live_insert then does
 * it. Looking comes first, so that what else there is to do goes on while the memory is on its way.
 *
 * A smaller block's first[] is not looked into for an older one of its address that was larger: a
 * removal looks into second[] before.
 */
HT_HOT uint64_t *live_place(const struct segment *s, uint64_t addr, uint64_t size)
{
	uint64_t at = addr & (HT_PIECE_BYTES - 1), which = live_which(addr);
	const struct segment_place *home = pieces_home(s, addr);
	uint64_t *first, *entry, *second;
	struct ht_piece *p;
	uint32_t state;

	if (__builtin_expect(!pieces_is_home(home, addr), 0))
		return NULL;
	p = pieces_at_home(home);
	first = entry = live_first(p, at);
	state = ht_load_relaxed_8(&p->state[at / HT_PAGE_SPAN]);
	if (state == (HT_PAGE_FIRST | HT_PAGE_SECOND)) {
		second = live_choose(live_is_second(addr), live_second(p, at), first);
		if (__builtin_expect((ht_load_relaxed_64(second) & HT_ENTRY_WHICH) == which, 0))
			return NULL;
		entry = live_choose(size < s->extent_64, second, first);
	} else if (state != HT_PAGE_FIRST || (size < s->extent_64 && live_is_second(addr))) {
		return NULL;
	}
	if (__builtin_expect(ht_load_relaxed_64(entry) != 0, 0))
		return NULL;
	if (__builtin_expect(size - s->extent_32 >= s->extent_short, 0) &&
		(size < HT_ENTRY_SIZE || ht_load_relaxed_64(entry + 1) != 0))
		return NULL;
	return entry;
}

/*
 * Adds a block. Returns how many blocks turned out to have gone without our knowing, with what they
 * were in old[], which has room for LIVE_MISSED_MAX; plus LIVE_REFUSED when there is no room for
 * the new one. The ordinary answer is 0.
 */
static inline unsigned live_insert(
	const struct segment *s, uint64_t addr, const struct live_block *b, struct live_block *old)
{
	uint64_t *entry = live_place(s, addr, b->size);

	if (!entry)
		return live_insert_slow(s, addr, b->size, b->tick, b->counter, old);
	live_store(entry, addr, b->size, b->tick, b->counter);
	return 0;
}

/*
 * The same for a sampled block. There are few of them, and the direct part has no room for the
 * rate. Its page is not marked, so that ordinary blocks there are not slowed down for good: a
 * sampled block whose free was missed is noticed only when the next sampled one has its address.
 */
unsigned live_insert_sampled(
	const struct segment *s, uint64_t addr, const struct live_block *b, struct live_block *old);

/* Takes a block out. False: it is not there. */
HT_HOT bool live_remove(const struct segment *s, uint64_t addr, struct live_block *out)
{
	uint64_t at = addr & (HT_PIECE_BYTES - 1), which = live_which(addr), word;
	const struct segment_place *home = pieces_home(s, addr);
	uint64_t *first, *entry, *second;
	struct live_block slow;
	struct ht_piece *p;
	uint32_t state;

	if (__builtin_expect(!pieces_is_home(home, addr), 0))
		goto slow;
	p = pieces_at_home(home);
	first = entry = live_first(p, at);
	state = ht_load_relaxed_8(&p->state[at / HT_PAGE_SPAN]);
	if (__builtin_expect((state & HT_PAGE_FIRST) == 0, 0))
		goto slow;
	if ((state & HT_PAGE_SECOND) != 0) {
		second = live_choose(live_is_second(addr), live_second(p, at), first);
		entry = live_choose(
			(ht_load_relaxed_64(second) & HT_ENTRY_WHICH) == which, second, first);
	}
	word = ht_load_relaxed_64(entry);
	if (__builtin_expect((word & HT_ENTRY_WHICH) != which, 0))
		goto slow;
	*out = live_unpack(word);
	if (out->size == HT_ENTRY_SIZE) {
		if (__builtin_expect(entry != first, 0))
			goto slow;
		out->size = ht_load_relaxed_64(first + 1) >> HT_ENTRY_LONG_SHIFT;
		ht_store_relaxed_64(first, 0);
		ht_store_relaxed_64(first + 1, 0);
		return true;
	}
	/* Relaxed: whoever has the granule next is told so by the allocator. */
	ht_store_relaxed_64(entry, 0);
	return true;
slow:
	if (!live_remove_slow(s, addr, &slow))
		return false;
	*out = slow;
	return true;
}

/*
 * Whether there surely is no exactly recorded block at `addr`: a short look for whoever may pass it
 * on then. False: there is one, or it takes a longer look to tell.
 */
HT_HOT bool live_is_absent(const struct segment *s, uint64_t addr)
{
	uint64_t at = addr & (HT_PIECE_BYTES - 1), which = live_which(addr);
	const struct segment_place *home = pieces_home(s, addr);
	struct ht_piece *p;
	uint32_t state;

	if (__builtin_expect(!pieces_is_home(home, addr), 0))
		return false;
	p = pieces_at_home(home);
	state = ht_load_relaxed_8(&p->state[at / HT_PAGE_SPAN]);
	if (__builtin_expect((state & HT_PAGE_MIXED) != 0, 0))
		return false;
	if ((state & HT_PAGE_FIRST) == 0)
		return true;
	if ((ht_load_relaxed_64(live_first(p, at)) & HT_ENTRY_WHICH) == which)
		return false;
	return (state & HT_PAGE_SECOND) == 0 ||
	       (ht_load_relaxed_64(live_second(p, at)) & HT_ENTRY_WHICH) != which;
}

#endif
