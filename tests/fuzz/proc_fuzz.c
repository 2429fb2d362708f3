/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzzing of the parsers of /proc files, under libFuzzer. The first byte picks the file. The bytes
 * come without a NUL behind them, and parsers may not look for one.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/proc/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void maps(const char *buf, size_t len)
{
	size_t pos = 0, before = 0;
	struct proc_map m;
	int rc;

	while ((rc = proc_parse_map(buf, len, &pos, &m)) != 0) {
		if (pos <= before || pos > len)
			abort(); /* each call takes a line */
		before = pos;
		if (rc == 1 && m.path_len > 0 && (m.path < buf || m.path + m.path_len > buf + len))
			abort();
		if (rc == 1 && !memchr(m.perms, '\0', sizeof(m.perms)))
			abort();
	}
}

static void smaps(const char *buf, size_t len)
{
	size_t pos = 0, before = 0;
	struct proc_smap m;
	int rc;

	while ((rc = proc_parse_smap(buf, len, &pos, &m)) != 0) {
		if (pos <= before || pos > len)
			abort();
		before = pos;
		if (rc == 1 && m.map.path_len > 0 &&
			(m.map.path < buf || m.map.path + m.map.path_len > buf + len))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const char *text = (const char *)data + 1;
	struct proc_reading r = { 0 };

	if (bytes == 0)
		return 0;
	switch (data[0] % 5) {
	case 0:
		proc_parse_stat(text, bytes - 1, &r);
		break;
	case 1:
		proc_parse_status(text, bytes - 1, &r);
		break;
	case 2:
		proc_parse_smaps_rollup(text, bytes - 1, &r);
		break;
	case 4:
		smaps(text, bytes - 1);
		break;
	default:
		maps(text, bytes - 1);
	}
	if (!memchr(r.comm, '\0', sizeof(r.comm)))
		abort();
	return 0;
}
