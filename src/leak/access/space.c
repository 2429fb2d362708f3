/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory of another process (space.h). Sources: proc(5) for maps, the kernel's
 * Documentation/admin-guide/mm/pagemap.rst for pagemap, gup_must_unshare in mm/internal.h.
 *
 * Of an anonymous page that two processes share since a fork, process_vm_readv (since Linux 5.19)
 * makes a page of its own for the one that is read: it pins what it reads. A copy would so come to
 * take as much memory as the program while it is read, in the program's cgroup, and what keeps it
 * waiting for memory there keeps the copy's memory, too, even when that was killed to make room; of
 * a server's worker that shares its memory with others, that would stay. Such pages are read by
 * /proc/PID/mem, which does not pin.
 */
#include "src/leak/access/space.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "src/proc/proc.h"
#include "src/util/array.h"
#include "src/util/sorted.h"

#define PAGE	      PROC_PAGE_BYTES
#define PAGEMAP_BATCH 512u
#define PAGEMAP_MOST  3072u /* six pages of entries */
#define PAGE_OURS     (PROC_PAGE_EXCLUSIVE | PROC_PAGE_FILE) /* or that of a file: no copy is made */
#define WORD	      sizeof(uint64_t)

/* For words, and behind them entries of pagemap. */
static uint64_t *buffer_new(void)
{
	return aligned_alloc(PAGE, LEAK_BUFFER_BYTES + PAGEMAP_MOST * sizeof(uint64_t));
}

/* ---- mappings ---- */

static size_t lines_count(const char *text, size_t len)
{
	size_t lines = 1;

	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	return lines;
}

static void maps_parse(struct leak_space *s, size_t len)
{
	struct proc_map m;
	size_t pos = 0;
	int rc;

	while ((rc = proc_parse_map(s->text, len, &pos, &m)) != 0) {
		if (rc < 0)
			continue;
		s->text[pos - (pos > 0 && s->text[pos - 1] == '\n')] = '\0'; /* ends the path */
		s->map[s->maps++] = (struct leak_map){ .start = m.start,
			.end = m.end,
			.readable = m.perms[0] == 'r',
			.writable = m.perms[1] == 'w',
			.executable = m.perms[2] == 'x',
			.shared = m.perms[3] == 's',
			.offset = m.offset,
			.device = m.device,
			.inode = m.inode,
			.path = m.path_len > 0 ? m.path : "" };
	}
}

/* Of `s->text`. */
static int maps_take(struct leak_space *s, size_t len)
{
	s->map = calloc(lines_count(s->text, len), sizeof(*s->map));
	s->buffer = buffer_new();
	if (!s->map || !s->buffer) {
		leak_space_close(s);
		return -ENOMEM;
	}
	maps_parse(s, len);
	return 0;
}

static void mem_close(struct leak_space *s)
{
	if (s->has_mem)
		close(s->mem);
	s->has_mem = false;
}

static void mem_open(struct leak_space *s)
{
	char path[64];

	mem_close(s);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)s->pid);
	s->mem = open(path, O_RDONLY | O_CLOEXEC);
	s->has_mem = s->mem >= 0;
}

int leak_space_open(struct leak_space *s, pid_t pid)
{
	char path[64];
	size_t len = 0;
	int rc;

	*s = (struct leak_space){ .pid = proc_memory_tid(pid), .pagemap = -1 };
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)s->pid);
	s->text = proc_slurp_all(path, &len);
	if (!s->text)
		return -errno;
	rc = maps_take(s, len);
	if (rc == 0)
		s->pagemap = proc_pagemap_open(s->pid);
	if (rc == 0)
		mem_open(s);
	return rc;
}

/* ---- of one that is asked ---- */

