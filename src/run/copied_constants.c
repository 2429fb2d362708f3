/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Asserts that constants which two rooms define, because neither may include the other, are
 * equal. Only this room may include both. No code.
 */
#include <assert.h>

#include "src/export/formats.h"
#include "src/leak/analysis/graph.h"
#include "src/leak/analysis/heuristics.h"
#include "src/leak/analysis/roots.h"
#include "src/leak/scan_options.h"
#include "src/model/map.h"
#include "src/model/processes.h"
#include "src/model/settings.h"
#include "src/model/snapshot.h"
#include "src/proc/proc.h"
#include "src/read/read.h"
#include "src/run/options.h"
#include "src/target/target.h"

/* What options ask of leak scans, and src/leak does. */
static_assert(OPTIONS_ROOTS_ALL == LEAK_ROOT_ALL, "--leak-roots");
static_assert(OPTIONS_HEURISTICS_ALL == (1u << LEAK_HEURISTICS) - (1u << (LEAK_BY_NONE + 1)),
	"--leak-heuristics");
static_assert(OPTIONS_COPY_AUTO == LEAK_COPY_AUTO, "--leak-copy");

/* What src/leak finds, and snapshots show. */
static_assert(SNAP_LEAK_DEFINITE == (int)LEAK_DEFINITE &&
		      SNAP_LEAK_INDIRECT == (int)LEAK_INDIRECT &&
		      SNAP_LEAK_POSSIBLE == (int)LEAK_POSSIBLE &&
		      SNAP_LEAK_REACHABLE == (int)LEAK_REACHABLE &&
		      SNAP_LEAK_CLASSES == (int)LEAK_CLASSES,
	"classes of leaks");
static_assert(SNAP_LEAK_HEURISTICS == LEAK_HEURISTICS - 1, "heuristics, without LEAK_BY_NONE");
static_assert(LEAK_BY_MEMCHECK == ((1u << SNAP_LEAK_MEMCHECKS) - 1) << 1, "memcheck's come first");

/* --format. */
static_assert(OPTIONS_TEXT == (int)EXPORT_TEXT && OPTIONS_JSON == (int)EXPORT_JSON &&
		      OPTIONS_JUNIT == (int)EXPORT_JUNIT && OPTIONS_FOLDED == (int)EXPORT_FOLDED &&
		      OPTIONS_PPROF == (int)EXPORT_PPROF &&
		      OPTIONS_SPEEDSCOPE == (int)EXPORT_SPEEDSCOPE &&
		      OPTIONS_CSV == (int)EXPORT_CSV && OPTIONS_MASSIF == (int)EXPORT_MASSIF &&
		      OPTIONS_DOT == (int)EXPORT_DOT && OPTIONS_HTML == (int)EXPORT_HTML &&
		      OPTIONS_PERFETTO == (int)EXPORT_PERFETTO &&
		      OPTIONS_FORMATS == (int)EXPORT_FORMATS,
	"formats");

/* --fail-on, and what JUnit calls a failure. */
static_assert(OPTIONS_FAIL_DEFINITE == 1u << SNAP_LEAK_DEFINITE &&
		      OPTIONS_FAIL_INDIRECT == 1u << SNAP_LEAK_INDIRECT &&
		      OPTIONS_FAIL_POSSIBLE == 1u << SNAP_LEAK_POSSIBLE,
	"a bit for each class");
static_assert(OPTIONS_FAIL_LEAKS ==
		      (OPTIONS_FAIL_DEFINITE | OPTIONS_FAIL_INDIRECT | OPTIONS_FAIL_POSSIBLE),
	"all of them");
static_assert(OPTIONS_FAIL_UNFREED == EXPORT_FAILURE_UNFREED, "and what is left at the end");
static_assert(OPTIONS_FAIL_BADFREE == EXPORT_FAILURE_BADFREE &&
		      OPTIONS_FAIL_MISMATCH == EXPORT_FAILURE_MISMATCH,
	"wrong frees");
static_assert(CONDITION_LINE_MAX == EXPORT_LIMIT_MAX, "a line about a limit");

/* Settings and options. */
static_assert((int)OPTIONS_COLOR_AUTO == (int)SETTINGS_COLOR_AUTO &&
		      (int)OPTIONS_COLOR_ALWAYS == (int)SETTINGS_COLOR_ALWAYS &&
		      (int)OPTIONS_COLOR_NEVER == (int)SETTINGS_COLOR_NEVER,
	"--color");
static_assert(OPTIONS_DEPTH_MAX == HT_DEPTH_MAX && SETTINGS_DEPTH_MAX == HT_DEPTH_MAX, "--depth");
static_assert(OPTIONS_DEPTH_DEFAULT == HT_DEPTH_DEFAULT, "--depth");

/* Texts that are copied whole. */
static_assert(PROCESSES_WHY >= TARGET_REASON_MAX, "why a process is not recorded");
static_assert(PROCESSES_WHY >= sizeof(((struct read_identity *)0)->why), "why it is not wholly");

static_assert(MAP_PAGE_BYTES == PROC_PAGE_BYTES, "a page");
