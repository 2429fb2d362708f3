/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Thinning a recording that is above its limit (recording_store.h): its own file is read, the
 * groups that have most bytes for their age are thinned, and everything is written to a new file,
 * which then takes the old one's name. Until then the old one stays as it is. Main thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "src/record/recording_store.h"
#include "src/util/thread.h"

/* After thinning, the file takes that part of the limit: so that it is not thinned all the time. */
#define TARGET_PARTS 4u
#define TARGET_OF    3u
#define COPY_BYTES   ((size_t)1 << 20) /* written at once */
#define NEW_SUFFIX   ".heaptop-new"
#define SPILL_SUFFIX ".heaptop-thin"

struct compaction {
	pthread_t thread;
	atomic_bool done;
	int rc; /* of the thread */
	/* What is recorded, as of the start: the thread does not touch the writer. */
	const char *old_path, *version;
	uint64_t old_size, limit_bytes;
	int old_fd; /* to be read; the recording's once that is open */
	struct recording *from;
	char *path; /* owned; of the new file */
	int fd, spill;
	uint64_t size; /* of the new file */
	struct bytes out, copy;
};

static int out_write(struct compaction *c)
{
	int rc = c->out.failed ? -ENOMEM : recording_write_all(c->fd, c->out.data, c->out.len);

	c->size += c->out.len;
	c->out.len = 0;
	return rc;
}

static int out_flow(struct compaction *c)
{
	return c->out.len >= COPY_BYTES || c->out.failed ? out_write(c) : 0;
}

/* ---- what comes once ---- */

static bool is_tick(const struct block *b)
{
	return b->kind == BLOCK_KEY || b->kind == BLOCK_TICK;
}

/* A block as it is. */
static int block_copy(struct compaction *c, const struct block *b)
{
	struct bytes head = { (uint8_t *)(uintptr_t)b->head, b->head_bytes, 0, false };
	int rc = block_payload(c->from->fd, b, &c->copy);

	if (rc)
		return rc;
	block_put(&c->out, (enum block_kind)b->kind, b->stream, &head, c->copy.data, c->copy.len);
	return out_flow(c);
}

/* Copies all blocks that are no ticks, the ends of streams after their ticks; without a copy,
 * counts their bytes. */
static int others_copy(struct compaction *c, bool ends, uint64_t *bytes)
{
	uint64_t at = c->from->begin;
	struct block b;
	int rc;

	for (; (rc = block_read(c->from->fd, at, c->from->end, &b)) == 0; at += block_size(&b)) {
		if (is_tick(&b) || b.kind == BLOCK_INDEX)
			continue;
		if (bytes)
			*bytes += block_size(&b);
		else if (ends == (b.kind == BLOCK_END))
			rc = block_copy(c, &b);
		if (rc)
			return rc;
	}
	return rc == -ENODATA ? 0 : rc;
}

/* ---- ticks ---- */

static int group_copy(struct compaction *c, const struct replay *p, const struct group *g)
{
	struct block b;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < g->ticks; i++) {
		rc = block_read(c->from->fd, p->at[g->place + i], c->from->size, &b);
		if (!rc)
			rc = block_copy(c, &b);
	}
	return rc;
}

/* A thinned group, tick by tick. */
static int group_write(struct compaction *c, struct replay *p, const struct group *g, size_t first,
	struct tick_writer *w)
{
	struct bytes raw = { 0 }, tick = { 0 };
	int rc = replay_load(p, g, &raw);
	struct bytes_cursor cursor = bytes_begin(&raw);
	const uint8_t *data;

	tick_writer_end_group(w);
	for (size_t i = first; rc == 0 && i < first + g->ticks; i++) {
		struct tick_block b = { .point = p->history->points[i],
			.flags = p->history->flags[i],
			.step_ns = g->step_ns };

		if (!group_next(&cursor, &data, &tick.len)) {
			rc = -EBADMSG;
			break;
		}
		tick.data = (uint8_t *)(uintptr_t)data;
		rc = tick_writer_put(w, p->number, &b, &tick, &c->out);
		if (!rc)
			rc = out_flow(c);
	}
	bytes_free(&raw);
	return rc;
}

static int replay_write(struct compaction *c, struct replay *p)
{
	struct tick_writer w = { 0 };
	size_t first = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < p->history->ngroups; i++) {
		const struct group *g = &p->history->groups[i];

		rc = replay_is_spilled(g) ? group_write(c, p, g, first, &w) : group_copy(c, p, g);
		first += g->ticks;
	}
	tick_writer_free(&w);
	return rc;
}

/* Divides the room among the streams by what they take now. */
static void replays_thin(struct compaction *c, uint64_t room)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < c->from->nreplays; i++)
		for (size_t g = 0; g < c->from->replays[i]->history->ngroups; g++)
			sum += c->from->replays[i]->history->groups[g].bytes;
	for (size_t i = 0; i < c->from->nreplays; i++) {
		struct replay *p = c->from->replays[i];
		uint64_t bytes = 0;

		for (size_t g = 0; g < p->history->ngroups; g++)
			bytes += p->history->groups[g].bytes;
		p->spill = c->spill;
		p->history->source.store = replay_store;
		p->history->limit_bytes = (uint64_t)((double)room / (double)sum * (double)bytes);
		history_thin(p->history);
	}
}

/* ---- the files ---- */

