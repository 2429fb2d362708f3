/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The help screen: made from the key table, the column table and the naming rules each time it
 * opens, so that it is always right. Main thread.
 */
#include "tui/view_help.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/text.h"
#include "tui/draw.h"
#include "tui/find.h"
#include "tui/keys.h"

#define HELP_INDENT "             " /* of the text beside a key */
#define HELP_LEAST  30 /* cells; on narrower screens the ends of lines are left out */

static struct list *help_list(struct ui *ui)
{
	return &ui->help.list;
}

static void help_free(struct ui *ui)
{
	for (size_t i = 0; i < ui->help.count; i++)
		free(ui->help.line[i]);
	free(ui->help.line);
	ui->help.line = NULL;
	ui->help.count = 0;
}

static void help_add_line(struct help_state *st, const char *indent, const char *text, size_t bytes)
{
	char **line = realloc(st->line, (st->count + 1) * sizeof(*line));

	if (!line)
		return;
	st->line = line;
	if (asprintf(&line[st->count], "%s%.*s", indent, (int)bytes, text) >= 0)
		st->count++;
}

/* Adds a line, or as many as it takes on this screen. */
__attribute__((format(printf, 2, 3))) static void help_add(struct ui *ui, const char *fmt, ...)
{
	size_t cells = ui->help.width > HELP_LEAST ? (size_t)ui->help.width - 2 : HELP_LEAST;
	const char *indent = "", *rest;
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	rest = text;
	do {
		size_t n = rest ? text_line(rest, cells - strlen(indent)) : 0;

		if (rest)
			help_add_line(&ui->help, indent, rest, n);
		indent = HELP_INDENT;
		rest = rest && rest[n] ? rest + n + strspn(rest + n, " ") : NULL;
	} while (rest && *rest);
	free(text);
}

/* What users come with, and the keys that answer it: words of the key table. */
const struct view_help_question view_help_questions[] = {
	{ "What grows?", "}", "the worst site; 3 sorts by RATE, c adds growth columns" },
	{ "Leak or cache?", "L", "scans; in Leaks, Enter shows which pointers remain" },
	{ "Who holds it?", "O", "after L: globals and stacks by name, opened as a tree" },
	{ "What churns?", "c", "twice: allocations and temporary blocks per second" },
	{ "Which process?", "p", "all of them, as a tree; 5 sorts by PEAK; Enter: one" },
	{ "Since when?", "m", "Enter marks now; later ` Enter: what grew since then" },
	{ "What is RSS?", "F8", "live blocks, slack, free pages, files; and what pins" },
	{ "Which thread?", "Tab", "to Threads; 4 sorts by ALLOC/s; Enter: its call sites" },
	{ "Save, send?", "x", "to a file: html to share, heaptop for heaptop -r" },
	{ "The keyboard?", "S-Tab", "to Output: Enter gives it to the program; ^] ends it" },
	{ NULL, NULL, NULL },
};

static void help_add_questions(struct ui *ui)
{
	help_add(ui, "Questions");
	for (const struct view_help_question *q = view_help_questions; q->question; q++)
		help_add(ui, "  %-15s %-5s %s", q->question, q->key, q->answer);
	help_add(ui, "%s", "");
}

static void help_add_group(struct ui *ui, const char *group)
{
	help_add(ui, "%s", group);
	for (size_t i = 0; i < keys_count; i++)
		if (!strcmp(keys_table[i].group, group))
			help_add(ui, "  %-10s %s", keys_table[i].name, keys_table[i].help);
	help_add(ui, "%s", "");
}

static void help_add_keys(struct ui *ui)
{
	for (const char *const *group = keys_groups; *group; group++)
		help_add_group(ui, *group);
	if (!ui->options.no_mouse) {
		help_add(ui, "Mouse");
		help_add(ui, "  click      selects a row, sorts by a header, opens a tab");
		help_add(
			ui, "  drag       on the timeline: moves the cursor; right click: a range");
		help_add(ui, "  wheel      scrolls, or steps on the timeline; Shift selects text");
		help_add(ui, "%s", "");
	}
}

static void help_add_columns(struct ui *ui)
{
	help_add(ui, "Columns of Sites");
	for (int i = 0; i < COL_COUNT; i++) {
		char digit = layout_column_digit((enum column)i);

		help_add(ui, "  %c %-10s %s", digit ? digit : ' ', column_table[i].title,
			column_table[i].help);
	}
	help_add(ui, "%s", "");
}

static void help_add_tables(struct ui *ui)
{
	for (int id = 0; id < VIEW_COUNT; id++) {
		const struct table *t = view_table[id]->table ? view_table[id]->table(ui) : NULL;

		if (!t)
			continue;
		help_add(ui, "Columns of %s", view_table[id]->title);
		for (unsigned i = 0; i < t->count; i++)
			help_add(ui, "  %u %-10s %s", i + 1, t->column[i].title, t->column[i].help);
		help_add(ui, "%s", "");
	}
}

