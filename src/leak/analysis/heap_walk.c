/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Walking glibc's heaps (heap_walk.h). */
#include "src/leak/analysis/heap_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/leak/analysis/glibc_free_lists.h"
#include "src/leak/analysis/glibc_heap.h"

#define WORD	    sizeof(uint64_t)
#define PREV_IN_USE 1u
#define OWN_MAPPING 2u
#define FLAGS	    7u
#define LEAST	    32u /* size of the smallest chunk */
#define FENCE	    16u /* two heads of this size, or of 0, end a row */
#define HEADER	    16u
#define STEP_BYTES  (UINT64_C(128) << 10)
#define HEAPS_MOST  65536u
#define GAP_MOST    (UINT64_C(1) << 20) /* that a program takes by sbrk itself */

struct walk {
	struct leak_space *space;
	struct leak_blocks *out;
	struct leak_glibc_free_lists lists;
	struct leak_heap_walk *result;
	bool only_whole; /* what does not add up ends it */
	int rc;
};

static bool goes_on(const struct walk *w)
{
	return w->rc == 0 && (w->result->whole || !w->only_whole);
}

enum row_state { ROW_GOES_ON, ROW_TOP, ROW_FENCE, ROW_BROKEN };

/* A row of chunks. */
struct row {
	struct walk *walk;
	uint64_t top; /* 0: it ends at a fence */
	uint64_t limit; /* no chunk reaches beyond */
	uint64_t next; /* the head that comes next */
	uint64_t chunk, size; /* the one before; 0: none */
	enum row_state state;
};

static void block_add(struct walk *w, uint64_t chunk, uint64_t usable)
{
	const struct leak_block b = { .addr = chunk + HEADER, .size = usable };

	if (w->rc == 0)
		w->rc = leak_blocks_add(w->out, &b);
}

static void row_head(struct row *r, uint64_t head)
{
	uint64_t size = head & ~(uint64_t)FLAGS;

	/* Its last word lies in the next chunk. */
	if (r->chunk && (head & PREV_IN_USE))
		block_add(r->walk, r->chunk, r->size - WORD);
	if (r->next == r->top)
		r->state = ROW_TOP;
	else if (size == FENCE || size == 0)
		r->state = ROW_FENCE;
	else if (size < LEAST || size % 16 != 0 || (head & OWN_MAPPING) ||
		 size > r->limit - r->next)
		r->state = ROW_BROKEN;
	else
		r->chunk = r->next, r->size = size, r->next += size;
}

/* A head in memory that was never touched is none. */
static void row_visit(void *ctx, uint64_t addr, const uint64_t *words, size_t count)
{
	struct row *r = ctx;

	while (r->state == ROW_GOES_ON) {
		if (r->next + WORD < addr)
			r->state = ROW_BROKEN;
		else if ((r->next + WORD - addr) / WORD < count)
			row_head(r, words[(r->next + WORD - addr) / WORD]);
		else
			return;
	}
}

/* Walks from `start`. A row that is broken adds nothing. */
static enum row_state row_walk(
	struct walk *w, uint64_t start, uint64_t top, uint64_t limit, uint64_t *end)
{
	struct row r = { .walk = w, .top = top, .limit = limit, .next = start };
	uint32_t was = w->out->count;

	while (r.state == ROW_GOES_ON && r.next + HEADER <= limit && w->rc == 0) {
		uint64_t from = r.next + WORD;
		uint64_t to = limit - from > STEP_BYTES ? from + STEP_BYTES : limit;
		uint64_t at = r.next;

		leak_space_stream(w->space, from, to, row_visit, &r);
		if (r.next == at && r.state == ROW_GOES_ON)
			r.state = ROW_BROKEN; /* nothing could be read */
	}
	if (r.state == ROW_GOES_ON)
		r.state = ROW_BROKEN;
	if (r.state == ROW_BROKEN)
		w->out->count = was;
	*end = r.next;
	return r.state;
}

/* ---- main arenas ---- */

/* After memory that the program took by sbrk itself, malloc begins a new row. */
static bool row_find(struct walk *w, uint64_t from, uint64_t top, uint64_t limit, uint64_t *end)
{
	uint64_t most = limit - from < GAP_MOST ? limit : from + GAP_MOST, head;

	for (uint64_t at = from; at + HEADER < most && w->rc == 0; at += 16) {
		enum row_state state;

		if (!leak_space_word(w->space, at + WORD, &head) ||
			(head & (FLAGS | 8)) != PREV_IN_USE || head < LEAST)
			continue;
		state = row_walk(w, at, top, limit, end);
		if (state == ROW_TOP || (state == ROW_FENCE && *end - at > PROC_PAGE_BYTES))
			return true;
	}
	return false;
}

