/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzzing of recordings of all events (src/record/event_*). The first byte chooses: 0, the rest is
 * a file; otherwise it is a list of blocks, which are packed and get right sums, so that what they
 * hold is reached:
 *
 *	u8 kind, u8 stream, u16 length (little-endian), that many bytes: the contents
 *
 * Whatever is opened is read through: reports of some moments, and the formats of all events.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/export/events.h"
#include "src/export/export.h"
#include "src/model/moment.h"
#include "src/record/event_snapshot.h"
#include "src/record/event_write.h"

#define KINDS	7u /* those there are, and one that there is not */
#define STREAMS 4u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void blocks_make(const char *path, const uint8_t *data, size_t bytes)
{
	char message[EVENT_FILE_MESSAGE_MAX];
	struct event_writer *w = event_file_create(path, message);

	while (w && bytes >= 4) {
		size_t len = data[2] | (size_t)data[3] << 8;
		struct bytes raw = { 0 };

		len = len < bytes - 4 ? len : bytes - 4;
		bytes_add(&raw, data + 4, len);
		event_file_put(w, (enum event_file_kind)(data[0] % KINDS), data[1] % STREAMS, &raw);
		bytes_free(&raw);
		data += 4 + len;
		bytes -= 4 + len;
	}
	event_file_close(w);
}

static void report_check(struct snapshot *s)
{
	const struct export_options o = { .sort = COL_LIVE, .version = "fuzz", .top = 8 };
	struct strbuf out = STRBUF_INIT;

	if (!s)
		return;
	export_text(&out, s, &o);
	export_json(&out, s, &o);
	snapshot_unref(moment_peak(s));
	strbuf_free(&out);
	snapshot_unref(s);
}

struct exporting {
	struct event_recording *r;
	uint32_t stream;
	const struct export_events_format *format;
	struct export_events *x;
	struct strbuf *out;
};

static void event_put(void *ctx, const struct event *e)
{
	struct exporting *c = ctx;
	const char *function;
	const struct export_event out = { .frees = e->kind == EVENT_FREE,
		.ns = e->tick << EVENT_TICK_SHIFT,
		.number = e->number,
		.size = e->size,
		.site = e->site,
		.stack = event_read_stack(c->r, c->stream, e->site, &function) };

	if (e->kind != EVENT_LOST)
		c->format->event(c->x, &out);
	strbuf_reset(c->out);
}

static void format_check(
	struct event_recording *r, uint32_t stream, const struct export_events_format *format)
{
	const struct export_events_about about = { event_read_about(r, stream)->command, 4096 };
	struct strbuf text = STRBUF_INIT;
	struct exporting c = { r, stream, format, format->begin(&text, &about), &text };
	const struct event_sink sink = { &c, event_put };

	if (c.x) {
		(void)event_read_each(r, stream, &sink);
		(void)format->end(c.x, event_read_about(r, stream)->ended_ns);
	}
	strbuf_free(&text);
}

static void recording_check(const char *path)
{
	char message[EVENT_FILE_MESSAGE_MAX] = "";
	struct event_recording *r = event_read_open(path, message);
	uint32_t stream;

	if (!r && (!message[0] || strchr(message, '\n')))
		abort();
	if (!r)
		return;
	stream = event_snapshot_stream(r);
	report_check(event_snapshot(r, UINT64_MAX));
	report_check(event_snapshot(r, 0));
	report_check(event_snapshot(r, 1000000));
	format_check(r, stream, &export_events_mtrace);
	format_check(r, stream, &export_events_heaptrack);
	event_read_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	int fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char path[64];

	if (fd < 0 || bytes == 0) {
		close(fd);
		return 0;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (data[0] != 0)
		blocks_make(path, data + 1, bytes - 1);
	else if (write(fd, data + 1, bytes - 1) < 0)
		bytes = 0;
	if (bytes > 0)
		recording_check(path);
	close(fd);
	return 0;
}
