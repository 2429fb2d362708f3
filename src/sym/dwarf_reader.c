/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads DWARF with libdw, but with its own indexes and bounds: every walk goes forward through the
 * file, has a depth limit and checks the stop flag, so no input makes it loop. Called by
 * object_file.c on the symboliser's worker thread.
 */
#include "src/sym/dwarf_reader.h"

#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "src/sym/qualified_names.h"
#include "src/sym/ranges.h"
#include "src/util/array.h"

/* Nesting of namespaces, classes, functions and blocks; compilers stay below 50. */
#define DEPTH_MAX 200u
struct unit {
	Dwarf_Die die; /* the unit in the file itself: has the line table */
	Dwarf_Die body; /* has the functions: the same DIE, or that of the .dwo file */
	bool indexed;
	Dwarf_Die *functions;
	size_t nfunctions, functions_cap;
	struct ranges ranges; /* of the functions */
	struct qualified_names names; /* and what encloses them */
};

struct dwarf_reader {
	Dwarf *dwarf;
	const atomic_bool *stop;
	struct unit *units;
	size_t nunits, units_cap;
	struct ranges ranges; /* of the units */
	bool gaps; /* a unit has no ranges: .debug_aranges may have them */
};

/* ---- units ---------------------------------------------------------------------------------- */

static bool unit_add(struct dwarf_reader *s, Dwarf_Die *die)
{
	struct unit *units;
	int n;

	if (dwarf_tag(die) != DW_TAG_compile_unit && dwarf_tag(die) != DW_TAG_skeleton_unit)
		return true;
	units = array_grow(s->units, s->nunits, &s->units_cap, sizeof(*units));
	if (!units)
		return false;
	s->units = units;
	units[s->nunits] = (struct unit){ .die = *die, .body = *die };
	n = ranges_add_die(&s->ranges, die, s->nunits);
	if (n == 0)
		s->gaps = true;
	s->nunits++;
	return n >= 0;
}

static size_t unit_of_offset(const struct dwarf_reader *s, Dwarf_Off offset)
{
	size_t lo = 0, hi = s->nunits;

	/* Units are in file order. */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		Dwarf_Die die = s->units[mid].die;

		if (dwarf_dieoffset(&die) < offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool aranges_add(struct dwarf_reader *s)
{
	Dwarf_Aranges *all;
	size_t n;

	if (dwarf_getaranges(s->dwarf, &all, &n) != 0)
		return true;
	for (size_t i = 0; i < n && !*s->stop; i++) {
		Dwarf_Addr start;
		Dwarf_Word len;
		Dwarf_Off cu;
		size_t unit;

		if (dwarf_getarangeinfo(dwarf_onearange(all, i), &start, &len, &cu) != 0)
			continue;
		unit = unit_of_offset(s, cu);
		if (unit < s->nunits && start + len > start &&
			!ranges_add(&s->ranges, start, start + len, unit))
			return false;
	}
	return true;
}

static bool units_index(struct dwarf_reader *s)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	while (!*s->stop && dwarf_get_units(s->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0) {
		if ((type == DW_UT_compile || type == DW_UT_skeleton) && !unit_add(s, &die))
			return false;
	}
	if (s->gaps && !aranges_add(s))
		return false;
	ranges_sort(&s->ranges);
	return s->ranges.count > 0 && !*s->stop;
}

struct dwarf_reader *dwarf_reader_new(Dwarf *dwarf, const atomic_bool *stop)
{
	struct dwarf_reader *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->dwarf = dwarf;
	s->stop = stop;
	if (units_index(s))
		return s;
	dwarf_reader_free(s);
	return NULL;
}

void dwarf_reader_stop_by(struct dwarf_reader *s, const atomic_bool *stop)
{
	if (s)
		s->stop = stop;
}

void dwarf_reader_free(struct dwarf_reader *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nunits; i++) {
		free(s->units[i].functions);
		ranges_free(&s->units[i].ranges);
		qualified_names_free(&s->units[i].names);
	}
	free(s->units);
	ranges_free(&s->ranges);
	free(s);
}

/* ---- functions of a unit -------------------------------------------------------------------- */

static bool function_add(struct unit *u, Dwarf_Die *die)
{
	Dwarf_Die *functions =
		array_grow(u->functions, u->nfunctions, &u->functions_cap, sizeof(Dwarf_Die));
	int n;

	if (!functions)
		return false;
	u->functions = functions;
	n = ranges_add_die(&u->ranges, die, u->nfunctions);
	if (n > 0)
		u->functions[u->nfunctions++] = *die;
	return n >= 0;
}

/* These can contain functions, and each other (nested functions, methods of local classes). */
static bool holds_functions(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
		return true;
	default:
		return false;
	}
}

