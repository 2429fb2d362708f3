/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The agent, on the program's machine (agent.h). */
#include "src/far/agent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "src/far/agent_file.h"
#include "src/far/agent_work.h"
#include "src/far/channel.h"
#include "src/util/clock.h"

/* The search for children may take 1/50 of the time, and comes not more often than this. */
#define CHILDREN_SHARE	  50u
#define CHILDREN_APART_NS UINT64_C(2000000000)
#define LIST_APART_NS	  UINT64_C(200000000) /* who asks more often gets the last answer */
#define LOOK_MS		  500 /* between looks at `stop`, */
#define WORK_LOOK_MS	  50 /* and at what it works at, or a program that may wait at its end */
#define EXIT_NS		  UINT64_C(10000000000) /* so long it waits for a scan to begin */

struct serving {
	const struct far_agent *agent;
	struct far_channel line;
	struct far_agent_view view[FAR_VIEWS];
	struct far_file file;
	unsigned file_view; /* whose that is */
	struct far_agent_work work[FAR_KINDS];
	struct bytes out;
	bool exit_asked; /* the program waits at its end for this desk */
	uint64_t exit_ns; /* since when it does; 0: it does not */
	uint64_t children_due_ns, list_due_ns;
	char children[FAR_TEXT_MAX];
	struct far_row *rows;
	size_t nrows;
	uint64_t more; /* processes without a row */
};

static int reply(struct serving *s, enum far_type type)
{
	int rc = s->out.failed ? -ENOMEM
			       : far_channel_send(&s->line, type, s->out.data, s->out.len, -1);

	s->out.len = 0;
	return rc;
}

static int hello_send(struct serving *s, struct far_agent_view *v)
{
	static const uint16_t one = 1;
	struct far_hello h = { .protocol = FAR_PROTOCOL,
		.signature = HT_SIGNATURE,
		.order = *(const uint8_t *)&one,
		.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
		.sends_files = s->agent->sends_files,
		.exits = s->agent->exits,
		.steers = s->agent->worker[FAR_LEAKS] != NULL };
	struct utsname u;

	snprintf(h.version, sizeof(h.version), "%s", HEAPTOP_VERSION);
	if (uname(&u) == 0) {
		snprintf(h.machine, sizeof(h.machine), "%s", u.machine);
		snprintf(h.host, sizeof(h.host), "%s", u.nodename);
	}
	return far_agent_view_greet(v, &h);
}

/* ---- the end of the program ---- */

static int client_take(struct serving *s, const struct far_frame *f)
{
	struct bytes_cursor c = { f->data, f->data + f->len, false };

	(void)bytes_read(&c);
	(void)bytes_read(&c);
	if (c.at < c.end && bytes_read(&c) != 0 && s->agent->exits)
		s->exit_asked = read_exit_scan_request(s->view[0].segment, HT_LEAK_ASK_ONE) == 0;
	return c.bad ? -EPROTO : 0;
}

/* A desk that does not begin its scan is not waited for without end. */
static void exit_look(struct serving *s)
{
	uint64_t now = clock_monotonic_ns();

	if (!s->exit_asked || !read_exit_scan_is_waiting(s->view[0].segment))
		return;
	if (s->exit_ns == 0 || s->work[FAR_LEAKS].runs)
		s->exit_ns = now;
	if (now > s->exit_ns + EXIT_NS)
		read_exit_scan_done(s->view[0].segment);
}

/* The desk leaves: the program does not wait any more. */
static void exit_leave(struct serving *s)
{
	if (!s->exit_asked)
		return;
	(void)read_exit_scan_request(s->view[0].segment, HT_LEAK_ASK_NONE);
	if (read_exit_scan_is_waiting(s->view[0].segment))
		read_exit_scan_done(s->view[0].segment);
}

/* ---- what the desk asks ---- */

