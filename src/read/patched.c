/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading the functions of allocators inside the program (read.h). Main thread. */
#include <errno.h>
#include <string.h>

#include "src/read/segment.h"

/* A text of the strings; empty where it is none. */
static int text_read(struct read_segment *s, uint32_t at, uint32_t bytes, char *out, size_t room)
{
	int rc = 0;

	if (bytes >= room)
		return -EINVAL;
	if (at != 0)
		rc = read_elements(s, HT_REGION_STRINGS, at, bytes, 1, out);
	out[at != 0 && rc == 0 ? bytes : 0] = '\0';
	return rc;
}

uint32_t read_patched_count(struct read_segment *s)
{
	uint32_t count;

	if (read_used(s, offsetof(struct ht_header, patched), HT_REGION_PATCHED,
		    sizeof(struct ht_patched), &count) != 0)
		return 0;
	return count;
}

int read_patched(struct read_segment *s, uint32_t number, struct read_patched *out)
{
	struct ht_patched p;
	int rc = read_elements(s, HT_REGION_PATCHED, number, 1, sizeof(p), &p);

	if (rc != 0)
		return rc;
	if (p.state == HT_PATCHED_NONE)
		return -EAGAIN;
	if (p.state >= HT_PATCHED_STATES)
		return -EINVAL;
	out->module = p.module;
	out->state = p.state;
	rc = text_read(s, p.name, p.name_bytes, out->name, sizeof(out->name));
	return rc ? rc : text_read(s, p.reason, p.reason_bytes, out->reason, sizeof(out->reason));
}

const char *read_function_name(struct read_segment *s, uint32_t function)
{
	static struct read_patched p;

	if (function < HT_FN_NAMED)
		return ht_function_name(function);
	return read_patched(s, function - HT_FN_NAMED, &p) == 0 ? p.name : "?";
}
