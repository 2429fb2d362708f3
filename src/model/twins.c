/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What tells rows of the same name apart (twins.h). Called for the visible rows of each frame, on
 * the main thread: rows are sorted by their names' hashes, and only equal ones are compared.
 */
#include "src/model/twins.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/model/plain_types.h"
#include "src/util/name_shorten.h"
#include "src/util/text.h"

#define TWINS_COMPARED 32u /* a row is compared with so many of its twins */
#define TWINS_DEPTH    24u /* frames on each side of the name that are compared */
#define CALLER_CELLS   24
#define NAME_BYTES     2048 /* of a function's name; few have more */

static uint32_t title_of(const struct twin *t, bool show_hidden)
{
	const struct stack *s = t->site->stack;

	return show_hidden || s->title >= s->nframes ? 0 : s->title;
}

/* ---- equal frames ------------------------------------------------------------------------- */

static bool text_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool function_same(const struct frame *a, const struct frame *b)
{
	if (!a->function || !b->function)
		return a->function == b->function && a->pc == b->pc;
	return text_same(a->function, b->function);
}

static bool line_same(const struct frame *a, const struct frame *b)
{
	return a->line == b->line && text_same(a->file, b->file);
}

/* FNV-1a. */
static uint64_t text_hash(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211u;
	return hash;
}

static uint64_t frame_key(const struct frame *f)
{
	uint64_t hash = 14695981039346656037u ^ f->line;

	if (!f->function)
		hash ^= f->pc * 0x9e3779b97f4a7c15u;
	return text_hash(text_hash(hash, f->function), f->file);
}

/* ---- what differs ------------------------------------------------------------------------- */

/* Frame `away` frames from the title, inwards or outwards; NULL: there is none. */
static const struct frame *frame_at(
	const struct twin *t, bool show_hidden, bool inwards, uint32_t away)
{
	uint32_t title = title_of(t, show_hidden);

	if (inwards)
		return away <= title ? snapshot_frame(t->site->stack, title - away) : NULL;
	return away < t->site->stack->nframes - title ? snapshot_frame(t->site->stack, title + away)
						      : NULL;
}

static bool frame_differs(const struct frame *a, const struct frame *b, bool by_line)
{
	if (!a || !b)
		return a != b;
	return !function_same(a, b) || (by_line && !line_same(a, b));
}

/* From how many of its twins does it differ in this frame? */
static size_t frame_tells(const struct twin *t, const struct twin *all, size_t n, bool show_hidden,
	bool inwards, uint32_t away)
{
	const struct frame *f = frame_at(t, show_hidden, inwards, away);
	size_t count = 0;

	for (size_t i = 0; f && i < n && i < TWINS_COMPARED; i++)
		count += frame_differs(f, frame_at(&all[i], show_hidden, inwards, away), !inwards);
	return count;
}

/* Has one of its twins the same function there, but another line? */
static bool line_tells(
	const struct twin *t, const struct twin *all, size_t n, bool show_hidden, uint32_t away)
{
	const struct frame *f = frame_at(t, show_hidden, false, away);

	for (size_t i = 0; f && i < n && i < TWINS_COMPARED; i++) {
		const struct frame *other = frame_at(&all[i], show_hidden, false, away);

		if (other && function_same(f, other) && !line_same(f, other))
			return true;
	}
	return false;
}

/* The nearest frame that tells it from all of its twins, or else from the most. */
static bool frames_tell(
	struct twin *t, const struct twin *all, size_t n, bool show_hidden, bool inwards)
{
	size_t others = (n < TWINS_COMPARED ? n : TWINS_COMPARED) - 1, most = 0;
	uint32_t title = title_of(t, show_hidden), best = 0;

	for (uint32_t away = 1; away <= TWINS_DEPTH && most < others; away++) {
		size_t count = frame_tells(t, all, n, show_hidden, inwards, away);

		if (!frame_at(t, show_hidden, inwards, away))
			break;
		if (count > most)
			most = count, best = away;
	}
	if (!most)
		return false;
	t->kind = inwards ? TWINS_INNER : TWINS_CALLER;
	t->frame = inwards ? title - best : title + best;
	t->line = !inwards && line_tells(t, all, n, show_hidden, best);
	return true;
}

static bool function_tells(struct twin *t, const struct twin *all, size_t n)
{
	for (size_t i = 0; i < n && i < TWINS_COMPARED; i++) {
		if (text_same(t->site->alloc_function, all[i].site->alloc_function))
			continue;
		t->kind = TWINS_FUNCTION;
		return true;
	}
	return false;
}

/* ---- names -------------------------------------------------------------------------------- */

