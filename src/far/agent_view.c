/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A process that is shown (agent_view.h). */
#include "src/far/agent_view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/read/copying.h"
#include "src/util/clock.h"

/* Readings of smaps_rollup, slow for a large address space, may take 1/50 of the time. */
#define PSS_SHARE 50u
/* A new image maps its segment only once it is loaded, so a single look proves nothing. */
#define REPLACED_AFTER 2u
#define IMAGE_NS       UINT64_C(2000000000) /* by then a new image has a segment, or none */
#define THREADS_MOST   FAR_NAMES_MAX
/* Looks for the next image, while this one is mapped, may take 1/50 of the time. */
#define NEXT_SHARE    50u
#define NEXT_APART_NS UINT64_C(500000000)

static int reply(struct far_agent_view *v, enum far_type type)
{
	int rc = v->out.failed ? -ENOMEM
			       : far_channel_send(v->line, type, v->out.data, v->out.len, -1);

	v->out.len = 0;
	return rc;
}

static bool parts_make(struct far_agent_view *v)
{
	v->shadow = far_shadow_new(v->segment);
	v->thread = calloc(THREADS_MOST, sizeof(*v->thread));
	v->name = calloc(THREADS_MOST, sizeof(*v->name));
	v->named = calloc(THREADS_MOST, sizeof(*v->named));
	return v->shadow && v->thread && v->name && v->named;
}

int far_agent_view_open(struct far_agent_view *v, unsigned number, const struct far_process *p,
	struct far_channel *line)
{
	int rc;

	*v = (struct far_agent_view){
		.of = *p, .number = number, .segment = p->segment, .line = line
	};
	rc = read_identity(v->segment, &v->identity);
	if (rc == 0 && !parts_make(v))
		rc = -ENOMEM;
	if (rc != 0)
		far_agent_view_close(v);
	return rc;
}

void far_agent_view_close(struct far_agent_view *v)
{
	far_shadow_free(v->shadow);
	bytes_free(&v->out);
	free(v->thread);
	free(v->name);
	free(v->named);
	*v = (struct far_agent_view){ 0 };
}

int far_agent_view_greet(struct far_agent_view *v, struct far_hello *h)
{
	h->view = v->number;
	h->segment_bytes = read_file_bytes(v->segment);
	far_hello_put(&v->out, h);
	return reply(v, FAR_HELLO);
}

int far_agent_view_image(struct far_agent_view *v)
{
	struct far_shadow *shadow = v->next ? far_shadow_new(v->next) : NULL;

	if (!v->next)
		return -EPROTO;
	if (!shadow)
		return -ENOMEM;
	far_shadow_free(v->shadow);
	v->shadow = shadow;
	v->segment = v->next;
	v->next = NULL;
	v->without = 0;
	v->without_ns = 0;
	v->nameds = 0;
	return 0;
}

/* ---- a tick ---- */

static int lines_send(void *ctx, const struct bytes *lines)
{
	struct far_agent_view *v = ctx;

	return far_channel_send(v->line, FAR_LINES, lines->data, lines->len, -1);
}

static void names_read(struct far_agent_view *v)
{
	ssize_t n = read_threads(v->segment, v->thread, THREADS_MOST);

	v->names = 0;
	for (ssize_t i = 0; i < n; i++) {
		struct far_thread *t = &v->name[v->names];

		if (v->thread[i].tid == 0)
			continue;
		*t = (struct far_thread){ .tid = v->thread[i].tid };
		v->names += proc_thread_name(v->of.pid, (pid_t)t->tid, t->name, sizeof(t->name));
	}
}

static bool names_changed(struct far_agent_view *v)
{
	if (v->names == v->nameds && memcmp(v->name, v->named, v->names * sizeof(*v->name)) == 0)
		return false;
	memcpy(v->named, v->name, v->names * sizeof(*v->name));
	v->nameds = v->names;
	return true;
}

