/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The side before the user (desk.h). */
#include "src/far/desk.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm/layout.h"
#include "src/far/channel.h"
#include "src/far/mirror.h"
#include "src/util/clock.h"
#include "src/util/error_hint.h"
#include "src/util/text.h"

#define SILENT_NS      UINT64_C(3000000000) /* a wait of so long is said */
#define LAST_MS	       500 /* for what a peer that has ended said last */
#define SEND_MS	       10000 /* a peer that takes nothing for so long is lost */
#define TAKE_MS	       200 /* after the deadline, from a peer that sends without end */
#define FAR_FOUND_MOST (UINT64_C(64) << 20) /* bytes of what a scan found */
#define LISTEN_READS   64u /* at a time: who sends without end is not listened to without end */
#define BANNERS	       16u /* readings of what a stranger says, at most */

/* What is awaited, besides a tick. */
struct wanted_file {
	uint64_t module, offset, bytes, most;
	int fd; /* -1: none */
	int result; /* 1: pieces are to come */
	unsigned asked; /* pieces that were asked for and have not come, of earlier files too */
};

struct far_desk {
	struct far_peer peer;
	struct far_channel line;
	struct far_mirror *mirror;
	struct far_moment moment;
	bool greeted, asked;
	bool image_asked; /* the next one was asked for, */
	bool image_new; /* and its greeting came, */
	bool fresh_image; /* and a moment of it; until far_desk_image */
	bool fresh; /* a tick came that far_desk_tick has not reported */
	uint64_t asked_ns, heard_ns; /* CLOCK_MONOTONIC */
	uint64_t heard_at_ns; /* CLOCK_REALTIME */
	struct far_desk_scan scan;
	struct wanted_file file;
	char ended[FAR_PEER_MESSAGE]; /* empty: connected */
};

static int end(struct far_desk *d, int rc, const char *line)
{
	if (!d->ended[0])
		snprintf(d->ended, sizeof(d->ended), "%s", line);
	return rc;
}

/* ---- frames ---- */

static int hello_check(struct far_desk *d, const struct far_hello *h)
{
	char line[FAR_PEER_MESSAGE];
	bool same = h->protocol == FAR_PROTOCOL && h->signature == HT_SIGNATURE;

	if (same && h->order == 1)
		return 0;
	if (!same)
		snprintf(line, sizeof(line),
			"heaptop there is %.32s (format %08x), here it is " HEAPTOP_VERSION
			" (format %08x): install the same version on both",
			h->version, (unsigned)h->signature, HT_SIGNATURE);
	else
		snprintf(line, sizeof(line), "%.32s stores numbers in another byte order",
			h->machine);
	return end(d, -EPROTO, line);
}

/* What went wrong here, not there. */
static int mirror_failed(struct far_desk *d, int rc)
{
	char line[FAR_PEER_MESSAGE];

	if (rc == -EPROTO || rc == -EFBIG)
		return rc;
	return end(d, rc,
		error_hint_line(line, sizeof(line), "writing the copy of the segment failed", rc));
}

static int hello_take(struct far_desk *d, struct bytes_cursor *c)
{
	struct far_hello h;
	int rc = d->greeted && !d->image_asked ? -EPROTO : far_hello_get(c, &h);

	if (rc == 0)
		rc = hello_check(d, &h);
	if (rc != 0)
		return rc;
	d->image_new = d->greeted;
	d->image_asked = false;
	d->greeted = true;
	d->moment.agent = h;
	far_mirror_free(d->mirror);
	d->mirror = far_mirror_new(h.segment_bytes);
	return d->mirror ? 0 : mirror_failed(d, -errno);
}

static int tick_take(struct far_desk *d, struct bytes_cursor *c)
{
	int rc = d->asked ? far_tick_get(c, &d->moment.tick) : -EPROTO;

	if (rc == 0)
		rc = far_mirror_commit(d->mirror);
	d->asked = false;
	d->fresh = true;
	d->fresh_image = d->image_new;
	d->moment.here_ns = clock_monotonic_ns();
	return rc ? mirror_failed(d, rc) : 1;
}

static int file_ended(struct far_desk *d, int result)
{
	d->file.result = result;
	return 0;
}

