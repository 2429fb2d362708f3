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
#include "src/run/far_contents.h"
#include "src/run/far_objects.h"
#include "src/run/far_silence.h"
#include "src/run/far_token.h"
#include "src/run/signals.h"
#include "src/util/clock.h"

#define CONNECT_MS 30000 /* without a byte; a password may have to be typed */
#define TICK_MS	   30000
#define WALK_NS	   UINT64_C(10000000000) /* a walk is kept that somebody has asked about since */

struct far_run;

/* Work of one kind about one process. */
struct far_run_order {
	struct far_run_view *view;
	enum far_kind kind;
	struct far_order order;
};

/* One process there. */
struct far_run_view {
	struct far_run *run;
	unsigned number;
	struct far_objects objects;
	struct read_segment *segment; /* the copy, for its modules; NULL: it is not shown */
	struct far_run_order order[FAR_KINDS];
	bool chosen; /* and not shown yet */
};

struct far_run {
	struct far_desk *desk;
	char url[OPTIONS_URL_MAX], token[FAR_TOKEN_MAX];
	struct far_place place;
	struct far_run_view view[FAR_VIEWS];
	bool waits; /* nobody looks at a screen */
	bool exits; /* the program is scanned for leaks at its end, if the agent has it wait */
	struct far_contents contents;
	struct far_silence silence;
	/* A walk over live blocks, of one process at a time: who asked, and when. */
	const struct far_run_order *walker;
	uint64_t walker_ns;
	char refused[FAR_PEER_MESSAGE + 64]; /* why work has no result */
	char absent[FAR_PEER_MESSAGE + 64]; /* why a process that was chosen is not shown */
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

/* ---- work there ---- */

/* Each process's session asks for walks; another one's answer is not for it. */
static bool walk_claim(const struct far_run_order *w)
{
	struct far_run *f = w->view->run;
	uint64_t now = clock_monotonic_ns();

	if (f->walker && f->walker != w && now < f->walker_ns + WALK_NS)
		return false;
	f->walker = w;
	f->walker_ns = now;
	return true;
}

static int order_begin(void *ctx, const struct bytes *request)
{
	const struct far_run_order *w = ctx;
	struct far_run *f = w->view->run;

	if (w->kind == FAR_WALKS && !walk_claim(w))
		return -EBUSY;
	far_silence_begin(&f->silence, far_desk_heard_ns(f->desk), clock_monotonic_ns());
	return far_desk_order(f->desk, w->kind, w->view->number, request);
}

static void order_cancel(void *ctx)
{
	const struct far_run_order *w = ctx;

	far_desk_order_end(w->view->run->desk, w->kind);
}

static int work_take(const struct far_run_order *w, int timeout_ms, struct far_working *said,
	struct bytes_cursor *answer, const char **why)
{
	struct far_run *f = w->view->run;
	const struct far_desk_work *of = far_desk_ordered(f->desk, w->kind);

	far_desk_listen(f->desk, timeout_ms);
	*said = of->said;
	if (of->runs && !far_desk_ended(f->desk))
		return 0;
	if (!of->runs && of->said.state == FAR_WORK_ENDED) {
		*answer = bytes_begin(&of->found);
		return 1;
	}
	if (of->said.state == FAR_WORK_REFUSED)
		snprintf(f->refused, sizeof(f->refused), "%s", of->said.why);
	else
		snprintf(f->refused, sizeof(f->refused), "%s: %s", far_kind_none(w->kind),
			far_desk_ended(f->desk));
	*why = f->refused;
	return -EPIPE;
}

/* As work_take, and where nobody looks at a screen -ETIMEDOUT from an agent that is silent. */
static int answer_take(const struct far_run_order *w, int timeout_ms, struct far_working *said,
	struct bytes_cursor *answer, const char **why)
{
	struct far_run *f = w->view->run;
	int rc = work_take(w, timeout_ms, said, answer, why);

	if (rc != 0 || !f->waits ||
		!far_silence_is_over(&f->silence, far_desk_heard_ns(f->desk), clock_monotonic_ns(),
			signals_pending() != 0))
		return rc;
	snprintf(f->refused, sizeof(f->refused), "%s: no answer from %.64s", far_kind_none(w->kind),
		far_desk_moment(f->desk, 0)->agent.host);
	*why = f->refused;
	return -ETIMEDOUT;
}

static int order_take(void *ctx, int timeout_ms, struct far_working *said,
	struct bytes_cursor *answer, const char **why)
{
	const struct far_run_order *w = ctx;
	struct far_run *f = w->view->run;
	int rc;