/*
 * A walk over the tree below a DIE, children before siblings, visits increasing offsets. Without
 * this check, malformed sibling references could make it visit the same DIEs 2^depth times.
 */
static bool is_forward(Dwarf_Off *last, Dwarf_Die *die)
{
	Dwarf_Off at = dwarf_dieoffset(die);

	if (at <= *last || at == (Dwarf_Off)-1)
		return false;
	*last = at;
	return true;
}

struct walk {
	struct dwarf_reader *reader;
	struct unit *unit;
	Dwarf_Off last;
};

/* Visits the descendants of `parent`. False: out of memory, malformed, or stopped. */
static bool functions_walk(struct walk *w, Dwarf_Die *parent, uint32_t parent_index, unsigned depth)
{
	Dwarf_Die die;
	int rc = dwarf_child(parent, &die);

	for (; rc == 0; rc = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);
		uint32_t index = parent_index;

		if (*w->reader->stop || !is_forward(&w->last, &die))
			return false;
		if (!holds_functions(tag))
			continue;
		if (tag == DW_TAG_subprogram && !function_add(w->unit, &die))
			return false;
		if (tag != DW_TAG_lexical_block)
			index = qualified_names_add(&w->unit->names, &die, parent_index);
		if (depth < DEPTH_MAX && dwarf_haschildren(&die) > 0 &&
			!functions_walk(w, &die, index, depth + 1))
			return false;
	}
	return true;
}

/*
 * libdw opens the .dwo file that the unit names, whatever its type. Check it first: opening a FIFO
 * would block forever.
 */
static bool dwo_is_file(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *dir, *name = NULL;
	char path[PATH_MAX];
	struct stat st;

	if (dwarf_attr(die, DW_AT_dwo_name, &attr) || dwarf_attr(die, DW_AT_GNU_dwo_name, &attr))
		name = dwarf_formstring(&attr);
	if (!name)
		return false;
	dir = dwarf_attr(die, DW_AT_comp_dir, &attr) ? dwarf_formstring(&attr) : NULL;
	if (name[0] == '/' || !dir)
		dir = "";
	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return false;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* With -gsplit-dwarf the file has only a skeleton; the functions are in a .dwo file. */
static void body_find(struct unit *u)
{
	Dwarf_Die sub;
	uint8_t type;

	if (!dwo_is_file(&u->die))
		return;
	if (dwarf_cu_info(u->die.cu, NULL, &type, NULL, &sub, NULL, NULL, NULL) == 0 &&
		type == DW_UT_skeleton && dwarf_tag(&sub) == DW_TAG_compile_unit)
		u->body = sub;
}

static void unit_index(struct dwarf_reader *s, struct unit *u)
{
	struct walk w = { .reader = s, .unit = u };

	if (u->indexed)
		return;
	u->indexed = true;
	body_find(u);
	functions_walk(&w, &u->body, QUALIFIED_NAMES_NONE, 0);
	ranges_sort(&u->ranges);
}

/*
 * The unit that covers `vaddr`, indexed; preferably one with a function there, which is then
 * *function.
 */
static struct unit *unit_find(struct dwarf_reader *s, uint64_t vaddr, Dwarf_Die **function)
{
	struct unit *found = NULL;
	const struct range *r, *f;
	size_t at = SIZE_MAX, function_at;

	*function = NULL;
	while (!*function && (r = ranges_next(&s->ranges, vaddr, &at))) {
		struct unit *u = &s->units[r->owner];

		unit_index(s, u);
		function_at = SIZE_MAX;
		f = ranges_next(&u->ranges, vaddr, &function_at);
		if (f)
			*function = &u->functions[f->owner];
		if (f || !found)
			found = u;
	}
	return found;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* Number of rows of the unit's line table at or before `vaddr`. Rows are sorted by address. */
static size_t rows_before(Dwarf_Lines *lines, size_t n, uint64_t vaddr)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		Dwarf_Addr addr;

		if (dwarf_lineaddr(dwarf_onesrcline(lines, mid), &addr) != 0)
			return 0;
		if (addr <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void line_find(struct unit *u, uint64_t vaddr, struct raw_frame *out)
{
	Dwarf_Lines *lines;
	Dwarf_Line *row;
	size_t n, at;
	bool end = true;
	int line;

	if (dwarf_getsrclines(&u->die, &lines, &n) != 0)
		return;
	at = rows_before(lines, n, vaddr);
	row = at > 0 ? dwarf_onesrcline(lines, at - 1) : NULL;
	/* The unit has no code past the end of a sequence. */
	if (!row || dwarf_lineendsequence(row, &end) != 0 || end)
		return;
	out->file = dwarf_linesrc(row, NULL, NULL);
	if (dwarf_lineno(row, &line) == 0 && line > 0)
		out->line = (uint32_t)line;
}

/* The source position of the call that `inlined` replaced. */
static void call_find(struct unit *u, Dwarf_Die *inlined, struct raw_frame *out)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;
	Dwarf_Files *files;
	size_t n;

	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attr), &value) == 0 &&
		value <= INT32_MAX)
		out->line = (uint32_t)value;
	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attr), &value) == 0 &&
		dwarf_getsrcfiles(&u->body, &files, &n) == 0 && value < n)
		out->file = dwarf_filesrc(files, value, NULL, NULL);
}

