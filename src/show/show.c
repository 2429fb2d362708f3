/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the command line asks for, on the screen (show.h). Main thread. */
#include "src/show/show.h"

#include "src/run/argument.h"
#include "src/run/failure.h"
#include "src/run/file_kind.h"
#include "src/show/program_show.h"
#include "src/show/recording_show.h"
#include "src/show/still_show.h"
#include "tui/term.h"

static int file_show(const struct options *o, const struct config *config, struct script *script,
	const struct winsize *size)
{
	enum file_kind kind = o->mode == OPTIONS_READ ? file_kind_of(o->file) : FILE_KIND_SEGMENT;

	if (o->mode == OPTIONS_DIFF)
		return still_show_diff(o, config, script);
	if (kind == FILE_KIND_RECORDING)
		return recording_show(o, config, script);
	return kind == FILE_KIND_REPORT || kind == FILE_KIND_EVENTS
		       ? still_show_report(o, config, script)
		       : program_show(o, config, script, size);
}

/* Without a terminal, a wrong argument is what is to be said. */
static int screen_check(const struct options *o, struct winsize *size)
{
	struct winsize unused;
	int rc = term_probe(&unused) ? 0 : argument_check(o);

	return rc ? rc : screen_run_terminal(size);
}

int show_run(const struct options *o, const struct config *config)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	char why[SCRIPT_WHY_MAX];
	struct script *script = o->script ? script_load(o->script, why) : NULL;
	int rc;

	if (o->script && !script) {
		failure_print_reason("--script", why);
		return OPTIONS_EXIT_USAGE;
	}
	rc = script ? 0 : screen_check(o, &size);
	if (rc == 0)
		rc = file_show(o, config, script, &size);
	script_free(script);
	return rc;
}
