/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One reading of a process for a leak scan (pass.h). */
#include "src/leak/pass.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/leak/access/exit_stop.h"
#include "src/leak/analysis/word_reader.h"
#include "src/leak/analysis/block_words.h"
#include "src/leak/access/in_realloc.h"
#include "src/proc/proc.h"
#include "src/util/clock.h"

#define BLOCKS_A_PAGE (4096u / sizeof(struct leak_block))
#define BLOCK_LEAST   16u /* bytes that one takes in the program */

bool leak_pass_is_cancelled(const struct leak_pass *s)
{
	return s->request->progress && s->request->progress->cancelled;
}

int leak_pass_go_on(const struct leak_pass *s, int rc)
{
	return rc == 0 && leak_pass_is_cancelled(s) ? -ECANCELED : rc;
}

static void block_add(void *ctx, const struct read_block *b)
{
	struct leak_pass *s = ctx;
	struct leak_block block = leak_live_table_block(b);
	bool is_sure = s->first_tick == 0 || b->tick < s->first_tick;

	s->rc = leak_pass_go_on(s, s->rc);
	if (s->rc == 0)
		s->rc = leak_blocks_add(is_sure ? &s->blocks : &s->unsure, &block);
}

/* `frozen`: NULL for the table itself. */
static int table_read(struct leak_pass *s, struct read_frozen *frozen)
{
	struct read_segment *from = frozen ? read_frozen_segment(frozen) : s->segment;
	ssize_t n = read_blocks(from, block_add, s);

	return n < 0 ? (int)n : s->rc;
}

/* Whether it has blocks that are in no table: a forked child those of its parent. */
static bool has_unknown(const struct leak_pass *s)
{
	struct read_totals t;

	if (read_is_forked(s->segment))
		return true;
	return read_totals(s->segment, &t) == 0 && t.untracked_blocks > 0;
}

static int memory_read(struct leak_pass *s)
{
	struct leak_roots roots = { .kinds = s->request->roots,
		.stack = s->last ? 0 : read_leak_stack(s->segment),
		.exit = s->last ? &s->exit : NULL,
		.first_stack = s->last ? leak_exit_first_stack(&s->stop) : 0,
		.thread = s->thread,
		.unknown = has_unknown(s) };
	int rc = leak_graph_start(&s->graph, &s->blocks);

	if (rc != 0)
		return rc;
	s->graph.heuristics = s->request->heuristics;
	leak_space_freeze(&s->space);
	leak_roots_scan(&roots, &s->space, &s->stop, &s->graph);
	/* What the library reads for us comes to one. */
	leak_block_words_scan(
		&s->space, &s->graph, s->out->lent ? 1 : leak_block_words_readers(s->out->copied));
	rc = leak_pass_go_on(s, 0);
	if (rc == 0)
		rc = leak_word_reader_explain(&s->graph, &s->space);
	s->out->devices = roots.devices;
	s->out->unknown = roots.unknown;
	return rc;
}

/* Another image of the program has other blocks: of those in the segment nothing would be left. */
static int image_check(struct leak_pass *s)
{
	if (leak_roots_has_segment(&s->space, read_path(s->segment)))
		return 0;
	snprintf(s->message, LEAK_MESSAGE_MAX,
		"%d cannot be scanned: it called exec, which discarded the recorded heap",
		(int)s->request->pid);
	return -ESTALE;
}

/* Also again: the mappings may have changed while threads were let go. */
static int space_look(struct leak_pass *s)
{
	int rc;

	leak_space_close(&s->space);
	rc = leak_space_open(&s->space, s->request->pid);
	s->space.progress = s->request->progress;
	return rc == 0 ? image_check(s) : rc;
}

static int threads_note(struct leak_pass *s)
{
	s->thread = calloc(s->stop.count + 1, sizeof(*s->thread));
	if (!s->thread)
		return -ENOMEM;
	for (size_t i = 0; i < s->stop.count; i++)
		s->thread[s->threads++] = leak_roots_thread(&s->space, &s->stop.thread[i]);
	return 0;
}

static void phase_tell(const struct leak_pass *s, enum leak_phase phase)
{
	if (s->request->progress)
		s->request->progress->phase = phase;
}

/* ---- a copy ---- */

/* What is less is read in 15 ms; a copy of 2 MB takes as long as reading it. */
#define COPY_BYTES (UINT64_C(16) << 20)

/* What takes longer than the process is to stand still. */
static void copy_prepare(struct leak_pass *s)
{
	s->copier = (struct leak_copy_access){ 0 };
	if (s->copying != LEAK_COPY_NEVER)
		leak_copy_access_prepare(
			&s->copier, s->request->pid, s->copying == LEAK_COPY_AUTO ? COPY_BYTES : 0);
	if (!s->copier.wanted)
		return;
	leak_live_table_freeze(&s->table);
	if (!s->table.frozen)
		leak_copy_access_refuse(&s->copier, "out of memory for a copy of its table");
}

