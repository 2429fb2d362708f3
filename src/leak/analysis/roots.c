/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding roots, mapping by mapping (roots.h). */
#include "src/leak/analysis/roots.h"

#include <stdlib.h>
#include <string.h>

#include "shm/layout.h"
#include "src/leak/analysis/glibc_heap.h"
#include "src/leak/analysis/tls.h"

#define PAGE		 4096u
#define GENERAL_WORDS	 (sizeof(struct user_regs_struct) / sizeof(uint64_t))
#define STACK_KEPT_BYTES 262144u /* of a thread's stack, to name frames: deeper ones are rare */
#define THREAD_BYTES	 16384u /* glibc's struct pthread, at the end of a stack: some 2 KB */

struct scan {
	struct leak_roots *roots;
	struct leak_space *space;
	const struct trace_stop *stop;
	struct leak_graph *graph;
	struct leak_thread_places *stacks; /* those that the mapping may be a stack of; or NULL */
	bool bins; /* malloc may keep its words here, which point to chunk headers */
	uint64_t skip_end; /* the library's memory reaches up to here */
};

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* ---- words ---- */

/* Keeps what the words have of a thread's live stack. */
static void stack_keep(
	struct leak_thread_places *t, uint64_t addr, const uint64_t *words, size_t count)
{
	uint64_t end = addr + count * sizeof(*words);
	uint64_t from = t->stack > addr ? t->stack : addr;
	uint64_t until = t->stack + t->word_count * sizeof(*words);

	until = until < end ? until : end;
	if (t->words && from < until)
		memcpy(t->words + (from - t->stack) / sizeof(*words),
			words + (from - addr) / sizeof(*words), until - from);
}

static void root_visit(void *ctx, uint64_t addr, const uint64_t *words, size_t count)
{
	struct scan *s = ctx;

	for (size_t i = 0; s->stacks && s->stacks[i].tid != 0; i++)
		stack_keep(&s->stacks[i], addr, words, count);
	leak_graph_root(s->graph, addr, words, count, s->bins);
}

/* The library's private memory begins with a magic word. Pieces begin at a page, or within memory
 * that is not the library's. */
static void anonymous_visit(void *ctx, uint64_t addr, const uint64_t *words, size_t count)
{
	struct scan *s = ctx;
	size_t page_words = PAGE / sizeof(*words);

	while (count > 0) {
		size_t n = (PAGE - addr % PAGE) / sizeof(*words);

		n = n < count ? n : count;
		if (n == page_words && words[0] == HT_PRIVATE_MAGIC && words[1] == addr)
			s->skip_end = addr + words[2];
		if (addr >= s->skip_end)
			leak_graph_root(s->graph, addr, words, n, s->bins);
		addr += n * sizeof(*words);
		words += n;
		count -= n;
	}
}

/* Reads all of [start, end) but the blocks in it. */
static void around_blocks(struct scan *s, uint64_t start, uint64_t end, leak_visit *visit)
{
	const struct leak_blocks *b = s->graph->blocks;
	uint32_t i = leak_blocks_from(b, start);
	uint64_t at = start;

	/* A block that begins before may reach in. */
	if (i > 0 && b->block[i - 1].addr + b->block[i - 1].size > at)
		at = b->block[i - 1].addr + b->block[i - 1].size;
	for (; i < b->count && b->block[i].addr < end && !leak_space_cancelled(s->space); i++) {
		if (b->block[i].addr > at)
			leak_space_stream(s->space, at, b->block[i].addr, visit, s);
		if (b->block[i].addr + b->block[i].size > at)
			at = b->block[i].addr + b->block[i].size;
	}
	if (at < end)
		leak_space_stream(s->space, at, end, visit, s);
}

/* `first` becomes `other` if that ends behind `from`, and begins earlier. */
static void range_first(struct leak_range *first, const struct leak_range *other, uint64_t from)
{
	if (other->end > from && other->start < first->start)
		*first = *other;
}

/* As around_blocks, but without thread-local data, which are roots of their own kind, and without
 * dead parts of stacks. */
static void around_apart(struct scan *s, uint64_t start, uint64_t end, leak_visit *visit)
{
	const struct leak_exit_stack *e = s->roots->exit;

	while (start < end) {
		struct leak_range next = { end, end };

		for (size_t i = 0; e && e->tid != 0 && i < e->deads; i++)
			range_first(&next, &e->dead[i], start);
		for (const struct leak_thread_places *t = s->roots->thread; t && t->tid != 0; t++) {
			range_first(&next, &t->tls, start);
			range_first(&next, &t->below, start);
		}
		if (next.start > start)
			around_blocks(s, start, next.start, visit);
		start = next.end;
	}
}

