/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writing a recording (recording.h): each call appends whole blocks with one write. Main thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "src/record/new_file.h"
#include "src/record/recording_store.h"
#include "src/util/array.h"
#include "src/util/clock.h"
#include "src/util/error_hint.h"

#define S_NS 1000000000ull
/* Names that became known are written that often; more often at first, when most do. */
#define NAMES_NS       (10 * S_NS)
#define NAMES_EARLY_NS (2 * S_NS)
#define NAMES_EARLY    10u
/* Thinning begins that part of the limit early, and is tried again that part later. */
#define LIMIT_EARLY  16u
#define LIMIT_AGAIN  8u
#define KEPT_BYTES   ((size_t)1 << 20) /* of buffers, between two ticks */
#define PACE_NS	     S_NS
#define PACE_SPAN_NS (60 * S_NS)

int recording_write_all(int fd, const void *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		data = (const char *)data + n;
		len -= (size_t)n;
	}
	return 0;
}

void recording_put_magic(struct bytes *out, const char *version)
{
	char line[128];
	int len = snprintf(line, sizeof(line), "%s\nformat %u, heaptop %s\n", RECORDING_MAGIC,
		RECORDING_FORMAT, version);

	bytes_add(out, line, (size_t)len);
}

/* ---- creating ---- */

static void stream_free(struct recording_stream *s)
{
	bytes_free(&s->identity);
	tick_writer_free(&s->ticks);
	stack_write_free(&s->stacks);
	mark_writer_free(&s->marks);
	free(s);
}

static void writer_free(struct recording_writer *w)
{
	for (size_t i = 0; i < w->nstreams; i++)
		stream_free(w->streams[i]);
	free(w->streams);
	bytes_free(&w->out);
	bytes_free(&w->packed);
	free(w->path);
	free(w);
}

/* The recording stops; the file ends with its last complete block. */
static int writer_fail(struct recording_writer *w, int rc)
{
	if (w->fd >= 0) {
		/* Without this, readers find a cut block: nothing worse. */
		if (ftruncate(w->fd, (off_t)w->size) != 0)
			w->trouble[0] = '\0';
		close(w->fd);
	}
	w->fd = -1;
	error_hint_line(w->trouble, sizeof(w->trouble), "recording stopped", rc);
	return rc;
}

/* Writes the blocks that were made. */
static int out_flush(struct recording_writer *w)
{
	int rc = w->out.failed ? -ENOMEM : recording_write_all(w->fd, w->out.data, w->out.len);

	if (rc)
		return writer_fail(w, rc);
	w->size += w->out.len;
	w->written += w->out.len;
	allowance_pay(&w->allowance, w->out.len);
	w->out.len = 0;
	if (w->out.cap > KEPT_BYTES)
		bytes_free(&w->out);
	return 0;
}

static uint64_t compact_from(const struct recording_writer *w)
{
	return w->limit_bytes - w->limit_bytes / LIMIT_EARLY;
}

struct recording_writer *recording_create(
	const char *path, const struct recording_options *o, char *message)
{
	struct recording_writer *w = calloc(1, sizeof(*w));
	int rc = -ENOMEM;

	if (!w)
		goto fail;
	w->fd = rc = new_file_open(path);
	if (rc < 0)
		goto fail;
	snprintf(w->version, sizeof(w->version), "%s", o->version);
	w->limit_bytes = o->limit_bytes;
	w->compact_bytes = compact_from(w);
	allowance_begin(&w->allowance, o->hourly_bytes);
	/* The same file after a change of directory, or through a symbolic link. */
	w->path = realpath(path, NULL);
	if (w->path) {
		recording_put_magic(&w->out, w->version);
		rc = out_flush(w);
	} else {
		rc = -errno;
	}
	if (!rc)
		return w;
fail:
	new_file_failed(path, rc, message, RECORDING_MESSAGE_MAX);
	if (w && w->fd >= 0)
		close(w->fd);
	if (w)
		writer_free(w);
	return NULL;
}

/* ---- streams ---- */

