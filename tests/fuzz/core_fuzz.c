/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzzing of the reader of core files, under libFuzzer. What opens is read at the borders of all
 * that it claims to have.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/core/maps.h"
#include "src/core/missing.h"
#include "src/core/open.h"
#include "src/proc/proc.h"

#define LOADS_READ 16u
#define STEPS_MOST 64u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void borders_read(const struct core *c)
{
	unsigned char buf[64];

	for (size_t i = 0; i < c->loads && i < LOADS_READ; i++) {
		const struct core_load *l = &c->load[i];
		const uint64_t at[] = { l->start - 8, l->start, l->start + l->bytes - 8,
			l->end - 8 };

		for (size_t j = 0; j < sizeof(at) / sizeof(at[0]); j++)
			if (core_read(c, at[j], buf, sizeof(buf)) > (ssize_t)sizeof(buf))
				abort();
	}
}

static void ranges_follow(const struct core *c)
{
	struct core_range r = { 0, 0, false, false };
	uint64_t before = 0;

	for (unsigned i = 0; i < STEPS_MOST && core_next(c, before, UINT64_MAX, &r); i++) {
		if (r.start < before || r.end <= r.start)
			abort();
		before = r.end;
	}
}

static void text_read(char *text, size_t len)
{
	struct proc_map m;
	size_t pos = 0;

	while (text && proc_parse_map(text, len, &pos, &m) != 0)
		;
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	int fd = memfd_create("core", MFD_CLOEXEC);
	char path[32], message[CORE_MESSAGE_MAX], text[256];
	struct core *c;
	size_t len = 0;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes)
		abort();
	c = core_open(path, message);
	if (!c && !*message)
		abort();
	if (c) {
		borders_read(c);
		ranges_follow(c);
		core_missing_text(c, text, sizeof(text));
		text_read(core_maps_text(c, &len), len);
		text_read(core_maps_smaps(c, &len), len);
	}
	core_close(c);
	close(fd);
	return 0;
}