/* Where the name of an operator ends: after "operator()", "operator<<"; at `i` anything else. */
static size_t operator_end(const char *name, size_t i)
{
	if (strncmp(name + i, "operator", 8) != 0)
		return i;
	i += 8;
	if (!strncmp(name + i, "()", 2))
		return i + 2;
	return i + strspn(name + i, "<>=-!+*/&|[]");
}

/* The end of a function's name without its parameters; *from: after its return type. */
static size_t name_core(const char *name, size_t *from)
{
	bool is_operator = false;
	int depth = 0;
	size_t i = 0;

	*from = 0;
	while (name[i]) {
		size_t end = operator_end(name, i);

		is_operator |= end > i;
		if (end > i) {
			i = end;
			continue;
		}
		if (!strncmp(name + i, "(anonymous", 10))
			i += 10 + strcspn(name + i + 10, ")");
		else if (name[i] == '(' && depth == 0)
			break;
		else if (name[i] == ' ' && depth == 0 && !is_operator)
			*from = i + 1;
		depth += name[i] == '<' ? 1 : name[i] == '>' && depth ? -1 : 0;
		i += name[i] != '\0';
	}
	return i;
}

/* The last part of a name that has template arguments, or else its last part: "vector<Foo>" of
 * "std::vector<Foo>::push_back". */
static void name_part(const char *name, size_t *from, size_t *end)
{
	size_t last, part = *from, with = 0, with_end = 0;
	int depth = 0;

	for (last = *from; last <= *end; last++) {
		bool over = last == *end || (depth == 0 && !strncmp(name + last, "::", 2));

		if (over && memchr(name + part, '<', last - part))
			with = part, with_end = last;
		if (last == *end)
			break;
		depth += name[last] == '<' ? 1 : name[last] == '>' && depth ? -1 : 0;
		if (over) {
			last++;
			part = last + 1;
		}
	}
	*from = with_end ? with : part;
	*end = with_end ? with_end : *end;
}

/* "make_shared<Conn>" of "std::shared_ptr<Conn> std::make_shared<Conn, int&>(int&)"; with `whole`
 * all arguments. */
static void name_type(const char *function, bool whole, char out[TWINS_TEXT])
{
	char name[NAME_BYTES];
	size_t from, end, used = 0;
	int depth = 0;

	plain_types_text(function, name, sizeof(name));
	end = name_core(name, &from);
	name_part(name, &from, &end);
	for (; from < end && used < TWINS_TEXT - 1; from++) {
		depth += name[from] == '<' ? 1 : name[from] == '>' ? -1 : 0;
		if (!whole && depth == 1 && name[from] == ',')
			while (from + 1 < end && (depth > 1 || name[from + 1] != '>')) {
				from++;
				depth += name[from] == '<' ? 1 : name[from] == '>' ? -1 : 0;
			}
		else
			out[used++] = name[from];
	}
	out[used] = '\0';
}

static const struct frame *twin_frame(const struct twin *t)
{
	return snapshot_frame(t->site->stack, t->frame);
}

/* Two rows whose first template arguments are the same show all of them. */
static void arguments_compare(struct twin *all, size_t n)
{
	char a[TWINS_TEXT], b[TWINS_TEXT];

	for (size_t i = 0; i < n; i++) {
		if (all[i].kind != TWINS_INNER || !twin_frame(&all[i])->function)
			continue;
		name_type(twin_frame(&all[i])->function, false, a);
		for (size_t j = 0; j < n && j < TWINS_COMPARED && !all[i].whole; j++) {
			if (j == i || all[j].kind != TWINS_INNER ||
				!twin_frame(&all[j])->function ||
				function_same(twin_frame(&all[i]), twin_frame(&all[j])))
				continue;
			name_type(twin_frame(&all[j])->function, false, b);
			all[i].whole = !strcmp(a, b);
		}
	}
}

/* ---- callers ------------------------------------------------------------------------------ */

/* How many bytes at the ends of both are the same, without cutting through brackets. */
static size_t end_same(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), same = 0, whole = 0;
	int depth = 0;

	while (same < n && same < m && a[n - 1 - same] == b[m - 1 - same]) {
		char c = a[n - 1 - same++];

		depth += c == ')' || c == '>' ? 1 : c == '(' || c == '<' ? -1 : 0;
		if (depth == 0 && ((unsigned char)c & 0xc0) != 0x80)
			whole = same;
	}
	return whole < n && whole < m ? whole : 0;
}

/* "← v8::Startup…" of "v8::StartupTask::load()", whose twin is called by "v8::SharedTask::load()":
 * the end is what is kept of it where room is scarce. */
static void scope_name(const char *function, size_t same, bool ascii, char *out, size_t cap)
{
	char scope[NAME_BYTES];
	size_t len = strlen(function) - same;

	snprintf(scope, sizeof(scope), "%.*s", (int)(len < NAME_BYTES ? len : NAME_BYTES - 1),
		function);
	name_shorten(out, cap, scope, CALLER_CELLS, true, ascii);
	len = strlen(out);
	snprintf(out + len, cap - len, "%s", ascii ? "..." : "…");
}

