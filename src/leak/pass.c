/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One pass of a leak scan (pass.h). */
#include "src/leak/pass.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/leak/access/exit_stop.h"
#include "src/leak/analysis/block_words.h"
#include "src/leak/analysis/word_reader.h"
#include "src/leak/before.h"
#include "src/proc/proc.h"

#define BLOCKS_PER_PAGE (4096u / sizeof(struct leak_block))
#define BLOCK_LEAST	16u /* bytes that a block takes in the program */

static int continued(const struct leak_pass *s, int rc)
{
	return leak_access_ops_continue(&s->access, rc);
}

/* ---- blocks ---- */

static void block_add(void *ctx, const struct read_block *b)
{
	struct leak_pass *s = ctx;
	struct leak_block block = leak_live_table_block(b);
	bool is_sure = s->first_tick == 0 || b->tick < s->first_tick;

	s->rc = continued(s, s->rc);
	if (s->rc == 0)
		s->rc = leak_blocks_add(is_sure ? &s->blocks : &s->unsure, &block);
}

/* `frozen`: a copy of the table; NULL: the table itself. */
static int table_read(struct leak_pass *s, struct read_live_copy *frozen)
{
	struct read_segment *from = frozen ? read_live_copy_segment(frozen) : s->access.segment;
	ssize_t n = read_blocks(from, block_add, s);

	return n < 0 ? (int)n : s->rc;
}

/*
 * Blocks of either table count, as far as they do not overlap: one freed since may have held a
 * pointer to a live block, and so may one created later. A block that lived only when the copy was
 * made is in neither table.
 */
static int tables_read(struct leak_pass *s)
{
	int rc = s->access.table_before ? table_read(s, s->access.table_before) : 0;

	if (rc == 0)
		rc = table_read(s, s->access.table);
	return rc == 0 && s->access.table_before ? leak_blocks_fill(&s->blocks, &s->unsure) : rc;
}

/* The blocks of the tables that the access has taken. */
static int blocks_of_access(struct leak_pass *s)
{
	struct read_identity id;
	int rc = read_identity(s->access.segment, &id);

	if (rc != 0)
		return rc;
	if (s->table.is_read)
		leak_blocks_free(&s->blocks);
	/* Rounded as the blocks' creation times are. */
	s->first_tick = read_tick_unpack(
		read_tick_pack((s->access.at_ns - id.created_ns) >> HT_TICK_SHIFT));
	rc = tables_read(s);
	return continued(s, rc == 0 ? leak_blocks_finish(&s->blocks) : rc);
}

static int blocks_read(struct leak_pass *s)
{
	int rc;

	if (s->access.table)
		return blocks_of_access(s);
	if (s->table.is_read)
		return leak_live_table_patch(&s->table, &s->blocks);
	rc = table_read(s, s->table.frozen);
	return rc != 0 ? rc : leak_blocks_finish(&s->blocks);
}

/* Adds the blocks that the program had before it was recorded. */
static int before_add(struct leak_pass *s)
{
	struct leak_blocks fresh = { 0 };
	bool whole;
	int rc =
		leak_before_blocks(s->access.segment, &s->access.space, &s->blocks, &fresh, &whole);

	s->partial = !whole;
	if (rc == 0)
		rc = leak_blocks_patch(&s->blocks, NULL, 0, &fresh);
	leak_blocks_free(&fresh);
	return rc;
}

/* Reserves memory for as many blocks as are live now, but no more than the program's memory can
 * hold: a damaged segment may claim any number. */
static void blocks_prepare(struct leak_pass *s)
{
	struct proc_reading p = { 0 };
	struct read_totals t;
	uint64_t most;

	if (read_totals(s->access.segment, &t) == 0 && t.allocs > t.frees &&
		(s->request->core || proc_read(s->request->pid, false, &p) == 0)) {
		most = (s->request->core ? s->request->core->file_bytes : p.rss_bytes) /
		       BLOCK_LEAST;
		(void)leak_blocks_reserve(&s->blocks,
			t.allocs - t.frees < most ? (t.allocs - t.frees) / 16 * 17 : most);
	}
	for (uint32_t i = 0; i < s->blocks.capacity; i += BLOCKS_PER_PAGE)
		s->blocks.block[i].addr = 0; /* populates the page */
}

