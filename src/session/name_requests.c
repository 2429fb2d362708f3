/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests names for the places of stacks (name_requests.h). A request's cookie is the place. A
 * program may have a million stacks of some dozen frames and only thousands of places, so nothing
 * is kept for each frame: answers go to places, and from time to time the model brings its stacks
 * in line. Main thread.
 */
#include "src/session/name_requests.h"

#include <errno.h>
#include <stdlib.h>

#include "src/sym/hide_rules.h"
#include "src/util/array.h"
#include "src/util/shortage.h"

#define INLINES_MAX 64u /* frames named per address; deeper than any compiler nests inlines */
/* Stacks are visited once there is one answer to so many open questions: a few dozen visits in all,
 * at intervals that shrink as the rest does. */
#define SETTLE_SHARE 4u

/* A place that may not be asked about yet. */
struct held {
	struct stack_place *place;
	uint32_t module_id;
};

struct name_requests {
	struct model *model;
	struct sym *sym;
	struct held *held;
	size_t nheld, held_room;
	const uint32_t *below; /* modules that may be asked about; NULL: all */
	uint32_t was_below; /* at the last release */
	size_t fresh; /* answers that stacks do not have yet */
};

struct name_requests *name_requests_new(struct model *model, struct sym *sym)
{
	struct name_requests *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->model = model;
	n->sym = sym;
	return n;
}

void name_requests_free(struct name_requests *n)
{
	if (!n)
		return;
	free(n->held);
	free(n);
}

/* ---- questions ---- */

void name_requests_hold(struct name_requests *n, const uint32_t *below)
{
	n->below = below;
	n->was_below = *below;
}

static int place_request(struct name_requests *n, struct stack_place *place, uint32_t module_id)
{
	return sym_request(n->sym, module_id, model_place_frame(place)->offset, true,
		(uint64_t)(uintptr_t)place);
}

static int place_hold(struct name_requests *n, struct stack_place *place, uint32_t module_id)
{
	struct held *held = array_grow(n->held, n->nheld, &n->held_room, sizeof(*held));

	if (!held)
		return -ENOMEM;
	n->held = held;
	held[n->nheld++] = (struct held){ place, module_id };
	return 0;
}

/* Asks for the names that were held. Those that cannot be asked for now stay held. */
static void held_release(struct name_requests *n)
{
	size_t left = 0;

	if (!n->below || *n->below == n->was_below)
		return;
	n->was_below = *n->below;
	for (size_t i = 0; i < n->nheld; i++) {
		struct held h = n->held[i];

		if (h.module_id >= n->was_below || place_request(n, h.place, h.module_id) != 0)
			n->held[left++] = h;
	}
	n->nheld = left;
}

int name_requests_want(struct name_requests *n, struct stack_place *place, uint32_t module_id)
{
	int rc;

	if (model_place_is_asked(place))
		return 0;
	if (n->below && module_id >= *n->below)
		rc = place_hold(n, place, module_id);
	else
		rc = place_request(n, place, module_id);
	if (rc == 0)
		model_place_ask(place);
	return rc;
}

/* ---- answers ---- */

static int place_name(struct name_requests *n, const struct sym_result *r)
{
	struct stack_place *place = (struct stack_place *)(uintptr_t)r->cookie;
	const struct frame *at = model_place_frame(place);
	struct frame frames[INLINES_MAX];
	uint32_t count = r->nframes < INLINES_MAX ? r->nframes : INLINES_MAX;

	for (uint32_t i = 0; i < count; i++) {
		const struct sym_frame *s = &r->frames[i];

		frames[i] = (struct frame){ .pc = i + 1 == count ? at->pc : 0,
			.offset = at->offset,
			.module = at->module,
			.function = s->function,
			.mangled = s->function_raw,
			.file = s->file,
			.line = s->line,
			.inlined = s->inlined,
			.hidden = hide_rules_match(s->function, at->module->path) };
	}
	return model_place_resolve(n->model, place, frames, count);
}

bool name_requests_collect(struct name_requests *n, bool settle)
{
	struct sym_result r;
	int rc;

	held_release(n);
	while (sym_collect(n->sym, &r) == 1) {
		shortage_note(place_name(n, &r));
		n->fresh++;
	}
	if (n->fresh == 0 || (!settle && n->fresh * SETTLE_SHARE < sym_pending(n->sym)))
		return false;
	rc = model_names_settle(n->model);
	shortage_note(rc);
	if (rc == 0)
		n->fresh = 0;
	return true;
}

static bool frame_hidden(const struct frame *f)
{
	return hide_rules_match(f->function, f->module->path);
}

void name_requests_hide_again(struct name_requests *n)
{
	model_hide_again(n->model, frame_hidden);
}