/* Code without a name is an offset; in the module of the row itself no more than that. */
static void caller_name(const struct twin *t, bool show_hidden, bool ascii, char *out, size_t cap)
{
	const struct frame *f = twin_frame(t);
	const struct frame *title = snapshot_frame(t->site->stack, title_of(t, show_hidden));

	if (!f->function && f->module->name[0] && f->module == title->module)
		snprintf(out, cap, "+0x%" PRIx64, f->offset);
	else if (t->scope)
		scope_name(f->function, t->scope, ascii, out, cap);
	else
		frame_name(f, NAMES_SHORT, CALLER_CELLS, ascii, out, cap);
}

static void caller_text(const struct twin *t, bool show_hidden, bool ascii, char out[TWINS_TEXT])
{
	const struct frame *f = twin_frame(t);
	char name[TWINS_TEXT / 2];

	caller_name(t, show_hidden, ascii, name, sizeof(name));
	if (t->line && f->line)
		snprintf(out, TWINS_TEXT, "%s %s:%" PRIu32, ascii ? "<-" : "←", name, f->line);
	else
		snprintf(out, TWINS_TEXT, "%s %s", ascii ? "<-" : "←", name);
}

/* How much of the ends of callers' names hides that their scopes differ: they would be cut to the
 * same text. */
static size_t caller_end(const struct twin *t, const struct twin *other)
{
	const struct frame *f = twin_frame(t), *g = twin_frame(other);
	char a[TWINS_TEXT], b[TWINS_TEXT];
	size_t same;

	if (other->kind != TWINS_CALLER || !f->function || !g->function || function_same(f, g))
		return 0;
	same = end_same(f->function, g->function);
	if (!same)
		return 0;
	frame_name(f, NAMES_SHORT, CALLER_CELLS, false, a, sizeof(a));
	frame_name(g, NAMES_SHORT, CALLER_CELLS, false, b, sizeof(b));
	if (strcmp(a, b) != 0)
		return 0;
	scope_name(f->function, same, false, a, sizeof(a));
	scope_name(g->function, same, false, b, sizeof(b));
	return strcmp(a, b) != 0 ? same : 0;
}

static void callers_compare(struct twin *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; all[i].kind == TWINS_CALLER && j < n && j < TWINS_COMPARED;
			j++) {
			size_t same = caller_end(&all[i], &all[j]);

			all[i].scope = same > all[i].scope ? same : all[i].scope;
		}
}

/* ---- what is said ------------------------------------------------------------------------- */

static void inner_text(const struct twin *t, bool ascii, char out[TWINS_TEXT])
{
	const char *function = twin_frame(t)->function;
	char type[TWINS_TEXT], cut[TWINS_TEXT - 8];

	if (!function)
		frame_name(twin_frame(t), NAMES_SHORT, CALLER_CELLS, ascii, type, sizeof(type));
	else
		name_type(function, t->whole, type);
	text_elide(cut, sizeof(cut), type, sizeof(cut) - 8, true, ascii);
	snprintf(out, TWINS_TEXT, ascii ? "{%s}" : "‹%s›", cut);
}

static void kind_text(const struct twin *twin, bool show_hidden, bool ascii, char out[TWINS_TEXT])
{
	if (twin->kind == TWINS_CALLER)
		caller_text(twin, show_hidden, ascii, out);
	else if (twin->kind == TWINS_INNER)
		inner_text(twin, ascii, out);
	else if (twin->kind == TWINS_FUNCTION)
		snprintf(out, TWINS_TEXT, ascii ? "{%s}" : "‹%s›", twin->site->alloc_function);
	else
		*out = '\0';
}

/* ---- addresses ---------------------------------------------------------------------------- */

/* Is the frame's address in `t` another one than in all of its twins? Without `every`: than in one
 * that says the same. */
static bool address_differs(const struct twin *t, const struct twin *all, size_t n,
	bool show_hidden, uint32_t away, bool every)
{
	const struct frame *f = frame_at(t, show_hidden, false, away);
	bool differs = every;

	for (size_t i = 0; f && i < n && i < TWINS_COMPARED && differs == every; i++) {
		const struct frame *other = frame_at(&all[i], show_hidden, false, away);

		if (&all[i] == t || (!every && t->said != all[i].said))
			continue;
		differs = other ? other->pc != f->pc : every;
	}
	return f && differs;
}

static bool says_as_another(const struct twin *t, const struct twin *all, size_t n)
{
	for (size_t i = 0; i < n && i < TWINS_COMPARED; i++)
		if (&all[i] != t && t->said == all[i].said)
			return true;
	return false;
}