/* Terms of the header that need an explanation. */
static void help_add_words(struct ui *ui)
{
	static const char *const words[][2] = {
		{ "Live", "bytes that the program allocated and has not freed" },
		{ "peak, @", "most live bytes at once, and when (time since start)" },
		{ "RSS, hwm", "resident memory, and its maximum (high-water mark)" },
		{ "pss", "RSS with each shared page divided by its number of users" },
		{ "~+1.2k/s", "a rate of the first ten seconds, inflated by startup" },
		{ "/s, over", "rates cover this time: 10 seconds, less at the start" },
		{ "0:00 graph", "live bytes from the start until now: the timeline" },
		{ "m ! and ^", "on its axis: a mark, lost events, the highest moment" },
		{ "history", "memory used by the history, and its limit" },
		{ "rec", "size of the recording, its limit, bytes per second" },
		{ "PAST 0:11", "the screen shows that moment, not now; F returns" },
		{ "RANGE", "SINCE, ALLOC, FREED: between the two times" },
		{ "PEAK", "the screen shows what was live at the program's peak" },
		{ "untracked", "blocks that could not be recorded; missing from the table" },
		{ "exact", "every block is recorded; otherwise the sampling interval" },
		{ "+-3%", "sampling error of the live bytes; of a call site: ERROR" },
		{ "definite", "a leak: nothing points to the blocks" },
		{ "indirect", "a leak: only other lost blocks point to the blocks" },
		{ "possible", "perhaps a leak: only interior pointers were found" },
		{ "suspect", "no block was freed for a long time; could not be scanned" },
		{ "growing", "more and more blocks, which need not be a leak" },
		{ "cost", "share of the program's own time that recording takes" },
		{ "self", "CPU and memory of heaptop itself" },
	};

	help_add(ui, "Terms");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		help_add(ui, "  %-10s %s", words[i][0], words[i][1]);
	help_add(ui, "%s", "");
}

static void help_add_filter(struct ui *ui)
{
	static const char *const terms[][2] = {
		{ "word", "in the function, file or module that the site is named after" },
		{ "\"a b\" /re/", "text with a blank; an extended regular expression" },
		{ "!word", "not there" },
		{ "thread:word", "allocated by a thread of that name that has not ended" },
		{ "stack:word",
			"in any frame of the stack; function: file: module: in that alone" },
		{ "live>1M", "live, blocks, avg, peak, atpeak, allocs, temp, rate, percent: > < >= "
			     "<= =" },
		{ "R<40>", "is a word, like operator<<; and so is \"live>1M\" in quotes" },
		{ "age>60s", "age of the oldest live block; youngest<1s: of the youngest" },
		{ "sites>9", "number of sites in a grouped row; its numbers are sums" },
	};

	help_add(ui, "Filter and find: terms with blanks between them; all must match");
	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++)
		help_add(ui, "  %-10s %s", terms[i][0], terms[i][1]);
	help_add(ui, "%s", "");
}

static void help_add_rules(struct ui *ui)
{
	size_t count = 0;
	const char *const *rule =
		ui->source->hide_rules ? ui->source->hide_rules(ui->source->ctx, &count) : NULL;

	help_add(ui, "Names: a site is named after its first frame not listed here (H: all)");
	for (size_t i = 0; i < count; i++)
		help_add(ui, "  %s", rule[i]);
}

static void help_make(struct ui *ui)
{
	help_free(ui);
	ui->help.width = ui->layout.width;
	help_add_questions(ui);
	help_add_keys(ui);
	help_add_columns(ui);
	help_add_tables(ui);
	help_add_words(ui);
	help_add_filter(ui);
	help_add_rules(ui);
}

static void help_open(struct ui *ui)
{
	ui->help.list = (struct list){ .scroll_only = true, .height = ui->help.list.height };
	help_make(ui);
}

static void help_update(struct ui *ui)
{
	if (ui->help.width != ui->layout.width)
		help_make(ui);
	list_recount(&ui->help.list, ui->help.count);
}

static void help_draw(struct ui *ui)
{
	const struct list *l = &ui->help.list;
	unsigned width = (unsigned)ui->layout.width;
	char cut[1024];

	for (size_t i = 0; i < l->height && l->top + i < l->count; i++) {
		const char *line = ui->help.line[l->top + i];

		text_elide(cut, sizeof(cut), line, width - 2, false, draw_is_ascii());
		draw_text(ui->layout.y[ROW_BODY] + (int)i, 1, width - 2,
			find_is_match(ui, line) ? STYLE_SELECT
			: line[0] == ' '	? STYLE_PLAIN
						: STYLE_BOLD,
			cut);
	}
}

static bool help_matches(const struct ui *ui, const struct filter *f, size_t row)
{
	return filter_match_text(f, ui->help.line[row]);
}

static void help_status(struct ui *ui, char *text, size_t cap)
{
	const struct list *l = &ui->help.list;

	snprintf(text, cap, "heaptop %s   %s", ui->options.version ? ui->options.version : "",
		list_at_end(l) ? "the end" : "more below: PgDn or j");
}

const struct view view_help = {
	.title = "Help",
	.scope = IN_HELP,
	.flags = LAYOUT_NO_HEAD | LAYOUT_COMPACT,
	.open = help_open,
	.update = help_update,
	.draw = help_draw,
	.status = help_status,
	.list = help_list,
	.matches = help_matches,
	.free = help_free,
};
