/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work of one kind that a desk has asked for: its frames, and what it found. Main thread of the
 * desk. */
#ifndef SRC_FAR_DESK_WORK_H
#define SRC_FAR_DESK_WORK_H

#include "src/far/channel.h"
#include "src/far/pace.h"

struct far_desk_work {
	enum far_kind kind;
	uint64_t number; /* of the last one */
	bool runs; /* it has not ended, or not all that it found is here */
	bool asked; /* for a part */
	struct far_working said;
	struct bytes found;
	struct far_pace pace;
};

/* Asks for it. What was asked for before is forgotten. 0, or as far_channel_send. */
int far_desk_work_begin(struct far_desk_work *w, struct far_channel *line, unsigned view,
	const struct bytes *request);
/* Also of work that has ended: the worker may keep something for the next. 0, or as
 * far_channel_send. */
int far_desk_work_cancel(struct far_desk_work *w, struct far_channel *line);
/* FAR_WORKING. `most`: bytes of what is found. 0, -EPROTO, -EFBIG, -ENOMEM, or as
 * far_channel_send. */
int far_desk_work_said(struct far_desk_work *w, struct far_channel *line,
	const struct far_working *said, uint64_t most);
/* FAR_FOUND: its head, and a cursor behind that. Likewise. */
int far_desk_work_part(struct far_desk_work *w, struct far_channel *line, const struct far_part *p,
	const struct bytes_cursor *c);
void far_desk_work_free(struct far_desk_work *w);

#endif