/* Lets the process go on, and its copy be read instead of it; if that cannot be done, nothing. 0,
 * or -errno: a thread was lost, or the copy. */
static int copy_take(struct leak_pass *s)
{
	int rc = leak_copy_access_take(&s->copier, &s->stop, &s->space, read_copy_at(s->segment));

	s->out->no_copy = s->copier.why_not;
	if (rc != 0 || !s->copier.used)
		return rc;
	s->out->copied = true;
	leak_stop_detach(&s->stop);
	s->out->stop_ns = s->table.stop_ns + clock_monotonic_ns() - s->start_ns;
	return leak_copy_access_begin(&s->copier);
}

static void copy_end(struct leak_pass *s)
{
	int rc = leak_copy_access_end(&s->copier);

	s->out->copy_left = s->copier.left;
	if (rc != 0 && s->rc == 0)
		s->rc = rc;
}

static int blocks_read(struct leak_pass *s)
{
	int rc;

	if (s->table.is_read)
		return leak_live_table_patch(&s->table, &s->blocks);
	rc = table_read(s, s->table.frozen);
	return rc != 0 ? rc : leak_blocks_finish(&s->blocks);
}

/* Threads that end cannot be let go on. */
static unsigned threads_await(struct leak_pass *s)
{
	if (!s->last)
		return leak_in_realloc_await(s->segment, &s->stop, &s->space);
	leak_exit_stack_find(&s->exit, &s->space, s->last);
	return leak_in_realloc_count(s->segment, &s->stop, &s->space);
}

static int standing_read(struct leak_pass *s)
{
	int rc = space_look(s);

	if (rc != 0)
		return rc;
	s->out->busy = threads_await(s);
	leak_vm_sharers_note(&s->sharers, &s->stop);
	phase_tell(s, LEAK_READING);
	rc = leak_pass_go_on(s, space_look(s));
	if (rc == 0)
		rc = threads_note(s);
	if (rc == 0)
		rc = leak_pass_go_on(s, leak_live_table_take(&s->table));
	if (rc == 0)
		rc = leak_pass_go_on(s, copy_take(s));
	if (rc == 0)
		rc = leak_pass_go_on(s, blocks_read(s));
	if (rc == 0)
		rc = memory_read(s);
	return rc;
}

/* ---- where we may not trace it ---- */

static void refusal_add(struct leak_pass *s, const char *why)
{
	size_t at = strlen(s->message);

	if (at == 0)
		at = (size_t)snprintf(s->message, LEAK_MESSAGE_MAX,
			"%d cannot be scanned: no permission to stop it (run heaptop as root, or "
			"start the program with it)",
			(int)s->request->pid);
	snprintf(s->message + at, LEAK_MESSAGE_MAX - at, "; %s", why);
}

/*
 * A block freed since may have held a pointer to one that is still there; so may what came later,
 * or was there at another time: a block that was there only when the copy was made is in no table
 * of that moment.
 */
static int tables_read(struct leak_pass *s)
{
	int rc = s->lent.before ? table_read(s, s->lent.before) : 0;

	if (rc == 0)
		rc = table_read(s, s->lent.after);
	return rc == 0 && s->lent.before ? leak_blocks_fill(&s->blocks, &s->unsure) : rc;
}

/* Reads a copy that the process has made of itself. */
static int lent_read(struct leak_pass *s)
{
	struct read_identity id;
	int rc = read_identity(s->segment, &id);

	s->space = s->lent.space;
	s->stop = s->lent.stop;
	s->lent.space = (struct leak_space){ .pagemap = -1 };
	s->lent.stop = (struct leak_stop){ 0 };
	s->space.progress = s->request->progress;
	s->out->lent = s->out->copied = true;
	if (s->table.is_read)
		leak_blocks_free(&s->blocks);
	s->out->stop_ns = s->lent.held_ns;
	s->out->busy = s->lent.moving;
	phase_tell(s, LEAK_READING);
	if (rc == 0)
		rc = image_check(s);
	if (rc == 0)
		rc = threads_note(s);
	/* Rounded as births are. */
	s->first_tick =
		read_birth_tick(read_birth((s->lent.at_ns - id.created_ns) >> HT_TICK_SHIFT));
	if (rc == 0)
		rc = tables_read(s);
	if (rc == 0)
		rc = leak_pass_go_on(s, leak_blocks_finish(&s->blocks));
	if (rc == 0)
		rc = memory_read(s);
	if (rc == 0 && leak_coop_has_failed(s->coop))
		rc = -ENOMEM;
	return rc;
}

/* Asks the program's library for what we may not do. 0: the process stands still, or has lent us
 * its memory; else the message tells. */
