/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program on another machine (far_run.h). */
#include "src/run/far_run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/far/desk.h"
#include "src/read/read.h"
#include "src/run/failure.h"
#include "src/run/far_objects.h"
#include "src/run/far_token.h"
#include "src/util/clock.h"

#define CONNECT_MS 30000 /* without a byte; a password may have to be typed */
#define TICK_MS	   30000

struct far_run {
	struct far_desk *desk;
	char url[OPTIONS_URL_MAX], token[FAR_TOKEN_MAX];
	struct far_place place;
	struct far_objects objects;
	struct read_segment *segment; /* the copy, for its modules */
	bool waits; /* nobody looks at a screen */
	struct scan_far scans;
	char scan_why[FAR_PEER_MESSAGE + 64];
	char notice[FAR_TEXT_MAX + FAR_PEER_MESSAGE + FAR_OBJECTS_TEXT];
};

/* ---- where ---- */

static int place_of_url(struct far_run *f, const struct options *o, const char **why)
{
	char *at = f->url + sizeof("tcp://") - 1, *port;

	snprintf(f->url, sizeof(f->url), "%s", o->far.url);
	if (strncmp(f->url, "unix:", 5) == 0) {
		f->place.socket = f->url + 5;
		*why = "the path of the socket is missing: unix:PATH";
		return f->url[5] ? 0 : -EINVAL;
	}
	if (strncmp(f->url, "tcp://", 6) != 0)
		return far_place_parse(f->url, &f->place, why);
	port = strrchr(at, ':');
	*why = "a socket on another machine is tcp://ADDRESS:PORT";
	if (!port || port == at || !port[1])
		return -EINVAL;
	*port = 0;
	if (*at == '[' && port[-1] == ']') { /* an address of IPv6 */
		at++;
		port[-1] = 0;
	}
	f->place.address = at;
	f->place.service = port + 1;
	return 0;
}

static int place_make(struct far_run *f, const struct options *o)
{
	const char *why = NULL;

	f->place.steer = o->far.steer;
	f->place.agent = o->far.agent ? o->far.agent : "heaptop";
	if (o->far.token_file) {
		if (far_token_read(o->far.token_file, f->token) != 0)
			return FAILURE_EXIT;
		f->place.token = f->token;
	}
	if (o->far.via) {
		f->place.via = o->far.via;
		f->place.process = o->attach.text;
		return 0;
	}
	return place_of_url(f, o, &why) == 0 ? 0 : failure_print_reason(o->far.url, why);
}

/* ---- leak scans there ---- */

static int scan_begin(void *ctx, const struct bytes *request)
{
	struct far_run *f = ctx;

	return far_desk_scan(f->desk, request);
}

static void scan_cancel(void *ctx)
{
	struct far_run *f = ctx;

	far_desk_scan_end(f->desk);
}

static int scan_take(void *ctx, int timeout_ms, struct leak_progress *progress,
	struct bytes_cursor *answer, const char **why)
{
	struct far_run *f = ctx;
	const struct far_desk_scan *s = far_desk_scanned(f->desk);

	far_desk_listen(f->desk, timeout_ms);
	progress->phase = s->said.phase <= LEAK_EXITING ? (unsigned)s->said.phase : LEAK_FOLLOWING;
	progress->read_bytes = s->said.read_bytes;
	if (s->runs && !far_desk_ended(f->desk))
		return 0;
	if (!s->runs && s->said.state == FAR_SCAN_ENDED) {
		*answer = bytes_begin(&s->found);
		return 1;
	}
	snprintf(f->scan_why, sizeof(f->scan_why), "%s%s",
		s->said.state == FAR_SCAN_REFUSED ? "" : "no leak scan: ",
		s->said.state == FAR_SCAN_REFUSED ? s->said.why : far_desk_ended(f->desk));
	*why = f->scan_why;
	return -EPIPE;
}

static int scan_fd(void *ctx)
{
	const struct far_run *f = ctx;

	return far_desk_fd(f->desk);
}

const struct scan_far *far_run_scans(const struct far_run *f)
{
	return f ? &f->scans : NULL;
}

/* ---- the run ---- */

static int failed(struct far_run *f, int rc)
{
	far_run_close(f);
	return rc;
}

