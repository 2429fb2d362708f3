/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All formats that a snapshot can be written in, as one table: --format and the screen's choice of
 * a file offer what it has. Pure: an exporter writes into a strbuf, never to a file.
 */
#ifndef SRC_EXPORT_FORMATS_H
#define SRC_EXPORT_FORMATS_H

#include "src/export/export.h"

typedef void export_function(
	struct strbuf *out, const struct snapshot *s, const struct export_options *o);

struct export_format {
	const char *name; /* for --format */
	const char *suffix; /* of a file's name: "pb.gz" */
	const char *help; /* what it is for, in a few words */
	bool binary; /* not for terminals */
	bool rows; /* takes the rows of --group in place of the sites */
	bool weighted; /* the weight is one value, which --value chooses */
	export_function *write;
};

enum export_format_number {
	EXPORT_TEXT,
	EXPORT_JSON,
	EXPORT_JUNIT,
	EXPORT_FOLDED,
	EXPORT_PPROF,
	EXPORT_SPEEDSCOPE,
	EXPORT_CSV,
	EXPORT_MASSIF,
	EXPORT_DOT,
	EXPORT_HTML,
	EXPORT_PERFETTO,
	EXPORT_FORMATS
};

extern const struct export_format export_formats[EXPORT_FORMATS];

export_function export_folded, export_pprof, export_speedscope, export_csv, export_massif,
	export_dot, export_html, export_perfetto;

#endif