/* ---- an address ----------------------------------------------------------------------------- */

static bool holds_inlined(int tag)
{
	switch (tag) {
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		return true;
	default:
		return false;
	}
}

/* A block without addresses of its own may contain entries with addresses. */
static bool around(Dwarf_Die *die, int tag, uint64_t vaddr)
{
	int has = dwarf_haspc(die, vaddr);

	return has > 0 || (tag != DW_TAG_inlined_subroutine && has < 0);
}

struct chain {
	struct dwarf_reader *reader;
	uint64_t vaddr;
	Dwarf_Off last;
	Dwarf_Die *dies; /* outermost first */
	size_t n, max;
};

/* Appends the inlined functions that cover the address. True if there was one: the chain is
 * complete. */
static bool chain_find(struct chain *c, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;
	int rc = depth < DEPTH_MAX && c->n < c->max ? dwarf_child(parent, &die) : 1;

	for (; rc == 0 && !*c->reader->stop; rc = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);

		if (!is_forward(&c->last, &die))
			return false;
		if (!holds_inlined(tag) || !around(&die, tag, c->vaddr))
			continue;
		if (tag == DW_TAG_inlined_subroutine)
			c->dies[c->n++] = die;
		if (chain_find(c, &die, depth + 1) || tag == DW_TAG_inlined_subroutine)
			return true;
	}
	return false;
}

/* Some builds write a relative directory to hide where they ran; it is useless here. */
static const char *directory_of(struct unit *u)
{
	Dwarf_Attribute attr;
	const char *dir = dwarf_formstring(dwarf_attr(&u->die, DW_AT_comp_dir, &attr));

	return dir && dir[0] == '/' ? dir : NULL;
}

static const char *text_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute attr;

	return dwarf_formstring(dwarf_attr_integrate(die, attribute, &attr));
}

static void names_find(struct unit *u, Dwarf_Die *die, struct raw_frame *out)
{
	out->linkage = text_of(die, DW_AT_linkage_name);
	if (!out->linkage)
		out->linkage = text_of(die, DW_AT_MIPS_linkage_name);
	out->name = out->linkage ? NULL : qualified_names_find(&u->names, die);
	if (!out->name)
		out->name = text_of(die, DW_AT_name);
}

size_t dwarf_reader_find(
	struct dwarf_reader *s, uint64_t vaddr, struct raw_frame out[RAW_FRAMES_MAX])
{
	Dwarf_Die dies[RAW_FRAMES_MAX], *function;
	struct chain c = { .reader = s, .vaddr = vaddr, .dies = dies, .max = RAW_FRAMES_MAX };
	struct unit *u = unit_find(s, vaddr, &function);

	if (!u)
		return 0;
	memset(out, 0, RAW_FRAMES_MAX * sizeof(*out));
	line_find(u, vaddr, &out[0]);
	out[0].dir = directory_of(u);
	if (!function)
		return out[0].file ? 1 : 0;
	dies[c.n++] = *function;
	chain_find(&c, function, 0);
	for (size_t i = 0; i < c.n; i++) {
		Dwarf_Die *die = &dies[c.n - 1 - i];

		names_find(u, die, &out[i]);
		out[i].dir = out[0].dir;
		if (i + 1 < c.n)
			call_find(u, die, &out[i + 1]);
	}
	return c.n;
}