static int help_take(struct leak_pass *s)
{
	int refused = s->rc, rc;
	const char *why;

	if (!s->coop)
		s->coop = leak_coop_open(s->segment, s->request->pid, s->request->progress, &why);
	if (s->coop && !s->out->refused && !leak_coop_trace(s->coop)) {
		*s->message = '\0';
		rc = leak_stop(&s->stop, s->request->pid, s->message);
		s->out->let = rc != -EPERM && rc != -EACCES;
		if (s->out->let) /* else it is not Yama alone that refuses: we may have a filter,
				    too */
			return rc;
	}
	if (s->coop)
		why = leak_coop_lend(s->coop, &s->lent);
	if (why) {
		refusal_add(s, why);
		return refused;
	}
	*s->message = '\0';
	s->out->refused = refused;
	s->out->lent = true;
	return 0;
}

static bool is_refused(const struct leak_pass *s)
{
	return (s->rc == -EPERM || s->rc == -EACCES) && leak_stop_tracer(s->request->pid) == 0;
}

static void process_release(void *ctx)
{
	struct leak_pass *s = ctx;

	read_leak_done(s->segment);
}

/* It waits for us at its end, stopped: lets it go on, and has it stand at its last instant. */
static int last_instant_await(struct leak_pass *s)
{
	int rc;

	phase_tell(s, LEAK_EXITING);
	rc = leak_exit_stop(&s->stop, process_release, s, s->request->progress, &s->last);
	phase_tell(s, LEAK_STOPPING);
	s->begin_ns = s->start_ns = clock_monotonic_ns();
	s->out->at_exit = rc == 0;
	if (rc == -ESTALE)
		snprintf(s->message, LEAK_MESSAGE_MAX,
			"%d was not scanned: it called exec at its end", (int)s->request->pid);
	else if (rc == -ESRCH)
		snprintf(s->message, LEAK_MESSAGE_MAX,
			"%d was not scanned: it ended before it could be", (int)s->request->pid);
	return rc;
}

static void stop_try(struct leak_pass *s)
{
	s->rc = s->out->refused;
	if (!s->rc)
		s->rc = leak_scan_lock_stop(&s->turn, &s->stop, s->request->pid, s->message);
	if (!s->turn.others && is_refused(s))
		s->rc = help_take(s);
	else if (s->rc == 0 && s->request->at_exit)
		s->rc = last_instant_await(s);
}

static void read_note(struct leak_pass *s)
{
	s->out->scanned_bytes = s->space.scanned_bytes;
	s->out->unread_bytes = s->space.unread_bytes + s->space.absent_bytes;
	s->out->threads = (unsigned)s->stop.count;
	s->out->running = (unsigned)leak_stop_running(&s->stop);
}

/* What can be done before the program stands still: room for its blocks, as many as it has now. Not
 * for what a damaged segment says that cannot be. */
static void blocks_prepare(struct leak_pass *s)
{
	struct proc_reading p = { 0 };
	struct read_totals t;
	uint64_t most;

	if (read_totals(s->segment, &t) == 0 && t.allocs > t.frees &&
		proc_read(s->request->pid, false, &p) == 0) {
		most = p.rss_bytes / BLOCK_LEAST;
		(void)leak_blocks_reserve(&s->blocks,
			t.allocs - t.frees < most ? (t.allocs - t.frees) / 16 * 17 : most);
	}
	for (uint32_t i = 0; i < s->blocks.capacity; i += BLOCKS_A_PAGE)
		s->blocks.block[i].addr = 0; /* so that it is there */
}

void *leak_pass_read(void *ctx)
{
	struct leak_pass *s = ctx;

	s->table = (struct leak_live_table){ .segment = s->segment, .pid = s->request->pid };
	copy_prepare(s);
	blocks_prepare(s);
	leak_vm_sharers_find(&s->sharers, s->request->pid);
	if (!s->request->at_exit)
		leak_live_table_watch(&s->table);
	if (leak_live_table_read(&s->table, &s->blocks) != 0) {
		leak_blocks_free(&s->blocks);
		s->table.is_read = false;
	}
	s->start_ns = clock_monotonic_ns();
	s->rc = leak_pass_go_on(s, 0);
	if (s->rc == 0)
		stop_try(s);
	if (s->rc == 0)
		s->rc = s->out->lent ? lent_read(s) : standing_read(s);
	read_note(s);
	s->rc = leak_pass_go_on(s, s->rc);
	if (s->request->hold && s->last && s->rc == 0) {
		*s->request->hold = s->stop;
		s->stop = (struct leak_stop){ 0 };
	}
	leak_stop_release(&s->stop);
	if (!s->out->copied)
		s->out->stop_ns = s->table.stop_ns + clock_monotonic_ns() - s->start_ns;
	copy_end(s);
	if (s->out->lent)
		s->out->copy_left = !leak_coop_return(s->coop, &s->lent);
	leak_live_table_free(&s->table);
	phase_tell(s, LEAK_FOLLOWING);
	if (*s->message || s->rc == -ECANCELED)
		return NULL;
	if (s->rc != 0)
		snprintf(s->message, LEAK_MESSAGE_MAX, "%d cannot be scanned: %s",
			(int)s->request->pid, strerror(-s->rc));
	return NULL;
}
