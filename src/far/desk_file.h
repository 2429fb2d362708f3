/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One object file that a desk copies: its frames. Main thread of the desk. */
#ifndef SRC_FAR_DESK_FILE_H
#define SRC_FAR_DESK_FILE_H

#include "src/far/channel.h"
#include "src/far/pace.h"

struct far_desk_file {
	unsigned view;
	uint64_t module, offset, bytes, most;
	int fd; /* -1: none */
	int result; /* 1: pieces are to come; else as far_desk_copied */
	struct far_pace pace;
	unsigned asked; /* pieces that were asked for and have not come, of earlier files too */
};

/* Asks for the first piece of the file that `wanted` names by view, module, most and fd. One before
 * it is given up. 0, or as far_channel_send. */
int far_desk_file_begin(
	struct far_desk_file *f, struct far_channel *line, const struct far_desk_file *wanted);
/* FAR_PIECE. 0, -EPROTO, or as far_channel_send. */
int far_desk_file_piece(struct far_desk_file *f, struct far_channel *line, struct bytes_cursor *c);
/* What comes of it from now on is dropped. */
void far_desk_file_end(struct far_desk_file *f);

#endif
