/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The segment that belongs to a core: the one into which the process recorded, from a file that
 * the core or the user names, or from the core itself. Main thread.
 */
#ifndef SRC_CORE_ACCOUNT_H
#define SRC_CORE_ACCOUNT_H

#include <limits.h>

#include "src/core/core.h"

struct core_account {
	char path[PATH_MAX]; /* for read_open */
	int fd; /* of memory that has it; -1: it is a file */
};

/* What precedes the bytes in CORE_NOTE_ACCOUNT: this, and `parts` struct core_account_part; then
 * the bytes of the parts. What is in no part is zeros. */
struct core_account_head {
	uint64_t file_bytes, parts;
};
struct core_account_part {
	uint64_t offset, bytes;
};

/*
 * Finds the account. `given`: the file that the user names, or NULL. 0, or -errno and one line in
 * `message` (CORE_MESSAGE_MAX): there is none, or it does not agree with the core: in the pid, the
 * time, the addresses of the modules, or their build-ids.
 */
int core_account_open(
	struct core_account *a, const struct core *c, const char *given, char *message);
void core_account_close(struct core_account *a);

#endif
