/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Thinning a recording that is above its limit (recording_store.h): its own file is read, the
 * groups that have most bytes for their age are thinned, and everything is written to a new file,
 * which then takes the old one's name. Until then the old one stays as it is. Main thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "src/record/recording_store.h"

/* After thinning, the file takes that part of the limit: so that it is not thinned all the time. */
#define TARGET_PARTS 4u
#define TARGET_OF    3u
#define COPY_BYTES   ((size_t)1 << 20) /* written at once */
#define NEW_SUFFIX   ".heaptop-new"
#define SPILL_SUFFIX ".heaptop-thin"

struct compaction {
	struct recording_writer *writer;
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

/* The file under the recording's name must be the one that is written. */
static int old_open(struct compaction *c)
{
	char message[RECORDING_MESSAGE_MAX];
	int fd = open(c->writer->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat a, b;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &a) != 0 || fstat(c->writer->fd, &b) != 0 || a.st_ino != b.st_ino ||
		a.st_dev != b.st_dev) {
		close(fd);
		return -ESTALE;
	}
	c->from = recording_open_fd(fd, c->writer->path, message);
	return c->from ? 0 : -EIO;
}

/* A file without a name, beside the recording: it goes when it is closed. */
static int spill_open(struct compaction *c)
{
	char *path;
	int rc = 0;

	if (asprintf(&path, "%s%s", c->writer->path, SPILL_SUFFIX) < 0)
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
	if (asprintf(&c->path, "%s%s", c->writer->path, NEW_SUFFIX) < 0) {
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

	recording_put_magic(&c->out, c->writer->version);
	rc = others_copy(c, false, NULL);
	for (size_t i = 0; rc == 0 && i < c->from->nreplays; i++)
		rc = replay_write(c, c->from->replays[i]);
	if (!rc)
		rc = others_copy(c, true, NULL);
	return rc ? rc : out_write(c);
}

/* The new file takes the old one's place; groups that were being written end. */
static int new_take(struct compaction *c)
{
	struct recording_writer *w = c->writer;

	if (rename(c->path, w->path) != 0)
		return -errno;
	close(w->fd);
	w->fd = c->fd;
	w->size = c->size;
	c->fd = -1;
	for (size_t i = 0; i < w->nstreams; i++)
		tick_writer_end_group(&w->streams[i]->ticks);
	return 0;
}

int recording_compact(struct recording_writer *w)
{
	struct compaction c = { .writer = w, .fd = -1, .spill = -1 };
	uint64_t target = w->limit_bytes / TARGET_PARTS * TARGET_OF, others = 0;
	int rc = old_open(&c);

	if (!rc)
		rc = new_open(&c);
	if (!rc)
		rc = others_copy(&c, false, &others);
	if (!rc) {
		replays_thin(&c, target > others ? target - others : 0);
		rc = new_write(&c);
	}
	if (!rc)
		rc = new_take(&c);
	if (c.fd >= 0) {
		unlink(c.path);
		close(c.fd);
	}
	if (c.spill >= 0)
		close(c.spill);
	recording_free(c.from);
	bytes_free(&c.out);
	bytes_free(&c.copy);
	free(c.path);
	return rc;
}
