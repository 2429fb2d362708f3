/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the parts of a map (map_reader.h), and runs the thread that does so. */
#include "src/memory/map_reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "shm/layout.h"
#include "src/core/maps.h"
#include "src/memory/allocator.h"
#include "src/memory/map_far.h"
#include "src/memory/map_texts.h"
#include "src/memory/vmas.h"
#include "src/leak/analysis/glibc_heap.h"
#include "src/leak/before.h"
#include "src/proc/proc.h"
#include "src/util/array.h"
#include "src/util/clock.h"
#include "src/util/thread.h"
#include "src/util/oom_score.h"
#include "src/util/sorted.h"

#define SHARE	      10u /* readings take 1/10 of a processor's time, except the largest */
#define EARLY	      16u /* a request once a second must not slip to every other second */
#define PAGEMAP_BATCH 8192u /* 64 KB at a time */
#define THREAD_BYTES  16384u /* glibc's struct pthread, at the end of a stack: some 2 KB */

struct reading {
	const struct map_reader_of *of;
	struct vmas vmas;
	struct map_piece *piece;
	size_t pieces, piece_capacity;
	struct leak_blocks blocks;
	struct leak_space space;
	uint64_t stack_bytes; /* of threads with the default size */
	struct allocator allocator;
	bool allocator_known; /* in.glibc has been determined */
	struct map_input in;
	struct map_ranges mapped; /* in.range */
	uint32_t sites;
	bool changed; /* what was there before could not be found: it changed meanwhile */
	int rc;
};

/* ---- blocks ---- */

static void block_visit(void *ctx, const struct read_block *b)
{
	struct leak_block block = { b->addr, b->size, b->site, 0 };
	struct reading *r = ctx;

	if (!r->allocator_known)
		allocator_block(&r->allocator, b);
	if (r->rc == 0 && b->site < r->sites)
		r->rc = leak_blocks_add(&r->blocks, &block);
}

static_assert(sizeof(struct map_block) == sizeof(struct leak_block), "one takes the other's place");

/* In place: there may be more than a hundred million bytes of it. */
static void blocks_turn(struct reading *r)
{
	struct leak_block *from = r->blocks.block;
	struct map_block *to = (struct map_block *)(void *)from;

	for (uint32_t i = 0; i < r->blocks.count; i++) {
		struct leak_block b = from[i];

		to[i] = (struct map_block){ b.addr, b.size, b.site };
	}
	r->in.block = to;
	r->in.blocks = r->blocks.count;
	r->blocks.block = NULL;
	leak_blocks_free(&r->blocks);
}

/* What the program has mapped, and what a forked child has inherited. */
static int mapped_read(struct reading *r, struct read_segment *s)
{
	struct map_ranges left = { 0 }, own;
	int rc = map_ranges_read(s, r->sites, &own);

	if (rc == 0 && r->of->inherited) {
		rc = map_ranges_unmapped(s, r->of->inherited, &left);
		if (rc == 0)
			rc = map_ranges_merge(&own, &left, &r->mapped);
		map_ranges_free(&own);
		map_ranges_free(&left);
	} else if (rc == 0) {
		r->mapped = own;
	}
	r->in.range = r->mapped.range;
	r->in.ranges = r->mapped.count;
	return rc;
}

/* What was opened by the pid before is the program's if the pid is still its own. 0, -ESRCH or
 * -errno. */
static int process_check(const struct reading *r, struct read_segment *s)
{
	struct read_identity id;
	uint64_t ticks = 0;
	int rc = r->of->core ? 0 : read_identity(s, &id);

	if (r->of->core || rc != 0)
		return rc;
	rc = proc_start_ticks(r->of->pid, &ticks);
	return rc != 0 || ticks == id.start_ticks ? rc : -ESRCH;
}