static void children_look(struct serving *s)
{
	const struct far_agent *a = s->agent;
	uint64_t now = clock_monotonic_ns();

	if (!a->children || now < s->children_due_ns)
		return;
	a->children(a->first.pid, s->children, sizeof(s->children));
	s->children_due_ns =
		now + (clock_monotonic_ns() - now) * CHILDREN_SHARE + CHILDREN_APART_NS;
}

/* The view that a frame of one number is about; NULL: it is not open, or this is no number. */
static struct far_agent_view *view_of(struct serving *s, const struct far_frame *f)
{
	struct bytes_cursor c = { f->data, f->data + f->len, false };
	unsigned number;

	if (far_number_get(&c, &number) != 0 || !s->view[number].segment)
		return NULL;
	return &s->view[number];
}

static int tick_send(struct serving *s, const struct far_frame *f)
{
	struct far_agent_view *v = view_of(s, f);

	if (!v)
		return -EPROTO;
	if (v->number == 0)
		children_look(s);
	return far_agent_view_tick(v, v->number == 0 ? s->children : "");
}

static int image_take(struct serving *s, const struct far_frame *f)
{
	struct far_agent_view *v = view_of(s, f);
	int rc = v ? far_agent_view_image(v) : -EPROTO;

	if (rc != 0)
		return rc;
	far_file_close(&s->file);
	return hello_send(s, v);
}

/* Reads the segments of all, so not each time. */
static int list_send(struct serving *s)
{
	const struct far_others *o = s->agent->others;
	uint64_t now = clock_monotonic_ns();

	if (!s->rows)
		s->rows = calloc(FAR_ROWS_MAX, sizeof(*s->rows));
	if (!s->rows)
		return -ENOMEM;
	if (o && now >= s->list_due_ns) {
		s->nrows = o->list(o->ctx, s->rows, &s->more);
		s->list_due_ns =
			now + (clock_monotonic_ns() - now) * CHILDREN_SHARE + LIST_APART_NS;
	}
	far_rows_put(&s->out, s->rows, s->nrows, s->more);
	return reply(s, FAR_PROCESSES);
}

static void view_close(struct serving *s, struct far_agent_view *v)
{
	unsigned number = (unsigned)(v - s->view);

	if (!v->segment)
		return;
	if (s->file_view == number)
		far_file_close(&s->file);
	far_agent_view_close(v);
	if (number > 0)
		s->agent->others->close(s->agent->others->ctx, number);
}

static int absent_send(struct serving *s, const struct far_choice *c)
{
	far_choice_put(&s->out, c);
	return reply(s, FAR_ABSENT);
}

/* Only one of those that are listed now. */
static int open_take(struct serving *s, const struct far_frame *f)
{
	struct bytes_cursor at = { f->data, f->data + f->len, false };
	const struct far_others *o = s->agent->others;
	struct far_process p = { 0 };
	struct far_choice c;
	struct far_agent_view *v;
	int rc = far_choice_get(&at, &c);

	if (rc != 0)
		return rc;
	v = &s->view[c.view];
	view_close(s, v);
	snprintf(c.why, sizeof(c.why), "the agent shows one process only");
	rc = o ? o->open(o->ctx, (unsigned)c.view, c.id, &p, c.why, sizeof(c.why)) : -EPERM;
	if (rc == 0 && (rc = far_agent_view_open(v, (unsigned)c.view, &p, &s->line)) != 0) {
		snprintf(c.why, sizeof(c.why), "%s", strerror(-rc));
		o->close(o->ctx, (unsigned)c.view);
	}
	return rc ? absent_send(s, &c) : hello_send(s, v);
}

static int file_send(struct serving *s, const struct far_frame *f)
{
	struct bytes_cursor c = { f->data, f->data + f->len, false };
	struct far_agent_view *v;
	struct far_piece p;
	int rc = far_piece_get(&c, &p);
	uint64_t most = p.bytes;

	if (rc != 0)
		return rc;
	v = &s->view[p.view];
	if (s->file_view != p.view)
		far_file_close(&s->file);
	s->file_view = (unsigned)p.view;
	if (!s->agent->sends_files || !v->segment)
		p.bytes = 0;
	else
		far_file_open(&s->file, v->segment, v->of.pid, &p);
	far_piece_put(&s->out, &p);
	if (p.bytes > 0)
		far_file_read(&s->file, p.offset, most, &s->out);
	return reply(s, FAR_PIECE);
}