static struct recording_stream *stream_find(struct recording_writer *w, const void *owner)
{
	for (size_t i = w->nstreams; i-- > 0;)
		if (w->streams[i]->owner == owner)
			return w->streams[i];
	return NULL;
}

static struct recording_stream *stream_new(struct recording_writer *w, void *owner)
{
	struct recording_stream *s = calloc(1, sizeof(*s)), **streams;

	streams = array_grow(w->streams, w->nstreams, &w->streams_room, sizeof(s));
	if (streams)
		w->streams = streams;
	if (!s || !streams || recording_is_full(w)) {
		free(s);
		return NULL;
	}
	s->owner = owner;
	s->number = w->numbers++;
	streams[w->nstreams++] = s;
	return s;
}

bool recording_is_full(const struct recording_writer *w)
{
	return w->numbers >= BLOCK_STREAMS_MAX;
}

/* The owner's address may come again. */
static void stream_forget(struct recording_writer *w, struct recording_stream *s)
{
	size_t i = 0;

	while (w->streams[i] != s)
		i++;
	w->streams[i] = w->streams[--w->nstreams];
	stream_free(s);
}

static struct recording_stream *stream_of(struct recording_writer *w, void *owner)
{
	struct recording_stream *s = stream_find(w, owner);

	return s ? s : stream_new(w, owner);
}

/* Who it is; again when it changes, as when a program has only just been started. */
static void identity_put(
	struct recording_writer *w, struct recording_stream *s, const struct snapshot *snap)
{
	struct bytes now = { 0 };

	image_identity_put(&now, snap);
	if (!now.failed && now.len == s->identity.len &&
		memcmp(now.data, s->identity.data, now.len) == 0) {
		bytes_free(&now);
		return;
	}
	bytes_free(&s->identity);
	s->identity = now;
	block_put(&w->out, BLOCK_STREAM, s->number, NULL, now.data, now.len);
	w->out.failed |= now.failed;
}

static void packed_put(struct recording_writer *w, enum block_kind kind, uint32_t stream)
{
	if (w->packed.len)
		block_put(&w->out, kind, stream, NULL, w->packed.data, w->packed.len);
}

static int leaks_part_put(struct recording_writer *w, uint32_t stream, enum block_kind kind,
	const struct snap_leaks *leaks)
{
	struct bytes raw = { 0 };
	int rc;

	if (kind == BLOCK_LEAKS)
		leak_block_put(&raw, leaks);
	else
		leak_details_put(&raw, leaks);
	w->packed.len = 0;
	rc = block_pack(&w->packed, &raw);
	if (!rc)
		packed_put(w, kind, stream);
	bytes_free(&raw);
	return rc;
}

static int leaks_put(
	struct recording_writer *w, struct recording_stream *s, const struct snap_leaks *leaks)
{
	int rc;

	if (!leaks || leaks->at_ns + 1 == s->leaks_ns)
		return 0;
	rc = leaks_part_put(w, s->number, BLOCK_LEAKS, leaks);
	if (!rc && leak_details_any(leaks))
		rc = leaks_part_put(w, s->number, BLOCK_LEAK_DETAILS, leaks);
	s->leaks_ns = leaks->at_ns + 1;
	return rc;
}

static int names_put(
	struct recording_writer *w, struct recording_stream *s, const struct snapshot *snap)
{
	int rc = stack_write_names(&s->stacks, snap, &w->packed);

	if (!rc)
		packed_put(w, BLOCK_NAMES, s->number);
	s->names_ns = snap->uptime_ns;
	s->names_rounds++;
	return rc;
}

static uint64_t names_gap(const struct recording_stream *s)
{
	return s->names_rounds < NAMES_EARLY ? NAMES_EARLY_NS : NAMES_NS;
}

static int stream_put(
	struct recording_writer *w, struct recording_stream *s, const struct snapshot *snap)
{
	int rc = stack_write_sites(&s->stacks, snap, &w->packed);