/* ---- memory ---- */

/* Whether the process has blocks that are not in its table, such as a forked child its parent's, or
 * those of a pause (heaptop_pause, __lsan_disable), which may point to others. */
static bool has_unknown(const struct leak_pass *s)
{
	struct read_totals t;

	if (read_is_forked(s->access.segment) || s->partial)
		return true;
	return read_totals(s->access.segment, &t) == 0 &&
	       (t.untracked_blocks > 0 || t.paused_blocks > 0);
}

/* A block that is meant to stay: reachable, with what it points to. */
static void intended_add(void *ctx, uint64_t addr, uint64_t tick)
{
	struct leak_pass *s = ctx;
	uint32_t i = leak_blocks_find(&s->blocks, addr);

	if (i != LEAK_NONE && read_tick_unpack(s->blocks.block[i].birth) <= tick)
		leak_graph_root_block(&s->graph, i);
}

/* Each thread has an array, of which libc keeps a pointer to its second entry. Where ld.so is known
 * to have allocated it, that explains it already. */
static void dtvs_mark(struct leak_pass *s)
{
	uint64_t dtv;

	for (size_t i = 0; i < s->threads; i++) {
		uint64_t at = s->thread[i].tls.end != 0 ? s->thread[i].data + sizeof(dtv) : 0;
		uint32_t block = at != 0 && leak_space_word(&s->access.space, at, &dtv)
					 ? leak_blocks_find(&s->blocks, dtv)
					 : LEAK_NONE;

		if (block != LEAK_NONE)
			leak_graph_root_rule(&s->graph, block, LEAK_BY_LOADER);
	}
}

/* ---- contents ---- */

static ssize_t contents_read(void *ctx, uint64_t addr, void *out, size_t bytes)
{
	struct leak_space *space = &((struct leak_pass *)ctx)->access.space;
	const struct leak_map *m = leak_space_map(space, addr);

	if (!m || m->kept) /* the copy has something else there */
		return -1;
	bytes = bytes < m->end - addr ? bytes : (size_t)(m->end - addr);
	return leak_space_read(space, addr, out, bytes, leak_space_has_shared(space));
}

static bool contents_are_stopped(void *ctx)
{
	return leak_space_cancelled(&((struct leak_pass *)ctx)->access.space);
}

/* From a copy alone. Without memory for it, the scan has none. */
static int contents_find(struct leak_pass *s)
{
	const struct leak_contents_memory memory = { s, contents_read, contents_are_stopped };
	int rc;

	leak_contents_free(&s->out->contents);
	s->out->has_contents = false;
	if (!s->request->contents || !s->out->access.copied)
		return 0;
	rc = leak_contents_find(&s->out->contents, &s->blocks, &memory);
	s->out->has_contents = rc == 0;
	return rc == -ECANCELED ? rc : 0;
}

static int memory_read(struct leak_pass *s)
{
	struct leak_roots roots = { .kinds = s->request->roots,
		.stack = s->access.last ? 0 : read_exit_scan_stack(s->access.segment),
		.exit = s->access.last ? &s->access.exit : NULL,
		.first_stack = s->access.last ? leak_exit_stop_first_stack(&s->access.stop) : 0,
		.thread = s->thread,
		.unknown = has_unknown(s) };
	int rc = leak_graph_start(&s->graph, &s->blocks);

	if (rc != 0)
		return rc;
	s->graph.heuristics = s->request->heuristics;
	s->graph.tails = s->access.usable_asked;
	if (s->request->holders)
		leak_graph_keep(&s->graph);
	leak_space_freeze(&s->access.space);
	(void)read_intended(s->access.segment, intended_add, s);
	leak_roots_scan(&roots, &s->access.space, &s->access.stop, &s->graph);
	leak_block_words_scan(&s->access.space, &s->graph,
		leak_block_words_readers(&s->access.space, s->out->access.copied));
	dtvs_mark(s);
	rc = continued(s, 0);
	if (rc == 0)
		rc = leak_word_reader_explain(&s->graph, &s->access.space);
	if (rc == 0)
		rc = contents_find(s);
	s->out->devices = roots.devices;
	s->out->unknown = roots.unknown;
	return rc;
}

