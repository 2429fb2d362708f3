/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What --help and "help" as a value print (option_help.h). */
#include "src/run/option_help.h"

#include <limits.h>
#include <string.h>
#include "src/run/option_table.h"

#define HELP_INDENT 29 /* fits the longest option with its argument */

/* Groups, the sections of heaptop(1): the option that each begins with, and the word behind --help
 * that asks for it. */
static const struct {
	const char *option, *word, *heading;
} groups[] = {
	{ "attach", "watch", "What to watch" },
	{ "record", "past", "The past" },
	{ "delay", "screen", "Screen and frames" },
	{ "report", "report", "Report" },
	{ "leak-check", "leaks", "Leaks" },
	{ "depth", "recording", "Recording" },
	{ "show-hidden", "names", "Names and appearance" },
	{ "profile", "general", "General" },
};
#define GROUPS (sizeof(groups) / sizeof(groups[0]))

/* Those that a newcomer needs, besides the ways to call heaptop. */
static const char *const first[] = { "report", "leak-check", "fail-on", "record", "sample",
	"profile" };

static void help_row(const struct option_row *r, FILE *out)
{
	char left[64];
	int n = 0;

	if (r->key <= UCHAR_MAX)
		n = snprintf(left, sizeof(left), "  -%c, --%s", r->key, r->name);
	else
		n = snprintf(left, sizeof(left), "      --%s", r->name);
	if (r->arg)
		snprintf(left + n, sizeof(left) - (size_t)n, "%s%s", r->arg[0] == '[' ? "" : " ",
			r->arg);
	fprintf(out, "%-*s %s\n", HELP_INDENT, left, r->help);
}

/* The group that begins at this row, or GROUPS. */
static size_t group_at(const struct option_row *r)
{
	size_t i = 0;

	while (i < GROUPS && strcmp(groups[i].option, r->name) != 0)
		i++;
	return i;
}

/* One group, or with GROUPS all of them. */
static void groups_print(size_t wanted, FILE *out)
{
	size_t now = GROUPS;

	for (const struct option_row *r = option_table; r->name; r++) {
		size_t begins = group_at(r);
		bool shown;

		now = begins < GROUPS ? begins : now;
		shown = wanted == GROUPS || now == wanted;
		if (shown && begins < GROUPS)
			fprintf(out, "%s%s:\n", now && wanted == GROUPS ? "\n" : "",
				groups[now].heading);
		if (shown && r->help)
			help_row(r, out);
	}
}

/* A single option, and the group where its neighbours are. False: there is none of this name. */
static bool option_print(const char *name, FILE *out)
{
	size_t now = 0;

	name += strspn(name, "-");
	for (const struct option_row *r = option_table; r->name; r++) {
		size_t begins = group_at(r);

		now = begins < GROUPS ? begins : now;
		if (!r->help || strcmp(r->name, name) != 0)
			continue;
		help_row(r, out);
		fprintf(out, "\nWith it: heaptop --help %s (%s); all about it: man heaptop\n",
			groups[now].word, groups[now].heading);
		return true;
	}
	return false;
}

static void usage_print(FILE *out)
{
	fputs("heaptop " HEAPTOP_VERSION ": show live which call sites hold a program's heap\n\n"
	      "  heaptop [OPTIONS] -- COMMAND [ARG...]   run COMMAND and watch it\n"
	      "  heaptop [OPTIONS] -a [PID|NAME]         attach to a running process\n"
	      "  heaptop [OPTIONS] ssh://HOST/PID        a process on another machine\n"
	      "  heaptop [OPTIONS] -r FILE               read a recording, segment or core file\n"
	      "  heaptop [OPTIONS] --diff A B            compare two runs or builds\n"
	      "  heaptop -l                              list recorded processes and segments\n",
		out);
}

static void closing_print(FILE *out)
{
	fputs("\nExit status: that of COMMAND (128+N if signal N ended it); 1 if --fail-on fired;\n"
	      "2 wrong usage; 125 heaptop could not run or attach; 126, 127 as a shell.\n"
	      "\nOn the screen, ? lists the keys. The manual: man heaptop, heaptop-screen (views,\n"
	      "keys), heaptop-recording (the past), heaptop-leaks, heaptop-metrics (growth,\n"
	      "sampling, RSS), heaptop-json.\n",
		out);
}

static void summary_print(FILE *out)
{
	usage_print(out);
	fputs("\nCommon options:\n", out);
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		for (const struct option_row *r = option_table; r->name; r++)
			if (!strcmp(r->name, first[i]))
				help_row(r, out);
	fputs("\nMore options:\n", out);
	for (size_t i = 0; i < GROUPS; i++)
		fprintf(out, "  heaptop --help %-13s %s\n", groups[i].word, groups[i].heading);
	fputs("  heaptop --help all           Every option\n", out);
	closing_print(out);
}

void option_help_print(const char *word, FILE *out)
{
	for (size_t i = 0; word && i < GROUPS; i++)
		if (!strcmp(groups[i].word, word)) {
			groups_print(i, out);
			return;
		}
	if (!word || strcmp(word, "all") != 0) {
		if (!word || !option_print(word, out))
			summary_print(out);
		return;
	}
	usage_print(out);
	fputs("  heaptop --mark PID [NAME]               mark this moment in a process\n"
	      "  heaptop --detach PID                    stop recording a process\n\n",
		out);
	groups_print(GROUPS, out);
	closing_print(out);
}

void option_help_columns(FILE *out)
{
	for (int i = 0; i < COL_COUNT; i++)
		fprintf(out, "%-10s %s\n", column_table[i].key, column_table[i].help);
}

void option_help_words(const struct option_words *w, FILE *out)
{
	for (size_t i = 0; w->words[i]; i++)
		fprintf(out, "%s\n", w->words[i]);
}
