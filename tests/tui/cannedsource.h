/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One source file, ages and threads, for the detail of canned sites. */
#ifndef TESTS_TUI_CANNEDSOURCE_H
#define TESTS_TUI_CANNEDSOURCE_H

#include <stdio.h>
#include <string.h>
#include "src/model/snapshot.h"
#include "src/model/source_text.h"

/* cache.cc has 300 lines, some of which are given; other files are missing. */
static inline const struct source_text *cannedsource_text(const char *file, bool newer)
{
	static char text[8192], note[256];
	static uint32_t start[301];
	static struct source_text found = { .path = (char *)(uintptr_t) "/src/cache.cc",
		.lines = 300,
		.start = start,
		.text = text };
	static struct source_text none = { .note = note };
	uint32_t used = 0;

	snprintf(note, sizeof(note), "%s is not here; --source-path DIR looks in DIR, too", file);
	if (strcmp(file, "/src/cache.cc"))
		return &none;
	for (uint32_t i = 0; i < 300; i++) {
		start[i] = used;
		used += 1 +
			(uint32_t)sprintf(text + used, "%s",
				i == 211 ? "        if (auto it = map_.find(key); it != map_.end())"
				: i == 212 ? "                return it->second;"
				: i == 213 ? "        auto [pos, ok] = map_.emplace(key, "
					     "std::move(blob));"
				: i == 214 ? "        lru_.push_front(pos->first);"
				: i == 96  ? "        shard(key).insert(key, std::move(blob));"
					   : "");
	}
	start[300] = used;
	found.newer = newer;
	return &found;
}

/* Each second 100 blocks, of which a fifth stays; one thread allocates most, another frees. */
static inline void cannedsource_ages(struct snap_detail *out)
{
	static const uint64_t ages[] = { 0, 2, 4, 8, 16, 90 };

	out->has_ages = true;
	out->nages = 6;
	for (unsigned i = 0; i < 5; i++)
		out->age[i] = (struct snap_age){ .youngest_ns = ages[i] * 1000000000,
			.oldest_ns = ages[i + 1] * 1000000000,
			.allocs = (ages[i + 1] - ages[i]) * 100,
			.alive_blocks = (ages[i + 1] - ages[i]) * (i == 0 ? 80 : 20) };
	out->age[5] = (struct snap_age){ .is_before = true, .youngest_ns = 90000000000 };
	out->nthreads = 2;
	out->more_threads = 3;
	out->thread[0] = (struct snap_site_thread){ .slot = 2,
		.allocs = 90000,
		.alloc_bytes = 41000000,
		.frees = 100,
		.free_bytes = 45000,
		.live_blocks = 70000,
		.live_bytes = 31000000 };
	out->thread[1] = (struct snap_site_thread){ .slot = 3,
		.allocs = 100,
		.alloc_bytes = 45000,
		.frees = 88000,
		.free_bytes = 40000000,
		.live_blocks = 9,
		.live_bytes = 4000 };
	out->has_alive = true;
	out->alive_bytes = 93u << 20;
}

#endif
