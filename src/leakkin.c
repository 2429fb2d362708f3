/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leak scans of a launch's other processes (leakkin.h). */
#include "src/leakkin.h"

#include <stdlib.h>

#include "src/leakcheck.h"
#include "src/watch.h"

struct leakkin {
	size_t count;
	struct kin {
		const struct session *of;
		struct leakcheck *made;
	} kin[WATCH_MEMBERS_MAX];
};

static bool was_scanned(const struct leakkin *k, const struct session *s)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->kin[i].of == s)
			return true;
	return false;
}

static void scan(struct run *r, struct session *s, bool ends)
{
	struct leak_wish wish = run_leak_wish(r, session_pid(s));
	struct leakkin *k = r->leakkin;

	if (ends)
		wish.copying = LEAK_COPY_NEVER; /* it may as well stand still */
	k->kin[k->count] = (struct kin){ s, leakcheck_run(session_segment(s), &wish) };
	if (ends)
		read_leak_done(session_segment(s));
	if (k->kin[k->count].made)
		session_leaks(s, leakcheck_result(k->kin[k->count].made));
	k->count++;
}

static bool has_room(struct run *r)
{
	if (!r->leakkin)
		r->leakkin = calloc(1, sizeof(*r->leakkin));
	return r->leakkin && r->leakkin->count < WATCH_MEMBERS_MAX;
}

static void look(void *ctx, struct session *s)
{
	struct run *r = ctx;

	if (session_alive(s) && has_room(r) && !was_scanned(r->leakkin, s) &&
		read_leak_waits(session_segment(s)))
		scan(r, s, true);
}

static void finish(void *ctx, struct session *s)
{
	struct run *r = ctx;

	look(ctx, s);
	if (session_alive(s) && has_room(r) && !was_scanned(r->leakkin, s))
		scan(r, s, false);
}

void leakkin_look(struct run *r)
{
	if (r->child.pid)
		watch_members(r->watch, look, r);
}

void leakkin_finish(struct run *r)
{
	if (r->child.pid)
		watch_members(r->watch, finish, r);
}

void leakkin_suppress(struct run *r, const struct snapshot *s)
{
	struct leakkin *k = r->leakkin;

	for (size_t i = 0; k && i < k->count; i++)
		for (size_t j = 0; k->kin[i].made && j < s->nchildren; j++)
			if (s->children[j]->leaks == leakcheck_result(k->kin[i].made))
				leakcheck_suppress(k->kin[i].made, s->children[j], r->suppressions);
}

void leakkin_free(struct run *r)
{
	for (size_t i = 0; r->leakkin && i < r->leakkin->count; i++)
		leakcheck_free(r->leakkin->kin[i].made);
	free(r->leakkin);
	r->leakkin = NULL;
}
