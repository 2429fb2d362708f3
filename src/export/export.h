/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Formats a snapshot as text, JSON or JUnit XML. Pure: writes into a strbuf, never to a file. The
 * text report and the batch frames use the rows of src/model/columns.h, so screen and text agree.
 */
#ifndef SRC_EXPORT_EXPORT_H
#define SRC_EXPORT_EXPORT_H

#include "src/model/groups.h"
#include "src/model/columns.h"
#include "src/model/map.h"
#include "src/model/timeline.h"
#include "src/model/value.h"
#include "src/util/strbuf.h"

#define EXPORT_FAILURE_UNFREED	8u /* every unfreed block is a failure */
#define EXPORT_FAILURE_BADFREE	16u /* every free of no block */
#define EXPORT_FAILURE_MISMATCH 32u /* every free that does not fit the block */
#define EXPORT_LIMIT_MAX	256

/* A limit that was given, and what came of it in all processes. */
struct export_limit {
	const char *name; /* as given */
	char line[EXPORT_LIMIT_MAX]; /* with the figure */
	bool failed;
};

struct process_row;

/* The processes of a launch. */
struct export_launch {
	const struct process_row *rows; /* of processes_arrange */
	size_t count;
	struct snap_launch all; /* the launched process included */
	/* All that the report has as one (src/model/merged.h): its call sites, and its rows. NULL:
	 * no sum was made. */
	const struct snapshot *sum, *sum_rows;
};

struct export_options {
	enum column sort;
	bool reverse;
	unsigned top; /* sites in a text report; 0: all */
	unsigned width; /* cells per line of batch rows; 0: 100 */
	bool ascii;
	enum name_style names;
	bool show_hidden;
	const char *filter; /* the filter that selected the snapshot's sites, or NULL */
	size_t sites; /* number of sites without the filter */
	enum group_by group; /* grouping of the rows in text */
	const struct snapshot *groups; /* for JSON, in addition to the sites; NULL: not grouped */
	const char *version;
	const struct snapshot *whole; /* the snapshot with all call sites; NULL: the exported one */
	const struct map_account *memory; /* account of resident memory; NULL: not read */
	bool suppressions; /* write a suppression after each leak */
	const char *verdict; /* the verdict of --fail-on, or NULL */
	enum snap_value value; /* the weight of a stack, in formats that have one */
	bool value_given; /* --value: of several weights, only this one */
	const struct export_launch *launch; /* NULL: the launch is one process */
	const struct timeline *timeline; /* the past; NULL: only the snapshot's history */
	unsigned failures; /* for JUnit, what fails: bit i: leaks of class i; EXPORT_FAILURE_* */
	const struct export_limit *limits; /* for JUnit; of all processes */
	unsigned nlimits;
};

/* One batch frame: header lines as on the screen, then the site rows. */
void export_frame(struct strbuf *out, const struct snapshot *s, const struct export_options *o);
/* The report at exit: summary, then each of the top sites with its whole stack. */
void export_text(struct strbuf *out, const struct snapshot *s, const struct export_options *o);
/* The stable JSON report, one object, all sites, newline-terminated. */
void export_json(struct strbuf *out, const struct snapshot *s, const struct export_options *o);
/* The changes found by the latest of a series of leak scans; or why it failed, which uses only
 * now_realtime_ns. `of_other`: the process is not the launched one, so name it. */
void export_leak_round(struct strbuf *out, const struct snapshot *s, const struct export_options *o,
	bool of_other);
/* JUnit XML: a test for each class in `failures`, which fails once per call site, and for each
 * limit. */
void export_junit(struct strbuf *out, const struct snapshot *s, const struct export_options *o);

#endif
