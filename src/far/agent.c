/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The side beside the program (agent.h). */
#include "src/far/agent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "src/far/agent_file.h"
#include "src/far/agent_scan.h"
#include "src/far/channel.h"
#include "src/far/moment.h"
#include "src/far/shadow.h"
#include "src/read/copying.h"
#include "src/util/clock.h"

/* Readings of smaps_rollup, slow for a large address space, may take 1/50 of the time. */
#define PSS_SHARE 50u
/* A new image maps its segment only once it is loaded, so a single look proves nothing. */
#define REPLACED_AFTER 2u
/* So may the search for its children, and not more often than this. */
#define CHILDREN_SHARE	  50u
#define CHILDREN_APART_NS UINT64_C(2000000000)
#define IMAGE_NS	  UINT64_C(2000000000) /* by then a new image has a segment, or none */
#define THREADS_MOST	  FAR_NAMES_MAX
#define LOOK_MS		  500 /* between looks at `stop`, */
#define SCAN_LOOK_MS	  50 /* and at a scan */

struct serving {
	const struct far_agent *agent;
	struct read_segment *segment; /* that of the image which is served, */
	struct read_segment *next; /* and of one after it; or NULL */
	uint64_t without_ns; /* since when the process does not map it; 0: it does */
	struct far_channel line;
	struct far_shadow *shadow;
	struct far_file file;
	struct far_agent_scan scan;
	struct read_identity identity;
	struct bytes out;
	struct read_thread *thread;
	struct far_thread *name, *named; /* as now, and as sent last */
	size_t names, nameds;
	uint64_t pss_due_ns, pss_bytes;
	uint64_t children_due_ns;
	char children[FAR_TEXT_MAX];
	bool have_pss;
	unsigned without; /* looks in a row that did not find the segment mapped */
};

static int reply(struct serving *s, enum far_type type)
{
	int rc = s->out.failed ? -ENOMEM
			       : far_channel_send(&s->line, type, s->out.data, s->out.len, -1);

	s->out.len = 0;
	return rc;
}

static int hello_send(struct serving *s)
{
	static const uint16_t one = 1;
	struct far_hello h = { .protocol = FAR_PROTOCOL,
		.signature = HT_SIGNATURE,
		.order = *(const uint8_t *)&one,
		.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
		.segment_bytes = read_file_bytes(s->segment),
		.sends_files = s->agent->sends_files,
		.steers = s->agent->steer != NULL };
	struct utsname u;

	snprintf(h.version, sizeof(h.version), "%s", HEAPTOP_VERSION);
	if (uname(&u) == 0) {
		snprintf(h.machine, sizeof(h.machine), "%s", u.machine);
		snprintf(h.host, sizeof(h.host), "%s", u.nodename);
	}
	far_hello_put(&s->out, &h);
	return reply(s, FAR_HELLO);
}

/* ---- a tick ---- */

static int lines_send(void *ctx, const struct bytes *lines)
{
	struct serving *s = ctx;

	return far_channel_send(&s->line, FAR_LINES, lines->data, lines->len, -1);
}

static void names_read(struct serving *s)
{
	ssize_t n = read_threads(s->segment, s->thread, THREADS_MOST);

	s->names = 0;
	for (ssize_t i = 0; i < n; i++) {
		struct far_thread *t = &s->name[s->names];

		if (s->thread[i].tid == 0)
			continue;
		*t = (struct far_thread){ .tid = s->thread[i].tid };
		s->names +=
			proc_thread_name(s->agent->pid, (pid_t)t->tid, t->name, sizeof(t->name));
	}
}

static bool names_changed(struct serving *s)
{
	if (s->names == s->nameds && memcmp(s->name, s->named, s->names * sizeof(*s->name)) == 0)
		return false;
	memcpy(s->named, s->name, s->names * sizeof(*s->name));
	s->nameds = s->names;
	return true;
}

static bool process_read(struct serving *s, struct proc_reading *r)
{
	uint64_t now = clock_monotonic_ns();
	bool with_pss = now >= s->pss_due_ns;

	*r = (struct proc_reading){ 0 };
	if (s->agent->pid == 0 || proc_read(s->agent->pid, with_pss, r) != 0)
		return false;
	if (with_pss) {
		s->pss_due_ns = now + (clock_monotonic_ns() - now) * PSS_SHARE;
		s->pss_bytes = r->pss_bytes;
		s->have_pss = r->have_pss;
	}
	r->pss_bytes = s->pss_bytes;
	r->have_pss = s->have_pss;
	return true;
}

static int process_send(struct serving *s)
{
	struct proc_reading r;
	bool has = process_read(s, &r), renamed;

	names_read(s);
	renamed = names_changed(s);
	far_process_put(&s->out, has ? &r : NULL, s->name, renamed ? s->names : 0);
	return reply(s, FAR_PROCESS);
}

/* By exec a process loses its segment. */
static bool is_unmapped(struct serving *s)
{
	const char *path = read_path(s->segment), *slash = strrchr(path, '/');

	if (s->identity.state != HT_STATE_RUNNING || s->agent->pid == 0)
		return false;
	s->without =
		proc_maps_name(s->agent->pid, slash ? slash + 1 : path) == 0 ? s->without + 1 : 0;
	return s->without >= REPLACED_AFTER;
}

static bool is_alive(struct serving *s)
{
	uint64_t ticks;
	int rc;

	if (s->agent->pid == 0)
		return s->identity.state != HT_STATE_EXITED;
	rc = proc_start_ticks(s->agent->pid, &ticks);
	return rc == 0 ? ticks == s->identity.start_ticks : rc != -ESRCH;
}

