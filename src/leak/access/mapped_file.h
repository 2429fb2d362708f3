/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words of a shared mapping where the process has no page. A missing page says nothing there:
 * another process may have written it, it may have been written back and dropped, and a forked
 * process has none at first. The mapping's file has the words, and reading the file gives the
 * process no page. One thread.
 */
#ifndef SRC_LEAK_ACCESS_MAPPED_FILE_H
#define SRC_LEAK_ACCESS_MAPPED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/leak/access/map.h"
#include "src/leak/access/progress.h"
#include "src/leak/access/words.h"

/* Read at most: it may come from a disk while the process stands still. */
#define LEAK_MAPPED_FILE_MAX (UINT64_C(256) << 20)
/* Descriptors of the process that are checked, in all: some 3 us each. */
#define LEAK_DESCRIPTORS_MAX 8192u

/* All 0: nothing was read so far. */
struct leak_mapped_file {
	uint64_t start; /* of the mapping whose file is open */
	int fd; /* -1: it cannot be opened; valid if is_open */
	bool is_open;
	uint64_t read_bytes;
	unsigned looked; /* descriptors */
};

/* Whose mapping it is, and what to read with. */
struct leak_mapped_file_reader {
	pid_t pid; /* 0: we may not open what the process has, only files by their path */
	uint64_t *buffer; /* LEAK_BUFFER_BYTES */
	const struct leak_progress *progress; /* may be NULL */
	leak_visit *visit;
	void *ctx;
};

/*
 * Gives the words of [start, end) of a shared mapping to the reader's `visit`, in order and in
 * pieces, without the holes of the file. Returns how many bytes could not be read: only root may
 * open the file of anonymous memory, reading ends after LEAK_MAPPED_FILE_MAX, and the search for
 * descriptors of a file after LEAK_DESCRIPTORS_MAX.
 */
uint64_t leak_mapped_file_stream(struct leak_mapped_file *f,
	const struct leak_mapped_file_reader *r, const struct leak_map *m, uint64_t start,
	uint64_t end);
void leak_mapped_file_close(struct leak_mapped_file *f);

#endif
