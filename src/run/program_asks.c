/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests of the program (program_asks.h). */
#include "src/run/program_asks.h"

#include <stdio.h>

#include "src/run/snapshot_file.h"
#include "src/session/said.h"

/* The longest wait for function names: the screen stands still meanwhile. */
#define NAMES_NS       UINT64_C(3000000000)
#define LINE_MAX_BYTES 128

void program_asks_save(struct session *s, const struct snapshot *now, const struct options *o,
	char failed[PROGRAM_ASKS_LINE])
{
	struct said *said = session_said(s);
	struct export_options e = { .whole = now };
	char line[LINE_MAX_BYTES];

	if (!said->snapshot || !now || --said->snapshot > 0)
		return;
	if (o->readonly)
		return;
	(void)session_names_finish(s, NAMES_NS); /* in place, in `now` as well */
	failed[0] = '\0';
	if (snapshot_file_save(now, &e, "heaptop", line, sizeof(line)) != 0)
		snprintf(failed, PROGRAM_ASKS_LINE, "the program asked for a snapshot: %s", line);
}

bool program_asks_scan(struct session *s)
{
	struct said *said = session_said(s);
	bool asked = said->scan;

	said->scan = false;
	return asked;
}