/* The rows from `start` to the top. False: they are not understood. */
static bool rows_walk(struct walk *w, uint64_t start, uint64_t top, uint64_t limit)
{
	uint64_t end;
	enum row_state state = row_walk(w, start, top, limit, &end);

	while (state == ROW_FENCE && end < top && w->rc == 0) {
		if (!row_find(w, end + 2 * FENCE, top, limit, &end))
			return false;
		state = end == top ? ROW_TOP : ROW_FENCE;
	}
	return state == ROW_TOP;
}

static bool is_heap(const struct leak_map *m)
{
	return m->inode == 0 && !m->shared && m->readable && m->writable;
}

/* The mapping of `addr`, with those that adjoin it: in a forked child the kernel does not merge
 * what brk adds with what was there before. */
static bool heap_around(const struct leak_space *s, uint64_t addr, struct leak_range *out)
{
	const struct leak_map *m = leak_space_map(s, addr), *first = m, *last = m;

	if (!m)
		return false;
	while (first > s->map && first[-1].end == first->start && is_heap(&first[-1]))
		first--;
	while (last + 1 < s->map + s->maps && last[1].start == last->end && is_heap(&last[1]))
		last++;
	*out = (struct leak_range){ first->start, last->end };
	return true;
}

static void main_walk(struct walk *w, const struct leak_glibc_arena *a)
{
	struct leak_range heap;

	if (a->system_bytes == 0)
		return; /* it was never used */
	if (!heap_around(w->space, a->top, &heap)) {
		w->result->whole = false;
		return;
	}
	if (a->has_parameters && a->brk_start >= heap.start &&
		rows_walk(w, a->brk_start, a->top, heap.end))
		return;
	/* Its heap continues elsewhere: brk could not grow. */
	w->result->whole = false;
	rows_walk(w, leak_space_map(w->space, a->top)->start, a->top, heap.end);
}

/* ---- other arenas ---- */

/* A heap of an arena: from its head, or its arena's state, to the top or a fence. */
static void heap_walk(struct walk *w, const struct leak_glibc_arena *a, uint64_t heap)
{
	bool is_first = heap == a->at - a->heap_bytes;
	uint64_t start = is_first ? leak_glibc_arenas_first_chunk(a->at) : heap + a->heap_bytes;
	bool has_top = (a->top & ~(LEAK_GLIBC_HEAP_BYTES - 1)) == heap;
	uint64_t size, end;
	enum row_state state;

	if (!leak_space_word(w->space, heap + 16, &size) || size > LEAK_GLIBC_HEAP_BYTES) {
		w->result->whole = false;
		return;
	}
	state = row_walk(w, start, has_top ? a->top : 0, heap + size, &end);
	w->result->whole &= state == (has_top ? ROW_TOP : ROW_FENCE);
}

/* From the newest heap, which has the top, to the first. */
static void heaps_walk(struct walk *w, const struct leak_glibc_arena *a)
{
	uint64_t heap = a->top & ~(LEAK_GLIBC_HEAP_BYTES - 1), owner;

	for (unsigned i = 0; i < HEAPS_MOST && goes_on(w); i++) {
		if (heap == 0 || !leak_space_word(w->space, heap, &owner) || owner != a->at)
			break;
		heap_walk(w, a, heap);
		if (heap == a->at - a->heap_bytes)
			return;
		if (!leak_space_word(w->space, heap + WORD, &heap) ||
			heap % LEAK_GLIBC_HEAP_BYTES != 0)
			break;
	}
	w->result->whole = false;
}

/* ---- chunks with mappings of their own ---- */

#define WINDOW_PAGES 64u /* read at once, where each page may begin a chunk */
#define WINDOW_BYTES (WINDOW_PAGES * PROC_PAGE_BYTES)
#define SMALL_BYTES  (UINT64_C(1) << 20) /* mappings up to this are read first */
#define LARGE_BYTES  (UINT64_C(1) << 30) /* and those above last */

struct mapped {
	uint64_t count, bytes; /* found */
	uint64_t most; /* there are */
	uint64_t from, to; /* what the window has of them */
	unsigned char *window; /* WINDOW_BYTES; NULL: only first pages are read */
};

static void window_words(void *ctx, uint64_t addr, const uint64_t *words, size_t count)
{
	struct mapped *m = ctx;

	memcpy(m->window + (addr - m->from), words, count * WORD);
}

/* Reads the window that begins at `at`: pages without data are zeros. That is no part of what a
 * scan reads. */