static int piece_ask(struct far_desk *d)
{
	const struct far_piece p = { d->file.module, d->file.offset, 0 };
	struct bytes b = { 0 };
	int rc;

	far_piece_put(&b, &p);
	rc = b.failed ? -ENOMEM : far_channel_send(&d->line, FAR_FILE, b.data, b.len, SEND_MS);
	bytes_free(&b);
	d->file.asked += rc == 0;
	return rc;
}

/* Answers come in order: one that others follow is of a file that was given up. */
static int piece_take(struct far_desk *d, struct bytes_cursor *c)
{
	struct wanted_file *f = &d->file;
	struct far_piece p;
	int rc = far_piece_get(c, &p);
	size_t len = (size_t)(c->end - c->at);

	if (rc != 0 || f->asked == 0)
		return -EPROTO;
	if (--f->asked > 0 || f->result != 1)
		return 0;
	if (p.module != f->module || p.offset != f->offset)
		return -EPROTO;
	if (p.bytes == 0 || p.bytes > f->most)
		return file_ended(d, p.bytes ? -EFBIG : -ENOENT);
	f->bytes = f->bytes ? f->bytes : p.bytes;
	if (len == 0 || f->offset + len > f->bytes)
		return file_ended(d, -EIO);
	if (pwrite(f->fd, c->at, len, (off_t)f->offset) != (ssize_t)len)
		return file_ended(d, -ENOSPC);
	f->offset += len;
	return f->offset == f->bytes ? file_ended(d, 0) : piece_ask(d);
}

/* 1: a tick is complete; 0, or -errno. */
static int frame_take(struct far_desk *d, const struct far_frame *f)
{
	struct bytes_cursor c = { f->data, f->data + f->len, false };
	char line[FAR_PEER_MESSAGE];

	if (f->type != FAR_HELLO && f->type != FAR_END && !d->greeted)
		return -EPROTO;
	switch (f->type) {
	case FAR_HELLO:
		return hello_take(d, &c);
	case FAR_LINES:
		return d->asked ? far_mirror_add(d->mirror, f->data, f->len) : -EPROTO;
	case FAR_PROCESS:
		return d->asked ? far_process_get(&c, &d->moment) : -EPROTO;
	case FAR_TICK:
		return tick_take(d, &c);
	case FAR_PIECE:
		return piece_take(d, &c);
	case FAR_SCANNING:
	case FAR_FOUND:
		return far_desk_scan_frame(&d->scan, &d->line, f, FAR_FOUND_MOST);
	case FAR_END:
		text_clean(line, sizeof(line), (const char *)f->data, f->len);
		return end(d, -EPIPE, line);
	default:
		return -EPROTO;
	}
}

/* ---- the connection ---- */

/* One line about what went wrong, if the peer has not said it. */
static void failed(struct far_desk *d, int rc)
{
	char line[FAR_PEER_MESSAGE], banner[128];

	for (unsigned i = 0; i < BANNERS && !d->line.begun && d->line.got.len < FAR_BANNER_MAX &&
			     far_channel_fill(&d->line, LAST_MS) == 1;
		i++)
		(void)far_channel_next(&d->line, &(struct far_frame){ 0 });
	far_peer_listen(&d->peer, rc == -EPIPE ? LAST_MS : 0);
	far_channel_banner(&d->line, banner, sizeof(banner));
	if (d->ended[0])
		return;
	if (!d->line.begun && d->peer.last[0])
		snprintf(line, sizeof(line), "no answer from heaptop there: %.200s", d->peer.last);
	else if (!d->line.begun && banner[0] && rc != -EPROTO)
		snprintf(line, sizeof(line), "no heaptop answers there, only: %s", banner);
	else if (rc == -EPROTO)
		snprintf(line, sizeof(line), "what comes from there is not heaptop's protocol");
	else if (rc == -EFBIG)
		snprintf(line, sizeof(line), "the agent sends more than a segment can hold");
	else if (rc == -EPIPE)
		snprintf(line, sizeof(line), "the connection ended%s%.200s",
			d->peer.last[0] ? ": " : "", d->peer.last);
	else
		error_hint_line(line, sizeof(line), "the connection failed", rc);
	end(d, rc, line);
}