static void tls_scan(struct scan *s)
{
	s->bins = s->roots->unknown;
	for (const struct leak_thread_places *t = s->roots->thread; t && t->tid != 0; t++)
		around_blocks(s, t->tls.start, t->tls.end, root_visit);
}

/* ---- memory of allocators ---- */

/* Whether [start, end) has a block without a mapping of its own. */
static bool has_small(struct scan *s, uint64_t start, uint64_t end)
{
	const struct leak_blocks *b = s->graph->blocks;

	for (uint32_t i = leak_blocks_from(b, start); i < b->count && b->block[i].addr < end; i++)
		if (!leak_glibc_heap_has_own_mapping(s->space, b->block[i].addr, b->block[i].size))
			return true;
	return false;
}

/* Where the next arena may begin, skipping untouched memory. */
static uint64_t piece_end(struct scan *s, uint64_t at, uint64_t end)
{
	uint64_t next = (at | (LEAK_GLIBC_HEAP_BYTES - 1)) + 1;
	size_t pages;

	if (next >= end)
		return end;
	next = leak_space_skip_untouched(s->space, next, end, &pages);
	return next < end ? next & ~(LEAK_GLIBC_HEAP_BYTES - 1) : end;
}

/* Calls `visit` for parts outside arenas, until it returns true. Whether it did. */
static bool pieces_visit(struct scan *s, uint64_t start, uint64_t end,
	bool (*visit)(struct scan *s, uint64_t start, uint64_t end))
{
	uint64_t at = start, next;

	while (at < end && !leak_space_cancelled(s->space)) {
		struct leak_glibc_heap heap;

		if (leak_glibc_heap_at(s->space, at, end, &heap)) {
			at = heap.end;
			continue;
		}
		next = piece_end(s, at, end);
		if (visit(s, at, next))
			return true;
		at = next;
	}
	return false;
}

static bool piece_scan(struct scan *s, uint64_t start, uint64_t end)
{
	around_apart(s, start, end, anonymous_visit);
	return false;
}

/* The kernel may show adjacent mappings as one. If an allocator other than glibc's cuts small
 * blocks out of it, all of it is that allocator's. */
static void anonymous_scan(struct scan *s, uint64_t start, uint64_t end)
{
	s->bins = s->roots->unknown;
	if (s->roots->unknown)
		piece_scan(s, start, end);
	else if (!pieces_visit(s, start, end, has_small))
		pieces_visit(s, start, end, piece_scan);
}

/* ---- the brk heap ---- */

#define BRK_LEAST 4096u /* a program's own sbrk hardly takes less */

/* Reads what follows the chunks, free ones, that begin at `start`. */
static void brk_gap_scan(struct scan *s, uint64_t start, uint64_t end)
{
	uint64_t at = leak_glibc_heap_chunks_end(s->space, start, end);

	if (at < end)
		leak_space_stream(s->space, at, end, root_visit, s);
}

/*
 * The brk heap is malloc's, but for what the program took by sbrk itself: malloc continues after
 * that. A heap without glibc's chunks is another allocator's as a whole.
 */
static void brk_scan(struct scan *s, const struct leak_map *m)
{
	const struct leak_blocks *b = s->graph->blocks;
	uint32_t i = leak_blocks_from(b, m->start);
	uint64_t at = m->start, size;

	if (i == b->count || b->block[i].addr >= m->end) {
		brk_gap_scan(s, m->start, m->end); /* malloc has nothing there, or nothing live */
		return;
	}
	if (!leak_glibc_heap_is_chunk(s->space, b->block[i].addr, b->block[i].size))
		return;
	for (; i < b->count && b->block[i].addr < m->end && !leak_space_cancelled(s->space); i++) {
		const struct leak_block *block = &b->block[i];

		if (block->addr - at >= 16 + BRK_LEAST)
			brk_gap_scan(s, at, block->addr - 16);
		at = block->addr + block->size;
		if (i + 1 < b->count && b->block[i + 1].addr - at < BRK_LEAST)
			continue;
		if (!leak_space_word(s->space, block->addr - 8, &size))
			return;
		at = block->addr - 16 + (size & ~UINT64_C(7));
	}
	brk_gap_scan(s, at, m->end);
}

/* ---- stacks ---- */

static uint64_t stack_pointer(const struct trace_thread *t)
{
	return trace_registers_stack(&t->regs);
}

static bool lies_in(const struct leak_map *m, uint64_t addr)
{
	return addr >= m->start && addr < m->end;
}

