/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output that is compressed according to its file's name: .zst, .gz, or not at all. */
#ifndef SRC_RUN_PACKED_FILE_H
#define SRC_RUN_PACKED_FILE_H

#include <stddef.h>

struct packed_file;

/* `name` may be NULL: plain. `fd` stays the caller's. NULL: no memory. */
struct packed_file *packed_file_open(int fd, const char *name);
/* 0 or -errno. */
int packed_file_put(struct packed_file *p, const void *data, size_t bytes);
/* Writes what is left. 0 or -errno. packed_file_close(NULL) is fine. */
int packed_file_close(struct packed_file *p);

#endif
