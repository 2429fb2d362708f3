/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts ignored call sites at one site (ignored.h). The return addresses that decide are in a hash
 * table of the process, which a thread fills from the marked sites once per round. Others read it
 * meanwhile: an address that they miss is one of a site that is recorded a little longer. Only
 * addresses of code that stays. No locks.
 *
 * Edge FILLED: what a thread has entered, before another fills the table.
 */
#include "preload/ignored.h"

#include <string.h>

#include "preload/bulk.h"
#include "preload/unwind_cfi.h"

#define PCS_LOG2 12u /* 32 KB; sites are many, the places of the code that decide are few */
#define PCS	 (1u << PCS_LOG2)
#define PCS_MOST (PCS / 2) /* more are not entered: known stacks are ignored all the same */

static BULK uint64_t pcs[PCS]; /* 0: free */
static uint32_t pcs_round; /* header.ignore_round that they are of */
static uint32_t pcs_busy; /* a thread fills the table */
/* None of these was ever written. In .data, whose pages are there at a start; these are not. */
static uint32_t pcs_new = 1;

/* ---- the table ---- */

static uint32_t hash(uint64_t pc)
{
	return (uint32_t)(pc * 0x9e3779b97f4a7c15ull >> (64 - PCS_LOG2));
}

/* Where an address is, or may be entered. */
static uint64_t *pc_slot(uint64_t pc)
{
	uint32_t i = hash(pc);

	while (ht_load_relaxed_64(&pcs[i]) != 0 && ht_load_relaxed_64(&pcs[i]) != pc)
		i = (i + 1) % PCS;
	return &pcs[i];
}

static bool pcs_have(uint64_t pc)
{
	return ht_load_relaxed_64(pc_slot(pc)) == pc;
}

/* The node of frame `number` of a site's stack, the innermost being 0; or 0. */
static uint32_t frame_node(const struct ht_site *site, uint32_t number)
{
	uint32_t node = site->node;

	for (uint64_t up = 0; node != 0 && up <= number; up++)
		node = stack_node(&state_segment, node)->parent;
	return node;
}

/* Returns the number of addresses entered. */
static uint32_t pc_enter(const struct ht_site *site, uint32_t number)
{
	uint32_t node = frame_node(site, number);
	const struct ht_node *n = stack_node(&state_segment, node);
	uint64_t *slot = pc_slot(n->pc);

	if (node == 0 || (n->module & HT_NODE_UNPINNED) || ht_load_relaxed_64(slot) != 0)
		return 0;
	ht_store_relaxed_64(slot, n->pc);
	return 1;
}

static void pcs_clear(void)
{
	for (uint32_t i = 0; i < PCS; i++)
		if (ht_load_relaxed_64(&pcs[i]) != 0)
			ht_store_relaxed_64(&pcs[i], 0);
}

/* Adds those of the marked sites: a forked child goes on with its parent's. */
static void pcs_fill(void)
{
	uint32_t sites = ht_load_relaxed_32(&state_segment.header->sites), count = 0;

	for (uint32_t i = 1; i < sites && count < PCS_MOST; i++) {
		const struct ht_site *site = stack_site(&state_segment, i);
		uint32_t by = ht_load_relaxed_32(&site->ignored);

		if (by != 0 && by != HT_IGNORED_WHOLE)
			count += pc_enter(site, by - 1);
	}
}

void ignored_start(void)
{
	if (ht_load_relaxed_32(&pcs_new))
		return;
	pcs_clear();
	ht_store_relaxed_32(&pcs_round, 0);
	ht_store_relaxed_32(&pcs_busy, 0);
}

void ignored_forked(void)
{
	ht_store_relaxed_32(&pcs_new, 0);
	ht_store_relaxed_32(&pcs_round, ignored_round());
	ht_store_relaxed_32(&pcs_busy, 0);
}

/* ---- a viewer's change ---- */

