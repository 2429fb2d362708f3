/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call sites as comma-separated values (RFC 4180): a line of column names, then a line for each
 * site of the process and its children. Names of columns are those of the JSON report. A figure
 * that is not known is an empty field.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "src/export/formats.h"
#include "src/export/profile.h"

static const char header[] =
	"pid,process,site,function,live_bytes,live_blocks,allocs,frees,alloc_bytes,"
	"peak_live_bytes,at_peak_bytes,at_peak_blocks,temporary,rate_bytes_per_s,"
	"since_bytes,since_blocks,since_allocs,since_alloc_bytes,name,file,line,module,stack\r\n";

/* In quotes if it has a character that requires them. */
static void csv_text(struct strbuf *out, const char *text)
{
	bool quoted = text && text[strcspn(text, ",\"\r\n")];

	if (quoted)
		strbuf_putc(out, '"');
	for (; text && *text; text++) {
		if (*text == '"')
			strbuf_putc(out, '"');
		strbuf_putc(out, *text);
	}
	if (quoted)
		strbuf_putc(out, '"');
}

static void csv_uint(struct strbuf *out, uint64_t value, bool known)
{
	if (known)
		strbuf_printf(out, "%" PRIu64, value);
	strbuf_putc(out, ',');
}

static void csv_int(struct strbuf *out, int64_t value, bool known)
{
	if (known)
		strbuf_printf(out, "%" PRId64, value);
	strbuf_putc(out, ',');
}

/* Rates of a file may be anything. */
static int64_t rounded(double rate)
{
	const double most = 9e18;

	return (int64_t)(rate > most ? most : rate > -most ? rate : -most);
}

static void csv_figures(struct strbuf *out, const struct snapshot *s, const struct snap_site *site)
{
	bool peak = s->totals.has_at_peak, since = s->since || s->moment == SNAP_RANGE;

	csv_uint(out, site->live_bytes, true);
	csv_uint(out, site->live_blocks, true);
	csv_uint(out, site->allocs, true);
	csv_uint(out, site->frees, true);
	csv_uint(out, site->alloc_bytes, true);
	csv_uint(out, site->peak_live_bytes, true);
	csv_uint(out, site->at_peak_bytes, peak);
	csv_uint(out, site->at_peak_blocks, peak);
	csv_uint(out, site->temporary, true);
	csv_int(out, rounded(site->rate_bytes_per_s), true);
	csv_int(out, site->since.bytes, since);
	csv_int(out, site->since.blocks, since);
	csv_uint(out, site->since.allocs, since);
	csv_uint(out, site->since.alloc_bytes, since);
}

/* The title frame, which names the site. */
static void csv_title(struct strbuf *out, const struct profile *p, const struct snap_site *site)
{
	const struct stack *stack = site->stack;
	bool innermost = p->options->show_hidden || stack->title >= stack->nframes;
	const struct frame *f = snapshot_frame(stack, innermost ? 0 : stack->title);
	char name[COLUMN_TEXT_MAX * 4];

	profile_frame_name(f, p->names, name, sizeof(name));
	csv_text(out, name);
	strbuf_putc(out, ',');
	csv_text(out, f->file);
	strbuf_putc(out, ',');
	csv_uint(out, f->line, f->line != 0);
	csv_text(out, f->module->path);
	strbuf_putc(out, ',');
}

/* As a folded stack, so that a semicolon in a name becomes a colon. */
static void csv_stack(
	struct strbuf *out, struct profile *p, size_t process, const struct snap_site *site)
{
	struct strbuf stack = STRBUF_INIT;
	uint32_t len;
	const uint32_t *path = profile_path(p, process, site, &len);

	for (uint32_t i = p->nprocesses > 1 ? 1 : 0; i < len; i++) {
		for (const char *c = p->frames[path[i]].name; *c; c++)
			strbuf_putc(&stack, *c == ';' ? ':' : *c);
		if (i + 1 < len)
			strbuf_putc(&stack, ';');
	}
	csv_text(out, strbuf_text(&stack));
	out->failed |= stack.failed;
	strbuf_free(&stack);
}

static void csv_process(struct strbuf *out, struct profile *p, size_t process)
{
	const struct snapshot *s = p->processes[process];
	uint32_t *order = malloc((s->nsites + 1) * sizeof(*order));

	if (!order) {
		out->failed = true;
		return;
	}
	sites_sort(s, p->options->sort, p->options->reverse, order);
	for (size_t i = 0; i < s->nsites; i++) {
		const struct snap_site *site = &s->sites[order[i]];

		strbuf_printf(out, "%d,", (int)s->pid);
		csv_text(out, s->command);
		strbuf_printf(out, ",%" PRIu32 ",", site->id);
		csv_text(out, site->alloc_function);
		strbuf_putc(out, ',');
		csv_figures(out, s, site);
		csv_title(out, p, site);
		csv_stack(out, p, process, site);
		strbuf_puts(out, "\r\n");
	}
	free(order);
}

void export_csv(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	struct profile p;

	profile_open(&p, s, o, 0, NAMES_FULL);
	strbuf_puts(out, header);
	for (size_t i = 0; i < p.nprocesses; i++)
		csv_process(out, &p, i);
	out->failed |= p.failed;
	profile_free(&p);
}
