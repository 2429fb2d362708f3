/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A diff as JSON (export_diff.h). Users' scripts rely on its fields: add fields, never rename one.
 * Main thread.
 */
#include <stdio.h>
#include <string.h>
#include "src/export/export_diff.h"
#include "src/export/json_stack.h"
#include "src/export/writer.h"

#define DIFF_FORMAT 1

static void side_put(struct writer *w, const char *key, const struct snapshot *s,
	const char *const *files, size_t n)
{
	writer_object(w, key);
	writer_uint(w, "runs", n);
	writer_array(w, "files");
	for (size_t i = 0; i < n; i++)
		writer_string(w, NULL, files[i]);
	writer_end(w);
	writer_array(w, "command");
	for (unsigned i = 0; i < s->argc; i++)
		writer_string(w, NULL, s->argv[i]);
	writer_end(w);
	writer_int(w, "pid", s->pid);
	writer_uint(w, "uptime_ns", s->uptime_ns);
	writer_uint(w, "children", s->nchildren);
	writer_end(w);
}

static void change_put(struct writer *w, const char *key, const struct diff_change *c)
{
	writer_object(w, key);
	writer_uint(w, "a", c->a);
	writer_uint(w, "b", c->b);
	writer_int(w, "change", (int64_t)(c->b - c->a));
	writer_bool(w, "real", c->real);
	writer_string(w, "sure", diff_sure_word(c->sure));
	if (c->sure == DIFF_TESTED)
		writer_double(w, "p", c->p);
	else
		writer_null(w, "p");
	writer_end(w);
}

/* "own_peak": as fields are named. */
static const char *value_key(int v, char buf[16])
{
	char *minus;

	snprintf(buf, 16, "%s", value_table[v].word);
	minus = strchr(buf, '-');
	if (minus)
		*minus = '_';
	return buf;
}

static void changes_put(struct writer *w, const struct diff *d, const struct diff_change *changes)
{
	char key[16];

	writer_object(w, "values");
	for (int v = 0; v < VALUE_COUNT; v++)
		if (d->known[v])
			change_put(w, value_key(v, key), &changes[v]);
	writer_end(w);
}

static void interval_put(struct writer *w, const struct diff *d)
{
	if (!d->has_interval) {
		writer_null(w, "interval");
		return;
	}
	writer_array(w, "interval");
	writer_double(w, NULL, d->low);
	writer_double(w, NULL, d->high);
	writer_end(w);
}

static void unmatched_put(
	struct writer *w, const char *key, const struct diff *d, const uint64_t *sums)
{
	char name[16];

	writer_object(w, key);
	for (int v = 0; v < VALUE_COUNT; v++)
		if (d->known[v])
			writer_uint(w, value_key(v, name), sums[v]);
	writer_end(w);
}

static bool differs(const struct diff_row *r)
{
	for (int v = 0; v < VALUE_COUNT; v++)
		if (r->change[v].a != r->change[v].b)
			return true;
	return r->kind != DIFF_SAME;
}

static void row_put(struct writer *w, const struct diff *d, const struct diff_row *r)
{
	const struct snap_site *site = r->b ? r->b : r->a;

	writer_object(w, NULL);
	writer_string(w, "kind", diff_kind_word(r->kind));
	writer_string(w, "match", diff_match_word(r->match));
	writer_uint(w, "sites_a", r->sites_a);
	writer_uint(w, "sites_b", r->sites_b);
	changes_put(w, d, r->change);
	writer_string(w, "function", site->alloc_function);
	json_stack(w, "stack", site->stack);
	if (r->a && r->b && r->match != DIFF_BY_STACK)
		json_stack(w, "stack_a", r->a->stack);
	writer_end(w);
}

void export_diff_json(
	struct strbuf *out, const struct export_diff *x, const struct export_options *o)
{
	struct writer writer = { .out = out }, *w = &writer;
	const struct diff *d = x->diff;

	writer_object(w, NULL);
	writer_lines(w);
	writer_string(w, "heaptop_diff", o->version ? o->version : "");
	writer_uint(w, "format", DIFF_FORMAT);
	side_put(w, "a", d->a[0], x->a, d->na);
	side_put(w, "b", d->b[0], x->b, d->nb);
	writer_string(w, "value", value_table[d->value].word);
	changes_put(w, d, d->total);
	interval_put(w, d);
	unmatched_put(w, "unmatched_a", d, d->unmatched_a);
	unmatched_put(w, "unmatched_b", d, d->unmatched_b);
	writer_uint(w, "changed", d->nchanged);
	writer_uint(w, "moved", d->nmoved);
	writer_uint(w, "scattered", d->nscattered);
	writer_uint(w, "compared", d->nrows);
	writer_array(w, "sites");
	writer_lines(w);
	for (size_t i = 0; i < d->nrows; i++)
		if (differs(&d->rows[i]))
			row_put(w, d, &d->rows[i]);
	writer_end(w);
	writer_string(w, "verdict", o->verdict);
	writer_end(w);
	strbuf_putc(out, '\n');
}
