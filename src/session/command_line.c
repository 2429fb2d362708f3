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

/* Splits the command line into its arguments, and joins them by blanks. */
static int command_split(struct command_line *c, const struct read_identity *id)
{
	const char *p = id->command, *end = p + id->command_bytes;
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

int command_line_load(struct command_line **list, const struct read_identity *id)
{
	struct command_line *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->exe = text_clean_copy(id->exe, strlen(id->exe));
	if (!c->exe || command_split(c, id) != 0) {
		command_line_free(c);
		return -ENOMEM;
	}
	c->before = *list;
	*list = c;
	return 0;
}