static int threads_note(struct leak_pass *s)
{
	s->thread = calloc(s->access.stop.count + 1, sizeof(*s->thread));
	if (!s->thread)
		return -ENOMEM;
	for (size_t i = 0; i < s->access.stop.count; i++)
		s->thread[s->threads++] =
			leak_roots_thread(&s->access.space, &s->access.stop.thread[i]);
	return 0;
}

/* Where nothing can be read, all would be lost. */
static int read_check(struct leak_pass *s)
{
	if (s->out->scanned_bytes > 0 || s->out->unread_bytes == 0)
		return 0;
	snprintf(s->access.message, TRACE_MESSAGE_MAX,
		"process %d cannot be scanned: none of its memory can be read (process_vm_readv "
		"and /proc/%d/mem)",
		(int)s->request->pid, (int)s->request->pid);
	return -EIO;
}

static int instant_read(struct leak_pass *s)
{
	int rc = leak_access_open(&s->access);

	if (rc == 0)
		rc = threads_note(s);
	if (rc == 0 && !s->access.table)
		rc = continued(s, leak_live_table_take(&s->table));
	if (rc == 0)
		rc = continued(s, leak_access_detach(&s->access));
	if (rc == 0)
		rc = continued(s, blocks_read(s));
	if (rc == 0)
		rc = continued(s, before_add(s));
	if (rc == 0)
		rc = memory_read(s);
	return rc;
}

/* ---- the pass ---- */

/* All that can be read before the process is stopped. */
static void prepare(struct leak_pass *s)
{
	struct leak_access *a = &s->access;

	leak_access_prepare(a);
	s->table = (struct leak_live_table){ .segment = a->segment, .pid = a->pid };
	if (a->needs_table)
		a->has_table = leak_live_table_freeze(&s->table);
	blocks_prepare(s);
	if (!a->at_exit && !a->core)
		leak_live_table_watch(&s->table);
	if (leak_live_table_read(&s->table, &s->blocks) != 0) {
		leak_blocks_free(&s->blocks);
		s->table.is_read = false;
	}
}

static void counts_note(struct leak_pass *s)
{
	s->out->scanned_bytes = s->access.space.scanned_bytes;
	s->out->unread_bytes = s->access.space.unread_bytes + s->access.space.absent_bytes;
	s->out->threads = (unsigned)s->access.stop.count;
	s->out->running = (unsigned)trace_stop_running(&s->access.stop);
}

static void finish(struct leak_pass *s)
{
	if (s->request->hold && s->rc == 0)
		leak_access_hold(&s->access, s->request->hold);
	s->rc = leak_access_release(&s->access, s->rc);
	if (s->rc == 0) /* a program that has ended is another reason, given there */
		s->rc = read_check(s);
	s->out->access.stop_ns += s->table.stop_ns;
	leak_live_table_free(&s->table);
	leak_access_ops_phase(&s->access, LEAK_FOLLOWING);
}

void *leak_pass_read(void *ctx)
{
	struct leak_pass *s = ctx;

	prepare(s);
	s->rc = continued(s, 0);
	if (s->rc == 0)
		s->rc = leak_access_take(&s->access);
	if (s->rc == 0)
		s->rc = instant_read(s);
	counts_note(s);
	s->rc = continued(s, s->rc);
	finish(s);
	if (s->rc != 0 && s->rc != -ECANCELED && !*s->access.message)
		snprintf(s->access.message, TRACE_MESSAGE_MAX, "process %d cannot be scanned: %s",
			(int)s->request->pid, strerror(-s->rc));
	return NULL;
}