/* Takes all whole frames. 1: a tick is complete; 0, or -errno. */
static int frames_take(struct far_desk *d)
{
	struct far_frame f;
	int rc, ticks = 0;

	while ((rc = far_channel_next(&d->line, &f)) == 1) {
		rc = frame_take(d, &f);
		if (rc < 0)
			return rc;
		ticks |= rc;
	}
	return rc < 0 ? rc : ticks;
}

/* Waits for something, and takes it. 1: a tick is complete; 0; -ETIMEDOUT: nothing came; or
 * -errno. */
static int step(struct far_desk *d, int timeout_ms)
{
	int rc = far_channel_fill(&d->line, timeout_ms), taken;

	far_peer_listen(&d->peer, 0);
	if (rc == -EINTR)
		return rc;
	if (rc == 1) {
		d->heard_ns = clock_monotonic_ns();
		d->heard_at_ns = clock_realtime_ns();
	}
	/* What came before the end is taken. */
	taken = frames_take(d);
	if (taken < 0 || (rc < 0 && taken == 0)) {
		rc = taken < 0 ? taken : rc;
		failed(d, rc);
		return rc;
	}
	return taken ? 1 : rc == 0 ? -ETIMEDOUT : 0;
}

static int ask(struct far_desk *d)
{
	int rc = d->asked ? 0 : far_channel_send(&d->line, FAR_NEXT, NULL, 0, SEND_MS);

	if (rc != 0)
		failed(d, rc);
	if (!d->asked)
		d->asked_ns = clock_monotonic_ns();
	d->asked = rc == 0;
	return rc;
}

static int client_send(struct far_desk *d)
{
	struct bytes b = { 0 };
	int rc;

	bytes_number(&b, FAR_PROTOCOL);
	bytes_number(&b, HT_SIGNATURE);
	rc = b.failed ? -ENOMEM : far_channel_send(&d->line, FAR_CLIENT, b.data, b.len, SEND_MS);
	bytes_free(&b);
	return rc;
}

static int first_tick(struct far_desk *d, int timeout_ms)
{
	int rc = client_send(d);

	if (rc == 0)
		rc = ask(d);
	else
		failed(d, rc);
	while (rc == 0)
		rc = step(d, timeout_ms);
	if (rc == -ETIMEDOUT)
		end(d, rc, "nothing comes from there");
	d->fresh = false;
	return rc == 1 ? 0 : rc;
}

int far_desk_open(struct far_desk **out, const struct far_peer *peer, int timeout_ms, char *message)
{
	struct far_desk *d = calloc(1, sizeof(*d));
	struct far_peer lost = *peer;
	int rc;

	*out = NULL;
	if (!d) {
		far_peer_close(&lost, true);
		error_hint_line(message, FAR_PEER_MESSAGE, "cannot connect", -ENOMEM);
		return -ENOMEM;
	}
	d->peer = *peer;
	d->file.fd = -1;
	signal(SIGPIPE, SIG_IGN);
	rc = far_channel_open(&d->line, d->peer.in, d->peer.out);
	if (rc == 0)
		rc = first_tick(d, timeout_ms);
	else
		failed(d, rc);
	snprintf(message, FAR_PEER_MESSAGE, "%s", d->ended);
	if (rc == 0)
		*out = d;
	else
		far_desk_close(d);
	return rc;
}

void far_desk_close(struct far_desk *d)
{
	if (!d)
		return;
	far_peer_close(&d->peer, far_desk_silent_ns(d) > 0);
	far_channel_free(&d->line);
	far_mirror_free(d->mirror);
	far_desk_scan_free(&d->scan);
	free(d->moment.threads);
	free(d);
}

const char *far_desk_path(const struct far_desk *d)
{
	return far_mirror_path(d->mirror);
}

void far_desk_opened(struct far_desk *d)
{
	far_mirror_unlink(d->mirror);
}

const struct far_moment *far_desk_moment(const struct far_desk *d)
{
	return &d->moment;
}

const char *far_desk_ended(const struct far_desk *d)
{
	return d->ended[0] ? d->ended : NULL;
}

/* A process that has ended does not change any more. */
static bool is_final(const struct far_desk *d)
{
	const struct far_tick *t = &d->moment.tick;

	return !t->alive || (t->replaced && !t->next);
}

