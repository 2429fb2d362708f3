/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One leak scan that a desk has asked for: its frames, and what it found. Main thread of the desk.
 */
#ifndef SRC_FAR_DESK_SCAN_H
#define SRC_FAR_DESK_SCAN_H

#include "src/far/channel.h"

struct far_desk_scan {
	uint64_t number; /* of the last one */
	bool runs; /* it has not ended, or not all that it found is here */
	bool asked; /* for a part */
	struct far_scanning said;
	struct bytes found;
};

/* Asks for a scan. One before it is forgotten. 0, or as far_channel_send. */
int far_desk_scan_begin(struct far_desk_scan *s, struct far_channel *line, unsigned view,
	const struct bytes *request);
int far_desk_scan_cancel(struct far_desk_scan *s, struct far_channel *line);
/* FAR_SCANNING and FAR_FOUND. `most`: bytes of what is found. 0, -EPROTO, -EFBIG, -ENOMEM, or as
 * far_channel_send. */
int far_desk_scan_frame(struct far_desk_scan *s, struct far_channel *line,
	const struct far_frame *f, uint64_t most);
void far_desk_scan_free(struct far_desk_scan *s);

#endif
