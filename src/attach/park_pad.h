/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code of the pad to which an allocator's entries lead while the viewer waits for a thread.
 * The pad identifies itself to the next viewer. Pure.
 */
#ifndef SRC_ATTACH_PARK_PAD_H
#define SRC_ATTACH_PARK_PAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARK_PAD_ENTRIES 16u
#define PARK_PAD_CODE	 (3u * 4096) /* bytes, not writable */
#define PARK_PAD_DATA	 4096u /* behind them, writable, empty in a forked child */
#define PARK_PAD_BYTES	 (PARK_PAD_CODE + PARK_PAD_DATA)
#define PARK_PAD_MAGIC                                                                             \
	{                                                                                          \
		'h', 'e', 'a', 'p', 't', 'o', 'p', '-', 'p', 'a', 'd', '1', 0, 0, 0, 0             \
	}

/* At the start of the pad. */
struct park_pad_head {
	char magic[16];
	uint32_t entries, reserved;
	struct park_pad_entry {
		uint64_t at; /* the function */
		uint8_t before[5], jump[5], reserved[6];
	} entry[PARK_PAD_ENTRIES];
};

/* In the writable part. */
struct park_pad_data {
	uint32_t armed; /* 1: the next thread is to wait */
	uint32_t arrived; /* 1 + the number of its entry */
	uint64_t limit; /* for how long, in ticks of the processor's clock */
	uint64_t until; /* the one that waits */
};

/* Code whose calls do not count: libc's and the loader's own. */
struct park_pad_outside {
	uint64_t start[2], bytes[2];
};

/*
 * Writes to `code` (PARK_PAD_CODE bytes, which will be at `pad`) what entry `number` leads to, for
 * a function at `at` whose `bytes` bytes are at `function`, `readable` of them there; and describes
 * it. False: the function cannot be patched (*why: a static text).
 */
bool park_pad_entry_make(uint8_t *code, uint64_t pad, unsigned number, uint64_t at,
	const uint8_t *function, size_t bytes, size_t readable, const struct park_pad_outside *o,
	struct park_pad_entry *out, const char **why);
/* Whether a thread whose instruction pointer is `ip` waits in the pad, and at which entry. */
bool park_pad_is_waiting(uint64_t pad, uint64_t ip, unsigned *number);

#endif
