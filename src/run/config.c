/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The settings of a run (config.h): those of the file, below those of the command line. Main
 * thread. */
#include "src/run/config.h"

#include <stdio.h>
#include <string.h>
#include "src/run/settings_file.h"
#include "src/sym/sym.h"

static void launch_apply(const struct settings *s, struct options *o)
{
	if (!options_given(o, "follow") && !options_given(o, "no-follow") && !s->follow)
		o->follow = OPTIONS_FOLLOW_NO;
	if (!options_given(o, "depth"))
		o->depth = s->depth;
	if (!options_given(o, "history"))
		o->history_limit = (uint64_t)s->history_mb << 20;
	if (!options_given(o, "debuginfod"))
		o->debuginfod = s->debuginfod;
}

static void ignored_apply(const struct settings_ignored *s, const char **rules, unsigned *count)
{
	for (unsigned i = 0; i < s->rules && *count < IGNORED_RULES_MAX; i++)
		rules[(*count)++] = s->rule[i];
}

void config_apply(struct settings *s, struct options *o)
{
	ignored_apply(&s->ignore, o->ignored.ignore, &o->ignored.nignore);
	ignored_apply(&s->only, o->ignored.only, &o->ignored.nonly);
	launch_apply(s, o);
	if (options_given(o, "sort"))
		s->sort = o->sort, s->reverse = 0;
	if (options_given(o, "group"))
		s->group = o->group;
	if (options_given(o, "delay"))
		s->delay_ms = (unsigned)(o->delay_ns / 1000000);
	if (options_given(o, "color"))
		s->color = o->color;
	if (options_given(o, "ascii"))
		s->glyphs = SETTINGS_GLYPHS_ASCII;
	if (options_given(o, "no-mouse"))
		s->mouse = 0;
	if (options_given(o, "full-names"))
		s->names = o->names;
	if (options_given(o, "show-hidden"))
		s->show_hidden = 1;
	o->sort = (enum column)s->sort;
	o->reverse = s->reverse;
	o->group = (enum group_by)s->group;
	o->delay_ns = s->delay_ms * UINT64_C(1000000);
	o->color = (enum options_color)s->color;
	o->ascii = s->glyphs == SETTINGS_GLYPHS_ASCII;
	o->no_mouse = !s->mouse;
	o->names = (enum name_style)s->names;
	o->show_hidden = s->show_hidden;
}

void config_rules(const struct settings *s)
{
	const char *rule[SETTINGS_RULES];

	for (unsigned i = 0; i < s->rules; i++)
		rule[i] = s->rule[i];
	hide_rules_set(rule, s->rules);
}

static void lines_print(const char *line)
{
	while (*line) {
		size_t len = strcspn(line, "\n");

		fputs("heaptop: ", stderr);
		fwrite(line, 1, len, stderr);
		fputc('\n', stderr);
		line += len + (line[len] == '\n');
	}
}

void config_take(struct config *c, struct options *o)
{
	struct strbuf troubles = STRBUF_INIT;
	const char *line;

	if (o->no_config)
		settings_default(&c->settings);
	else
		settings_file_load(&c->settings, &troubles);
	config_apply(&c->settings, o);
	config_rules(&c->settings);
	line = strbuf_text(&troubles);
	snprintf(c->trouble, sizeof(c->trouble), "%.*s", (int)strcspn(line, "\n"), line);
	if (o->batch || o->report || o->headless)
		lines_print(line);
	strbuf_free(&troubles);
}