	if (w->kind != FAR_WALKS)
		return answer_take(w, timeout_ms, said, answer, why);
	*why = "another process's took its place";
	if (f->walker != w)
		return -ECANCELED;
	rc = answer_take(w, timeout_ms, said, answer, why);
	if (rc == 0 && f->waits && signals_pending())
		rc = -EINTR;
	f->walker = rc == 0 ? w : NULL;
	f->walker_ns = clock_monotonic_ns();
	return rc;
}

static int order_fd(void *ctx)
{
	return far_desk_fd(((const struct far_run_order *)ctx)->view->run->desk);
}

static const struct far_run_view *view_of(const struct far_run *f, const struct far_moment *of)
{
	for (unsigned i = 0; f && i < FAR_VIEWS; i++)
		if (of == far_desk_moment(f->desk, i))
			return &f->view[i];
	return NULL;
}

const struct far_order *far_run_order(
	const struct far_run *f, enum far_kind kind, const struct far_moment *of)
{
	const struct far_run_view *v = view_of(f, of);

	return v ? &v->order[kind].order : NULL;
}

long far_run_contents(
	struct far_run *f, const struct far_moment *of, uint64_t addr, void *out, size_t bytes)
{
	const struct far_run_view *v = view_of(f, of);

	if (!v)
		return -ESRCH;
	if (f->contents.order.ctx != v->order[FAR_CONTENTS].order.ctx) {
		f->contents.order = v->order[FAR_CONTENTS].order;
		far_contents_forget(&f->contents);
	}
	return far_contents_read(&f->contents, addr, out, bytes);
}

bool far_run_exits(const struct far_run *f)
{
	const struct far_hello *agent = f ? &far_desk_moment(f->desk, 0)->agent : NULL;

	return f && f->exits && agent->exits && agent->steers;
}

/* ---- the run ---- */

static int failed(struct far_run *f, int rc)
{
	far_run_close(f);
	return rc;
}

static void orders_make(struct far_run_view *v)
{
	for (unsigned kind = 0; kind < FAR_KINDS; kind++) {
		struct far_run_order *w = &v->order[kind];

		*w = (struct far_run_order){ v, kind,
			{ w, order_begin, order_cancel, order_take, order_fd } };
	}
}

static void views_make(struct far_run *f, const struct options *o)
{
	for (unsigned i = 0; i < FAR_VIEWS; i++) {
		struct far_run_view *v = &f->view[i];

		v->run = f;
		v->number = i;
		orders_make(v);
		v->objects.waits = f->waits;
		v->objects.fetches = !o->far.no_fetch;
		v->objects.elsewhere = o->far.elsewhere;
		v->objects.view = i;
		far_objects_init(&v->objects);
	}
}

/* The copy of a view's first moment is there. 0, or -errno and one line in `message`. */
static int view_open(struct far_run_view *v, char *message)
{
	v->segment = read_open(far_desk_path(v->run->desk, v->number), message);
	if (!v->segment)
		return -EIO;
	v->objects.desk = v->run->desk;
	v->objects.segment = v->segment;
	v->objects.next = 1;
	return 0;
}

static void view_close(struct far_run_view *v)
{
	far_objects_free(&v->objects);
	read_close(v->segment);
	v->segment = NULL;
}

/* The view whose file is being copied, or NULL. */
static struct far_run_view *copying_view(const struct far_run *f)
{
	struct far_run *own = (struct far_run *)(uintptr_t)f;

