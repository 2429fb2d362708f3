/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Events in heaptrack's own format, version 3, for heaptrack_print and heaptrack_gui. Lines of
 * text, numbers in hexadecimal; tables are numbered from 1 (of sizes, from 0) and 0 is none:
 *
 *   s LENGTH TEXT                          a string
 *   i ADDRESS MODULE [FUNCTION FILE LINE]  an address; inlined functions first, callers behind
 *   t ADDRESS PARENT                       a stack: its innermost frame, and the stack of its
 * caller a SIZE STACK                           blocks of that size and stack
 *   + BLOCKS, - BLOCKS                     one more, one less
 *   c MILLISECONDS                         the time
 *
 * heaptrack 1.4, src/analyze/accumulatedtracedata.cpp. heaptrack compresses files itself; these
 * are plain, or compressed by the code that writes them (packed_file.c). One thread.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/export/events.h"
#include "src/util/numbering.h"

#define FORMAT_VERSION 3
#define LINES_MOST     256u /* inlined functions of one address */

struct export_events {
	struct strbuf *out;
	struct numbering strings, addresses, stacks, blocks;
	uint64_t ms;
	bool failed;
	/* The stack of each site, by its id: 0 if it has not come yet. */
	uint32_t *site_stack;
	size_t sites;
};

static struct export_events *heaptrack_begin(
	struct strbuf *out, const struct export_events_about *a)
{
	struct export_events *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->out = out;
	strbuf_printf(out, "v 10400 %x\nX %s\nI %" PRIx64 " 0\n", FORMAT_VERSION, a->command,
		a->page_bytes);
	return x;
}

/* 0: none. */
static uint32_t string_put(struct export_events *x, const char *text)
{
	size_t len = text ? strlen(text) : 0;
	bool is_new;
	uint32_t number;

	if (len == 0)
		return 0;
	number = numbering_add(&x->strings, text, len, &is_new) + 1;
	if (is_new)
		strbuf_printf(x->out, "s %zx %s\n", len, text);
	return number;
}

/* An address with its functions: frames [first, first + count), the last one not inlined. */
static uint32_t address_put(
	struct export_events *x, const struct stack *stack, uint32_t first, uint32_t count)
{
	const struct frame *last = snapshot_frame(stack, first + count - 1);
	struct {
		uint64_t pc;
		uint32_t module, lines, line[LINES_MOST][3];
	} key;
	bool is_new;
	uint32_t number;

	if (count > LINES_MOST)
		count = LINES_MOST;
	memset(&key, 0, sizeof(key.pc) + sizeof(key.module) + sizeof(key.lines));
	key.pc = last->pc;
	key.module = string_put(x, last->module->path);
	for (uint32_t i = 0; i < count && snapshot_frame(stack, first + i)->function; i++) {
		const struct frame *f = snapshot_frame(stack, first + i);

		key.line[i][0] = string_put(x, f->function);
		key.line[i][1] = string_put(x, f->file);
		key.line[i][2] = f->line;
		key.lines++;
	}
	number = numbering_add(&x->addresses, &key,
		sizeof(key) - sizeof(key.line) + key.lines * sizeof(key.line[0]), &is_new);
	if (!is_new)
		return number + 1;
	strbuf_printf(x->out, "i %" PRIx64 " %x", key.pc, key.module);
	for (uint32_t i = 0; i < key.lines; i++)
		strbuf_printf(x->out, " %x %x %x", key.line[i][0], key.line[i][1], key.line[i][2]);
	strbuf_putc(x->out, '\n');
	return number + 1;
}

/* From the outermost frame in: callers come first. */
static uint32_t stack_put(struct export_events *x, const struct stack *stack)
{
	uint32_t parent = 0, end = stack ? stack->nframes : 0;

	while (end > 0) {
		uint32_t key[2], number, first = end - 1;
		bool is_new;

		while (first > 0 && snapshot_frame(stack, first - 1)->inlined)
			first--;
		key[0] = address_put(x, stack, first, end - first);
		key[1] = parent;
		number = numbering_add(&x->stacks, key, sizeof(key), &is_new) + 1;
		if (is_new)
			strbuf_printf(x->out, "t %x %x\n", key[0], key[1]);
		parent = number;
		end = first;
	}
	return parent;
}

static bool sites_reach(struct export_events *x, uint32_t site)
{
	size_t count = x->sites ? x->sites : 1024;
	uint32_t *larger;

	while (count <= site)
		count *= 2;
	if (count == x->sites)
		return true;
	larger = realloc(x->site_stack, count * sizeof(*larger));
	if (!larger) {
		x->failed = true;
		return false;
	}
	memset(larger + x->sites, 0, (count - x->sites) * sizeof(*larger));
	x->site_stack = larger;
	x->sites = count;
	return true;
}

static uint32_t site_put(struct export_events *x, const struct export_event *e)
{
	if (!sites_reach(x, e->site))
		return 0;
	if (x->site_stack[e->site] == 0)
		x->site_stack[e->site] = stack_put(x, e->stack);
	return x->site_stack[e->site];
}

static void time_put(struct export_events *x, uint64_t ns)
{
	if (ns / 1000000 <= x->ms)
		return;
	x->ms = ns / 1000000;
	strbuf_printf(x->out, "c %" PRIx64 "\n", x->ms);
}

static void heaptrack_event(struct export_events *x, const struct export_event *e)
{
	struct {
		uint64_t size;
		uint32_t stack, zero;
	} key = { e->size, site_put(x, e), 0 };
	uint32_t number;
	bool is_new;

	time_put(x, e->ns);
	number = numbering_add(&x->blocks, &key, sizeof(key), &is_new);
	if (is_new)
		strbuf_printf(x->out, "a %" PRIx64 " %x\n", key.size, key.stack);
	strbuf_printf(x->out, "%c %x\n", e->frees ? '-' : '+', number);
}

static bool heaptrack_end(struct export_events *x, uint64_t ns)
{
	bool whole;

	time_put(x, ns);
	whole = !x->failed && !x->strings.failed && !x->addresses.failed && !x->stacks.failed &&
		!x->blocks.failed;
	numbering_free(&x->strings);
	numbering_free(&x->addresses);
	numbering_free(&x->stacks);
	numbering_free(&x->blocks);
	free(x->site_stack);
	free(x);
	return whole;
}

const struct export_events_format export_events_heaptrack = { "heaptrack", heaptrack_begin,
	heaptrack_event, heaptrack_end };
