/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzzing of JSON reports that are read back (src/record/json_report.h): a message in one line, or
 * a snapshot that can be written and compared with itself.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/export/export.h"
#include "src/record/json_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const struct export_options o = { .sort = COL_LIVE, .version = "fuzz" };
	char message[JSON_REPORT_MESSAGE_MAX];
	struct strbuf out = STRBUF_INIT;
	struct snapshot *s = json_report_parse((const char *)data, bytes, "fuzz", message);

	if (!s && (!message[0] || strchr(message, '\n')))
		abort();
	if (s) {
		export_json(&out, s, &o);
		export_text(&out, s, &o);
	}
	snapshot_unref(s);
	strbuf_free(&out);
	return 0;
}
