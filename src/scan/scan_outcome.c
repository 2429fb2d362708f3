/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Outcomes of leak scans (scan_outcome.h). */
#include "src/scan/scan_outcome.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/leak/analysis/result_bytes.h"
#include "src/util/clock.h"
#include "src/util/text.h"

#define HEURISTICS ((1u << LEAK_HEURISTICS) - 1)

void scan_outcome_fail(struct scan_outcome *o, const char *why)
{
	*o = (struct scan_outcome){ 0 };
	snprintf(o->failed, sizeof(o->failed), "%s", why);
}

void scan_outcome_free(struct scan_outcome *o)
{
	leak_result_free(&o->result);
}

/* Whether a scan would be wrong, and why: a block that was not recorded cannot be searched for
 * pointers. */
static bool is_unrecorded(struct read_segment *s, char *why)
{
	struct read_totals t;
	int rc = read_totals(s, &t);

	if (rc != 0)
		snprintf(why, TRACE_MESSAGE_MAX, "no leak scan: the segment cannot be read: %s",
			strerror(-rc));
	else if (t.sample_most != 0)
		snprintf(why, TRACE_MESSAGE_MAX,
			"no leak scan: blocks were sampled, and a scan needs all of them");
	return rc != 0 || t.sample_most != 0;
}

void scan_outcome_make(
	struct scan_outcome *o, struct read_segment *s, const struct leak_scan_options *request)
{
	struct read_identity id;
	uint64_t now = clock_monotonic_ns();

	*o = (struct scan_outcome){ 0 };
	if (!is_unrecorded(s, o->failed)) {
		o->refused = leak_scan(s, request, &o->result, o->failed);
		if (o->refused == 0)
			o->failed[0] = '\0';
	}
	if (o->result.access.at_exit)
		now = clock_monotonic_ns() - o->result.scan_ns;
	o->before_exit = request->at_exit && !o->result.access.at_exit;
	if (request->at_exit)
		read_exit_scan_done(
			s); /* also if the process was not scanned at its last instant */
	if (read_identity(s, &id) == 0 && now > id.created_ns)
		o->at_ns = now - id.created_ns;
}

/* ---- between machines ---- */

void scan_outcome_request_put(struct bytes *b, const struct leak_scan_options *r)
{
	bytes_number(b, r->roots);
	bytes_number(b, r->heuristics & HEURISTICS);
	bytes_number(b, r->copying);
	bytes_number(b, r->why);
	bytes_number(b, r->holders);
	bytes_number(b, r->contents);
	bytes_number(b, r->behind);
	bytes_number(b, r->at_exit);
}

int scan_outcome_request_get(struct bytes_cursor *c, struct leak_scan_options *r)
{
	r->roots = (unsigned)bytes_read_below(c, LEAK_ROOT_ALL);
	r->heuristics = (unsigned)bytes_read_below(c, HEURISTICS);
	r->copying = (enum leak_copying)bytes_read_below(c, LEAK_COPY_ALWAYS);
	r->why = bytes_read_below(c, 1) != 0;
	r->holders = bytes_read_below(c, 1) != 0;
	r->contents = bytes_read_below(c, 1) != 0;
	r->behind = bytes_read_below(c, 1) != 0;
	r->at_exit = bytes_read_below(c, 1) != 0;
	return c->bad ? -EPROTO : 0;
}

void scan_outcome_put(struct bytes *b, const struct scan_outcome *o)
{
	uint64_t refused = o->refused == -EACCES ? 1 : o->refused == -EPERM ? 2 : 0;

	bytes_add_text(b, o->failed);
	bytes_number(b, refused);
	bytes_number(b, o->at_ns);
	bytes_number(b, o->before_exit);
	if (!o->failed[0])
		leak_result_bytes_put(b, &o->result);
}

int scan_outcome_get(struct bytes_cursor *c, struct scan_outcome *o)
{
	size_t len = 0;
	const char *failed = bytes_read_text(c, TRACE_MESSAGE_MAX - 1, &len);
	uint64_t refused = bytes_read_below(c, 2);

	*o = (struct scan_outcome){ .refused = refused == 1 ? -EACCES : refused == 2 ? -EPERM : 0 };
	o->at_ns = bytes_read(c);
	o->before_exit = bytes_read_below(c, 1) != 0;
	if (c->bad)
		return -EPROTO;
	text_clean(o->failed, sizeof(o->failed), failed, len);
	return len > 0 ? 0 : leak_result_bytes_get(c, &o->result);
}
