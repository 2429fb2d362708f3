/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts of maps (map_texts.h). */
#include "src/memory/map_texts.h"

#include <errno.h>

const char *const map_texts[MAP_TEXTS] = {
	[MAP_TEXT_UNSEEN] = "the process cannot be seen from here",
	[MAP_TEXT_REFUSED] =
		"the process's memory map may not be read (it takes the right to trace it)",
	[MAP_TEXT_GONE] = "the process is gone: its memory map went with it",
	[MAP_TEXT_MEMORY] = "out of memory for the process's memory map",
	[MAP_TEXT_UNREADABLE] = "the process's memory map cannot be read",
	[MAP_TEXT_LOST] = "no memory map: the connection to the other machine ended",
	[MAP_TEXT_SILENT] = "no memory map: the other machine does not answer",
	[MAP_TEXT_NO_ANSWER] = "no memory map: what the agent sent is none",
	[MAP_TEXT_SAMPLED] =
		"blocks are sampled: live is an estimate, and other includes free memory",
	[MAP_TEXT_CHANGED] = "the heap changed while it was read: blocks from before attaching are "
			     "in other, as is what is free",
	[MAP_TEXT_FORKED] = "blocks from before its fork are not known: they are in other, as is "
			    "what is free",
	[MAP_TEXT_FOREIGN] = "not glibc's allocator: arenas unknown, slack counts as free",
};

enum map_text map_texts_number(const char *text)
{
	for (unsigned i = 0; i < MAP_TEXTS; i++)
		if (map_texts[i] == text)
			return i;
	return MAP_TEXT_NONE;
}

enum map_text map_texts_why(int rc)
{
	switch (-rc) {
	case EACCES:
	case EPERM:
		return MAP_TEXT_REFUSED;
	case ENOENT:
	case ESRCH:
		return MAP_TEXT_GONE;
	case ENOMEM:
		return MAP_TEXT_MEMORY;
	default:
		return MAP_TEXT_UNREADABLE;
	}
}

struct map *map_texts_empty(enum map_text why)
{
	static const struct map_input nothing = { 0 };
	struct map *m = map_new(&nothing);

	if (m)
		m->account.why = map_texts[why];
	return m;
}
