/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory of another process (space.h). Sources: proc(5) for maps, the kernel's
 * Documentation/admin-guide/mm/pagemap.rst for pagemap, gup_must_unshare in mm/internal.h.
 *
 * process_vm_readv pins the pages that it reads. If two processes share an anonymous page since
 * a fork, that unshares it (since Linux 5.19): the process that is read gets a page of its own.
 * A copy would so take as much memory as the program while it is read, in the program's cgroup.
 * If it then waits for memory there, it keeps the copy's memory, even after the copy was killed
 * to make room. A server's worker that shares memory with others would keep the pages. So shared
 * pages are read by /proc/PID/mem, which does not pin.
 */
#include "src/leak/access/space.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "src/core/maps.h"
#include "src/leak/access/lent_memory.h"
#include "src/proc/proc.h"
#include "src/util/sorted.h"

#define PAGE	      PROC_PAGE_BYTES
#define PAGEMAP_BATCH 512u
#define PAGEMAP_MOST  3072u /* six pages of entries */
#define SEEK_PAGES    512u /* read together, as without seeking */
#define PAGE_PRIVATE  (PROC_PAGE_EXCLUSIVE | PROC_PAGE_FILE) /* reading it copies nothing */
#define WORD	      sizeof(uint64_t)

/* For words, followed by entries of pagemap. */
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

/* Parses `s->text`. */
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
	s->text = proc_file_read_all(path, &len);
	if (!s->text)
		return -errno;
	rc = maps_take(s, len);
	if (rc == 0)
		s->pagemap = proc_pagemap_open(s->pid);
	if (rc == 0)
		mem_open(s);
	return rc;
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
		got = leak_lent_memory_read(
			coop, server, HT_COOP_MAPS, len, s->text + len, capacity - len);
		len += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	if (got == 0 && len > 0 && len < capacity)
		return maps_take(s, len);
	leak_space_close(s);
	return got < 0 ? (int)got : -EIO;
}

int leak_space_open_core(struct leak_space *s, const struct core *core)
{
	size_t len = 0;

	*s = (struct leak_space){ .pid = core->pid, .pagemap = -1, .core = core };
	s->text = core_maps_text(core, &len);
	return s->text ? maps_take(s, len) : -ENOMEM;
}

void leak_space_by_file(struct leak_space *s)
{
	s->by_file = true;
}

void leak_space_freeze(struct leak_space *s)
{
	if (!s->pages)
		s->pages = leak_pages_cache_new();
}

