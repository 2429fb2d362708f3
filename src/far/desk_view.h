/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One process that a desk sees: the copy of its segment and its last moment. Main thread of the
 * desk. */
#ifndef SRC_FAR_DESK_VIEW_H
#define SRC_FAR_DESK_VIEW_H

#include "src/far/channel.h"
#include "src/far/mirror.h"
#include "src/far/moment.h"

struct far_desk_view {
	struct far_mirror *mirror; /* NULL: no greeting has come */
	struct far_moment moment;
	bool opening; /* FAR_OPEN was sent, and not answered */
	bool ready; /* a moment has come */
	bool image_asked; /* the next one was asked for, */
	bool image_new; /* and its greeting came, */
	bool fresh_image; /* and a moment of it; until far_desk_image */
	char why[FAR_TEXT_MAX]; /* why it does not open, cleaned */
};

/* Whether a greeting may come. */
bool far_desk_view_awaits(const struct far_desk_view *v, bool is_first);
/* Whether the answer to FAR_OPEN comes next: that to a FAR_IMAGE sent before it comes first. */
bool far_desk_view_opens(const struct far_desk_view *v);
/* A checked greeting. 0, or -errno of the copy. */
int far_desk_view_greeted(struct far_desk_view *v, const struct far_hello *h);
/* FAR_LINES, FAR_PROCESS or FAR_TICK. 0, or -errno. */
int far_desk_view_frame(struct far_desk_view *v, const struct far_frame *f);
/* Whether nothing more comes of it: it is not open, or does not change any more. */
bool far_desk_view_is_final(const struct far_desk_view *v);
void far_desk_view_free(struct far_desk_view *v);

#endif