static int blocks_read(struct reading *r, const char *path)
{
	char message[READ_MESSAGE_MAX];
	struct read_segment *s = read_open(path, message);
	struct read_totals t;
	ssize_t n = 0;
	int rc = s ? process_check(r, s) : -EIO;

	rc = rc == 0 ? read_totals(s, &t) : rc;
	if (rc == 0) {
		r->sites = t.sites;
		r->in.sampled = t.sample_most != 0;
		r->in.live_bytes = t.live_bytes;
		r->in.forked = read_is_forked(s);
		allocator_begin(
			&r->allocator, &r->space, s, t.allocs > t.frees ? t.allocs - t.frees : 0);
		n = r->in.sampled || r->in.forked ? 0 : read_blocks(s, block_visit, r);
		rc = n < 0 ? (int)n : r->rc;
	}
	if (rc == 0)
		rc = mapped_read(r, s);
	rc = rc == 0 ? leak_blocks_finish(&r->blocks) : rc;
	if (rc == 0 && !r->in.sampled && !r->in.forked)
		rc = leak_before_running(s, &r->space, &r->blocks, &r->changed);
	r->in.forked |= r->changed;
	read_close(s);
	if (rc == 0)
		blocks_turn(r);
	return rc;
}

/* The allocator never changes. Where its blocks do not identify it, the libraries do. */
static void allocator_find(struct reading *r)
{
	if (r->allocator_known)
		return;
	r->in.glibc = !r->vmas.is_foreign;
	r->allocator_known = allocator_end(&r->allocator, &r->in.glibc) == ALLOCATOR_SURE;
}

/* ---- pieces ---- */

static void piece_add(
	struct reading *r, uint64_t start, uint64_t end, enum map_kind kind, uint64_t arena)
{
	void *p = array_grow(r->piece, r->pieces, &r->piece_capacity, sizeof(*r->piece));

	if (!p) {
		r->rc = -ENOMEM;
		return;
	}
	r->piece = p;
	r->piece[r->pieces++] = (struct map_piece){ start, end, kind, arena };
}

static bool page_is_there(const struct reading *r, uint64_t at)
{
	struct core_range found;

	if (!r->of->core)
		return proc_pagemap_present(r->space.pagemap, at);
	return core_next(r->of->core, at, at + MAP_PAGE_BYTES, &found) && found.own;
}

/* The library's private memory names itself; the kernel merges it with its own kind only. */
static uint64_t own_find(struct reading *r, const struct map_vma *v)
{
	uint64_t at = v->start, magic, self, bytes;

	while (at < v->end && page_is_there(r, at) && leak_space_word(&r->space, at, &magic) &&
		magic == HT_PRIVATE_MAGIC && leak_space_word(&r->space, at + 8, &self) &&
		self == at && leak_space_word(&r->space, at + 16, &bytes) && bytes > 0 &&
		bytes <= v->end - at && bytes % MAP_PAGE_BYTES == 0)
		at += bytes;
	if (at > v->start)
		piece_add(r, v->start, at, MAP_OWN, 0);
	return at;
}

/* Heaps may have grown since the mappings were read. */
static void heaps_find(struct reading *r, const struct map_vma *v)
{
	uint64_t at = (v->start + LEAK_GLIBC_HEAP_BYTES - 1) & ~(LEAK_GLIBC_HEAP_BYTES - 1);
	struct leak_glibc_heap heap;

	for (; at >= v->start && at < v->end; at += LEAK_GLIBC_HEAP_BYTES)
		if (page_is_there(r, at) &&
			leak_glibc_heap_at(&r->space, at, at + LEAK_GLIBC_HEAP_BYTES, &heap))
			piece_add(r, at, heap.end < v->end ? heap.end : v->end, MAP_ARENA,
				heap.arena);
}

struct search {
	bool found;
};

/* A thread's data begins with its own address, repeated two words further on: tcbhead_t. */
static void tcb_visit(void *ctx, uint64_t addr, const uint64_t *words, size_t count)
{
	struct search *search = ctx;

	for (size_t i = 0; i + 2 < count; i++)
		if (words[i] == addr + i * sizeof(*words) && words[i + 2] == words[i])
			search->found = true;
}

static bool ends_in_thread(struct reading *r, const struct map_vma *v, uint64_t end)
{
	struct search search = { false };
	uint64_t from = end - v->start > THREAD_BYTES ? end - THREAD_BYTES : v->start;

	leak_space_stream(&r->space, from, end, tcb_visit, &search);
	return search.found;
}