static void window_fill(struct walk *w, struct mapped *m, uint64_t at, uint64_t end)
{
	struct leak_space *s = w->space;
	uint64_t scanned = s->scanned_bytes, unread = s->unread_bytes, absent = s->absent_bytes;

	m->from = at;
	m->to = end - at < WINDOW_BYTES ? end : at + WINDOW_BYTES;
	memset(m->window, 0, WINDOW_BYTES);
	leak_space_stream(s, m->from, m->to, window_words, m);
	s->scanned_bytes = scanned;
	s->unread_bytes = unread;
	s->absent_bytes = absent;
}

/* The first words of a page. A large heap has many pages and few chunks, so they are not read one
 * by one. */
static bool head_read(struct walk *w, const struct mapped *m, uint64_t at, uint64_t head[2])
{
	if (!m->window)
		return leak_space_read(w->space, at, head, 2 * WORD,
			       leak_space_has_shared(w->space)) == 2 * (ssize_t)WORD;
	memcpy(head, m->window + (at - m->from), 2 * WORD);
	return true;
}

/* The size of the chunk at `at`, a page, which has a mapping of its own; 0: there is none. */
static uint64_t mapped_at(struct walk *w, const struct mapped *m, uint64_t at, uint64_t limit)
{
	uint64_t head[2];

	if (!head_read(w, m, at, head) || (head[1] & FLAGS) != OWN_MAPPING)
		return 0;
	head[1] &= ~(uint64_t)FLAGS;
	return head[0] == 0 && head[1] != 0 && head[1] % PROC_PAGE_BYTES == 0 &&
			       head[1] <= limit - at
		       ? head[1]
		       : 0;
}

/* memalign leaves the head of the chunk that it has asked for, and moves the chunk up, so that its
 * memory is aligned: then it says how far. */
static uint64_t mapped_moved(struct walk *w, uint64_t chunk, uint64_t size)
{
	uint64_t head[2];

	for (uint64_t align = 64; align < size; align *= 2) {
		uint64_t at = ((chunk + HEADER + align - 1) & -align) - HEADER;

		if (at - chunk < size - LEAST && at != chunk &&
			leak_space_read(w->space, at, head, sizeof(head),
				leak_space_has_shared(w->space)) == sizeof(head) &&
			head[0] == at - chunk && head[1] == ((size - head[0]) | OWN_MAPPING))
			return at;
	}
	return chunk;
}

/* The next page from `at` on that may hold data, and is in the window, if there is one; `end`:
 * none. */
static uint64_t page_next(struct walk *w, struct mapped *m, uint64_t at, uint64_t end)
{
	size_t pages;

	if (!m->window || (at >= m->from && at < m->to))
		return at;
	at = leak_space_skip_untouched(w->space, at, end, &pages);
	if (at < end)
		window_fill(w, m, at, end);
	return at;
}

/* One anonymous mapping, which may hold several. The rest of one that does not begin with a chunk
 * is read only if chunks are missing otherwise. */
static void mapped_scan(struct walk *w, struct mapped *m, uint64_t start, uint64_t end, bool first)
{
	uint64_t at = start, size, chunk;

	m->from = m->to = 0;
	while (at < end && m->count < m->most && w->rc == 0) {
		if (leak_space_cancelled(w->space)) {
			w->rc = -ECANCELED;
			return;
		}
		at = page_next(w, m, at, end);
		if (at >= end)
			return;
		size = mapped_at(w, m, at, end);
		if (size == 0 && first)
			return;
		if (size == 0) {
			at += PROC_PAGE_BYTES;
			continue;
		}
		chunk = mapped_moved(w, at, size);
		block_add(w, chunk, at + size - chunk - HEADER);
		m->count++;
		m->bytes += size;
		at += size;
	}
}

static bool is_anonymous(const struct leak_map *m)
{
	return m->inode == 0 && !m->shared && m->readable && m->writable && !*m->path;
}

/* Those of more than `above` bytes, and `most` at most. */
static void maps_scan(struct walk *w, struct mapped *m, bool first, uint64_t above, uint64_t most)
{
	for (size_t i = 0; i < w->space->maps && m->count < m->most; i++) {
		const struct leak_map *map = &w->space->map[i];
		uint64_t bytes = map->end - map->start;
		struct leak_glibc_heap heap;

		if (bytes > above && bytes <= most && is_anonymous(map) &&
			!leak_glibc_heap_at(w->space, map->start, map->end, &heap))
			mapped_scan(w, m, map->start, map->end, first);
	}
}

/* Every page of them. The largest are read last, if at all: they are other heaps (a Java
 * machine's), which the kernel does not merge with malloc's mappings. */
