/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads a program's command line from its segment (command_line.h). Main thread. */
#include "src/session/command_line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/util/text.h"

void command_line_free(struct command_line *c)
{
	while (c) {
		struct command_line *before = c->before;

		for (unsigned i = 0; i < c->argc; i++)
			free(c->argv[i]);
		free(c->line);
		free(c->exe);
		free(c);
		c = before;
	}
}

/* The end of the arguments. One that a program has written over all of them, as its title, it may
 * have padded with blanks. */
static const char *arguments_end(const struct read_identity *id)
{
	const char *p = id->command, *end = p + id->command_bytes;
	size_t len = strnlen(p, id->command_bytes);

	if (p + len + 1 < end)
		return end;
	while (len > 0 && p[len - 1] == ' ')
		len--;
	return p + len;
}

/* Splits the command line into its arguments, and joins them by blanks. */
static int command_split(struct command_line *c, const struct read_identity *id)
{
	const char *p = id->command, *end = arguments_end(id);
	char joined[HT_COMMAND_MAX];
	size_t used = 0;

	while (p < end) {
		size_t len = strnlen(p, (size_t)(end - p)), room;

		c->argv[c->argc] = text_clean_copy(p, len);
		if (!c->argv[c->argc])
			return -ENOMEM;
		if (c->argc++ > 0 && used < sizeof(joined))
			joined[used++] = ' ';
		room = sizeof(joined) - used;
		memcpy(joined + used, p, len < room ? len : room);
		used += len < room ? len : room;
		p += len + 1;
	}
	text_unfold(joined, used);
	c->line = text_clean_copy(joined, used);
	return c->line ? 0 : -ENOMEM;
}

/* A program may count there, or show what it does. */
#define VERSIONS_MAX 256u

static bool is_same(const struct command_line *a, const struct command_line *b)
{
	bool same = a->argc == b->argc && strcmp(a->exe, b->exe) == 0;

	for (unsigned i = 0; same && i < a->argc; i++)
		same = strcmp(a->argv[i], b->argv[i]) == 0;
	return same;
}

/* Prepends `c`, or the one of the list that is the same. */
static int prepend(struct command_line **list, struct command_line *c)
{
	struct command_line **at = list, *known;
	unsigned versions = 0;

	for (; *at && !is_same(*at, c); at = &(*at)->before)
		versions++;
	known = *at;
	if (known || versions >= VERSIONS_MAX)
		command_line_free(c);
	if (!known && versions >= VERSIONS_MAX)
		return -E2BIG;
	if (known) {
		*at = known->before;
		c = known;
	}
	c->before = *list;
	*list = c;
	return 0;
}

static unsigned arguments_count(const struct read_identity *id)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < id->command_bytes; i++)
		count += !id->command[i];
	return count + 1;
}

int command_line_load(struct command_line **list, const struct read_identity *id)
{
	struct command_line *c = calloc(1, sizeof(*c) + arguments_count(id) * sizeof(c->argv[0]));

	if (!c)
		return -ENOMEM;
	c->exe = text_clean_copy(id->exe, strlen(id->exe));
	if (!c->exe || command_split(c, id) != 0) {
		command_line_free(c);
		return -ENOMEM;
	}
	return prepend(list, c);
}