/* Memory with a guard below it and a thread's data at its end. The end is the mapping's; or, where
 * the kernel merged the mapping with the next one, that of the usual size, with or without guard.
 */
static void stack_find(struct reading *r, const struct map_vma *v, const struct map_vma *guard)
{
	const uint64_t end[] = { v->end, v->start + r->stack_bytes,
		v->start + r->stack_bytes - MAP_PAGE_BYTES };

	if (!guard->plain || guard->end != v->start || guard->rss_bytes > 0)
		return;
	for (size_t i = 0; i < sizeof(end) / sizeof(end[0]); i++) {
		if (end[i] > v->end || end[i] <= v->start || !ends_in_thread(r, v, end[i]))
			continue;
		piece_add(r, v->start, end[i], MAP_STACK, 0);
		return;
	}
}

static bool has_block(const struct reading *r, uint64_t start, uint64_t end)
{
	size_t i = sorted_before(SORTED_BY(r->in.block, r->in.blocks, addr), start);

	return i < r->in.blocks && r->in.block[i].addr < end;
}

/* An object's .bss that the mapping begins with, unless an allocator has blocks there. Returns its
 * end. */
static uint64_t bss_find(struct reading *r, size_t vma)
{
	const struct map_vma *v = &r->vmas.vma[vma];
	bool is_own = false;
	uint64_t end = vmas_bss_end(&r->vmas, vma, &r->space, &is_own);

	if (end == v->start || has_block(r, v->start, end))
		return v->start;
	piece_add(r, v->start, end, is_own ? MAP_OWN : MAP_FILE, 0);
	return end;
}

static void live_pieces_find(struct reading *r)
{
	for (size_t i = 0; i < r->vmas.count; i++) {
		struct map_vma v = r->vmas.vma[i];
		size_t before = r->pieces;

		if (!v.plain || v.rss_bytes == 0)
			continue;
		v.start = bss_find(r, i);
		if (v.start < v.end && own_find(r, &v) == v.start)
			heaps_find(r, &v);
		if (r->pieces == before && i > 0)
			stack_find(r, &v, &r->vmas.vma[i - 1]);
	}
}

static uint64_t stack_limit(pid_t pid)
{
	char path[64], text[4096];
	unsigned long long bytes = 0;
	const char *line;

	snprintf(path, sizeof(path), "/proc/%d/limits", (int)pid);
	if (proc_file_read(path, text, sizeof(text)) <= 0)
		return 0;
	line = strstr(text, "Max stack size");
	return line && sscanf(line + strlen("Max stack size"), " %llu", &bytes) == 1 ? bytes : 0;
}

/* ---- pages ---- */

static bool span_flags(
	const struct reading *r, struct map *m, const struct map_span *s, uint64_t *entries)
{
	size_t pages = (s->end - s->start) / MAP_PAGE_BYTES;

	for (size_t at = 0; at < pages;) {
		size_t n = pages - at < PAGEMAP_BATCH ? pages - at : PAGEMAP_BATCH;

		if (!proc_pagemap_read(
			    r->space.pagemap, s->start + at * MAP_PAGE_BYTES, entries, n))
			return false;
		for (size_t i = 0; i < n; i++)
			m->page[s->page + at + i].flags =
				(entries[i] & PROC_PAGE_PRESENT ? MAP_PAGE_PRESENT : 0) |
				(entries[i] & PROC_PAGE_SWAPPED ? MAP_PAGE_SWAPPED : 0) |
				(entries[i] & PROC_PAGE_EXCLUSIVE ? 0 : MAP_PAGE_SHARED);
		at += n;
	}
	return true;
}

/* What a core has was present. */
static void span_of_core(const struct reading *r, struct map *m, const struct map_span *s)
{
	struct core_range found;

	for (uint64_t at = s->start; core_next(r->of->core, at, s->end, &found); at = found.end)
		for (uint64_t page = found.start / MAP_PAGE_BYTES;
			found.own && page * MAP_PAGE_BYTES < found.end; page++)
			m->page[s->page + page - s->start / MAP_PAGE_BYTES].flags =
				MAP_PAGE_PRESENT;
}

