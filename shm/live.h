/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The live table: the live blocks, by address. Most are in the directly mapped part
 * (shm/live_direct.h), where a block's entry follows from its address; its fast path is inlined
 * here. Blocks that this part cannot take are in the overflow (shm/live_overflow.h).
 *
 * Any thread may insert and remove, as long as the two follow the program's own ownership of the
 * block: it is removed before the real free and inserted after the real malloc. Then the direct
 * part needs no atomic changes, only loads and stores of whole words:
 *
 *   - An entry belongs to a granule, and a block owns its granules: from insertion to removal
 *     no other live block owns any of them (layout.h), so no other thread's insertion or
 *     removal touches its entries.
 *   - Between removal and the next insertion with the same entry lie the real free, and the
 *     real malloc that returns the memory again. The allocator orders the two as it must order
 *     its own records of that memory, whichever threads they are on; so the second sees what
 *     the first wrote.
 *   - A thread that frees a block got it from the program in an order that makes the block's
 *     contents visible, and so its entry.
 *
 * Two blocks that claim one granule mean a missed free, or a wild pointer: the older block is
 * retired and counted. Racing stores may lose an entry, but entries are words, and every word is
 * validated, so nothing else is harmed. A handler that interrupts one of these functions works on
 * other blocks: the program does not have this one yet, or no longer.
 *
 * Readers outside (src/read) see entries in any state between. ENTRY orders what they see of a
 * block with two entries: the size is stored after the removal of the previous block, and before
 * the entry.
 */
#ifndef SHM_LIVE_H
#define SHM_LIVE_H

#include "shm/live_entry.h"
#include "shm/live_pieces.h"

/* The number of missed frees that one insertion can reveal: blocks that own the new one's granules,
 * or had its address. */
#define LIVE_MISSED_MAX 6u
/* Added to that number if the block itself found no room. */
#define LIVE_REFUSED 8u

/* The slow paths of live_insert and live_remove, which handle unusual cases. */
unsigned live_insert_slow(const struct segment *s, uint64_t addr, uint64_t size, uint64_t tick,
	uint32_t counter, struct live_block *old);
bool live_remove_slow(const struct segment *s, uint64_t addr, struct live_block *out);
/* Finds a block without removing it. */
bool live_find(const struct segment *s, uint64_t addr, struct live_block *out);

/*
 * Where to live_store a block in the usual case: its piece is in its place, the page populated and
 * not mixed, the entry free and owned by this block alone. NULL: another case, for
 * live_insert_slow, or `addr` is 0, where there is no block. The lookup comes first, so that other
 * work overlaps the memory access.
 *
 * Does not search first[] for an older, larger block at a smaller one's address: a removal reads
 * second[] first.
 */
HT_HOT uint64_t *live_place(const struct segment *s, uint64_t addr, uint64_t size)
{
	uint64_t at = addr & (HT_PIECE_BYTES - 1), which = live_which(addr);
	const struct segment_place *home = live_pieces_home(s, addr);
	uint64_t *first, *entry, *second;
	struct ht_piece *p;
	uint32_t state;

	if (__builtin_expect(!live_pieces_is_home(home, addr), 0))
		return NULL;
	p = live_pieces_at_home(home);
	first = entry = live_first(p, at);
	state = ht_load_relaxed_8(&p->state[at / HT_PAGE_SPAN]);
	if (__builtin_expect(state == (HT_PAGE_FIRST | HT_PAGE_SECOND), 1)) {
		second = live_choose_second(addr, live_second(p, at), first);
		if (__builtin_expect((ht_load_relaxed_64(second) & HT_ENTRY_WHICH) == which, 0))
			return NULL;
		entry = live_choose_below(size, s->extent_64, second, first);
	} else if (state != HT_PAGE_FIRST || (size < s->extent_64 && live_is_second(addr))) {
		return NULL;
	}
	if (__builtin_expect(!live_is_free(ht_load_relaxed_64(entry)), 0))
		return NULL;
	if (__builtin_expect(size - s->extent_32 >= s->extent_short, 0) &&
		(size < HT_ENTRY_SIZE || !live_is_free(ht_load_relaxed_64(entry + 1))))
		return NULL;
	return entry;
}

