/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words for the states of allocators' functions (allocator_state.h). */
#include "src/model/allocator_state.h"

const char *allocator_state_word(enum snap_allocator_state state)
{
	static const char *const words[] = { "recorded", "refused", "unloaded" };

	return words[state];
}