static int pages_read(const struct reading *r, struct map *m)
{
	uint64_t *entries;
	int rc = 0;

	for (size_t i = 0; r->of->core && i < m->spans; i++)
		if (m->span[i].is_fine)
			span_of_core(r, m, &m->span[i]);
	if (r->of->core)
		return 0;
	if (r->space.pagemap < 0)
		return r->space.pagemap;
	entries = calloc(PAGEMAP_BATCH, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < m->spans && rc == 0; i++)
		if (m->span[i].is_fine && !span_flags(r, m, &m->span[i], entries))
			rc = -ESRCH;
	free(entries);
	return rc;
}

/* ---- the whole map ---- */

static void note_make(struct map_account *a, bool changed)
{
	enum map_text text = MAP_TEXT_NONE;

	if (a->sampled)
		text = MAP_TEXT_SAMPLED;
	else if (a->forked)
		text = changed ? MAP_TEXT_CHANGED : MAP_TEXT_FORKED;
	else if (!a->glibc)
		text = MAP_TEXT_FOREIGN;
	a->note = map_texts[text];
}

static int core_mappings_read(struct reading *r)
{
	size_t len = 0;
	char *smaps = core_maps_smaps(r->of->core, &len);
	int rc = smaps ? vmas_parse(&r->vmas, smaps, len) : -ENOMEM;

	free(smaps);
	return rc == 0 ? leak_space_open_core(&r->space, r->of->core) : rc;
}

static int process_mappings_read(struct reading *r)
{
	int rc = vmas_read(&r->vmas, r->of->pid);

	if (rc == 0)
		rc = leak_space_open(&r->space, r->of->pid);
	if (rc == 0)
		leak_space_by_file(&r->space);
	return rc;
}

static int reading_run(struct reading *r, struct map **out)
{
	int rc = r->of->core ? core_mappings_read(r) : process_mappings_read(r);

	if (rc == 0)
		rc = blocks_read(r, r->of->path);
	if (rc != 0)
		return rc;
	allocator_find(r);
	r->stack_bytes = r->of->core ? 0 : stack_limit(r->of->pid);
	live_pieces_find(r);
	r->in.vma = r->vmas.vma;
	r->in.vmas = r->vmas.count;
	r->in.piece = r->piece;
	r->in.pieces = r->pieces;
	*out = r->rc == 0 ? map_new(&r->in) : NULL;
	if (!*out)
		return -ENOMEM;
	rc = pages_read(r, *out);
	return rc != 0 ? rc : map_count(*out, &r->in);
}

struct map *map_reader_read(const struct map_reader_of *of, const struct map_account *before)
{
	struct reading r = { .of = of, .space = { .pagemap = -1 } };
	uint64_t start = clock_monotonic_ns(), cpu = clock_thread_cpu_ns();
	struct map *m = NULL;
	int rc;

	if (of->far)
		return map_far_read(of->far);
	if (of->pid == 0)
		return map_texts_empty(MAP_TEXT_UNSEEN);
	r.allocator_known = before && before->allocator_known;
	r.in.glibc = r.allocator_known && before->glibc;
	oom_score_raise();
	rc = reading_run(&r, &m);
	if (rc != 0) {
		map_unref(m);
		m = map_texts_empty(map_texts_why(rc));
		if (m)
			m->account.gone = rc == -ENOENT || rc == -ESRCH;
	}
	if (m) {
		note_make(&m->account, r.changed);
		m->account.allocator_known = m->account.known && r.allocator_known;
		m->account.read_realtime_ns = clock_realtime_ns();
		m->account.took_ns = clock_monotonic_ns() - start;
		m->account.cpu_ns = clock_thread_cpu_ns() - cpu;
	}
	leak_space_close(&r.space);
	leak_blocks_free(&r.blocks);
	free((struct map_block *)(uintptr_t)r.in.block);
	map_ranges_free(&r.mapped);
	free(r.piece);
	vmas_free(&r.vmas);
	oom_score_restore();
	return m;
}

