/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of all views (view.h): the one place that knows each of them. */
#include "tui/view_detail.h"
#include "tui/view_events.h"
#include "tui/view_frees.h"
#include "tui/view_help.h"
#include "tui/view_contents.h"
#include "tui/view_holders.h"
#include "tui/view_leaks.h"
#include "tui/view_map.h"
#include "tui/view_marks.h"
#include "tui/view_modules.h"
#include "tui/view_output.h"
#include "tui/view_processes.h"
#include "tui/view_settings.h"
#include "tui/view_sites.h"
#include "tui/view_sizes.h"
#include "tui/view_threads.h"
#include "tui/view_tree.h"
#include "tui/view_why.h"

const struct view *const view_table[VIEW_COUNT] = {
	[VIEW_SITES] = &view_sites,
	[VIEW_TREE] = &view_tree,
	[VIEW_SIZES] = &view_sizes,
	[VIEW_THREADS] = &view_threads,
	[VIEW_MODULES] = &view_modules,
	[VIEW_LEAKS] = &view_leaks,
	[VIEW_MAP] = &view_map,
	[VIEW_OUTPUT] = &view_output,
	[VIEW_DETAIL] = &view_detail,
	[VIEW_EVENTS] = &view_events,
	[VIEW_WHY] = &view_why,
	[VIEW_MARKS] = &view_marks,
	[VIEW_FREES] = &view_frees,
	[VIEW_HOLDERS] = &view_holders,
	[VIEW_CONTENTS] = &view_contents,
	[VIEW_HELP] = &view_help,
	[VIEW_SETTINGS] = &view_settings,
	[VIEW_PROCESSES] = &view_processes,
};
