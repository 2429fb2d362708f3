/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocators inside the program (allocators.h). */
#include "src/session/allocators.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/util/shortage.h"
#include "src/util/text.h"

static char *clean_copy(const char *text)
{
	return text_clean_copy(text, strlen(text));
}

static char *module_path(struct read_segment *segment, uint32_t number)
{
	struct read_module m;

	if (number == 0 || read_module(segment, number, &m) != 0)
		m.path[0] = '\0';
	return clean_copy(m.path);
}

static enum snap_allocator_state state_of(uint32_t state)
{
	return state == HT_PATCHED_RECORDED  ? SNAP_ALLOCATOR_RECORDED
	       : state == HT_PATCHED_REFUSED ? SNAP_ALLOCATOR_REFUSED
					     : SNAP_ALLOCATOR_UNLOADED;
}

/* Texts never change once they are there. False: without memory. */
static bool row_fill(
	struct snap_allocator *row, struct read_segment *segment, const struct read_patched *p)
{
	row->state = state_of(p->state);
	if (!row->function) {
		row->module = module_path(segment, p->module);
		row->function = row->module ? clean_copy(p->name) : NULL;
	}
	if (p->reason[0] && !row->reason)
		row->reason = clean_copy(p->reason);
	return row->function && (row->reason || !p->reason[0]);
}

/* Room for all that the segment can hold: rows do not move. */
static bool make_room(struct allocators *a, uint32_t count)
{
	if (a->row || count == 0)
		return a->row != NULL;
	a->room = 65536 / sizeof(struct ht_patched);
	a->row = calloc(a->room, sizeof(*a->row));
	return a->row != NULL;
}

static void refresh(struct allocators *a, struct read_segment *segment)
{
	uint32_t used = read_patched_count(segment), count = used > 0 ? used - 1 : 0;
	struct read_patched p;

	if (!make_room(a, count))
		return;
	for (uint32_t i = 0; i < count && i < a->room; i++) {
		if (read_patched(segment, i + 1, &p) != 0)
			break;
		if (!row_fill(&a->row[i], segment, &p)) {
			shortage_note(ENOMEM);
			break;
		}
		a->count = i + 1 > a->count ? i + 1 : a->count;
	}
}

void allocators_read(struct allocators *a, struct read_segment *segment, struct snapshot *head)
{
	refresh(a, segment);
	head->allocators = a->row;
	head->nallocators = a->count;
}

const char *allocators_function(
	struct allocators *a, struct read_segment *segment, uint32_t function)
{
	uint32_t number;

	if (function < HT_FN_NAMED)
		return ht_function_name(function);
	number = function - HT_FN_NAMED;
	if (number > a->count)
		refresh(a, segment);
	return number > 0 && number <= a->count ? a->row[number - 1].function : "?";
}

void allocators_free(struct allocators *a)
{
	for (uint32_t i = 0; i < a->room; i++) {
		free((char *)(uintptr_t)a->row[i].module);
		free((char *)(uintptr_t)a->row[i].function);
		free((char *)(uintptr_t)a->row[i].reason);
	}
	free(a->row);
}