static bool process_read(struct far_agent_view *v, struct proc_reading *r)
{
	uint64_t now = clock_monotonic_ns();
	bool with_pss = now >= v->pss_due_ns;

	*r = (struct proc_reading){ 0 };
	if (v->of.pid == 0 || proc_read(v->of.pid, with_pss, r) != 0)
		return false;
	if (with_pss) {
		v->pss_due_ns = now + (clock_monotonic_ns() - now) * PSS_SHARE;
		v->pss_bytes = r->pss_bytes;
		v->have_pss = r->have_pss;
	}
	r->pss_bytes = v->pss_bytes;
	r->have_pss = v->have_pss;
	return true;
}

static int process_send(struct far_agent_view *v)
{
	struct proc_reading r;
	bool has = process_read(v, &r), renamed;

	names_read(v);
	renamed = names_changed(v);
	far_process_put(&v->out, has ? &r : NULL, v->name, renamed ? v->names : 0);
	return reply(v, FAR_PROCESS);
}

/* By exec a process loses its segment. */
static bool is_unmapped(struct far_agent_view *v)
{
	const char *path = read_path(v->segment), *slash = strrchr(path, '/');

	if (v->identity.state != HT_STATE_RUNNING || v->of.pid == 0)
		return false;
	v->without = proc_maps_missing(v->of.pid, slash ? slash + 1 : path, v->without);
	return v->without >= REPLACED_AFTER;
}

static bool is_alive(struct far_agent_view *v)
{
	uint64_t ticks;
	int rc;

	if (v->of.pid == 0)
		return v->identity.state != HT_STATE_EXITED;
	rc = proc_start_ticks(v->of.pid, &ticks);
	return rc == 0 ? ticks == v->identity.start_ticks : rc != -ESRCH;
}

/* Reads the list of segments. An image that was found stays the next one until it is served, since
 * its segment, and the one that is served, stay open until the next search. */
static void next_find(struct far_agent_view *v, uint64_t now)
{
	if (v->next)
		return;
	v->next = v->of.next ? v->of.next(v->of.next_ctx) : NULL;
	if (v->next == v->segment)
		v->next = NULL;
	v->next_due_ns = now + (clock_monotonic_ns() - now) * NEXT_SHARE + NEXT_APART_NS;
}

/*
 * A new image that is recorded has its segment soon, though not at once. All images of a launched
 * program map the launch's first segment, so only the next one's shows that there is one.
 */
static void image_look(struct far_agent_view *v, struct far_tick *t)
{
	uint64_t now = clock_monotonic_ns();
	bool unmapped = is_unmapped(v);

	if (unmapped || (v->of.pid > 0 && now >= v->next_due_ns))
		next_find(v, now);
	if (!unmapped && !v->next) {
		v->without_ns = 0;
		return;
	}
	v->without_ns = v->without_ns ? v->without_ns : now;
	t->next = v->next != NULL;
	t->replaced = t->next || !v->of.next || now > v->without_ns + IMAGE_NS;
}

/* Whether the process lives is asked first: what a dead one has written is all there. */
int far_agent_view_tick(struct far_agent_view *v, const char *children)
{
	struct far_tick t = { .alive = is_alive(v) };
	int rc = read_identity(v->segment, &v->identity);

	if (rc == 0 && t.alive)
		image_look(v, &t);
	if (rc == 0 && t.alive && v->identity.state == HT_STATE_RUNNING)
		read_publish_clock(v->segment, clock_monotonic_ns());
	snprintf(t.children, sizeof(t.children), "%s", children);
	t.monotonic_ns = clock_monotonic_ns();
	if (rc == 0)
		rc = far_shadow_send(v->shadow, lines_send, v);
	if (rc == 0)
		rc = process_send(v);
	t.agent_cpu_ns = clock_process_cpu_ns();
	t.agent_rss = proc_own_rss();
	far_tick_put(&v->out, &t);
	return rc ? rc : reply(v, FAR_TICK);
}