int far_run_open(struct far_run **out, const struct options *o)
{
	struct far_run *f = calloc(1, sizeof(*f));
	char message[READ_MESSAGE_MAX > FAR_PEER_MESSAGE ? READ_MESSAGE_MAX : FAR_PEER_MESSAGE];
	struct far_peer peer;
	int rc;

	*out = NULL;
	if (!f)
		return failure_print_errno("cannot connect", -ENOMEM);
	f->scans = (struct scan_far){ f, scan_begin, scan_cancel, scan_take, scan_fd };
	f->waits = o->batch || o->report || o->headless;
	f->objects.waits = f->waits;
	f->objects.fetches = !o->far.no_fetch;
	f->objects.elsewhere = o->far.elsewhere;
	far_objects_init(&f->objects);
	rc = place_make(f, o);
	if (rc != 0)
		return failed(f, rc);
	if (far_peer_open(&peer, &f->place, message) != 0 ||
		far_desk_open(&f->desk, &peer, CONNECT_MS, message) != 0)
		return failed(f, failure_print(message));
	f->segment = read_open(far_desk_path(f->desk), message);
	if (!f->segment)
		return failed(f, failure_print(message));
	f->objects.desk = f->desk;
	f->objects.segment = f->segment;
	far_objects_look(&f->objects);
	*out = f;
	return 0;
}

void far_run_close(struct far_run *f)
{
	if (!f)
		return;
	far_objects_free(&f->objects);
	read_close(f->segment);
	far_desk_close(f->desk);
	free(f);
}

const char *far_run_path(const struct far_run *f)
{
	return far_desk_path(f->desk);
}

void far_run_opened(struct far_run *f)
{
	far_desk_opened(f->desk);
}

bool far_run_image(struct far_run *f)
{
	char message[READ_MESSAGE_MAX];
	struct read_segment *next;

	if (!f || !far_desk_image(f->desk))
		return false;
	next = read_open(far_desk_path(f->desk), message);
	if (!next)
		return false;
	read_close(f->segment);
	f->segment = next;
	far_objects_restart(&f->objects, next);
	return true;
}

const struct far_moment *far_run_moment(const struct far_run *f)
{
	return far_desk_moment(f->desk);
}

const struct sym_elsewhere *far_run_elsewhere(const struct far_run *f)
{
	return &f->objects.elsewhere;
}

void far_run_tick(struct far_run *f)
{
	if (!f)
		return;
	if (far_desk_tick(f->desk, f->waits ? TICK_MS : 0))
		far_objects_look(&f->objects);
	(void)far_objects_listen(&f->objects);
}

const uint32_t *far_run_modules(const struct far_run *f)
{
	return &f->objects.next;
}

int far_run_fd(const struct far_run *f)
{
	return f->objects.fd >= 0 ? far_desk_fd(f->desk) : -1;
}

bool far_run_listen(struct far_run *f)
{
	if (!f || f->objects.fd < 0)
		return false;
	far_desk_listen(f->desk, 0);
	return far_objects_listen(&f->objects);
}

bool far_run_is_open(const struct far_run *f)
{
	const struct far_tick *t = f ? &far_desk_moment(f->desk)->tick : NULL;

	return !f || (!far_desk_ended(f->desk) && (!t->replaced || t->next));
}

/* When the last bytes came. */
static const char *heard_text(const struct far_run *f, char text[CLOCK_TIME_MAX])
{
	return clock_time_text(text, far_desk_heard_ns(f->desk));
}

/* For who looks at the screen: a report has nothing of them. */
static bool children_text(struct far_run *f)
{
	const char *children = far_desk_moment(f->desk)->tick.children;

	if (f->waits || !children[0])
		return false;
	snprintf(f->notice, sizeof(f->notice),
		"its recorded children are shown by connecting to one: %s", children);
	return true;
}

const char *far_run_notice(const struct far_run *f)
{
	struct far_run *own = (struct far_run *)(uintptr_t)f;
	char text[CLOCK_TIME_MAX];

	if (!f)
		return NULL;
	if (!far_run_is_open(f) && !far_desk_ended(f->desk))
		return "the program called exec, and its new image is not recorded: these are the "
		       "last figures";
	if (far_desk_ended(f->desk))
		snprintf(own->notice, sizeof(own->notice),
			"connection lost at %s: these are the last figures (%s)",
			heard_text(f, text), far_desk_ended(f->desk));
	else if (far_desk_silent_ns(f->desk) > 0)
		snprintf(own->notice, sizeof(own->notice),
			"no answer from %.64s since %s: these are the figures of then",
			far_desk_moment(f->desk)->agent.host, heard_text(f, text));
	else if (!far_objects_progress(&f->objects, own->notice) && !children_text(own))
		return NULL;
	return own->notice;
}