void ignored_serve(struct recorder *r)
{
	uint32_t round = ignored_round(), free = 0;

	if (ht_load_relaxed_32(&pcs_round) != round) {
		ht_store_relaxed_32(&pcs_new, 0);
		if (!ht_cas_acquire_32(&pcs_busy, &free, 1)) /* FILLED */
			return; /* at the next opportunity */
		if (round == HT_IGNORE_NOTHING)
			pcs_clear();
		else
			pcs_fill();
		ht_store_relaxed_32(&pcs_round, round);
		ht_store_release_32(&pcs_busy, 0); /* FILLED */
	}
	r->ignore_round = round;
	r->ignore_forget = true;
	stack_memory_hide(&r->guards);
}

bool ignored_forget(struct recorder *r)
{
	if (__builtin_expect(!r->ignore_forget, 1))
		return false;
	r->ignore_forget = false;
	stack_memory_forget_all(&r->guards);
	return true;
}

/* ---- where to count ---- */

bool ignored_is_site(uint32_t site)
{
	uint32_t node = stack_site(&state_segment, site)->node;

	return node != 0 && ht_function_is_ignored((uint32_t)stack_node(&state_segment, node)->pc &
						   HT_LEAF_FUNCTION);
}

/* The site of ignored blocks of a function. 0: there is no room for it, or it is no function of the
 * heap. Frees have names; mappings and pools are counted as they are. */
static uint32_t total_of(uint32_t function)
{
	const struct stack_trace t = { .function = HT_FN_IGNORED + ht_family(function) };
	uint32_t site;

	if (function < HT_FN_MALLOC || (function >= HT_FN_MMAP && function < HT_FN_NAMED))
		return 0;
	site = stack_intern(&state_segment, &t);
	return ignored_is_site(site) ? site : 0;
}

/* Whether a stack is remembered that has `guards` words in common with this one: with fewer, the
 * two would differ nowhere. */
static bool is_known_longer(const struct recorder *r, uint32_t guards)
{
	return r->guards.stop.known && r->guards.stop.guard >= guards;
}

struct stack_cache_leaf *ignored_leaf(struct recorder *r, uintptr_t frame, uint32_t function)
{
	uint64_t at = frame + CFI_RULE_WORD;
	const struct unwind_word word = { at, cfi_rule_word(at) };
	uint32_t site = pcs_have(word.value) && !is_known_longer(r, 1) ? total_of(function) : 0;
	struct unwind *u = &r->unwind;
	struct stack_cache_leaf *leaf;

	if (site == 0)
		return NULL;
	stack_cache_unwinding(&r->guards);
	u->frame = frame;
	u->words_end = &word + 1;
	u->guard_count = 1;
	u->shared = 0;
	u->unpinned = false;
	u->repeatable = true;
	leaf = stack_cache_keep(&r->guards, u, function, site, true);
	stack_cache_apart(&r->guards);
	u->guard_count = 0;
	u->words_end = NULL;
	return leaf;
}

static void cut(struct recorder *r, uint32_t frame)
{
	uint32_t guards = unwind_cfi_guards(&r->unwind, frame);

	if (guards == 0 || guards >= r->unwind.guard_count || is_known_longer(r, guards))
		return;
	r->unwind.guard_count = guards;
	r->unwind.shared = 0; /* the last words are not the stack's last */
}

uint32_t ignored_site(struct recorder *r, uint32_t function, bool again)
{
	const struct unwind *u = &r->unwind;
	uint32_t frame = 0, site;

	while (frame < u->count && !pcs_have(u->pcs[frame]))
		frame++;
	site = frame < u->count ? total_of(function) : 0;
	if (site != 0 && !again && u->repeatable)
		cut(r, frame);
	return site;
}

uint32_t ignored_site_of(uint32_t site, uint32_t function)
{
	uint32_t total = ht_load_relaxed_32(&stack_site(&state_segment, site)->ignored) != 0
				 ? total_of(function)
				 : 0;

	return total ? total : site;
}
