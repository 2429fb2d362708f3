/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes snapshots as text, JSON or JUnit XML (report.h). */
#include "src/run/report.h"

#include "src/export/formats.h"
#include "src/run/failure.h"
#include "src/run/output_file.h"
#include "src/run/selection.h"

void report_options(struct export_options *e, const struct options *o)
{
	*e = (struct export_options){ .sort = o->sort,
		.reverse = o->reverse,
		.top = o->top,
		.group = o->group,
		.filter = o->filter,
		.ascii = o->ascii,
		.names = o->names,
		.show_hidden = o->show_hidden,
		.suppressions = o->gen_suppressions,
		.failures = o->failures,
		.value = o->value,
		.value_given = o->value_given,
		.version = HEAPTOP_VERSION };
}

/* For JUnit. `limit`: room for those of the options. */
static void limits_fill(struct export_options *e, const struct snapshot *s, const struct options *o,
	struct export_limit *limit)
{
	for (unsigned i = 0; i < o->nconditions; i++) {
		limit[i].name = o->conditions[i].text;
		limit[i].failed = condition_failed(&o->conditions[i], s, limit[i].line);
	}
	e->limits = limit;
	e->nlimits = o->nconditions;
}

/* A range is about what happened in it. */
static void options_of(struct export_options *e, const struct snapshot *s, const struct options *o)
{
	report_options(e, o);
	e->sites = s->nsites;
	if (s->moment == SNAP_RANGE && !options_given(o, "sort"))
		e->sort = COL_SINCE;
}

static int put(int fd, struct strbuf *text, const struct options *o)
{
	return output_file_put(fd, text, o) == 0 ? 0 : FAILURE_EXIT;
}

int report_frame_put(int fd, const struct snapshot *s, const struct options *o)
{
	struct strbuf text = STRBUF_INIT;
	struct export_options e;
	static struct selection v;

	options_of(&e, s, o);
	selection_make(&v, s, o);
	export_frame(&text, v.rows, &e);
	selection_free(&v);
	return put(fd, &text, o);
}

int report_put(
	int fd, const struct snapshot *s, const struct options *o, const struct report_parts *parts)
{
	static struct export_limit limit[OPTIONS_CONDITIONS_MAX];
	struct strbuf text = STRBUF_INIT;
	struct export_options e;
	static struct selection v;

	if (export_formats[o->format].weighted && !value_known(&s->totals, o->value))
		return failure_print_reason(
			"--value peak", "the composition of the peak was not recorded");
	options_of(&e, s, o);
	limits_fill(&e, s, o, limit);
	if (parts->runs)
		e.failures &= ~EXPORT_FAILURE_UNFREED;
	e.memory = parts->memory;
	e.verdict = parts->verdict;
	e.timeline = parts->timeline;
	e.launch = parts->launch;
	selection_make(&v, s, o);
	e.whole = v.whole;
	e.sites = v.whole->nsites;
	e.groups = v.rows != v.sites ? v.rows : NULL;
	strbuf_flow(&text, fd);
	export_formats[o->format].write(
		&text, export_formats[o->format].rows ? v.rows : v.sites, &e);
	selection_free(&v);
	return put(fd, &text, o);
}