static void pages_scan(struct walk *w, struct mapped *m)
{
	uint64_t above = 0;

	for (uint64_t most = SMALL_BYTES; above < UINT64_MAX; most *= 8) {
		most = most < LARGE_BYTES ? most : UINT64_MAX;
		maps_scan(w, m, false, above, most);
		above = most;
	}
}

/* As many as there are, by as little reading as finds them. */
static void mapped_walk(struct walk *w, uint64_t count, uint64_t bytes)
{
	struct mapped m = { .most = count };
	uint32_t was = w->out->count;

	maps_scan(w, &m, true, 0, UINT64_MAX);
	if ((m.count != count || m.bytes != bytes) && w->rc == 0) {
		w->out->count = was;
		m = (struct mapped){ .most = count, .window = malloc(WINDOW_BYTES) };
		if (m.window)
			pages_scan(w, &m);
		else
			w->rc = -ENOMEM;
		free(m.window);
	}
	w->result->whole &= m.count == count && m.bytes == bytes;
}

/* ---- all of it ---- */

static bool is_cache(const struct leak_glibc_free_lists *f, uint64_t chunk)
{
	for (size_t i = 0; i < f->caches; i++)
		if (f->cache[i] == chunk)
			return true;
	return false;
}

static bool is_first(const struct leak_glibc_arenas *arenas, uint64_t chunk)
{
	for (size_t i = 0; i < arenas->count; i++) {
		const struct leak_glibc_arena *a = &arenas->arena[i];

		if (chunk == (a->heap_bytes ? leak_glibc_arenas_first_chunk(a->at) : a->brk_start))
			return true;
	}
	return false;
}

static void caches_read(struct walk *w, const struct leak_glibc_arenas *arenas, uint32_t first)
{
	for (uint32_t i = first; i < w->out->count && w->rc == 0; i++)
		if (w->out->block[i].size == LEAK_GLIBC_CACHE_CHUNK - WORD)
			w->rc = leak_glibc_free_lists_cache(&w->lists,
				w->out->block[i].addr - HEADER,
				is_first(arenas, w->out->block[i].addr - HEADER));
}

/* Drops the blocks that are free after all, and the caches. */
static void free_drop(struct walk *w, uint32_t first)
{
	uint32_t kept = first;

	leak_glibc_free_lists_finish(&w->lists);
	for (uint32_t i = first; i < w->out->count; i++) {
		uint64_t chunk = w->out->block[i].addr - HEADER;

		if (leak_glibc_free_lists_has(&w->lists, chunk) ||
			(w->out->block[i].size == LEAK_GLIBC_CACHE_CHUNK - WORD &&
				is_cache(&w->lists, chunk)))
			continue;
		w->out->block[kept++] = w->out->block[i];
	}
	w->out->count = kept;
}

static void arenas_walk(struct walk *w, const struct leak_glibc_arenas *arenas)
{
	uint64_t mappings = 0, bytes = 0;

	for (size_t i = 0; i < arenas->count && goes_on(w); i++) {
		const struct leak_glibc_arena *a = &arenas->arena[i];

		if (a->heap_bytes != 0)
			heaps_walk(w, a);
		else
			main_walk(w, a);
		if (w->rc == 0)
			w->rc = leak_glibc_free_lists_fastbins(&w->lists, a);
		mappings += a->mappings;
		bytes += a->mapped_bytes;
		w->result->whole &= a->heap_bytes != 0 || a->has_parameters;
	}
	if (goes_on(w) && mappings > 0)
		mapped_walk(w, mappings, bytes);
}

static int heap_walk_run(struct walk *w)
{
	struct leak_glibc_arenas arenas;
	uint32_t first = w->out->count;

	*w->result = (struct leak_heap_walk){ .whole = true };
	w->lists = (struct leak_glibc_free_lists){ .space = w->space, .whole = true };
	w->rc = leak_glibc_arenas_find(w->space, &arenas);
	if (w->rc != 0)
		return w->rc;
	w->result->arenas = (unsigned)arenas.count;
	arenas_walk(w, &arenas);
	if (goes_on(w))
		caches_read(w, &arenas, first);
	if (goes_on(w))
		free_drop(w, first);
	w->result->whole &= w->lists.whole && arenas.count > 0;
	leak_glibc_free_lists_free(&w->lists);
	leak_glibc_arenas_free(&arenas);
	return w->rc;
}

int leak_heap_walk(struct leak_space *s, struct leak_blocks *out, struct leak_heap_walk *result)
{
	struct walk w = { .space = s, .out = out, .result = result };

	return heap_walk_run(&w);
}

int leak_heap_walk_whole(
	struct leak_space *s, struct leak_blocks *out, struct leak_heap_walk *result)
{
	struct walk w = { .space = s, .out = out, .result = result, .only_whole = true };

	return heap_walk_run(&w);
}
