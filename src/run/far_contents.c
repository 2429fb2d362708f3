/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contents of blocks on another machine (far_contents.h). */
#include "src/run/far_contents.h"

#include <errno.h>
#include <string.h>

#include "src/util/clock.h"

#define OLD_NS	  UINT64_C(1000000000) /* as the screen's usual refresh */
#define UNSEEN_NS UINT64_C(3000000000) /* not shown for so long: not asked for */

static struct far_contents_entry *entry_of(struct far_contents *f, uint64_t addr, size_t bytes)
{
	struct far_contents_entry *oldest = NULL;

	for (struct far_contents_entry *e = f->entry; e < f->entry + FAR_CONTENTS_KEPT; e++) {
		if (e->range.bytes == bytes && e->range.addr == addr)
			return e;
		if (!e->asked && (!oldest || e->used_ns < oldest->used_ns))
			oldest = e;
	}
	*oldest = (struct far_contents_entry){ .range = { .addr = addr, .bytes = bytes } };
	return oldest;
}

static bool is_wanted(const struct far_contents_entry *e, uint64_t now)
{
	return e->range.bytes > 0 && now < e->used_ns + UNSEEN_NS && now > e->read_ns + OLD_NS;
}

/* Asks for all that is shown and old. */
static void request_send(struct far_contents *f, uint64_t now)
{
	struct contents_range range[CONTENTS_RANGES];
	struct bytes b = { 0 };

	for (unsigned i = 0; i < FAR_CONTENTS_KEPT && f->nasked < CONTENTS_RANGES; i++) {
		if (!is_wanted(&f->entry[i], now))
			continue;
		range[f->nasked] = f->entry[i].range;
		f->asked[f->nasked++] = (uint8_t)i;
		f->entry[i].asked = true;
	}
	if (f->nasked == 0)
		return;
	contents_request_put(&b, range, f->nasked);
	f->failed = b.failed ? -ENOMEM : f->order.begin(f->order.ctx, &b);
	bytes_free(&b);
	if (f->failed == 0)
		return;
	for (size_t i = 0; i < f->nasked; i++)
		f->entry[f->asked[i]].asked = false;
	f->nasked = 0;
}

long far_contents_read(struct far_contents *f, uint64_t addr, void *out, size_t bytes)
{
	uint64_t now = clock_monotonic_ns();
	struct far_contents_entry *e;

	if (bytes == 0)
		return 0;
	e = entry_of(f, addr, bytes < CONTENTS_RANGE_MOST ? bytes : CONTENTS_RANGE_MOST);
	e->used_ns = now;
	if (f->nasked == 0)
		request_send(f, now);
	if (e->read_ns == 0)
		return f->failed ? f->failed : -EAGAIN;
	memcpy(out, e->range.data, e->range.got);
	return (long)e->range.got;
}

bool far_contents_awaits(const struct far_contents *f)
{
	return f->nasked > 0;
}

static void answer_take(struct far_contents *f, struct bytes_cursor *c)
{
	struct contents_range range[CONTENTS_RANGES];
	uint64_t now = clock_monotonic_ns();

	for (size_t i = 0; i < f->nasked; i++)
		range[i] = f->entry[f->asked[i]].range;
	f->failed = contents_answer_get(c, range, f->nasked);
	for (size_t i = 0; i < f->nasked && f->failed == 0; i++) {
		f->entry[f->asked[i]].range = range[i];
		f->entry[f->asked[i]].read_ns = now;
	}
}

bool far_contents_listen(struct far_contents *f)
{
	struct far_working said;
	struct bytes_cursor answer;
	const char *why;
	int rc = f->nasked ? f->order.take(f->order.ctx, 0, &said, &answer, &why) : 0;

	if (rc == 0)
		return false;
	f->failed = rc < 0 ? rc : 0;
	if (rc > 0)
		answer_take(f, &answer);
	for (size_t i = 0; i < f->nasked; i++)
		f->entry[f->asked[i]].asked = false;
	f->nasked = 0;
	return true;
}

void far_contents_forget(struct far_contents *f)
{
	*f = (struct far_contents){ .order = f->order };
}