/* Whether the file under the recording's name is still the one that is written. */
static int old_check(const struct recording_writer *w, int fd)
{
	struct stat a, b;

	if (fstat(fd, &a) != 0 || fstat(w->fd, &b) != 0)
		return -errno;
	return a.st_ino == b.st_ino && a.st_dev == b.st_dev ? 0 : -ESTALE;
}

static int old_open(const struct recording_writer *w)
{
	int fd = open(w->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int rc = fd < 0 ? -errno : old_check(w, fd);

	if (rc && fd >= 0)
		close(fd);
	return rc ? rc : fd;
}

/* A file without a name, beside the recording: it goes when it is closed. */
static int spill_open(struct compaction *c)
{
	char *path;
	int rc = 0;

	if (asprintf(&path, "%s%s", c->old_path, SPILL_SUFFIX) < 0)
		return -ENOMEM;
	c->spill = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (c->spill < 0)
		rc = -errno;
	else if (unlink(path) != 0)
		rc = -errno;
	free(path);
	return rc;
}

static int new_open(struct compaction *c)
{
	if (asprintf(&c->path, "%s%s", c->old_path, NEW_SUFFIX) < 0) {
		c->path = NULL;
		return -ENOMEM;
	}
	c->fd = open(
		c->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (c->fd < 0)
		return -errno;
	if (flock(c->fd, LOCK_EX | LOCK_NB) != 0)
		return -errno;
	return spill_open(c);
}

static int new_write(struct compaction *c)
{
	int rc;

	recording_put_magic(&c->out, c->version);
	rc = others_copy(c, false, NULL);
	for (size_t i = 0; rc == 0 && i < c->from->nreplays; i++)
		rc = replay_write(c, c->from->replays[i]);
	if (!rc)
		rc = others_copy(c, true, NULL);
	return rc ? rc : out_write(c);
}

static int thinned_write(struct compaction *c)
{
	uint64_t target = c->limit_bytes / TARGET_PARTS * TARGET_OF, others = 0;
	char message[RECORDING_MESSAGE_MAX];
	int rc;

	c->from = recording_open_fd(c->old_fd, c->old_path, c->old_size, message);
	c->old_fd = -1;
	if (!c->from)
		return -EIO;
	rc = new_open(c);
	if (!rc)
		rc = others_copy(c, false, &others);
	if (rc)
		return rc;
	replays_thin(c, target > others ? target - others : 0);
	return new_write(c);
}

static void *run(void *ctx)
{
	struct compaction *c = ctx;

	c->rc = thinned_write(c);
	atomic_store(&c->done, true); /* DONE */
	return NULL;
}

static void compaction_free(struct compaction *c)
{
	if (c->fd >= 0) {
		unlink(c->path);
		close(c->fd);
	}
	if (c->old_fd >= 0)
		close(c->old_fd);
	if (c->spill >= 0)
		close(c->spill);
	recording_free(c->from);
	bytes_free(&c->out);
	bytes_free(&c->copy);
	free(c->path);
	free(c);
}

int recording_compact_start(struct recording_writer *w)
{
	struct compaction *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return -ENOMEM;
	*c = (struct compaction){ .old_path = w->path,
		.version = w->version,
		.old_size = w->size,
		.limit_bytes = w->limit_bytes,
		.fd = -1,
		.spill = -1 };
	c->old_fd = rc = old_open(w);
	if (rc >= 0)
		rc = thread_start(&c->thread, THREAD_STACK_BYTES, run, c);
	if (rc) {
		compaction_free(c);
		return rc;
	}
	w->compaction = c;
	/* What is recorded from now on can be read without what was before. */
	for (size_t i = 0; i < w->nstreams; i++)
		tick_writer_end_group(&w->streams[i]->ticks);
	return 0;
}

bool recording_compact_done(const struct recording_writer *w)
{
	return atomic_load(&w->compaction->done); /* DONE */
}

/* Appends what was recorded since the start. */
static int tail_copy(struct compaction *c, int fd, uint64_t size)
{
	int rc = bytes_room(&c->copy, COPY_BYTES) ? 0 : -ENOMEM;

	for (uint64_t at = c->old_size; rc == 0 && at < size;) {
		size_t most = size - at < COPY_BYTES ? size - at : COPY_BYTES;
		ssize_t got = pread(fd, c->copy.data, most, (off_t)at);

		rc = got > 0 ? recording_write_all(c->fd, c->copy.data, (size_t)got) : -EIO;
		at += got > 0 ? (uint64_t)got : 0;
		c->size += got > 0 ? (uint64_t)got : 0;
	}
	return rc;
}

/* The new file takes the old one's place. */
static int new_take(struct compaction *c, struct recording_writer *w)
{
	int fd = old_open(w), rc = fd < 0 ? fd : tail_copy(c, fd, w->size);

	if (fd >= 0)
		close(fd);
	if (!rc && rename(c->path, w->path) != 0)
		rc = -errno;
	if (rc)
		return rc;
	close(w->fd);
	w->fd = c->fd;
	w->size = c->size;
	c->fd = -1;
	return 0;
}

int recording_compact_finish(struct recording_writer *w)
{
	struct compaction *c = w->compaction;
	int rc;

	pthread_join(c->thread, NULL);
	rc = c->rc;
	if (!rc)
		rc = w->fd < 0 ? -ECANCELED : new_take(c, w);
	compaction_free(c);
	w->compaction = NULL;
	return rc;
}