/* The process that this is about: that of the view in it. */
static int work_take(struct serving *s, const struct far_frame *f)
{
	struct bytes_cursor c = { f->data, f->data + f->len, false }, look;
	const struct far_agent_view *v;
	struct far_agent_work *w;
	enum far_kind kind;
	unsigned number = 0;

	if (far_kind_get(&c, &kind) != 0)
		return -EPROTO;
	if (f->type == FAR_WORK) {
		look = c;
		(void)bytes_read(&look);
		if (far_number_get(&look, &number) != 0)
			return -EPROTO;
	}
	v = &s->view[number];
	w = &s->work[kind];
	w->segment = v->segment;
	w->pid = v->of.pid;
	return far_agent_work_take(w, &s->line, f->type, &c);
}

static int frame_take(struct serving *s, const struct far_frame *f)
{
	switch (f->type) {
	case FAR_CLIENT:
		return client_take(s, f);
	case FAR_NEXT:
		return tick_send(s, f);
	case FAR_FILE:
		return file_send(s, f);
	case FAR_IMAGE:
		return image_take(s, f);
	case FAR_LIST:
		return list_send(s);
	case FAR_OPEN:
		return open_take(s, f);
	case FAR_WORK:
	case FAR_CANCEL:
	case FAR_GET:
		return work_take(s, f);
	default:
		return -EPROTO;
	}
}

static bool is_stopped(const struct serving *s)
{
	return s->agent->stop && *s->agent->stop;
}

static bool works(const struct serving *s)
{
	for (unsigned i = 0; i < FAR_KINDS; i++)
		if (s->work[i].runs)
			return true;
	return false;
}

static int work_report(struct serving *s)
{
	int rc = 0;

	for (unsigned i = 0; i < FAR_KINDS && rc == 0; i++)
		rc = far_agent_work_report(&s->work[i], &s->line);
	return rc;
}

static int serve(struct serving *s)
{
	struct far_frame f;
	int rc = hello_send(s, &s->view[0]);

	while (rc == 0) {
		while ((rc = far_channel_next(&s->line, &f)) == 1) {
			rc = frame_take(s, &f);
			if (rc != 0)
				return rc;
		}
		exit_look(s);
		if (rc == 0)
			rc = work_report(s);
		if (rc == 0)
			rc = is_stopped(s)
				     ? -EINTR
				     : far_channel_fill(&s->line,
					       works(s) || s->exit_asked ? WORK_LOOK_MS : LOOK_MS);
		if (rc > 0 || (rc == -EINTR && !is_stopped(s)))
			rc = 0;
	}
	return rc;
}

static void serving_end(struct serving *s)
{
	for (unsigned i = 0; i < FAR_KINDS; i++)
		if (s->work[i].worker)
			s->work[i].worker->leave(s->work[i].worker->ctx);
	exit_leave(s);
	for (unsigned i = 0; i < FAR_VIEWS; i++)
		view_close(s, &s->view[i]);
	far_channel_free(&s->line);
	far_file_close(&s->file);
	bytes_free(&s->out);
	free(s->rows);
	free(s);
}

int far_agent_serve(const struct far_agent *a, int in, int out)
{
	struct serving *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return -ENOMEM;
	s->agent = a;
	s->file.fd = -1;
	for (unsigned i = 0; i < FAR_KINDS; i++)
		s->work[i] = (struct far_agent_work){ .kind = i, .worker = a->worker[i] };
	rc = far_agent_view_open(&s->view[0], 0, &a->first, &s->line);
	if (rc == 0)
		rc = far_channel_open(&s->line, in, out);
	s->line.stop = a->stop;
	if (rc == 0)
		rc = serve(s);
	serving_end(s);
	return rc;
}
