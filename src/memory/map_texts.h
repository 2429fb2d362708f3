/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said of a map: a list, so that it crosses to another machine by number. Any thread. */
#ifndef SRC_MEMORY_MAP_TEXTS_H
#define SRC_MEMORY_MAP_TEXTS_H

#include "src/model/map.h"

enum map_text {
	MAP_TEXT_NONE, /* NULL */
	/* Why there is no map. */
	MAP_TEXT_UNSEEN,
	MAP_TEXT_REFUSED,
	MAP_TEXT_GONE,
	MAP_TEXT_MEMORY,
	MAP_TEXT_UNREADABLE,
	MAP_TEXT_LOST, /* the agent is */
	MAP_TEXT_SILENT,
	MAP_TEXT_NO_ANSWER,
	/* Limits of its figures. */
	MAP_TEXT_SAMPLED,
	MAP_TEXT_CHANGED,
	MAP_TEXT_FORKED,
	MAP_TEXT_FOREIGN,
	MAP_TEXTS
};

extern const char *const map_texts[MAP_TEXTS];
/* The number of one of these. */
enum map_text map_texts_number(const char *text);
/* Why there is no map, by what its reading failed with (-errno). */
enum map_text map_texts_why(int rc);
/* A map of nothing, which says why. NULL: out of memory. */
struct map *map_texts_empty(enum map_text why);

#endif