/* Anonymous memory above a guard page: perhaps a stack. */
static bool has_guard(const struct leak_space *s, const struct leak_map *m)
{
	const struct leak_map *below = m > s->map ? m - 1 : NULL;

	return !m->shared && m->inode == 0 && !*m->path && below && below->end == m->start &&
	       !below->readable && !below->writable;
}

/* Whether three words of a thread's data say where its stack is: {address, bytes, guard}, the guard
 * included. The data lie at its end. */
static bool is_stack_block(const uint64_t *words, uint64_t data, struct leak_range *stack)
{
	*stack = (struct leak_range){ words[0] + words[2], words[0] + words[1] };
	return words[0] != 0 && words[0] % PAGE == 0 && words[2] < words[1] &&
	       stack->start < data && stack->end > data && stack->end - data < THREAD_BYTES;
}

/*
 * The dead part of a stack whose mapping says nothing: since glibc 2.42 its guard is no mapping
 * (MADV_GUARD_INSTALL), and stacks that are side by side are one. The thread's data know.
 */
static struct leak_range below_stack(struct leak_space *s, uint64_t data, uint64_t pointer)
{
	const struct leak_map *m = leak_space_map(s, pointer);
	const size_t bytes = THREAD_BYTES / 4;
	uint64_t words[THREAD_BYTES / 4 / sizeof(uint64_t)];
	struct leak_range stack;
	ssize_t got;

	if (!m || m->shared || !lies_in(m, data) || pointer >= data || data % sizeof(*words) != 0 ||
		has_guard(s, m) || strcmp(m->path, "[stack]") == 0)
		return (struct leak_range){ 0, 0 };
	got = leak_space_read(s, data, words, bytes < m->end - data ? bytes : m->end - data,
		leak_space_has_shared(s));
	for (ssize_t i = 0; i + 2 < got / (ssize_t)sizeof(*words); i++)
		if (is_stack_block(&words[i], data, &stack) && lies_in(m, stack.start) &&
			stack.start + TRACE_REGISTERS_RED_ZONE <= pointer)
			return (struct leak_range){ stack.start,
				pointer - TRACE_REGISTERS_RED_ZONE };
	return (struct leak_range){ 0, 0 };
}

struct leak_thread_places leak_roots_thread(struct leak_space *s, const struct trace_thread *t)
{
	uint64_t data;

	if (t->state != TRACE_THREAD_STOPPED)
		return (struct leak_thread_places){ .tid = t->tid };
	data = trace_stop_thread_pointer(t);
	return (struct leak_thread_places){ .tid = t->tid,
		.stack = stack_pointer(t),
		.data = data,
		.tls = leak_tls_of(s, data),
		.below = below_stack(s, data, stack_pointer(t)),
		.regs = t->regs };
}

/* Whether a mapping is the stack of this thread and nothing else: the first thread's, or one of
 * pthread_create, with the thread's data at its end. */
static bool is_stack_of(
	const struct scan *s, const struct leak_map *m, const struct trace_thread *t)
{
	if (strcmp(m->path, "[stack]") == 0)
		return true;
	return has_guard(s->space, m) && lies_in(m, trace_stop_thread_pointer(t)) &&
	       m->end - trace_stop_thread_pointer(t) < THREAD_BYTES;
}

/*
 * Where the live part of a stack begins. Below the stack pointer are leftovers of functions that
 * have returned. If the live part is uncertain (a thread is on another stack for now), all counts.
 */
static uint64_t stack_start(const struct scan *s, const struct leak_map *m)
{
	const struct trace_thread *found = NULL;

	for (size_t i = 0; i < s->stop->count; i++) {
		const struct trace_thread *t = &s->stop->thread[i];

		if (t->state != TRACE_THREAD_STOPPED || !lies_in(m, stack_pointer(t)))
			continue;
		if (found)
			return m->start;
		found = t;
	}
	if (!found || !is_stack_of(s, m, found) ||
		stack_pointer(found) < m->start + TRACE_REGISTERS_RED_ZONE)
		return m->start;
	if (lies_in(m, s->roots->stack) && s->roots->stack > stack_pointer(found))
		return s->roots->stack;
	return stack_pointer(found) - TRACE_REGISTERS_RED_ZONE;
}

/* The first thread's stack may outlive it: nothing that it pushed counts then. */
static uint64_t first_stack_start(const struct scan *s, const struct leak_map *m)
{
	return lies_in(m, s->roots->first_stack) ? s->roots->first_stack : stack_start(s, m);
}

static bool is_of_thread(const struct scan *s, const struct leak_map *m)
{
	for (size_t i = 0; i < s->stop->count; i++)
		if (lies_in(m, stack_pointer(&s->stop->thread[i])) ||
			lies_in(m, trace_stop_thread_pointer(&s->stop->thread[i])))
			return true;
	return false;
}