/* Two calls in one line, or in code without lines: the nearest frame, from the title outwards, at
 * an address of its own, for the address may be all that a narrow column has room for. */
static void address_tells(struct twin *t, const struct twin *all, size_t n, bool show_hidden)
{
	if (!says_as_another(t, all, n))
		return;
	for (int every = 1; every >= 0 && !t->address; every--)
		for (uint32_t away = 0; away <= TWINS_DEPTH && !t->address; away++) {
			t->address = address_differs(t, all, n, show_hidden, away, every);
			t->at = title_of(t, show_hidden) + away;
		}
}

/* ---- all of them -------------------------------------------------------------------------- */

static int twin_order(const void *pa, const void *pb)
{
	const struct twin *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static int row_order(const void *pa, const void *pb)
{
	const struct twin *a = pa, *b = pb;

	return (a->row > b->row) - (a->row < b->row);
}

static void twins_compare(struct twin *all, size_t n, bool show_hidden)
{
	char said[TWINS_TEXT];

	for (size_t i = 0; n > 1 && i < n; i++)
		if (!frames_tell(&all[i], all, n, show_hidden, true) &&
			!frames_tell(&all[i], all, n, show_hidden, false))
			function_tells(&all[i], all, n);
	arguments_compare(all, n);
	callers_compare(all, n);
	for (size_t i = 0; n > 1 && i < n; i++) {
		kind_text(&all[i], show_hidden, false, said);
		all[i].said = text_hash(0, said);
	}
	for (size_t i = 0; n > 1 && i < n; i++)
		address_tells(&all[i], all, n, show_hidden);
}

static void twin_add(struct twins *t, const struct snap_site *site, size_t row)
{
	struct twin *twin = &t->twin[t->count];

	if (site->group)
		return;
	*twin = (struct twin){ .site = site, .row = row };
	twin->key = frame_key(snapshot_frame(site->stack, title_of(twin, t->show_hidden)));
	t->count++;
}

static void twins_compare_all(struct twins *t)
{
	qsort(t->twin, t->count, sizeof(t->twin[0]), twin_order);
	for (size_t i = 0, end; i < t->count; i = end) {
		for (end = i + 1; end < t->count && t->twin[end].key == t->twin[i].key;)
			end++;
		twins_compare(&t->twin[i], end - i, t->show_hidden);
	}
	qsort(t->twin, t->count, sizeof(t->twin[0]), row_order);
}

void twins_find(struct twins *t, const struct snapshot *snap, const uint32_t *order, size_t from,
	size_t to, bool show_hidden)
{
	t->count = 0;
	t->show_hidden = show_hidden;
	for (size_t row = from; row < to && t->count < TWINS_ROWS; row++)
		twin_add(t, &snap->sites[order[row]], row);
	twins_compare_all(t);
}

void twins_find_sites(
	struct twins *t, const struct snap_site *const *site, size_t n, bool show_hidden)
{
	t->count = 0;
	t->show_hidden = show_hidden;
	for (size_t row = 0; row < n && t->count < TWINS_ROWS; row++)
		if (site[row])
			twin_add(t, site[row], row);
	twins_compare_all(t);
}

/* An address is an offset in the module; after a caller, that of a call in it. */
static void address_add(const struct twin *twin, bool ascii, char out[TWINS_TEXT])
{
	uint64_t offset = snapshot_frame(twin->site->stack, twin->at)->offset;
	bool bare = twin->kind == TWINS_CALLER;
	const char *begin = bare ? "" : ascii ? "{" : "‹", *end = bare ? "" : ascii ? "}" : "›";
	size_t used = strlen(out);

	snprintf(out + used, TWINS_TEXT - used, "%s%s0x%" PRIx64 "%s", used ? " " : "", begin,
		offset, end);
}

const char *twins_text(const struct twins *t, size_t row, enum glyphs glyphs, char out[TWINS_TEXT])
{
	bool ascii = glyphs == GLYPHS_ASCII;

	for (size_t i = 0; i < t->count; i++) {
		const struct twin *twin = &t->twin[i];

		if (twin->row != row || (twin->kind == TWINS_NONE && !twin->address))
			continue;
		kind_text(twin, t->show_hidden, ascii, out);
		if (twin->address)
			address_add(twin, ascii, out);
		return out;
	}
	return NULL;
}

const char *twins_row(struct twins *t, const struct snapshot *snap, const uint32_t *order,
	size_t row, size_t to, const struct row_style *style, char out[TWINS_TEXT])
{
	if (row % TWINS_ROWS == 0)
		twins_find(t, snap, order, row, to, style->show_hidden);
	return twins_text(t, row, style->glyphs, out);
}
