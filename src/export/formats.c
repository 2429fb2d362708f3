/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of formats (formats.h). */
#include "src/export/formats.h"

/* clang-format off */
const struct export_format export_formats[EXPORT_FORMATS] = {
	[EXPORT_TEXT] = { "text", "txt", "report to read",
		.rows = true, .write = export_text },
	[EXPORT_JSON] = { "json", "json", "report for programs, complete",
		.write = export_json },
	[EXPORT_JUNIT] = { "junit", "xml", "tests for CI systems",
		.rows = true, .write = export_junit },
	[EXPORT_FOLDED] = { "folded", "folded", "stacks for flamegraph.pl, inferno",
		.weighted = true, .write = export_folded },
	[EXPORT_PPROF] = { "pprof", "pb.gz", "for go tool pprof",
		.binary = true, .weighted = true, .write = export_pprof },
	[EXPORT_SPEEDSCOPE] = { "speedscope", "speedscope.json", "for speedscope.app",
		.weighted = true, .write = export_speedscope },
	[EXPORT_CSV] = { "csv", "csv", "call sites for spreadsheets",
		.write = export_csv },
	[EXPORT_MASSIF] = { "massif", "massif", "for ms_print, massif-visualizer",
		.write = export_massif },
	[EXPORT_DOT] = { "dot", "dot", "call graph for graphviz",
		.weighted = true, .write = export_dot },
	[EXPORT_HTML] = { "html", "html", "one page for a browser",
		.weighted = true, .write = export_html },
	[EXPORT_PERFETTO] = { "perfetto", "perfetto-trace", "for ui.perfetto.dev",
		.binary = true, .write = export_perfetto },
};
/* clang-format on */