void leak_space_close(struct leak_space *s)
{
	mem_close(s);
	leak_mapped_file_close(&s->file);
	leak_pages_cache_free(s->pages);
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

int leak_space_share(struct leak_space *s, const struct leak_space *of)
{
	*s = *of;
	s->scanned_bytes = s->unread_bytes = s->absent_bytes = 0;
	s->file = (struct leak_mapped_file){ 0 };
	s->pages = NULL;
	s->buffer = buffer_new();
	return s->buffer ? 0 : -ENOMEM;
}

void leak_space_join(struct leak_space *s, struct leak_space *of)
{
	of->scanned_bytes += s->scanned_bytes;
	of->unread_bytes += s->unread_bytes;
	of->absent_bytes += s->absent_bytes;
	of->shared_seen |= s->shared_seen;
	leak_mapped_file_close(&s->file);
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

/* /proc/PID/mem also gives what the process itself may not read. */
static ssize_t file_read(const struct leak_space *s, uint64_t addr, void *buf, size_t bytes)
{
	const struct leak_map *m = leak_space_map(s, addr);

	if (!m || !m->readable)
		return -1;
	return pread(s->mem, buf, least(bytes, m->end - addr), (off_t)addr);
}

/* Kernels may lack the call, and sandboxes forbid it. */
static ssize_t pinned_read(struct leak_space *s, uint64_t addr, void *buf, size_t bytes)
{
	struct iovec here = { buf, bytes };
	struct iovec there = { (void *)(uintptr_t)addr, bytes };
	ssize_t got = s->pinless ? -1 : process_vm_readv(s->pid, &here, 1, &there, 1, 0);

	if (got < 0 && !s->pinless && s->has_mem)
		s->pinless = errno == ENOSYS || errno == EPERM;
	return s->pinless ? file_read(s, addr, buf, bytes) : got;
}

/* Reads memory that is populated, or not private to the process. */
static ssize_t words_get(struct leak_space *s, uint64_t addr, void *buf, size_t bytes, bool shared)
{
	if (s->core)
		return core_read(s->core, addr, buf, bytes);
	if (s->lent)
		return leak_lent_memory_read(s->lent, s->server, HT_COOP_READ, addr, buf, bytes);
	if (s->by_file)
		return s->has_mem ? pread(s->mem, buf, bytes, (off_t)addr) : -1;
	if (shared && s->has_mem)
		return file_read(s, addr, buf, bytes);
	return pinned_read(s, addr, buf, bytes);
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

		if (leak_space_is_untouched(s, at))
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
	return leak_progress_is_cancelled(s->progress);
}

static void bytes_count(struct leak_space *s, uint64_t bytes)
{
	s->scanned_bytes += bytes;
	if (s->progress)
		s->progress->read_bytes += bytes;
}

/* Reads [start, end), whose pages are populated. Skips a page that cannot be read. */
static void present_stream(struct leak_space *s, uint64_t start, uint64_t end, bool shared,
	leak_visit *visit, void *ctx)
{
	while (start < end && !leak_space_cancelled(s)) {
		uint64_t bytes = end - start < LEAK_BUFFER_BYTES ? end - start : LEAK_BUFFER_BYTES;
		ssize_t got = words_get(s, start, s->buffer, bytes, shared);

		if (got > 0) {
			got -= got % (ssize_t)WORD;
			bytes_count(s, (uint64_t)got);
			visit(ctx, start, s->buffer, (size_t)got / WORD);
			start += (uint64_t)got;
		} else {
			uint64_t next = (start | (PAGE - 1)) + 1;

			s->unread_bytes += (next < end ? next : end) - start;
			start = next;
		}
	}
}

static struct leak_pages pages_of(const struct leak_space *s)
{
	return (struct leak_pages){ s->pagemap, s->lent, s->server };
}

bool leak_space_pages(const struct leak_space *s, uint64_t addr, uint64_t *entries, size_t count)
{
	const struct leak_pages pages = pages_of(s);

	return leak_pages_read(&pages, addr, entries, count);
}

bool leak_space_is_untouched(struct leak_space *s, uint64_t addr)
{
	const struct leak_pages pages = pages_of(s);
	const struct leak_map *m;

	if ((s->pagemap < 0 && !s->lent) || leak_pages_is_there(&pages, s->pages, addr))
		return false;
	m = leak_space_map(s, addr);
	return m && !m->shared && m->inode == 0;
}

/* [addr, end) lies in one mapping. */
static uint64_t page_seek(struct leak_space *s, uint64_t addr, uint64_t end, size_t *pages)
{
	uint64_t found = end;
	int rc = proc_pagemap_seek(s->pagemap, addr, end, SEEK_PAGES, &found, pages);

	if (rc >= 0)
		return found;
	s->seekless = true;
	*pages = PAGEMAP_MOST;
	return addr;
}

/* The page of the first data in [addr, end). */
static uint64_t core_seek(const struct leak_space *s, uint64_t addr, uint64_t end)
{
	struct core_range r;
	uint64_t found = core_next(s->core, addr, end, &r) ? r.start & ~(uint64_t)(PAGE - 1) : end;

	return found > addr ? found : addr;
}

uint64_t leak_space_skip_untouched(struct leak_space *s, uint64_t addr, uint64_t end, size_t *pages)
{
	size_t i = sorted_through(SORTED_BY(s->map, s->maps, end), addr);
	const struct leak_map *m = i < s->maps ? &s->map[i] : NULL;

	*pages = SEEK_PAGES;
	if (!m || m->start > addr) /* between mappings */
		return m ? least(m->start, end) : end;
	if (s->core)
		return core_seek(s, addr, end);
	if (m->shared) /* a missing page does not mean missing data there */
		return addr;
	end = (least(end, m->end) + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	if (s->pagemap >= 0 && !s->seekless)
		return page_seek(s, addr, end, pages);
	*pages = PAGEMAP_MOST;
	return addr;
}

enum page_is { PAGE_ABSENT, PAGE_OWN, PAGE_SHARED };

static enum page_is page_is(struct leak_space *s, uint64_t entry)
{
	if (!(entry & LEAK_PAGE_THERE) || (entry & PROC_PAGE_GUARD))
		return PAGE_ABSENT;
	if (!s->is_copy && (entry & PAGE_PRIVATE))
		return PAGE_OWN;
	s->shared_seen = true;
	return PAGE_SHARED;
}

struct file_visit {
	struct leak_space *space;
	leak_visit *visit;
	void *ctx;
};

static void file_words(void *ctx, uint64_t addr, const uint64_t *words, size_t count)
{
	struct file_visit *f = ctx;

	bytes_count(f->space, count * WORD);
	f->visit(f->ctx, addr, words, count);
}

/* An absent page of private memory holds nothing; one of a shared mapping may. */
static void absent_stream(
	struct leak_space *s, uint64_t start, uint64_t end, leak_visit *visit, void *ctx)
{
	const struct leak_map *m = leak_space_map(s, start);
	struct file_visit f = { s, visit, ctx };
	const struct leak_mapped_file_reader reader = { .pid = s->lent ? 0 : s->pid,
		.buffer = s->buffer,
		.progress = s->progress,
		.visit = file_words,
		.ctx = &f };

	if (m && m->shared)
		s->absent_bytes +=
			leak_mapped_file_stream(&s->file, &reader, m, start, least(end, m->end));
}

/* `from` and `end` bound the words, within `count` pages that begin at `base`. */
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
	bool in_hole = false; /* the next page may be in a hole */

	for (; base < end && !leak_space_cancelled(s); base += count * PAGE) {
		count = PAGEMAP_BATCH;
		if (in_hole)
			base = leak_space_skip_untouched(s, base, end, &count);
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

/* Reads what a core has of [start, end). */
static void core_stream(
	struct leak_space *s, uint64_t start, uint64_t end, leak_visit *visit, void *ctx)
{
	struct core_range r;

	while (start < end && core_next(s->core, start, end, &r)) {
		uint64_t from = (r.start + WORD - 1) & ~(WORD - 1);

		start = r.end;
		if (!r.known)
			s->unread_bytes += r.end - r.start;
		else if (from < (r.end & ~(WORD - 1)))
			present_stream(s, from, r.end & ~(WORD - 1), false, visit, ctx);
	}
}

/* Gives the kept words of [start, end). */
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
	if (s->core) {
		core_stream(s, start, end, visit, ctx);
		return;
	}
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

bool leak_space_word(struct leak_space *s, uint64_t addr, uint64_t *value)
{
	return leak_space_read(s, addr, value, WORD, leak_space_has_shared(s)) == (ssize_t)WORD;
}

enum leak_word_kind leak_space_word_kind(struct leak_space *s, uint64_t addr)
{
	const struct leak_map *m;

	if (addr >= s->last_start && addr < s->last_end)
		return s->last_kind;
	m = leak_space_map(s, addr);
	if (!m)
		return LEAK_WORD_NUMBER;
	s->last_start = m->start;
	s->last_end = m->end;
	s->last_kind = m->inode != 0 && m->readable ? LEAK_WORD_FILE : LEAK_WORD_ADDRESS;
	return s->last_kind;
}