	for (unsigned i = 0; i < FAR_VIEWS; i++)
		if (f->view[i].segment && f->view[i].objects.fd >= 0)
			return &own->view[i];
	return NULL;
}

static void objects_look(struct far_run *f)
{
	for (unsigned i = 0; i < FAR_VIEWS && !copying_view(f); i++)
		if (f->view[i].segment)
			far_objects_look(&f->view[i].objects);
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
	f->waits = o->batch || o->report || o->headless;
	f->exits = f->waits ? o->report && o->leak_check && !o->leak_every_ns
			    : !o->no_exit_scan && !o->readonly;
	views_make(f, o);
	rc = place_make(f, o);
	if (rc != 0)
		return failed(f, rc);
	rc = far_peer_open(&peer, &f->place, message);
	peer.exits = f->exits;
	if (rc != 0 || far_desk_open(&f->desk, &peer, CONNECT_MS, message) != 0 ||
		view_open(&f->view[0], message) != 0)
		return failed(f, failure_print(message));
	objects_look(f);
	*out = f;
	return 0;
}

void far_run_close(struct far_run *f)
{
	if (!f)
		return;
	for (unsigned i = 0; i < FAR_VIEWS; i++)
		view_close(&f->view[i]);
	far_desk_close(f->desk);
	free(f);
}

const char *far_run_path(const struct far_run *f, unsigned view)
{
	return far_desk_path(f->desk, view);
}

void far_run_opened(struct far_run *f, unsigned view)
{
	far_desk_opened(f->desk, view);
}

bool far_run_image(struct far_run *f, unsigned view)
{
	char message[READ_MESSAGE_MAX];
	struct far_run_view *v = f ? &f->view[view] : NULL;
	struct read_segment *next;

	if (!v || !v->segment || !far_desk_image(f->desk, view))
		return false;
	next = read_open(far_desk_path(f->desk, view), message);
	if (!next)
		return false;
	read_close(v->segment);
	v->segment = next;
	far_objects_restart(&v->objects, next);
	return true;
}

void far_run_session(const struct far_run *f, unsigned view, struct session_options *o)
{
	if (!f)
		return;
	o->far = far_desk_moment(f->desk, view);
	o->named_modules = &f->view[view].objects.next;
	o->elsewhere = &f->view[view].objects.elsewhere;
	o->walks = &f->view[view].order[FAR_WALKS].order;
	o->waits = f->waits;
}

static bool objects_listen(struct far_run *f)
{
	struct far_run_view *v = copying_view(f);
	bool came = v && far_objects_listen(&v->objects);

	if (came)
		objects_look(f);
	return came;
}

void far_run_tick(struct far_run *f)
{
	if (!f)
		return;
	if (far_desk_tick(f->desk, f->waits && !signals_pending() ? TICK_MS : 0))
		objects_look(f);
	(void)objects_listen(f);
}

/* A process that was chosen, and is still to come. */
static bool is_coming(const struct far_run *f)
{
	const char *why;

	for (unsigned i = 1; i < FAR_VIEWS; i++)
		if (f->view[i].chosen && far_desk_chosen(f->desk, i, &why) == 0)
			return true;
	return false;
}

int far_run_fd(const struct far_run *f)
{
	return copying_view(f) || is_coming(f) || far_contents_awaits(&f->contents)
		       ? far_desk_fd(f->desk)
		       : -1;
}

bool far_run_listen(struct far_run *f)
{
	bool coming;

	if (!f || far_run_fd(f) < 0)
		return false;
	coming = is_coming(f);
	far_desk_listen(f->desk, 0);
	coming &= !is_coming(f);
	coming |= far_contents_listen(&f->contents);
	return objects_listen(f) || coming;
}

/* ---- other processes ---- */

size_t far_run_rows(struct far_run *f, const struct far_row **rows, uint64_t *more)
{
	return far_desk_rows(f->desk, rows, more);
}

int far_run_choose(struct far_run *f, unsigned view, uint64_t id)
{
	int rc = far_desk_choose(f->desk, view, id);

	f->view[view].chosen = rc == 0;
	f->absent[0] = 0;
	return rc;
}

int far_run_chosen(struct far_run *f, unsigned view, char *message)
{
	struct far_run_view *v = &f->view[view];
	const char *why;
	int rc = far_desk_chosen(f->desk, view, &why);

	if (rc == 0)
		return 0;
	v->chosen = false;
	snprintf(message, READ_MESSAGE_MAX, "%s", rc < 0 ? why : "");
	if (rc == 1)
		rc = view_open(v, message);
	if (rc < 0)
		return rc;
	objects_look(f);
	return 1;
}

void far_run_say(struct far_run *f, const char *why)
{
	snprintf(f->absent, sizeof(f->absent), "the chosen process is not shown: %s", why);
}

void far_run_leave(struct far_run *f, unsigned view)
{
	if (f->walker && f->walker->view == &f->view[view])
		f->walker = NULL;
	view_close(&f->view[view]);
}

/* ---- what is to be said ---- */

bool far_run_is_open(const struct far_run *f)
{
	const struct far_tick *t = f ? &far_desk_moment(f->desk, 0)->tick : NULL;

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
	const char *children = far_desk_moment(f->desk, 0)->tick.children;

	if (f->waits || !children[0])
		return false;
	snprintf(
		f->notice, sizeof(f->notice), "its recorded children (p shows them): %s", children);
	return true;
}

static bool objects_text(struct far_run *f)
{
	const struct far_run_view *v = copying_view(f);

	return v && far_objects_progress(&v->objects, f->notice);
}

const char *far_run_link_notice(const struct far_run *f)
{
	struct far_run *own = (struct far_run *)(uintptr_t)f;
	char text[CLOCK_TIME_MAX];

	if (!f)
		return NULL;
	if (far_desk_ended(f->desk))
		snprintf(own->notice, sizeof(own->notice),
			"connection lost at %s: these are the last figures (%s)",
			heard_text(f, text), far_desk_ended(f->desk));
	else if (far_desk_silent_ns(f->desk) > 0)
		snprintf(own->notice, sizeof(own->notice),
			"no answer from %.64s since %s: these are the last figures",
			far_desk_moment(f->desk, 0)->agent.host, heard_text(f, text));
	else if (is_coming(f))
		return "the chosen process's heap is being transferred";
	else if (f->absent[0])
		return f->absent;
	else if (!objects_text(own))
		return NULL;
	return own->notice;
}

const char *far_run_notice(const struct far_run *f)
{
	struct far_run *own = (struct far_run *)(uintptr_t)f;
	const char *line;

	if (!f)
		return NULL;
	if (!far_run_is_open(f) && !far_desk_ended(f->desk))
		return "the program called exec, and its new image is not recorded: these are the "
		       "last figures";
	line = far_run_link_notice(f);
	return line ? line : children_text(own) ? own->notice : NULL;
}
