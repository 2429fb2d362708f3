/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Call sites that a viewer ignores (ht_site.ignored): their blocks count at one site per family of
 * functions. A remembered stack leads there, so the fast path is that of any other site.
 *
 * A site may be ignored for one of its frames. Then every stack with that return address is: stacks
 * that are new get no site, those whose innermost frame decides are not even unwound, and a stack
 * is remembered by only the words that lead to the frame. In hooks, with the re-entry guard held.
 */
#ifndef PRELOAD_IGNORED_H
#define PRELOAD_IGNORED_H

#include "preload/recorder.h"

static inline uint32_t ignored_round(void)
{
	return ht_load_relaxed_32(&state_segment.header->ignore_round);
}

/* Whether a viewer has changed which sites are ignored since this thread last applied it. */
static inline bool ignored_is_outdated(const struct recorder *r)
{
	return r->ignore_round != ignored_round();
}

/* Applies that: from now on this thread unwinds each stack anew. The remembered ones stay in memory
 * as they are, since the active event may be comparing with them. */
void ignored_serve(struct recorder *r);
/* Before a stack is unwound: forgets the remembered ones if ignored_serve was called. True: it has,
 * and a leaf found before is not valid. */
bool ignored_forget(struct recorder *r);

/* The leaf of a stack at `frame` whose innermost frame decides. NULL: unwind it. */
struct stack_cache_leaf *ignored_leaf(struct recorder *r, uintptr_t frame, uint32_t function);
/* The site at which the stack in r->unwind counts, if some frame of it decides. 0: intern it.
 * `again`: it is remembered already; else its words are cut to those that lead to the frame. */
uint32_t ignored_site(struct recorder *r, uint32_t function, bool again);
/* The site at which blocks of `site` count: that one, if it is not ignored as a whole. */
uint32_t ignored_site_of(uint32_t site, uint32_t function);
/* Whether a site stands for ignored ones. */
bool ignored_is_site(uint32_t site);

/* When recording starts: nothing is ignored. */
void ignored_start(void);
/* In a forked child: the same is, until a viewer says otherwise. */
void ignored_forked(void);

#endif
