/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What --help and "help" as a value print (option_help.h). */
#include "src/run/option_help.h"

#include <limits.h>
#include <string.h>
#include "src/run/option_table.h"

#define HELP_INDENT 29 /* fits the longest option with its argument */

/* Headings, those of heaptop(1), each above the option that begins its group. */
static const struct {
	const char *option, *heading;
} groups[] = {
	{ "attach", "What to watch" },
	{ "record", "The past" },
	{ "delay", "Screen and frames" },
	{ "report", "Report" },
	{ "leak-check", "Leaks" },
	{ "depth", "Recording" },
	{ "show-hidden", "Names and appearance" },
	{ "version", "Help" },
};

static void heading(const char *option, FILE *out)
{
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (!strcmp(groups[i].option, option))
			fprintf(out, "%s%s:\n", i ? "\n" : "", groups[i].heading);
}

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

void option_help_print(FILE *out)
{
	fputs("heaptop " HEAPTOP_VERSION ": show live which call sites hold a program's heap\n\n"
	      "  heaptop [OPTIONS] -- COMMAND [ARG...]   run COMMAND and watch it\n"
	      "  heaptop [OPTIONS] -a [PID|NAME]         attach to a running process\n"
	      "  heaptop [OPTIONS] ssh://HOST/PID        a process on another machine\n"
	      "  heaptop [OPTIONS] -r FILE               read what was recorded, or left behind\n"
	      "  heaptop [OPTIONS] --diff A B            compare two runs or builds\n"
	      "  heaptop -l                              list recorded processes and segments\n"
	      "  heaptop --mark PID [NAME]               mark this moment in a process\n"
	      "  heaptop --detach PID                    end the recording of a process\n\n",
		out);
	for (size_t i = 0; option_table[i].name; i++) {
		heading(option_table[i].name, out);
		if (option_table[i].help)
			help_row(&option_table[i], out);
	}
	fputs("\nExit status: that of COMMAND (128+N if signal N ended it); 1 if --fail-on fired;\n"
	      "2 wrong usage; 125 heaptop could not run or attach; 126, 127 as a shell.\n"
	      "\nOn the screen, ? lists the keys. The manual: man heaptop, heaptop-screen (views,\n"
	      "keys), heaptop-recording (the past), heaptop-leaks, heaptop-metrics (growth,\n"
	      "sampling, RSS), heaptop-json.\n",
		out);
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
