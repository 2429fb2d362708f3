/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One screen, whatever it shows (screen_run.h). Main thread. */
#include "src/show/screen_run.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/run/failure.h"
#include "src/util/text.h"
#include "tui/term.h"

void screen_run_shown(struct export_options *e, const struct tui_shown *shown)
{
	e->filter = shown->filter;
	e->group = shown->group;
	e->sites = shown->sites;
	e->sort = shown->sort;
	e->reverse = shown->reverse;
	e->names = shown->names;
	e->show_hidden = shown->show_hidden;
	e->memory = shown->memory;
	e->whole = shown->whole;
}

static_assert((int)TUI_COLOR_AUTO == (int)OPTIONS_COLOR_AUTO &&
		      (int)TUI_COLOR_ALWAYS == (int)OPTIONS_COLOR_ALWAYS &&
		      (int)TUI_COLOR_NEVER == (int)OPTIONS_COLOR_NEVER,
	"--color");

struct tui_options screen_run_options(
	bool launched, const struct options *o, const struct config *config)
{
	return (struct tui_options){
		.settings = &config->settings,
		.trouble = config->trouble[0] ? config->trouble : NULL,
		.delay_ns = o->delay_ns,
		.frames = o->frames,
		.sort = o->sort,
		.reverse = o->reverse,
		.color = (enum tui_color)o->color,
		.ascii = o->ascii,
		.no_mouse = o->no_mouse,
		.tree = o->tree,
		.filter = o->filter,
		.ignored = &o->ignored,
		.group = o->group,
		.names = o->names,
		.show_hidden = o->show_hidden,
		.version = HEAPTOP_VERSION,
		.readonly = o->readonly,
		.launched = launched,
	};
}

int screen_run_terminal(struct winsize *size)
{
	char term[40], what[100];
	const char *name = getenv("TERM");

	if (!term_probe(size))
		return failure_print_reason(
			"no terminal for the screen", "use -b for text frames, or --report");
	if (term_can_draw())
		return 0;
	text_clean(term, sizeof(term), name ? name : "", name ? strlen(name) : 0);
	snprintf(what, sizeof(what), "the terminal cannot draw a screen (TERM=%s)", term);
	return failure_print_reason(what, "use -b for text frames, or --report");
}

int screen_run(const struct tui_source *source, const struct tui_options *t, struct script *script,
	int *signal)
{
	char why[SCRIPT_WHY_MAX];
	int rc = script ? script_run(script, source, t, signal, why) : tui_run(source, t, signal);

	if (rc == -ECANCELED)
		failure_print_reason("--script", why);
	return rc;
}

int screen_run_status(int rc, int signal, int status)
{
	if (rc == -EINTR)
		return 128 + signal;
	if (rc == -ECANCELED)
		return FAILURE_EXIT;
	if (rc == -ENOTTY)
		return failure_print_reason(
			"opening the terminal failed", "is TERM set? (or use -b or --report)");
	return status;
}
