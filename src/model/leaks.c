/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conclusions from a leak scan's result (leaks.h). */
#include "src/model/leaks.h"

bool leaks_is_whole(const struct snap_leaks *l)
{
	return l->unread_bytes == 0 && l->running == 0 && l->busy == 0;
}

enum leaks_confidence leaks_confidence(const struct snap_leaks *l, const struct snap_leak_site *row)
{
	if (row->class == SNAP_LEAK_REACHABLE)
		return LEAKS_NONE;
	if (row->class == SNAP_LEAK_POSSIBLE)
		return LEAKS_LOW;
	/* At its end the program cannot be in the middle of moving a pointer. */
	return (row->seen > 1 || l->at_exit) && leaks_is_whole(l) ? LEAKS_HIGH : LEAKS_MEDIUM;
}

const char *leaks_confidence_word(enum leaks_confidence c)
{
	static const char *const words[] = { "-", "low", "medium", "high" };

	return words[c];
}