	if (!rc) {
		packed_put(w, BLOCK_STACKS, s->number);
		rc = mark_writer_add(&s->marks, s->number, snap->moments, &w->out);
	}
	if (!rc)
		rc = leaks_put(w, s, snap->leaks);
	if (!rc)
		rc = tick_writer_add(&s->ticks, s->number, snap, &w->out);
	if (!rc && snap->uptime_ns >= s->names_ns + names_gap(s))
		rc = names_put(w, s, snap);
	return rc;
}

static void pace_note(struct recording_writer *w)
{
	uint64_t now = clock_monotonic_ns();
	unsigned last = (w->paces - 1) % RECORDING_PACES;

	if (w->paces && now - w->pace[last].ns < PACE_NS)
		return;
	w->pace[w->paces % RECORDING_PACES].ns = now;
	w->pace[w->paces % RECORDING_PACES].bytes = w->written;
	w->paces++;
}

/* The file could not be thinned: it goes on growing, and that is tried again. */
static void limit_fail(struct recording_writer *w, int rc)
{
	w->compact_bytes = w->size + w->limit_bytes / LIMIT_AGAIN;
	error_hint_line(w->trouble, sizeof(w->trouble), "the recording cannot be thinned", rc);
}

static void limit_finish(struct recording_writer *w)
{
	int rc = recording_compact_finish(w);

	w->compact_bytes = compact_from(w);
	w->trouble[0] = '\0';
	if (rc || w->size > w->compact_bytes)
		limit_fail(w, rc ? rc : -EFBIG);
}

/* Thins the file before it reaches its limit, beside the recording; at the limit it waits. */
static void limit_keep(struct recording_writer *w)
{
	int rc = 0;

	if (w->limit_bytes == 0)
		return;
	if (!w->compaction && w->size > w->compact_bytes)
		rc = recording_compact_start(w);
	if (rc)
		limit_fail(w, rc);
	if (w->compaction && (w->size > w->limit_bytes || recording_compact_done(w)))
		limit_finish(w);
}

/* Writes the tick, and what came with it. */
static int stream_add(
	struct recording_writer *w, struct recording_stream *s, const struct snapshot *snap)
{
	int rc;

	w->out.len = 0;
	identity_put(w, s, snap);
	rc = stream_put(w, s, snap);
	if (rc)
		return writer_fail(w, rc);
	rc = out_flush(w);
	pace_note(w);
	if (!rc)
		limit_keep(w);
	return rc;
}

/* Whether a tick is written whatever was written before. */
static bool tick_matters(const struct recording_stream *s, const struct snapshot *snap)
{
	return snap->state != SNAP_RUNNING || tick_writer_has_mark(&s->ticks, snap) ||
	       (snap->leaks && snap->leaks->at_ns + 1 != s->leaks_ns);
}

/*
 * The time of a tick on a clock that all streams share. Images that started before and after the
 * system's clock was set disagree by that step, so a further one goes on from the others' time.
 */
static uint64_t allowance_time(
	struct recording_writer *w, struct recording_stream *s, const struct snapshot *snap)
{
	uint64_t ns = snap->start_realtime_ns + snap->uptime_ns, at = w->allowance.at_ns;
	uint64_t now = clock_monotonic_ns();

	if (s->turn == 0 && at != 0)
		s->step_ns = at + (now - w->taken_ns) - ns;
	w->taken_ns = now;
	return ns + s->step_ns;
}

static bool tick_is_due(
	struct recording_writer *w, struct recording_stream *s, const struct snapshot *snap)
{
	return allowance_take(&w->allowance, allowance_time(w, s, snap), &s->turn) ||
	       tick_matters(s, snap);
}

int recording_add(struct recording_writer *w, const struct snapshot *snap)
{
	struct recording_stream *s;

	if (w->fd < 0)
		return 0;
	s = stream_of(w, snap->owner);
	if (!s)
		return writer_fail(w, -ENOMEM);
	if (tick_is_due(w, s, snap))
		return stream_add(w, s, snap);
	tick_writer_pass(&s->ticks, snap);
	w->left_out++;
	pace_note(w);
	return 0;
}

