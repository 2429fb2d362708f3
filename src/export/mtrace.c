/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Events as glibc's mtrace(3) writes them, for mtrace(1): "@ CALLER + ADDRESS SIZE" for a block,
 * "@ CALLER - ADDRESS" for its free (glibc malloc/mtrace-impl.c, malloc/mtrace.pl). A caller is
 * "MODULE:(FUNCTION+0xOFFSET)[0xADDRESS]", without spaces. The caller of a free is not recorded: it
 * is 0.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "src/export/events.h"

struct export_events {
	struct strbuf *out;
};

static struct export_events *mtrace_begin(struct strbuf *out, const struct export_events_about *a)
{
	struct export_events *x = calloc(1, sizeof(*x));

	if (x) {
		x->out = out;
		strbuf_puts(out, "= Start\n");
	}
	return x;
}

/* Spaces separate the columns. */
static void word_put(struct strbuf *out, const char *text)
{
	for (; *text; text++)
		strbuf_putc(out, *text == ' ' || *text == '\t' ? '_' : *text);
}

/* The innermost frame that is no inlined one: that is what returns there. */
static const struct frame *caller_of(const struct stack *stack)
{
	uint32_t i = 0;

	while (i + 1 < stack->nframes && snapshot_frame(stack, i)->inlined)
		i++;
	return snapshot_frame(stack, i);
}

static void caller_put(struct strbuf *out, const struct stack *stack)
{
	const struct frame *f = stack ? caller_of(stack) : NULL;

	strbuf_puts(out, "@ ");
	if (f && f->module->path[0]) {
		word_put(out, f->module->path);
		strbuf_puts(out, ":(");
		strbuf_printf(out, "+0x%" PRIx64 ")", f->offset);
	}
	if (f)
		strbuf_printf(out, "[0x%" PRIx64 "] ", f->pc);
}

static void mtrace_event(struct export_events *x, const struct export_event *e)
{
	uint64_t address = EXPORT_EVENTS_ADDRESS + 16 * e->number;

	if (e->frees) {
		strbuf_printf(x->out, "@ [0x0] - 0x%" PRIx64 "\n", address);
		return;
	}
	caller_put(x->out, e->stack);
	strbuf_printf(x->out, "+ 0x%" PRIx64 " 0x%" PRIx64 "\n", address, e->size);
}

static bool mtrace_end(struct export_events *x, uint64_t ns)
{
	strbuf_puts(x->out, "= End\n");
	free(x);
	return true;
}

const struct export_events_format export_events_mtrace = { "mtrace", mtrace_begin, mtrace_event,
	mtrace_end };
