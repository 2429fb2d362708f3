/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A snapshot as text, JSON or JUnit XML. Pure: writes into a strbuf, never to a file. The text
 * report and the batch frames use the rows of src/model/columns.h, so screen and text agree.
 */
#ifndef SRC_EXPORT_EXPORT_H
#define SRC_EXPORT_EXPORT_H

#include "src/model/groups.h"
#include "src/model/columns.h"
#include "src/model/map.h"
#include "src/util/strbuf.h"

#define EXPORT_FAILURE_UNFREED 8u /* every block that is left is a failure */

struct export_options {
	enum column sort;
	bool reverse;
	unsigned top; /* sites in a text report; 0: all */
	unsigned width; /* cells per line of batch rows; 0: 100 */
	bool ascii;
	enum name_style names;
	bool show_hidden;
	const char *filter; /* that chose the sites of the snapshot, or NULL */
	size_t sites; /* that there were without it */
	enum group_by group; /* what the rows of text are */
	const struct snapshot *groups; /* for JSON, beside the sites; NULL: they are not grouped */
	const char *version;
	const struct snapshot *whole; /* with all call sites; NULL: the exported one is that */
	const struct map_account *memory; /* what resident memory is; NULL: nobody looked */
	bool suppressions; /* behind each leak, the rule that takes it out of later reports */
	const char *verdict; /* what --fail-on says of it, or NULL */
	unsigned failures; /* of JUnit: bit i: leaks of class i are; EXPORT_FAILURE_UNFREED */
};

/* One batch frame: header lines as on the screen, then the site rows. */
void export_frame(struct strbuf *out, const struct snapshot *s, const struct export_options *o);
/* The report at exit: summary, then each of the top sites with its whole stack. */
void export_text(struct strbuf *out, const struct snapshot *s, const struct export_options *o);
/* The stable JSON report, one object, all sites, newline-terminated. */
void export_json(struct strbuf *out, const struct snapshot *s, const struct export_options *o);
/* What the newest of many leak scans found that the one before did not; or why there was none, as
 * of now_realtime_ns alone. `of_other`: of a process that is not the one that was launched, so it
 * is told which. */
void export_leak_round(struct strbuf *out, const struct snapshot *s, const struct export_options *o,
	bool of_other);
/* As JUnit XML: a test for each class of `failures`, which fails once per call site. */
void export_junit(struct strbuf *out, const struct snapshot *s, const struct export_options *o);

#endif