uint64_t map_reader_every_ns(const struct map_account *a, uint64_t least_ns, uint64_t ago_ns)
{
	uint64_t every = a->cpu_ns * SHARE, soonest = ago_ns + a->cpu_ns;

	every = every < least_ns ? least_ns : every;
	every = every < MAP_READER_MOST_NS ? every : MAP_READER_MOST_NS;
	return every < soonest ? soonest : every;
}

/* ---- in a thread ---- */

struct map_reader {
	char *path;
	struct map_reader_of of;
	const void *owner;
	int fd; /* the thread writes to it when it has finished */
	bool is_busy;
	pthread_t thread;
	struct map *made; /* the thread's result; ours once it was joined */
	struct map *newest;
	uint64_t began_ns, due_ns;
	uint64_t least_ns; /* between two readings */
};

struct map_reader *map_reader_new(const struct map_reader_of *of, const void *owner)
{
	struct map_reader *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->path = strdup(of->path);
	m->of = *of;
	m->of.path = m->path;
	m->owner = owner;
	m->least_ns = MAP_READER_FIRST_NS;
	m->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (m->path && m->fd >= 0)
		return m;
	map_reader_free(m);
	return NULL;
}

void map_reader_free(struct map_reader *m)
{
	if (!m)
		return;
	if (m->is_busy && !m->of.far) {
		pthread_join(m->thread, NULL);
		map_unref(m->made);
	}
	map_unref(m->newest);
	if (m->fd >= 0)
		close(m->fd);
	free(m->path);
	free(m);
}

bool map_reader_is_of(const struct map_reader *m, const char *path, const void *owner)
{
	return m->owner == owner && strcmp(m->path, path) == 0;
}

static void *mapping_run(void *ctx)
{
	struct map_reader *m = ctx;

	m->made = map_reader_read(&m->of, m->newest ? &m->newest->account : NULL);
	if (m->made)
		m->made->owner = m->owner;
	eventfd_write(m->fd, 1);
	return NULL;
}

void map_reader_want(struct map_reader *m)
{
	if (m->is_busy || clock_monotonic_ns() < m->due_ns)
		return;
	m->began_ns = clock_monotonic_ns();
	if (m->of.far)
		m->is_busy = map_far_begin(m->of.far) == 0;
	else
		m->is_busy = thread_start(&m->thread, THREAD_STACK_BYTES, mapping_run, m) == 0;
}

int map_reader_fd(const struct map_reader *m)
{
	return m->of.far && m->is_busy ? m->of.far->fd(m->of.far->ctx) : m->fd;
}

/* The last reading stays once the process is gone. */
static bool is_worth_less(const struct map *made, const struct map *newest)
{
	return newest && newest->account.known && !made->account.known;
}

static void newest_take(struct map_reader *m, struct map *made)
{
	if (is_worth_less(made, m->newest)) {
		map_unref(made);
		return;
	}
	if (made->owner) /* an agent sends the rows in the order of map_rows_make */
		map_rows_sort(made);
	map_unref(m->newest);
	m->newest = made;
}

/* The reading in progress: its result is ours then. */
static bool has_ended(struct map_reader *m)
{
	eventfd_t count;

	if (m->of.far) {
		if (!map_far_take(m->of.far, 0, &m->made))
			return false;
		if (m->made)
			m->made->owner = m->owner;
		return true;
	}
	if (eventfd_read(m->fd, &count) != 0)
		return false;
	pthread_join(m->thread, NULL);
	return true;
}

bool map_reader_collect(struct map_reader *m)
{
	uint64_t every = m->least_ns;

	if (!m->is_busy || !has_ended(m))
		return false;
	m->is_busy = false;
	if (m->made) {
		every = map_reader_every_ns(
			&m->made->account, every, clock_monotonic_ns() - m->began_ns);
		m->made->account.again_ns = every;
		newest_take(m, m->made);
	}
	m->made = NULL;
	m->due_ns = m->began_ns + every - every / EARLY;
	m->least_ns = m->least_ns * 2 < MAP_READER_EVERY_NS ? m->least_ns * 2 : MAP_READER_EVERY_NS;
	return true;
}

struct map *map_reader_newest(const struct map_reader *m)
{
	return m->newest;
}
