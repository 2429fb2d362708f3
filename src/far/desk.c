/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The desk, on the user's machine (desk.h). */
#include "src/far/desk.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm/layout.h"
#include "src/far/channel.h"
#include "src/far/desk_file.h"
#include "src/far/desk_view.h"
#include "src/util/clock.h"
#include "src/util/error_hint.h"
#include "src/util/text.h"

#define SILENT_NS      UINT64_C(3000000000) /* a wait of so long is said */
#define LAST_MS	       500 /* for what a peer that has ended said last */
#define SEND_MS	       10000 /* a peer that takes nothing for so long is lost */
#define TAKE_MS	       200 /* after the deadline, from a peer that sends without end */
#define FAR_FOUND_MOST (UINT64_C(64) << 20) /* bytes of what work found */
#define LISTEN_READS   64u /* at a time: who sends without end is not listened to without end */
#define BANNERS	       16u /* readings of what a stranger says, at most */

struct far_desk {
	struct far_peer peer;
	struct far_channel line;
	struct far_desk_view view[FAR_VIEWS];
	uint8_t due[FAR_VIEWS]; /* views whose ticks are to come, in this order */
	unsigned ndue;
	bool fresh; /* a tick came that far_desk_tick has not reported */
	uint64_t asked_ns, heard_ns; /* CLOCK_MONOTONIC */
	uint64_t heard_at_ns; /* CLOCK_REALTIME */
	struct far_desk_work work[FAR_KINDS];
	struct far_desk_file file;
	bool list_asked;
	struct far_row *rows; /* FAR_ROWS_MAX; or NULL */
	size_t nrows;
	uint64_t more;
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

static bool is_due(const struct far_desk *d, unsigned view)
{
	for (unsigned i = 0; i < d->ndue; i++)
		if (d->due[i] == view)
			return true;
	return false;
}

static int number_send(struct far_desk *d, enum far_type type, unsigned view)
{
	struct bytes b = { 0 };
	int rc;

	bytes_number(&b, view);
	rc = b.failed ? -ENOMEM : far_channel_send(&d->line, type, b.data, b.len, SEND_MS);
	bytes_free(&b);
	return rc;
}

/* Asks for a tick of a view that is not due. */
static int next_send(struct far_desk *d, unsigned view)
{
	int rc = number_send(d, FAR_NEXT, view);

	if (rc != 0)
		return rc;
	if (d->ndue == 0)
		d->asked_ns = clock_monotonic_ns();
	d->due[d->ndue++] = (uint8_t)view;
	return 0;
}

static int hello_take(struct far_desk *d, struct bytes_cursor *c)
{
	struct far_hello h;
	struct far_desk_view *v;
	bool opens;
	int rc = far_hello_get(c, &h);

	v = &d->view[h.view];
	if (rc == 0 && !far_desk_view_awaits(v, h.view == 0))
		rc = -EPROTO;
	if (rc == 0)
		rc = hello_check(d, &h);
	if (rc != 0)
		return rc;
	opens = far_desk_view_opens(v);
	rc = far_desk_view_greeted(v, &h);
	if (rc != 0)
		return mirror_failed(d, rc);
	if (!opens)
		return 0;
	return is_due(d, (unsigned)h.view) ? -EPROTO : next_send(d, (unsigned)h.view);
}

/* A part of the tick that is due. */
static int tick_part_take(struct far_desk *d, const struct far_frame *f)
{
	int rc = d->ndue ? far_desk_view_frame(&d->view[d->due[0]], f) : -EPROTO;

	if (rc != 0 || f->type != FAR_TICK)
		return rc ? mirror_failed(d, rc) : 0;
	memmove(d->due, d->due + 1, --d->ndue);
	d->fresh = true;
	return 1;
}

static int absent_take(struct far_desk *d, struct bytes_cursor *c)
{
	struct far_choice o;
	struct far_desk_view *v;
	int rc = far_choice_get(c, &o);

	v = &d->view[o.view];
	if (rc != 0 || !far_desk_view_opens(v) || is_due(d, (unsigned)o.view))
		return -EPROTO;
	far_desk_view_free(v);
	snprintf(v->why, sizeof(v->why), "%s", o.why[0] ? o.why : "the agent does not show it");
	return 0;
}

static int rows_take(struct far_desk *d, struct bytes_cursor *c)
{
	if (!d->list_asked)
		return -EPROTO;
	d->list_asked = false;
	return far_rows_get(c, d->rows, &d->nrows, &d->more);
}

static int work_take(struct far_desk *d, uint8_t type, struct bytes_cursor *c)
{
	struct far_working said;
	struct far_part part;
	int rc = type == FAR_WORKING ? far_working_get(c, &said) : far_part_get(c, &part);

	if (rc != 0)
		return rc;
	if (type == FAR_WORKING)
		return far_desk_work_said(&d->work[said.kind], &d->line, &said, FAR_FOUND_MOST);
	return far_desk_work_part(&d->work[part.kind], &d->line, &part, c);
}

/* 1: a tick is complete; 0, or -errno. */
static int frame_take(struct far_desk *d, const struct far_frame *f)
{
	struct bytes_cursor c = { f->data, f->data + f->len, false };
	char line[FAR_PEER_MESSAGE];

	if (f->type != FAR_HELLO && f->type != FAR_END && !d->view[0].mirror)
		return -EPROTO;
	switch (f->type) {
	case FAR_HELLO:
		return hello_take(d, &c);
	case FAR_LINES:
	case FAR_PROCESS:
	case FAR_TICK:
		return tick_part_take(d, f);
	case FAR_PROCESSES:
		return rows_take(d, &c);
	case FAR_ABSENT:
		return absent_take(d, &c);
	case FAR_PIECE:
		return far_desk_file_piece(&d->file, &d->line, &c);
	case FAR_WORKING:
	case FAR_FOUND:
		return work_take(d, f->type, &c);
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
	if (!d->line.begun && rc == -EPIPE && far_peer_lacks_agent(&d->peer, LAST_MS))
		snprintf(line, sizeof(line),
			"cannot run heaptop there: %.400s (if heaptop is what is missing: install "
			"it there, or give its path with --agent)",
			d->peer.last[0] ? d->peer.last : banner);
	else if (!d->line.begun && d->peer.last[0])
		snprintf(line, sizeof(line), "no answer from heaptop there: %.560s", d->peer.last);
	else if (!d->line.begun && banner[0] && rc != -EPROTO)
		snprintf(line, sizeof(line), "no heaptop answers there, only: %s", banner);
	else if (rc == -EPROTO)
		snprintf(line, sizeof(line), "what comes from there is not heaptop's protocol");
	else if (rc == -EFBIG)
		snprintf(line, sizeof(line), "the agent sends more than a segment can hold");
	else if (rc == -EPIPE)
		snprintf(line, sizeof(line), "the connection ended%s%.560s",
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

/* The image that the last tick says is there. Its greeting comes before what is asked for next. */
static int image_ask(struct far_desk *d, unsigned view)
{
	struct far_desk_view *v = &d->view[view];
	int rc;

	if (v->image_asked || v->image_new || !v->moment.tick.next)
		return 0;
	if (d->file.view == view)
		far_desk_copy_end(d);
	rc = number_send(d, FAR_IMAGE, view);
	v->image_asked = rc == 0;
	return rc;
}

/* Asks for a tick of each process, unless some are due. */
static int ask(struct far_desk *d)
{
	int rc = 0;

	if (d->ndue > 0)
		return 0;
	for (unsigned i = 0; i < FAR_VIEWS && rc == 0; i++) {
		if (far_desk_view_is_final(&d->view[i]))
			continue;
		rc = image_ask(d, i);
		if (rc == 0)
			rc = next_send(d, i);
	}
	if (rc != 0)
		failed(d, rc);
	return rc;
}

static int client_send(struct far_desk *d, bool exits)
{
	struct bytes b = { 0 };
	int rc;

	bytes_number(&b, FAR_PROTOCOL);
	bytes_number(&b, HT_SIGNATURE);
	bytes_number(&b, exits);
	rc = b.failed ? -ENOMEM : far_channel_send(&d->line, FAR_CLIENT, b.data, b.len, SEND_MS);
	bytes_free(&b);
	return rc;
}

static int first_tick(struct far_desk *d, int timeout_ms)
{
	int rc = client_send(d, d->peer.exits);

	if (rc == 0)
		rc = next_send(d, 0);
	if (rc != 0)
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
	for (unsigned i = 0; i < FAR_KINDS; i++)
		d->work[i].kind = i;
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
	for (unsigned i = 0; i < FAR_VIEWS; i++)
		far_desk_view_free(&d->view[i]);
	for (unsigned i = 0; i < FAR_KINDS; i++)
		far_desk_work_free(&d->work[i]);
	free(d->rows);
	free(d);
}

const char *far_desk_path(const struct far_desk *d, unsigned view)
{
	return far_mirror_path(d->view[view].mirror);
}

void far_desk_opened(struct far_desk *d, unsigned view)
{
	far_mirror_unlink(d->view[view].mirror);
}

const struct far_moment *far_desk_moment(const struct far_desk *d, unsigned view)
{
	return &d->view[view].moment;
}

const char *far_desk_ended(const struct far_desk *d)
{
	return d->ended[0] ? d->ended : NULL;
}

bool far_desk_image(struct far_desk *d, unsigned view)
{
	struct far_desk_view *v = &d->view[view];
	bool is_new = v->fresh_image;

	if (is_new)
		v->image_new = v->fresh_image = false;
	return is_new;
}

bool far_desk_tick(struct far_desk *d, int timeout_ms)
{
	uint64_t until = clock_monotonic_ns() + (uint64_t)timeout_ms * 1000000u;
	bool fresh = d->fresh;
	int rc = 0;

	d->fresh = false;
	if (d->ended[0] || ask(d) != 0 || (d->ndue == 0 && timeout_ms > 0))
		return fresh;
	while (rc == 0 || (rc == 1 && d->ndue > 0)) {
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

	return d->ndue > 0 && now > since + SILENT_NS ? now - since : 0;
}

uint64_t far_desk_heard_ns(const struct far_desk *d)
{
	return d->heard_at_ns;
}

/* ---- other processes ---- */

size_t far_desk_rows(struct far_desk *d, const struct far_row **rows, uint64_t *more)
{
	if (!d->rows)
		d->rows = calloc(FAR_ROWS_MAX, sizeof(*d->rows));
	*rows = d->rows;
	*more = d->more;
	if (d->rows && !d->ended[0] && !d->list_asked) {
		int rc = far_channel_send(&d->line, FAR_LIST, NULL, 0, SEND_MS);

		d->list_asked = rc == 0;
		if (rc != 0)
			failed(d, rc);
	}
	return d->nrows;
}

int far_desk_choose(struct far_desk *d, unsigned view, uint64_t id)
{
	const struct far_choice o = { .view = view, .id = id };
	struct far_desk_view *v = &d->view[view];
	struct bytes b = { 0 };
	int rc;

	if (d->ended[0])
		return -EPIPE;
	if (v->opening)
		return -EBUSY;
	if (d->file.view == view)
		far_desk_copy_end(d);
	far_choice_put(&b, &o);
	rc = b.failed ? -ENOMEM : far_channel_send(&d->line, FAR_OPEN, b.data, b.len, SEND_MS);
	bytes_free(&b);
	v->why[0] = 0;
	v->ready = false;
	v->opening = rc == 0;
	if (rc != 0)
		failed(d, rc);
	return rc;
}

int far_desk_chosen(const struct far_desk *d, unsigned view, const char **why)
{
	const struct far_desk_view *v = &d->view[view];

	*why = v->why[0] ? v->why : d->ended;
	if (v->ready)
		return 1;
	return **why ? -ESRCH : 0;
}

/* ---- work there ---- */

int far_desk_order(
	struct far_desk *d, enum far_kind kind, unsigned view, const struct bytes *request)
{
	int rc;

	if (far_kind_acts(kind) && !d->view[view].moment.agent.steers)
		return -EPERM;
	if (d->ended[0])
		return -EPIPE;
	rc = far_desk_work_begin(&d->work[kind], &d->line, view, request);
	if (rc != 0)
		failed(d, rc);
	return rc;
}

void far_desk_order_end(struct far_desk *d, enum far_kind kind)
{
	if (!d->ended[0] && far_desk_work_cancel(&d->work[kind], &d->line) != 0)
		failed(d, -EPIPE);
}

const struct far_desk_work *far_desk_ordered(const struct far_desk *d, enum far_kind kind)
{
	return &d->work[kind];
}

int far_desk_copy(struct far_desk *d, unsigned view, uint32_t module, int fd, uint64_t most)
{
	const struct far_desk_file wanted = {
		.view = view, .module = module, .most = most, .fd = fd
	};
	int rc;

	if (!d->view[view].moment.agent.sends_files)
		return -ENOENT;
	if (d->ended[0])
		return -EPIPE;
	rc = far_desk_file_begin(&d->file, &d->line, &wanted);
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
	far_desk_file_end(&d->file);
}

int far_desk_file(
	struct far_desk *d, unsigned view, uint32_t module, int fd, uint64_t most, int timeout_ms)
{
	int rc = far_desk_copy(d, view, module, fd, most);

	if (rc == -ENOENT || rc == -EPIPE)
		return rc;
	while (rc >= 0 && d->file.result == 1)
		rc = step(d, timeout_ms);
	if (d->file.result == 1)
		d->file.result = rc < 0 ? rc : -EIO;
	d->file.fd = -1;
	return d->file.result;
}