int recording_end(struct recording_writer *w, const struct snapshot *last)
{
	struct recording_stream *s;
	int rc;

	if (w->fd < 0)
		return 0;
	s = stream_of(w, last->owner);
	rc = s ? stream_add(w, s, last) : writer_fail(w, -ENOMEM);
	if (rc || w->fd < 0)
		return rc;
	rc = names_put(w, s, last);
	if (rc)
		return writer_fail(w, rc);
	block_put(&w->out, BLOCK_END, s->number, NULL, NULL, 0);
	stream_forget(w, s);
	return out_flush(w);
}

uint64_t recording_left_out(const struct recording_writer *w)
{
	return w->left_out;
}

void recording_fill(const struct recording_writer *w, struct timeline *t)
{
	unsigned have = w->paces < RECORDING_PACES ? w->paces : RECORDING_PACES;
	uint64_t now = clock_monotonic_ns();

	t->file = w->path;
	t->replay = false;
	t->file_bytes = w->size;
	t->file_limit_bytes = w->limit_bytes;
	t->file_bytes_per_s = 0;
	t->trouble = w->trouble[0] ? w->trouble : NULL;
	for (unsigned i = w->paces - have; i < w->paces; i++) {
		uint64_t from = w->pace[i % RECORDING_PACES].ns;

		if (now - from > PACE_SPAN_NS || now - from < PACE_NS)
			continue;
		t->file_bytes_per_s = (double)(w->written - w->pace[i % RECORDING_PACES].bytes) /
				      ((double)(now - from) / 1e9);
		return;
	}
}

/* ---- the end ---- */

/* The header of each block, without its sums. */
static int index_make(int fd, uint64_t size, struct bytes *raw)
{
	struct block b;
	uint64_t at;
	int rc = 0;
	char magic[256];
	ssize_t got = pread(fd, magic, sizeof(magic), 0);
	const char *line = got > 0 ? memchr(magic, '\n', (size_t)got) : NULL;

	line = line ? memchr(line + 1, '\n', (size_t)(magic + got - line - 1)) : NULL;
	if (!line)
		return -EBADMSG;
	for (at = (uint64_t)(line + 1 - magic); rc == 0; at += block_size(&b)) {
		rc = block_read(fd, at, size, &b);
		if (rc)
			break;
		bytes_number(raw, b.kind);
		bytes_number(raw, b.stream);
		bytes_number(raw, b.bytes);
		bytes_number(raw, b.head_bytes);
		bytes_add(raw, b.head, b.head_bytes);
	}
	return rc == -ENODATA ? 0 : rc;
}

int recording_put_index(int fd, uint64_t size)
{
	struct bytes raw = { 0 }, packed = { 0 }, out = { 0 };
	int rc = index_make(fd, size, &raw);

	if (!rc)
		rc = block_pack(&packed, &raw);
	if (!rc) {
		block_put(&out, BLOCK_INDEX, 0, NULL, packed.data, packed.len);
		for (unsigned i = 0; i < 8; i++)
			bytes_add(&out, &(uint8_t){ (uint8_t)(size >> 8 * i) }, 1);
		bytes_add(&out, BLOCK_INDEX_MARK, 8);
		rc = out.failed ? -ENOMEM : recording_write_all(fd, out.data, out.len);
	}
	bytes_free(&raw);
	bytes_free(&packed);
	bytes_free(&out);
	return rc;
}

int recording_close(struct recording_writer *w)
{
	int rc = 0;

	if (!w)
		return 0;
	/* Without it the file is whole, too. */
	if (w->compaction)
		(void)recording_compact_finish(w);
	if (w->fd >= 0) {
		rc = recording_put_index(w->fd, w->size);
		/* A file without an index is read all the same. */
		if (rc && ftruncate(w->fd, (off_t)w->size) != 0)
			rc = -errno;
		if (close(w->fd) != 0 && !rc)
			rc = -errno;
	}
	writer_free(w);
	return rc;
}
