/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What lies in a shared mapping where the process has no page: that says nothing, for another
 * process may have written there, a page that was written back goes, and a forked process has none
 * at first. Its file has it, and to read that gives the process no page. One thread.
 */
#ifndef SRC_LEAK_ACCESS_MAPPED_FILE_H
#define SRC_LEAK_ACCESS_MAPPED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct leak_map;
struct leak_space;

/* It may come from a disk while the process stands still. */
#define LEAK_MAPPED_FILE_MAX (UINT64_C(256) << 20)

/* All 0: none was read so far. */
struct leak_mapped_file {
	uint64_t start; /* of the mapping whose file is open */
	int fd; /* then; -1: it cannot be opened */
	bool is_open;
	uint64_t read_bytes;
};

typedef void leak_mapped_file_visit(void *ctx, uint64_t addr, const uint64_t *words, size_t count);
/*
 * Gives the words of [start, end) of a shared mapping to `visit`, in order and in pieces, but for
 * holes of the file. What cannot be read is counted in the space's absent_bytes: the file of
 * anonymous memory is for root to open, and after LEAK_BACKING_MAX it is enough.
 */
void leak_mapped_file_stream(struct leak_space *s, const struct leak_map *m, uint64_t start,
	uint64_t end, leak_mapped_file_visit *visit, void *ctx);
void leak_mapped_file_close(struct leak_mapped_file *b);

#endif
