/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A process that a desk sees (desk_view.h). */
#include "src/far/desk_view.h"

#include <errno.h>
#include <stdlib.h>

#include "src/util/clock.h"

bool far_desk_view_awaits(const struct far_desk_view *v, bool is_first)
{
	return v->opening || v->image_asked || (is_first && !v->mirror);
}

bool far_desk_view_opens(const struct far_desk_view *v)
{
	return v->opening && !v->image_asked;
}

/* Another process in the place of one before it. */
static void process_begin(struct far_desk_view *v)
{
	free(v->moment.threads);
	v->moment = (struct far_moment){ 0 };
	v->ready = v->fresh_image = v->image_asked = false;
}

int far_desk_view_greeted(struct far_desk_view *v, const struct far_hello *h)
{
	if (far_desk_view_opens(v)) {
		process_begin(v);
		v->opening = false;
	}
	v->image_new = v->image_asked;
	v->image_asked = false;
	v->moment.agent = *h;
	far_mirror_free(v->mirror);
	v->mirror = far_mirror_new(h->segment_bytes);
	return v->mirror ? 0 : -errno;
}

static int tick_take(struct far_desk_view *v, struct bytes_cursor *c)
{
	int rc = far_tick_get(c, &v->moment.tick);

	if (rc == 0)
		rc = far_mirror_commit(v->mirror);
	if (v->opening)
		return rc; /* of the process before */
	v->ready = true;
	v->fresh_image = v->image_new;
	v->moment.here_ns = clock_monotonic_ns();
	return rc;
}

int far_desk_view_frame(struct far_desk_view *v, const struct far_frame *f)
{
	struct bytes_cursor c = { f->data, f->data + f->len, false };

	if (!v->mirror)
		return -EPROTO;
	if (f->type == FAR_LINES)
		return far_mirror_add(v->mirror, f->data, f->len);
	return f->type == FAR_PROCESS ? far_process_get(&c, &v->moment) : tick_take(v, &c);
}

bool far_desk_view_is_final(const struct far_desk_view *v)
{
	const struct far_tick *t = &v->moment.tick;

	if (!v->mirror || v->opening)
		return true;
	return v->ready && (!t->alive || (t->replaced && !t->next));
}

void far_desk_view_free(struct far_desk_view *v)
{
	far_mirror_free(v->mirror);
	free(v->moment.threads);
	*v = (struct far_desk_view){ 0 };
}