/* Ticks of the next image follow by themselves. 0, or -errno after which nothing comes. */
static int image_ask(struct far_desk *d)
{
	int rc;

	if (d->image_asked || d->image_new || !d->moment.tick.next || d->asked)
		return 0;
	far_desk_copy_end(d);
	rc = far_channel_send(&d->line, FAR_IMAGE, NULL, 0, SEND_MS);
	if (rc != 0)
		failed(d, rc);
	d->image_asked = rc == 0;
	return rc ? rc : ask(d);
}

bool far_desk_image(struct far_desk *d)
{
	bool is_new = d->fresh_image;

	if (is_new)
		d->image_new = d->fresh_image = false;
	return is_new;
}

bool far_desk_tick(struct far_desk *d, int timeout_ms)
{
	uint64_t until = clock_monotonic_ns() + (uint64_t)timeout_ms * 1000000u;
	bool fresh = d->fresh;
	int rc = 0;

	d->fresh = false;
	if (d->ended[0] || is_final(d) || image_ask(d) != 0 || ask(d) != 0)
		return fresh;
	while (rc == 0) {
		uint64_t now = clock_monotonic_ns();

		if (now > until + TAKE_MS * UINT64_C(1000000))
			break;
		rc = step(d, now < until ? (int)((until - now) / 1000000u) + 1 : 0);
	}
	fresh |= d->fresh;
	d->fresh = false;
	return fresh;
}

void far_desk_listen(struct far_desk *d, int timeout_ms)
{
	unsigned n = 0;

	while (!d->ended[0] && n++ < LISTEN_READS && step(d, timeout_ms) >= 0)
		timeout_ms = 0;
}

int far_desk_fd(const struct far_desk *d)
{
	return d->ended[0] ? -1 : d->line.in;
}

uint64_t far_desk_silent_ns(const struct far_desk *d)
{
	uint64_t now = clock_monotonic_ns();
	uint64_t since = d->heard_ns > d->asked_ns ? d->heard_ns : d->asked_ns;

	return d->asked && now > since + SILENT_NS ? now - since : 0;
}

uint64_t far_desk_heard_ns(const struct far_desk *d)
{
	return d->heard_at_ns;
}

/* ---- scans there ---- */

int far_desk_scan(struct far_desk *d, const struct bytes *request)
{
	int rc;

	if (!d->moment.agent.steers)
		return -EPERM;
	if (d->ended[0])
		return -EPIPE;
	rc = far_desk_scan_begin(&d->scan, &d->line, request);
	if (rc != 0)
		failed(d, rc);
	return rc;
}

void far_desk_scan_end(struct far_desk *d)
{
	if (!d->ended[0] && far_desk_scan_cancel(&d->scan, &d->line) != 0)
		failed(d, -EPIPE);
}

const struct far_desk_scan *far_desk_scanned(const struct far_desk *d)
{
	return &d->scan;
}

int far_desk_copy(struct far_desk *d, uint32_t module, int fd, uint64_t most)
{
	int rc;

	if (!d->moment.agent.sends_files)
		return -ENOENT;
	if (d->ended[0])
		return -EPIPE;
	d->file = (struct wanted_file){
		.module = module, .most = most, .fd = fd, .result = 1, .asked = d->file.asked
	};
	rc = piece_ask(d);
	if (rc != 0)
		failed(d, rc);
	return rc;
}

int far_desk_copied(const struct far_desk *d, uint64_t *done, uint64_t *bytes)
{
	*done = d->file.offset;
	*bytes = d->file.bytes;
	return d->file.result == 1 && d->ended[0] ? -EPIPE : d->file.result;
}

void far_desk_copy_end(struct far_desk *d)
{
	if (d->file.result == 1)
		d->file.result = -ECANCELED;
	d->file.fd = -1;
}

int far_desk_file(struct far_desk *d, uint32_t module, int fd, uint64_t most, int timeout_ms)
{
	int rc = far_desk_copy(d, module, fd, most);

	if (rc == -ENOENT || rc == -EPIPE)
		return rc;
	while (rc >= 0 && d->file.result == 1)
		rc = step(d, timeout_ms);
	if (d->file.result == 1)
		d->file.result = rc < 0 ? rc : -EIO;
	d->file.fd = -1;
	return d->file.result;
}