/* Whether a mapping is for stacks of threads, and nothing else. */
static bool is_stacks(struct scan *s, const struct leak_map *m)
{
	if (has_guard(s->space, m))
		return is_of_thread(s, m);
	for (const struct leak_thread_places *t = s->roots->thread; t && t->tid != 0; t++)
		if (t->below.end != 0 && lies_in(m, t->below.start))
			return !has_small(s, m->start, m->end);
	return false;
}

/* Index in glibc's struct pthread, 2.4 to 2.41: 0 once the thread has ended, then -1. */
#define TID_WORD 90

struct search {
	struct leak_space *space;
	bool running; /* some of the program's threads did not stop, and have stacks, too */
	uint64_t found;
	bool alive; /* its thread runs */
	uint64_t start, end; /* of the mapping */
};

#ifdef __aarch64__
/* Bytes of glibc's struct pthread before its `stackblock`: some 1,200 from 2.17 to 2.41. */
#define BEFORE_STACKBLOCK 1280u

/* Whether a list of glibc's leads through here: list_t, {next, prev}. */
static bool is_in_list(struct leak_space *s, uint64_t addr, const uint64_t *words)
{
	uint64_t back, forth;

	return words[0] % sizeof(*words) == 0 && words[1] % sizeof(*words) == 0 &&
	       leak_space_word(s, words[0] + sizeof(*words), &back) && back == addr &&
	       leak_space_word(s, words[1], &forth) && forth == addr;
}

/* Whether the thread lives whose `stackblock` is words[i]: its tid follows its place in the list of
 * stacks, the first list in its data. True also if that is not found. */
static bool is_alive(const struct search *search, uint64_t addr, const uint64_t *words, size_t i)
{
	size_t at =
		i > BEFORE_STACKBLOCK / sizeof(*words) ? i - BEFORE_STACKBLOCK / sizeof(*words) : 0;

	for (; at + 2 < i; at++)
		if (is_in_list(search->space, addr + at * sizeof(*words), &words[at]))
			return (int32_t)words[at + 2] > 0;
	return true;
}

/* A thread's data says where its stack is: {address, bytes, guard}, the guard included. */
static void tcb_visit(void *ctx, uint64_t addr, const uint64_t *words, size_t count)
{
	struct search *search = ctx;

	for (size_t i = 0; i + 2 < count; i++)
		if (words[i] + words[i + 2] == search->start && words[i] + words[i + 1] > addr &&
			words[i] + words[i + 1] <= search->end) {
			search->found = addr + i * sizeof(*words) - BEFORE_STACKBLOCK;
			search->alive = search->running && is_alive(search, addr, words, i);
		}
}
#else
/* Whether the data at words[i] know of a stack that is the mapping. */
static bool is_of_mapping(
	const struct search *search, uint64_t data, const uint64_t *words, size_t count)
{
	struct leak_range stack;

	for (size_t i = 0; i + 2 < count && i < THREAD_BYTES / 4 / sizeof(*words); i++)
		if (is_stack_block(&words[i], data, &stack) && stack.start == search->start)
			return true;
	return false;
}

/* A thread's data begins with its own address, which repeats two words on: tcbhead_t. */
static void tcb_visit(void *ctx, uint64_t addr, const uint64_t *words, size_t count)
{
	struct search *search = ctx;

	for (size_t i = 0; i + TID_WORD < count; i++)
		if (words[i] == addr + i * sizeof(*words) && words[i + 2] == words[i] &&
			is_of_mapping(search, words[i], &words[i], count - i)) {
			search->found = words[i];
			search->alive = (int32_t)words[i + TID_WORD] > 0;
		}
}
#endif

/*
 * glibc caches the stacks of ended threads. Words below the ended thread's data are dead. 0: this
 * is no such stack.
 */
static uint64_t dead_stack_start(const struct scan *s, const struct leak_map *m)
{
	struct search search = { .space = s->space,
		.running = trace_stop_running(s->stop) > 0,
		.start = m->start,
		.end = m->end };
	uint64_t from = m->end - m->start > THREAD_BYTES ? m->end - THREAD_BYTES : m->start;

	if (!has_guard(s->space, m) || is_of_thread(s, m))
		return 0;
	leak_space_stream(s->space, from, m->end, tcb_visit, &search);
	return search.alive ? 0 : search.found;
}

/* ---- mappings ---- */

static bool is_libc(const char *path)
{
	const char *name = file_name(path);

	return begins(name, "libc.so.") || begins(name, "libc-2.");
}

