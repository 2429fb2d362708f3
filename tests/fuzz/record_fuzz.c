/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzzing of recordings (src/record). The first byte chooses: 0, the rest is a file; otherwise it
 *is a list of blocks, which get right sums and are packed as the writer packs them, so that what
 *they hold is reached:
 *
 *	u8 kind, u8 stream, u16 length (little-endian), that many bytes: the raw payload
 *
 * A tick is in its raw form (tick.h), and its point is made up. Whatever is opened is read
 * through: all streams, some moments and ranges, all stacks, reports.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/export/export.h"
#include "src/model/moment.h"
#include "src/record/recording_store.h"

#define STREAMS	 3u
#define MOMENTS	 4u
#define TEXT_MAX 256u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* ---- making a file ---- */

static void tick_make(struct bytes *file, struct tick_writer *w, uint8_t kind, uint32_t stream,
	const struct bytes *raw)
{
	struct tick_block b = { .point = w->last };

	b.point.ns += 1000000000;
	b.point.live_bytes += raw->len;
	b.point.low_bytes = b.point.high_bytes = b.point.live_bytes;
	if (kind == BLOCK_KEY)
		tick_writer_end_group(w);
	(void)tick_writer_put(w, stream, &b, raw, file);
}

static void block_make(struct bytes *file, struct tick_writer *w, uint8_t kind, uint32_t stream,
	const struct bytes *raw)
{
	struct bytes packed = { 0 };

	switch (kind) {
	case BLOCK_KEY:
	case BLOCK_TICK:
		tick_make(file, w, kind, stream, raw);
		break;
	case BLOCK_STREAM:
	case BLOCK_END:
		block_put(file, (enum block_kind)kind, stream, NULL, raw->data, raw->len);
		break;
	default:
		(void)block_pack(&packed, raw);
		block_put(file, (enum block_kind)kind, stream, NULL, packed.data, packed.len);
		bytes_free(&packed);
	}
}

static void blocks_make(struct bytes *file, const uint8_t *data, size_t bytes)
{
	struct tick_writer writers[STREAMS] = { 0 };

	recording_put_magic(file, "fuzz");
	while (bytes >= 4) {
		size_t len = data[2] | (size_t)data[3] << 8;
		uint32_t stream = data[1] % STREAMS;
		struct bytes raw = { 0 };

		len = len < bytes - 4 ? len : bytes - 4;
		bytes_add(&raw, data + 4, len);
		block_make(
			file, &writers[stream], data[0] % (BLOCK_LEAK_DETAILS + 2), stream, &raw);
		bytes_free(&raw);
		data += 4 + len;
		bytes -= 4 + len;
	}
	for (unsigned i = 0; i < STREAMS; i++)
		tick_writer_free(&writers[i]);
}

/* ---- reading it ---- */

static void text_check(const char *text)
{
	for (size_t i = 0; text && text[i] && i < TEXT_MAX; i++)
		if ((unsigned char)text[i] < ' ')
			abort();
}

static void stacks_check(const struct snapshot *s)
{
	for (size_t i = 0; i < s->nsites; i++) {
		const struct stack *k = s->sites[i].stack;

		text_check(s->sites[i].alloc_function);
		for (uint32_t f = 0; f < k->nframes && f < TEXT_MAX; f++) {
			text_check(snapshot_frame(k, f)->function);
			text_check(snapshot_frame(k, f)->file);
			text_check(snapshot_frame(k, f)->module->path);
		}
		if (k->title >= k->nframes)
			abort();
	}
}

static void snapshot_check(struct snapshot *s)
{
	const struct export_options o = { .sort = COL_LIVE, .version = "fuzz", .top = 8 };
	struct strbuf out = STRBUF_INIT;
	struct snapshot *peak;

	if (!s)
		return;
	stacks_check(s);
	export_text(&out, s, &o);
	export_json(&out, s, &o);
	peak = moment_peak(s);
	snapshot_unref(peak);
	strbuf_free(&out);
	snapshot_unref(s);
}

static void stream_check(struct recording *r, size_t stream, struct snapshot *last)
{
	struct history *h = recording_history(r, stream);
	const struct timeline *t = history_timeline(h);

	for (size_t i = 0; i < t->npoints; i += 1 + t->npoints / MOMENTS) {
		uint64_t ns = t->points[i].ns;

		if (i && ns <= t->points[i - 1].ns)
			abort();
		if (t->points[i].low_bytes > t->points[i].high_bytes)
			abort();
		snapshot_check(
			history_snapshot(h, last, &(struct moment){ .kind = SNAP_PAST, .ns = ns }));
		snapshot_check(history_snapshot(h, last,
			&(struct moment){ .kind = SNAP_RANGE, .ns = ns, .from_ns = ns / 2 }));
	}
}

static void recording_check(int fd)
{
	char message[RECORDING_MESSAGE_MAX];
	struct recording *r = recording_open_fd(fd, "fuzz", UINT64_MAX, message);
	struct snapshot *last[STREAMS + 1] = { 0 };

	if (!r && (!message[0] || strchr(message, '\n')))
		abort();
	for (size_t i = 0; r && i < recording_streams(r) && i < STREAMS; i++) {
		last[i] = recording_last(r, i);
		if (last[i])
			stream_check(r, i, last[i]);
	}
	recording_free(r);
	/* They outlive it. */
	for (size_t i = 0; i < STREAMS; i++)
		snapshot_check(last[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	int fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct bytes file = { 0 };

	if (fd < 0 || bytes == 0) {
		close(fd);
		return 0;
	}
	if (data[0] == 0)
		bytes_add(&file, data + 1, bytes - 1);
	else
		blocks_make(&file, data + 1, bytes - 1);
	if (!file.failed && recording_write_all(fd, file.data, file.len) == 0)
		recording_check(fd);
	else
		close(fd);
	bytes_free(&file);
	return 0;
}
