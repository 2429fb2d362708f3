/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An object file that the process has mapped, piece by piece, for the desk's symbols. Main thread
 * of the agent. */
#ifndef SRC_FAR_AGENT_FILE_H
#define SRC_FAR_AGENT_FILE_H

#include "src/far/wire.h"
#include "src/read/read.h"

#define FAR_FILE_MOST (UINT64_C(512) << 20)

struct far_file {
	int fd; /* -1: none */
	uint64_t module;
	uint64_t bytes;
};

/*
 * Opens the file of p->module, unless it is open. Only an ELF file of FAR_FILE_MOST bytes at most
 * that the process itself maps now. p->bytes gets its size; 0: there is none for the desk.
 */
void far_file_open(struct far_file *f, struct read_segment *s, pid_t pid, struct far_piece *p);
/* Adds a piece of `most` bytes at most from `offset` on; none at the end or on failure. */
void far_file_read(struct far_file *f, uint64_t offset, uint64_t most, struct bytes *out);
void far_file_close(struct far_file *f);

#endif
