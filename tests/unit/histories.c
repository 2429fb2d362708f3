/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The histories of several images: each has its own, as long as it is ticked. */
#include <errno.h>
#include <stdlib.h>
#include "src/run/histories.h"
#include "tests/check.h"

#define LIMIT (1u << 20)

static struct histories *histories;
static int released[20]; /* by image */

static void release(void *owner)
{
	++*(int *)owner;
}

/* A tick of an image; one reference. */
static struct snapshot *tick(unsigned image, uint64_t ns, uint64_t live)
{
	struct snapshot *s = calloc(1, sizeof(*s));

	if (!s)
		exit(1);
	*s = (struct snapshot){ .refs = 1,
		.owner = &released[image],
		.release = release,
		.uptime_ns = ns,
		.totals = { .live_bytes = live } };
	return s;
}

static void add(unsigned image, uint64_t ns, uint64_t live)
{
	struct snapshot *s = tick(image, ns, live);

	histories_add(histories, s);
	snapshot_unref(s);
}

static void begin(uint64_t limit)
{
	memset(released, 0, sizeof(released));
	histories = histories_new(limit);
	CHECK(histories != NULL);
}

TEST(each_its_own)
{
	struct snapshot *a = tick(0, 30, 300), *b = tick(1, 40, 400), *c = tick(2, 1, 1), *then;
	const struct moment m = { .kind = SNAP_PAST, .ns = 25 };

	begin(LIMIT);
	add(0, 10, 100);
	add(1, 15, 150);
	add(0, 20, 200);
	histories_add(histories, a);
	histories_add(histories, b);
	CHECK_INT(histories_timeline(histories, a)->npoints, 3);
	CHECK_INT(histories_timeline(histories, b)->npoints, 2);
	CHECK(histories_timeline(histories, c) == NULL);
	CHECK(histories_timeline(histories, NULL) == NULL);
	then = histories_moment(histories, a, &m);
	CHECK(then && then->moment == SNAP_PAST && then->totals.live_bytes == 200);
	snapshot_unref(then);
	then = histories_moment(histories, b, &m);
	CHECK(then && then->totals.live_bytes == 150);
	snapshot_unref(then);
	errno = 0;
	CHECK(histories_moment(histories, c, &m) == NULL && errno == ENODATA);
	histories_free(histories);
	snapshot_unref(a);
	snapshot_unref(b);
	snapshot_unref(c);
	for (int i = 0; i < 2; i++)
		CHECK_INT(released[i], i ? 2 : 3);
}

TEST(now_is_itself)
{
	struct snapshot *a = tick(0, 30, 300), *now;
	const struct moment m = { .kind = SNAP_NOW }, peak = { .kind = SNAP_PEAK };

	begin(0);
	now = histories_moment(histories, a, &m);
	CHECK(now == a && a->refs == 2);
	snapshot_unref(now);
	errno = 0;
	CHECK(histories_moment(histories, a, &peak) == NULL && errno == ENODATA);
	histories_free(histories);
	snapshot_unref(a);
}

TEST(none_is_kept)
{
	struct snapshot *a = tick(0, 10, 100);

	begin(0);
	histories_add(histories, a);
	histories_add(histories, NULL);
	CHECK(histories_timeline(histories, a) == NULL);
	CHECK_INT(a->refs, 1);
	histories_free(histories);
	histories_free(NULL);
	histories_add(NULL, a);
	snapshot_unref(a);
}

/* What the screen has left, or exec has replaced, is not held for ever; a hole of a few ticks is no
 * reason to forget. */
TEST(forgotten)
{
	struct snapshot *a = tick(0, 50, 500);

	begin(LIMIT);
	histories_add(histories, a);
	add(1, 10, 100);
	for (unsigned i = 0; i < 8; i++)
		histories_sweep(histories);
	CHECK_INT(released[1], 0);
	add(0, 60, 600);
	histories_sweep(histories);
	CHECK_INT(released[1], 1);
	CHECK_INT(histories_timeline(histories, a)->npoints, 2);
	histories_free(histories);
	snapshot_unref(a);
}

/* More images than have room: the one that was not ticked for the longest time goes. */
TEST(many)
{
	begin(LIMIT);
	for (unsigned i = 0; i < 20; i++) {
		histories_sweep(histories);
		add(i == 1 ? 1 : i, 10 + i, 1);
		if (i < 7)
			add(0, 20 + i, 1);
	}
	CHECK(released[19] == 0 && released[1] > 0);
	histories_free(histories);
	for (unsigned i = 0; i < 20; i++)
		CHECK(released[i] > 0);
}

int main(void)
{
	RUN(each_its_own);
	RUN(now_is_itself);
	RUN(none_is_kept);
	RUN(forgotten);
	RUN(many);
	return check_end();
}
