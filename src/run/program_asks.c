/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests of the program (program_asks.h). */
#include "src/run/program_asks.h"

#include "src/run/snapshot_file.h"
#include "src/session/said.h"

/* The longest wait for function names: the screen stands still meanwhile. */
#define NAMES_NS       UINT64_C(3000000000)
#define LINE_MAX_BYTES 128

void program_asks_save(struct session *s, const struct snapshot *now, const struct options *o)
{
	struct said *said = session_said(s);
	struct export_options e = { .whole = now };
	char line[LINE_MAX_BYTES];

	if (!said->snapshot || !now || --said->snapshot > 0)
		return;
	if (o->readonly)
		return;
	(void)session_names_finish(s, NAMES_NS); /* in place, in `now` as well */
	(void)snapshot_file_save(now, &e, o, "heaptop", line, sizeof(line));
}

bool program_asks_scan(struct session *s)
{
	struct said *said = session_said(s);
	bool asked = said->scan;

	said->scan = false;
	return asked;
}