static ssize_t lent_get(const struct leak_space *s, enum ht_coop_command command, uint64_t addr,
	void *out, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t got = read_coop_request(
			s->lent, s->server, command, addr + done, (char *)out + done, bytes - done);

		if (got <= 0)
			return done > 0 ? (ssize_t)done : got;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

int leak_space_open_lent(struct leak_space *s, struct read_coop *coop, enum ht_coop_server server)
{
	size_t len = 0, capacity = 0;
	ssize_t got;

	*s = (struct leak_space){ .pagemap = -1, .lent = coop, .server = server };
	do {
		char *more = realloc(s->text, capacity += HT_COOP_DATA);

		if (!more) {
			leak_space_close(s);
			return -ENOMEM;
		}
		s->text = more;
		got = lent_get(s, HT_COOP_MAPS, len, s->text + len, capacity - len);
		len += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	if (got == 0 && len > 0 && len < capacity)
		return maps_take(s, len);
	leak_space_close(s);
	return got < 0 ? (int)got : -EIO;
}

void leak_space_by_file(struct leak_space *s)
{
	s->by_file = true;
}

void leak_space_freeze(struct leak_space *s)
{
	if (!s->holes)
		s->holes = leak_holes_new();
}

void leak_space_close(struct leak_space *s)
{
	mem_close(s);
	leak_mapped_file_close(&s->backing);
	leak_holes_free(s->holes);
	if (s->pagemap >= 0)
		close(s->pagemap);
	free(s->text);
	free(s->map);
	free(s->buffer);
	for (size_t i = 0; i < s->pieces; i++)
		free(s->piece[i].words);
	free(s->piece);
	*s = (struct leak_space){ .pagemap = -1 };
}

int leak_space_share(struct leak_space *s, const struct leak_space *of)
{
	*s = *of;
	s->scanned_bytes = s->unread_bytes = s->absent_bytes = 0;
	s->backing = (struct leak_mapped_file){ 0 };
	s->holes = NULL;
	s->buffer = buffer_new();
	return s->buffer ? 0 : -ENOMEM;
}

void leak_space_join(struct leak_space *s, struct leak_space *of)
{
	of->scanned_bytes += s->scanned_bytes;
	of->unread_bytes += s->unread_bytes;
	of->absent_bytes += s->absent_bytes;
	of->shared_seen |= s->shared_seen;
	leak_mapped_file_close(&s->backing);
	free(s->buffer);
}

const struct leak_map *leak_space_map(const struct leak_space *s, uint64_t addr)
{
	size_t i = sorted_through(SORTED_BY(s->map, s->maps, end), addr);

	return i < s->maps && s->map[i].start <= addr ? &s->map[i] : NULL;
}

/* ---- words ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The file has what the process itself may not read, too. */
static ssize_t file_read(const struct leak_space *s, uint64_t addr, void *buf, size_t bytes)
{
	const struct leak_map *m = leak_space_map(s, addr);

	if (!m || !m->readable)
		return -1;
	return pread(s->mem, buf, least(bytes, m->end - addr), (off_t)addr);
}

/* Of memory that is there, or is not the process's alone. */
static ssize_t words_get(struct leak_space *s, uint64_t addr, void *buf, size_t bytes, bool shared)
{
	struct iovec here = { buf, bytes };
	struct iovec there = { (void *)(uintptr_t)addr, bytes };

	if (s->lent)
		return lent_get(s, HT_COOP_READ, addr, buf, bytes);
	if (s->by_file)
		return s->has_mem ? pread(s->mem, buf, bytes, (off_t)addr) : -1;
	if (shared && s->has_mem)
		return file_read(s, addr, buf, bytes);
	return process_vm_readv(s->pid, &here, 1, &there, 1, 0);
}

ssize_t leak_space_read(struct leak_space *s, uint64_t addr, void *buf, size_t bytes, bool shared)
{
	size_t done = 0;

	if (s->by_file)
		return words_get(s, addr, buf, bytes, shared);
	while (done < bytes) {
		uint64_t at = addr + done;
		size_t part = (size_t)least(bytes - done, PAGE - at % PAGE);
		ssize_t got = (ssize_t)part;

		if (leak_holes_has(s, at))
			memset((char *)buf + done, 0, part);
		else
			got = words_get(s, at, (char *)buf + done, part, shared);
		if (got <= 0)
			return done > 0 ? (ssize_t)done : got;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

bool leak_space_has_shared(const struct leak_space *s)
{
	return s->is_copy || s->shared_seen;
}

bool leak_space_cancelled(const struct leak_space *s)
{
	return s->progress && s->progress->cancelled;
}

void leak_space_count(struct leak_space *s, uint64_t bytes)
{
	s->scanned_bytes += bytes;
	if (s->progress)
		s->progress->read_bytes += bytes;
}

/* Reads [start, end), whose pages are there. A page that cannot be read is passed over. */
static void present_stream(struct leak_space *s, uint64_t start, uint64_t end, bool shared,
	leak_visit *visit, void *ctx)
{
	while (start < end && !leak_space_cancelled(s)) {
		uint64_t bytes = end - start < LEAK_BUFFER_BYTES ? end - start : LEAK_BUFFER_BYTES;
		ssize_t got = words_get(s, start, s->buffer, bytes, shared);

		if (got > 0) {
			got -= got % (ssize_t)WORD;
			leak_space_count(s, (uint64_t)got);
			visit(ctx, start, s->buffer, (size_t)got / WORD);
			start += (uint64_t)got;
		} else {
			uint64_t next = (start | (PAGE - 1)) + 1;

			s->unread_bytes += (next < end ? next : end) - start;
			start = next;
		}
	}
}

bool leak_space_pages(const struct leak_space *s, uint64_t addr, uint64_t *entries, size_t count)
{
	size_t bytes = count * sizeof(*entries);

	if (s->lent)
		return lent_get(s, HT_COOP_PAGES, addr / PAGE * sizeof(*entries), entries, bytes) ==
		       (ssize_t)bytes;
	return s->pagemap >= 0 && proc_pagemap_read(s->pagemap, addr, entries, count);
}

enum page_is { PAGE_ABSENT, PAGE_OWN, PAGE_SHARED };

static enum page_is page_is(struct leak_space *s, uint64_t entry)
{
	if (!(entry & LEAK_PAGE_THERE))
		return PAGE_ABSENT;
	if (!s->is_copy && (entry & PAGE_OURS))
		return PAGE_OWN;
	s->shared_seen = true;
	return PAGE_SHARED;
}

/* There is nothing in memory of its own; in what it shares there may be. */
static void absent_stream(
	struct leak_space *s, uint64_t start, uint64_t end, leak_visit *visit, void *ctx)
{
	const struct leak_map *m = leak_space_map(s, start);

	if (m && m->shared)
		leak_mapped_file_stream(s, m, start, least(end, m->end), visit, ctx);
}

/* `from` and `end`: parts of `count` pages that begin at `base`. */
static void batch_stream(struct leak_space *s, uint64_t base, const uint64_t *entries, size_t count,
	uint64_t from, uint64_t end, leak_visit *visit, void *ctx)
{
	for (size_t i = 0, j; i < count; i = j) {
		enum page_is is = page_is(s, entries[i]);
		uint64_t start = base + i * PAGE, to;

		for (j = i + 1; j < count && page_is(s, entries[j]) == is; j++)
			;
		start = start < from ? from : start;
		to = least(base + j * PAGE, end);
		if (is == PAGE_ABSENT)
			absent_stream(s, start, to, visit, ctx);
		else
			present_stream(s, start, to, is == PAGE_SHARED, visit, ctx);
	}
}

static void pages_stream(
	struct leak_space *s, uint64_t start, uint64_t end, leak_visit *visit, void *ctx)
{
	uint64_t *entries = s->buffer + LEAK_BUFFER_BYTES / WORD;
	uint64_t base = start & ~(uint64_t)(PAGE - 1), from, to;
	size_t count;
	bool in_hole = false; /* what comes next may be one */

	for (; base < end && !leak_space_cancelled(s); base += count * PAGE) {
		count = PAGEMAP_BATCH;
		if (in_hole)
			base = leak_holes_skip(s, base, end, &count);
		if (base >= end)
			break;
		count = (size_t)least(count, (end - base + PAGE - 1) / PAGE);
		from = base < start ? start : base;
		to = least(end, base + count * PAGE);
		in_hole = leak_space_pages(s, base, entries, count);
		if (!in_hole) {
			present_stream(s, from, to, leak_space_has_shared(s), visit, ctx);
			continue;
		}
		batch_stream(s, base, entries, count, from, to, visit, ctx);
		in_hole = count < PAGEMAP_BATCH || !(entries[count - 1] & LEAK_PAGE_THERE);
	}
}

/* The part of what was kept that lies in [start, end). */
static void kept_stream(
	struct leak_space *s, uint64_t start, uint64_t end, leak_visit *visit, void *ctx)
{
	for (size_t i = 0; i < s->pieces; i++) {
		const struct leak_piece *p = &s->piece[i];
		uint64_t from = p->start > start ? p->start : start, to = least(p->end, end);

		if (from < to)
			visit(ctx, from, p->words + (from - p->start) / WORD, (to - from) / WORD);
	}
}

void leak_space_stream(
	struct leak_space *s, uint64_t start, uint64_t end, leak_visit *visit, void *ctx)
{
	start = (start + WORD - 1) & ~(WORD - 1);
	end &= ~(WORD - 1);
	while (start < end) {
		const struct leak_map *m = s->is_copy ? leak_space_map(s, start) : NULL;
		uint64_t to = m ? least(m->end, end) : end;

		if (m && m->kept)
			kept_stream(s, start, to, visit, ctx);
		else
			pages_stream(s, start, to, visit, ctx);
		start = to;
	}
}

/* ---- a copy of the process ---- */

#define KEPT_MAX  (UINT64_C(256) << 20) /* read while all stands still */
#define KEEP_STEP (UINT64_C(16) << 20) /* before it is seen whether that is too much */

struct keeping {
	struct leak_space *space;
	uint64_t most;
	int rc;
};

static void keep_visit(void *ctx, uint64_t addr, const uint64_t *words, size_t count)
{
	struct keeping *k = ctx;
	struct leak_space *s = k->space;
	struct leak_piece *p;

	if (k->rc != 0)
		return;
	if (s->kept_bytes + count * WORD > k->most) {
		k->rc = -E2BIG;
		return;
	}
	p = array_grow(s->piece, s->pieces, &s->piece_capacity, sizeof(*p));
	if (p) {
		s->piece = p;
		p += s->pieces;
		*p = (struct leak_piece){ addr, addr + count * WORD, malloc(count * WORD) };
	}
	if (!p || !p->words) {
		k->rc = -ENOMEM;
		return;
	}
	memcpy(p->words, words, count * WORD);
	s->pieces++;
	s->kept_bytes += count * WORD;
}

int leak_space_wiped(struct leak_wiped *w, pid_t pid)
{
	char path[64];
	struct proc_smap m;
	size_t len = 0, pos = 0, capacity = 0;
	char *text;
	int rc;

	*w = (struct leak_wiped){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)proc_memory_tid(pid));
	text = proc_slurp_all(path, &len);
	if (!text)
		return -errno;
	while ((rc = proc_parse_smap(text, len, &pos, &m)) != 0) {
		uint64_t *p;

		if (rc < 0)
			continue;
		if (m.huge && m.map.perms[3] != 's')
			w->unfit = "it has huge pages of its own (hugetlbfs)";
		if (m.watched)
			w->unfit = "its page faults are another's to handle (userfaultfd)";
		if (!m.wiped)
			continue;
		p = array_grow(w->start, w->count, &capacity, sizeof(*p));
		if (!p)
			break;
		w->start = p;
		w->start[w->count++] = m.map.start;
	}
	free(text);
	return rc == 0 ? 0 : -ENOMEM;
}

void leak_space_wiped_free(struct leak_wiped *w)
{
	free(w->start);
	*w = (struct leak_wiped){ 0 };
}

static bool is_wiped(const struct leak_wiped *w, const struct leak_map *m)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->start[i] >= m->start && w->start[i] < m->end)
			return true;
	return false;
}

/* All will be read again. */
static void keep_forget(struct leak_space *s, uint64_t scanned, uint64_t unread, uint64_t absent)
{
	for (size_t i = 0; i < s->maps; i++)
		s->map[i].kept = false;
	s->scanned_bytes = scanned;
	s->unread_bytes = unread;
	s->absent_bytes = absent;
	s->backing.read_bytes = 0;
}

int leak_space_keep(
	struct leak_space *s, const struct leak_space *copy, const struct leak_keep *keep)
{
	struct keeping k = { .space = s, .most = keep->most };
	uint64_t scanned = s->scanned_bytes, unread = s->unread_bytes, absent = s->absent_bytes;

	for (size_t i = 0; i < s->maps; i++) {
		struct leak_map *m = &s->map[i];

		if (!keep->wanted(m) ||
			(!m->shared && leak_space_map(copy, m->start) && !is_wiped(keep->wiped, m)))
			continue;
		for (uint64_t at = m->start; at < m->end && k.rc == 0; at += KEEP_STEP)
			pages_stream(s, at, least(at + KEEP_STEP, m->end), keep_visit, &k);
		m->kept = true;
		if (k.rc != 0)
			break;
	}
	if (k.rc != 0)
		keep_forget(s, scanned, unread, absent);
	return k.rc;
}

void leak_space_become(struct leak_space *s, struct leak_space *copy)
{
	s->pid = copy->pid;
	s->is_copy = true;
	s->server = copy->server;
	if (s->pagemap >= 0)
		close(s->pagemap);
	s->pagemap = copy->pagemap;
	copy->pagemap = -1;
	mem_close(s);
	s->mem = copy->mem;
	s->has_mem = copy->has_mem;
	copy->has_mem = false;
}

int leak_space_copied(struct leak_space *s, pid_t copy, bool (*wanted)(const struct leak_map *m),
	const struct leak_wiped *wiped)
{
	const struct leak_keep keep = { wanted, wiped, KEPT_MAX };
	struct leak_space of;
	int rc = leak_space_open(&of, copy);

	if (rc == 0)
		rc = leak_space_keep(s, &of, &keep);
	if (rc == 0)
		leak_space_become(s, &of);
	leak_space_close(&of);
	return rc;
}

bool leak_space_word(struct leak_space *s, uint64_t addr, uint64_t *value)
{
	return leak_space_read(s, addr, value, WORD, leak_space_has_shared(s)) == (ssize_t)WORD;
}

enum leak_word_kind leak_space_word_kind(struct leak_space *s, uint64_t addr)
{
	const struct leak_map *m;

	if (addr >= s->last_start && addr < s->last_end)
		return s->last_first;
	m = leak_space_map(s, addr);
	if (!m)
		return LEAK_WORD_NUMBER;
	s->last_start = m->start;
	s->last_end = m->end;
	s->last_first = m->inode != 0 && m->readable ? LEAK_WORD_FILE : LEAK_WORD_ADDRESS;
	return s->last_first;
}
