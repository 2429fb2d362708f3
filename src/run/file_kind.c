/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a file is that -r names (file_kind.h), by how it begins. Main thread. */
#include "src/run/file_kind.h"

#include <stdbool.h>
#include <stddef.h>

#include "src/core/open.h"
#include "src/record/event_file.h"
#include "src/record/json_report.h"
#include "src/record/recording.h"

/* The first kind that recognizes the file. */
static const struct {
	enum file_kind kind;
	bool (*is)(const char *path);
} kinds[] = {
	{ FILE_KIND_RECORDING, recording_is },
	{ FILE_KIND_REPORT, json_report_is },
	{ FILE_KIND_EVENTS, event_file_is },
	{ FILE_KIND_CORE, core_is },
};

enum file_kind file_kind_of(const char *path)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].is(path))
			return kinds[i].kind;
	return FILE_KIND_SEGMENT;
}
