/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The histories of the images that a run reads (histories.h). Main thread. */
#include "src/run/histories.h"

#include <errno.h>
#include <stdlib.h>

#include "src/model/moment.h"

#define IMAGES_MAX                                                                                 \
	16u /* the program, the processes visited on the screen, and images they left              \
	     */
#define IDLE_MAX 8u /* refreshes without a tick: reading the segment may fail now and then */

/* The snapshot keeps the owner alive, so that no other image gets its address. */
struct image {
	struct snapshot *newest;
	struct history *history;
	unsigned idle;
};

struct histories {
	uint64_t limit_bytes;
	struct image image[IMAGES_MAX];
	size_t images;
};

struct histories *histories_new(uint64_t limit_bytes)
{
	struct histories *h = calloc(1, sizeof(*h));

	if (h)
		h->limit_bytes = limit_bytes;
	return h;
}

static void image_forget(struct histories *h, size_t i)
{
	history_free(h->image[i].history);
	snapshot_unref(h->image[i].newest);
	h->image[i] = h->image[--h->images];
}

void histories_free(struct histories *h)
{
	if (!h)
		return;
	while (h->images > 0)
		image_forget(h, h->images - 1);
	free(h);
}

static struct image *image_find(struct histories *h, const struct snapshot *s)
{
	for (size_t i = 0; s && i < h->images; i++)
		if (h->image[i].newest->owner == s->owner)
			return &h->image[i];
	return NULL;
}

static size_t idlest(const struct histories *h)
{
	size_t at = 0;

	for (size_t i = 1; i < h->images; i++)
		if (h->image[i].idle > h->image[at].idle)
			at = i;
	return at;
}

static struct image *image_make(struct histories *h)
{
	struct history *history = history_new(h->limit_bytes);

	if (!history)
		return NULL;
	if (h->images == IMAGES_MAX)
		image_forget(h, idlest(h));
	h->image[h->images] = (struct image){ .history = history };
	return &h->image[h->images++];
}

void histories_add(struct histories *h, struct snapshot *s)
{
	struct image *image;

	if (!s || !h || h->limit_bytes == 0)
		return;
	image = image_find(h, s);
	if (!image)
		image = image_make(h);
	if (!image)
		return;
	snapshot_ref(s);
	snapshot_unref(image->newest);
	image->newest = s;
	image->idle = 0;
	history_add(image->history, s);
}

void histories_sweep(struct histories *h)
{
	for (size_t i = h->images; i-- > 0;)
		if (++h->image[i].idle > IDLE_MAX)
			image_forget(h, i);
}

const struct timeline *histories_timeline(struct histories *h, const struct snapshot *s)
{
	struct image *image = image_find(h, s);

	return image ? history_timeline(image->history) : NULL;
}

struct snapshot *histories_moment(struct histories *h, struct snapshot *now, const struct moment *m)
{
	struct image *image;

	if (m->kind == SNAP_NOW) {
		snapshot_ref(now);
		return now;
	}
	if (m->kind == SNAP_PEAK)
		return moment_peak(now);
	image = image_find(h, now);
	if (image)
		return history_snapshot(image->history, now, m);
	errno = ENODATA;
	return NULL;
}