/* A new image that is recorded has its segment soon, though not at once. */
static void image_look(struct serving *s, struct far_tick *t)
{
	uint64_t now = clock_monotonic_ns();

	if (!is_unmapped(s)) {
		s->without_ns = 0;
		return;
	}
	s->without_ns = s->without_ns ? s->without_ns : now;
	s->next = s->agent->next ? s->agent->next(s->agent->next_ctx) : NULL;
	if (s->next == s->segment)
		s->next = NULL;
	t->next = s->next != NULL;
	t->replaced = t->next || !s->agent->next || now > s->without_ns + IMAGE_NS;
}

static void children_look(struct serving *s, struct far_tick *t)
{
	uint64_t now = clock_monotonic_ns();

	if (s->agent->children && now >= s->children_due_ns) {
		s->agent->children(s->agent->pid, s->children, sizeof(s->children));
		s->children_due_ns =
			now + (clock_monotonic_ns() - now) * CHILDREN_SHARE + CHILDREN_APART_NS;
	}
	snprintf(t->children, sizeof(t->children), "%s", s->children);
}

/* Whether the process lives is asked first: what a dead one has written is all there. */
static int tick_send(struct serving *s)
{
	struct far_tick t = { .alive = is_alive(s) };
	int rc = read_identity(s->segment, &s->identity);

	if (rc == 0 && t.alive)
		image_look(s, &t);
	if (rc == 0 && t.alive)
		children_look(s, &t);
	if (rc == 0 && t.alive && s->identity.state == HT_STATE_RUNNING)
		read_publish_clock(s->segment, clock_monotonic_ns());
	t.monotonic_ns = clock_monotonic_ns();
	if (rc == 0)
		rc = far_shadow_send(s->shadow, lines_send, s);
	if (rc == 0)
		rc = process_send(s);
	t.agent_cpu_ns = clock_process_cpu_ns();
	t.agent_rss = proc_own_rss();
	far_tick_put(&s->out, &t);
	return rc ? rc : reply(s, FAR_TICK);
}

/* ---- what the desk asks ---- */

static int file_send(struct serving *s, const struct far_frame *f)
{
	struct bytes_cursor c = { f->data, f->data + f->len, false };
	struct far_piece p;
	int rc = far_piece_get(&c, &p);

	if (rc != 0)
		return rc;
	if (!s->agent->sends_files)
		p.bytes = 0;
	else
		far_file_open(&s->file, s->segment, s->agent->pid, &p);
	far_piece_put(&s->out, &p);
	if (p.bytes > 0)
		far_file_read(&s->file, p.offset, &s->out);
	return reply(s, FAR_PIECE);
}

/* The desk goes on with the new image, of which it has nothing yet. */
static int image_take(struct serving *s)
{
	struct far_shadow *shadow = s->next ? far_shadow_new(s->next) : NULL;

	if (!s->next)
		return -EPROTO;
	if (!shadow)
		return -ENOMEM;
	far_shadow_free(s->shadow);
	s->shadow = shadow;
	s->segment = s->next;
	s->next = NULL;
	s->without = 0;
	s->without_ns = 0;
	s->nameds = 0;
	far_file_close(&s->file);
	return hello_send(s);
}

static int frame_take(struct serving *s, const struct far_frame *f)
{
	switch (f->type) {
	case FAR_CLIENT:
		return 0;
	case FAR_NEXT:
		return tick_send(s);
	case FAR_FILE:
		return file_send(s, f);
	case FAR_IMAGE:
		return image_take(s);
	case FAR_SCAN:
	case FAR_CANCEL:
	case FAR_GET:
		return far_agent_scan_take(&s->scan, &s->line, f);
	default:
		return -EPROTO;
	}
}

static bool is_stopped(const struct serving *s)
{
	return s->agent->stop && *s->agent->stop;
}

static int serve(struct serving *s)
{
	struct far_frame f;
	int rc = hello_send(s);

	while (rc == 0) {
		while ((rc = far_channel_next(&s->line, &f)) == 1) {
			rc = frame_take(s, &f);
			if (rc != 0)
				return rc;
		}
		if (rc == 0)
			rc = far_agent_scan_report(&s->scan, &s->line);
		if (rc == 0)
			rc = is_stopped(s) ? -EINTR
					   : far_channel_fill(&s->line,
						     s->scan.runs ? SCAN_LOOK_MS : LOOK_MS);
		if (rc > 0 || (rc == -EINTR && !is_stopped(s)))
			rc = 0;
	}
	return rc;
}

static bool parts_make(struct serving *s)
{
	s->shadow = far_shadow_new(s->segment);
	s->thread = calloc(THREADS_MOST, sizeof(*s->thread));
	s->name = calloc(THREADS_MOST, sizeof(*s->name));
	s->named = calloc(THREADS_MOST, sizeof(*s->named));
	return s->shadow && s->thread && s->name && s->named;
}

int far_agent_serve(const struct far_agent *a, int in, int out)
{
	struct serving s = { .agent = a,
		.segment = a->segment,
		.file = FAR_FILE_NONE,
		.scan = { .steer = a->steer } };
	int rc = read_identity(a->segment, &s.identity);

	if (rc == 0 && !parts_make(&s))
		rc = -ENOMEM;
	if (rc == 0)
		rc = far_channel_open(&s.line, in, out);
	s.line.stop = a->stop;
	if (rc == 0)
		rc = serve(&s);
	if (a->steer)
		a->steer->leave(a->steer->ctx);
	far_channel_free(&s.line);
	far_file_close(&s.file);
	far_shadow_free(s.shadow);
	bytes_free(&s.out);
	free(s.thread);
	free(s.name);
	free(s.named);
	return rc;
}