/* The file whose data ends where an anonymous mapping begins, which is its .bss; NULL: none. */
static const char *file_of(const struct scan *s, const struct leak_map *m)
{
	const struct leak_map *below = m > s->space->map ? m - 1 : NULL;

	if (m->shared)
		return NULL;
	if (m->inode != 0)
		return m->path;
	if (*m->path || !below || below->end != m->start || below->inode == 0 || below->shared ||
		!below->writable)
		return NULL;
	return below->path;
}

/* Prepares to keep the live part of each stack in the mapping. */
static void stacks_prepare(struct leak_thread_places *t, const struct leak_map *m)
{
	for (; t && t->tid != 0; t++) {
		uint64_t bytes = m->end - t->stack;

		if (!lies_in(m, t->stack) || t->words || t->stack % sizeof(*t->words) != 0)
			continue;
		bytes = bytes < STACK_KEPT_BYTES ? bytes : STACK_KEPT_BYTES;
		t->words = calloc(1, bytes);
		t->word_count = t->words ? bytes / sizeof(*t->words) : 0;
	}
}

static void stack_scan(struct scan *s, const struct leak_map *m)
{
	s->stacks = s->roots->thread;
	stacks_prepare(s->stacks, m);
	around_apart(s, first_stack_start(s, m), m->end, root_visit);
	s->stacks = NULL;
}

static void map_scan(struct scan *s, const struct leak_map *m)
{
	unsigned kinds = s->roots->kinds;
	const char *file = file_of(s, m);
	uint64_t dead;

	if (leak_map_is_segment(m))
		return;
	if (strcmp(m->path, "[heap]") == 0) {
		s->bins = s->roots->unknown;
		if (!(kinds & LEAK_ROOT_MAPS))
			return;
		if (s->roots->unknown)
			around_blocks(s, m->start, m->end, root_visit);
		else
			brk_scan(s, m);
		return;
	}
	if (leak_map_is_device(m)) {
		s->roots->devices++;
		return;
	}
	s->bins = file && is_libc(file);
	dead = dead_stack_start(s, m);
	if (file || m->inode != 0) {
		/* Behind a file's data there may be the library's memory, too. */
		if (kinds & (file ? LEAK_ROOT_GLOBALS : LEAK_ROOT_MAPS))
			around_apart(s, m->start, m->end, m->inode ? root_visit : anonymous_visit);
	} else if (strcmp(m->path, "[stack]") == 0 || is_stacks(s, m)) {
		if (kinds & LEAK_ROOT_STACKS)
			stack_scan(s, m);
	} else if (kinds & LEAK_ROOT_MAPS) {
		anonymous_scan(s, dead ? dead : m->start, m->end);
	}
}

/* The thread that ends the program: only the registers that exit has saved for its caller. */
static void saved_scan(struct scan *s, const struct leak_exit_stack *e)
{
	if (s->roots->kinds & LEAK_ROOT_REGISTERS)
		for (size_t i = 0; i < e->parts; i++)
			leak_graph_root(s->graph, LEAK_REGISTER(e->tid, LEAK_SAVED_FIRST),
				e->saved[i], LEAK_SAVED_REGISTERS, false);
}

static void registers_scan(struct scan *s, const struct trace_thread *t)
{
	unsigned kinds = s->roots->kinds;

	if (s->roots->exit && s->roots->exit->tid == t->tid) {
		saved_scan(s, s->roots->exit);
		return;
	}
	if (kinds & LEAK_ROOT_REGISTERS)
		leak_graph_root(s->graph, LEAK_REGISTER(t->tid, 0), (const uint64_t *)&t->regs,
			sizeof(t->regs) / sizeof(uint64_t), false);
	if (kinds & LEAK_ROOT_VECTORS)
		leak_graph_root(s->graph, LEAK_REGISTER(t->tid, GENERAL_WORDS), t->vectors,
			t->vector_bytes / sizeof(uint64_t), false);
}

void leak_roots_scan(struct leak_roots *r, struct leak_space *space, const struct trace_stop *stop,
	struct leak_graph *g)
{
	struct scan s = { .roots = r, .space = space, .stop = stop, .graph = g };

	for (size_t i = 0; i < stop->count; i++)
		if (stop->thread[i].state == TRACE_THREAD_STOPPED)
			registers_scan(&s, &stop->thread[i]);
	if (r->kinds & LEAK_ROOT_TLS)
		tls_scan(&s);
	for (size_t i = 0; i < space->maps && !leak_space_cancelled(space); i++)
		if (space->map[i].readable && space->map[i].writable)
			map_scan(&s, &space->map[i]);
}