/* Inserts a block. Returns the number of blocks whose frees were missed, which go to old[] (room
 * for LIVE_MISSED_MAX), plus LIVE_REFUSED if there is no room for the new one. The ordinary result
 * is 0. */
static inline unsigned live_insert(
	const struct segment *s, uint64_t addr, const struct live_block *b, struct live_block *old)
{
	uint64_t *entry = live_place(s, addr, b->size);

	if (!entry)
		return live_insert_slow(s, addr, b->size, b->tick, b->counter, old);
	live_store(entry, addr, b->size, live_birth(b->tick), b->counter);
	return 0;
}

/* The same for a sampled block. There are few of them, and the direct part has no room for the
 * rate. Its page is not marked, so that ordinary blocks there stay fast: a missed free of a sampled
 * block shows only when the next sampled one has its address. */
unsigned live_insert_sampled(
	const struct segment *s, uint64_t addr, const struct live_block *b, struct live_block *old);

/* Removes a block in the usual case. Returns its entry, and its size. 0: another case, for
 * live_remove_slow. */
HT_HOT uint64_t live_take(const struct segment *s, uint64_t addr, uint64_t *size)
{
	uint64_t at = addr & (HT_PIECE_BYTES - 1), which = live_which(addr), word;
	const struct segment_place *home = live_pieces_home(s, addr);
	uint64_t *first, *entry, *second;
	struct ht_piece *p;
	uint32_t state;

	if (__builtin_expect(!live_pieces_is_home(home, addr), 0))
		return 0;
	p = live_pieces_at_home(home);
	first = entry = live_first(p, at);
	__builtin_prefetch(first); /* it is needed only where second[] has another block */
	state = ht_load_relaxed_8(&p->state[at / HT_PAGE_SPAN]);
	if (__builtin_expect((state & HT_PAGE_FIRST) == 0, 0))
		return 0;
	if (__builtin_expect((state & HT_PAGE_SECOND) != 0, 1)) {
		second = live_choose_second(addr, live_second(p, at), first);
		entry = live_choose_equal(
			ht_load_relaxed_64(second) & HT_ENTRY_WHICH, which, second, first);
	}
	word = ht_load_relaxed_64(entry);
	if (__builtin_expect((word & HT_ENTRY_WHICH) != which, 0))
		return 0;
	*size = live_entry_size(word);
	if (__builtin_expect(*size == HT_ENTRY_SIZE, 0)) {
		if (__builtin_expect(entry != first, 0))
			return 0;
		*size = ht_load_relaxed_64(first + 1) >> HT_ENTRY_LONG_SHIFT;
		live_clear(first);
		ht_store_relaxed_64(first + 1, 0);
		return word;
	}
	/* Relaxed: the allocator orders this before the granule's next owner. */
	live_clear(entry);
	return word;
}

/* Removes a block. False: it is not there. */
static inline bool live_remove(const struct segment *s, uint64_t addr, struct live_block *out)
{
	uint64_t size, entry = live_take(s, addr, &size);

	if (__builtin_expect(!entry, 0))
		return live_remove_slow(s, addr, out);
	*out = live_unpack(entry);
	out->size = size;
	return true;
}

/* Whether there certainly is no exactly recorded block at `addr`: a short lookup for frees that may
 * bypass recording. False: there is one, or only a longer lookup can decide. */
HT_HOT bool live_is_absent(const struct segment *s, uint64_t addr)
{
	uint64_t at = addr & (HT_PIECE_BYTES - 1), which = live_which(addr);
	const struct segment_place *home = live_pieces_home(s, addr);
	struct ht_piece *p;
	uint32_t state;

	if (__builtin_expect(!live_pieces_is_home(home, addr), 0))
		return false;
	p = live_pieces_at_home(home);
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
