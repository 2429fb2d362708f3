/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pprof's profile.proto (https://github.com/google/pprof, proto/profile.proto), compressed with
 * gzip: sample types as Go's heap profiles have them, and temporary blocks and those at the peak.
 * A location is an address with the functions inlined there, so that other tools can find its names
 * anew by build-id. Each sample has the allocating function as a label, and with children its
 * process.
 */
#include <stdio.h>
#include <string.h>
#include "src/export/gzip.h"
#include "src/export/formats.h"
#include "src/export/profile.h"
#include "src/export/proto.h"

#define PAGE 4096u

/* Fields of the messages. */
enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION };
enum { PROFILE_FUNCTION = 5, PROFILE_STRING, PROFILE_TIME_NS = 9, PROFILE_DURATION_NS };
enum { PROFILE_PERIOD_TYPE = 11, PROFILE_PERIOD, PROFILE_COMMENT, PROFILE_DEFAULT_TYPE };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };
enum { MAPPING_ID = 1, MAPPING_START, MAPPING_LIMIT, MAPPING_FILE = 5, MAPPING_BUILD_ID };
enum { MAPPING_HAS_FUNCTIONS = 7, MAPPING_HAS_INLINES = 10 };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

static const struct sample_type {
	const char *type, *unit;
	enum snap_value value;
	bool blocks_at_peak; /* has no value of its own */
} sample_types[] = {
	{ "alloc_objects", "count", VALUE_ALLOCS, false },
	{ "alloc_space", "bytes", VALUE_ALLOCATED, false },
	{ "inuse_objects", "count", VALUE_BLOCKS, false },
	{ "inuse_space", "bytes", VALUE_LIVE, false },
	{ "temporary_objects", "count", VALUE_TEMPORARY, false },
	/* Only if the peak's composition is known. */
	{ "peak_objects", "count", VALUE_PEAK, true },
	{ "peak_space", "bytes", VALUE_PEAK, false },
};
#define SAMPLE_TYPES (sizeof(sample_types) / sizeof(sample_types[0]))

struct mapping {
	const struct snap_module *module;
	uint64_t start, limit;
	bool named;
};

struct pprof {
	struct profile profile;
	bool peak; /* all processes have the composition of their peaks */
	struct numbering strings, functions, locations, mappings;
	struct mapping mapping[1024]; /* further modules have no mapping */
	struct strbuf out; /* the whole, not yet compressed */
	struct strbuf message, inner, packed;
};

static uint64_t string(struct pprof *p, const char *text)
{
	return numbering_add(&p->strings, text ? text : "", text ? strlen(text) : 0, NULL);
}

/* ---- functions, mappings, locations: IDs are numbers + 1 ---- */

static uint64_t function_of(struct pprof *p, const char *name, const char *linker, const char *file)
{
	const uint64_t key[] = { string(p, name), string(p, linker ? linker : name),
		string(p, file) };
	bool is_new;
	uint64_t id = numbering_add(&p->functions, key, sizeof(key), &is_new) + 1ull;

	if (!is_new)
		return id;
	proto_uint(&p->message, FUNCTION_ID, id);
	proto_uint(&p->message, FUNCTION_NAME, key[0]);
	proto_uint(&p->message, FUNCTION_SYSTEM_NAME, key[1]);
	proto_uint(&p->message, FUNCTION_FILE, key[2]);
	proto_message(&p->out, PROFILE_FUNCTION, &p->message);
	return id;
}

static uint64_t frame_function(struct pprof *p, const struct frame *f)
{
	char name[COLUMN_TEXT_MAX * 4];

	profile_frame_name(f, p->profile.names, name, sizeof(name));
	return function_of(p, name, f->mangled, f->file);
}

/* A module at its place in memory. 0: code outside any object. */
static uint64_t mapping_of(struct pprof *p, const struct frame *f)
{
	const struct snap_module *module = f->module;
	struct mapping *m;
	bool is_new;
	uint32_t n;

	if (!module->path[0])
		return 0;
	strbuf_reset(&p->packed);
	proto_varint(&p->packed, f->pc - f->offset);
	strbuf_puts(&p->packed, module->build_id);
	strbuf_putc(&p->packed, '/');
	strbuf_puts(&p->packed, module->path);
	n = numbering_add(&p->mappings, strbuf_text(&p->packed), p->packed.len, &is_new);
	if (n >= sizeof(p->mapping) / sizeof(p->mapping[0]))
		return 0;
	m = &p->mapping[n];
	if (is_new)
		*m = (struct mapping){ .module = module, .start = f->pc - f->offset };
	/* Only the addresses of stacks are known. */
	if (f->pc >= m->limit)
		m->limit = f->pc + PAGE - f->pc % PAGE;
	m->named |= f->function != NULL;
	return n + 1ull;
}

static void line_put(struct pprof *p, const struct frame *f)
{
	uint64_t id = frame_function(p, f);

	proto_uint(&p->inner, LINE_FUNCTION, id);
	proto_uint(&p->inner, LINE_LINE, f->line);
	proto_message(&p->packed, LOCATION_LINE, &p->inner);
}

/*
 * The location of `n` frames, innermost first, the last of which the others are inlined into.
 * Return addresses point behind the call, and may be those of the next function: so one byte
 * before.
 */
static uint64_t location_of(struct pprof *p, const struct stack *stack, uint32_t first, uint32_t n)
{
	const struct frame *outer = snapshot_frame(stack, first + n - 1);
	uint64_t mapping = mapping_of(p, outer), id;
	const uint64_t key[] = { 0, mapping, outer->pc, (uint64_t)(uintptr_t)outer->function,
		outer->line };
	bool is_new;

	id = numbering_add(&p->locations, key, sizeof(key), &is_new) + 1ull;
	if (!is_new)
		return id;
	strbuf_reset(&p->packed);
	proto_uint(&p->packed, LOCATION_ID, id);
	proto_uint(&p->packed, LOCATION_MAPPING, mapping);
	proto_uint(&p->packed, LOCATION_ADDRESS, outer->pc ? outer->pc - 1 : 0);
	for (uint32_t i = 0; i < n; i++)
		if (snapshot_frame(stack, first + i)->function || mapping == 0)
			line_put(p, snapshot_frame(stack, first + i));
	proto_message(&p->out, PROFILE_LOCATION, &p->packed);
	return id;
}

static uint64_t label_location(struct pprof *p, const char *text)
{
	const uint64_t key[] = { 1, function_of(p, text, NULL, NULL) };
	bool is_new;
	uint64_t id = numbering_add(&p->locations, key, sizeof(key), &is_new) + 1ull;

	if (!is_new)
		return id;
	strbuf_reset(&p->packed);
	proto_uint(&p->packed, LOCATION_ID, id);
	proto_uint(&p->inner, LINE_FUNCTION, key[1]);
	proto_message(&p->packed, LOCATION_LINE, &p->inner);
	proto_message(&p->out, PROFILE_LOCATION, &p->packed);
	return id;
}

/* ---- samples ---- */

static void label_put(struct pprof *p, struct strbuf *sample, const char *key, const char *text)
{
	proto_uint(&p->inner, LABEL_KEY, string(p, key));
	proto_uint(&p->inner, LABEL_TEXT, string(p, text));
	proto_message(sample, SAMPLE_LABEL, &p->inner);
}

static void labels_put(struct pprof *p, struct strbuf *sample, const struct snapshot *s,
	const struct snap_site *site)
{
	char name[256];

	label_put(p, sample, "allocator", site->alloc_function);
	if (p->profile.nprocesses < 2)
		return;
	label_put(p, sample, "process", profile_process_name(s, name, sizeof(name)));
	proto_uint(&p->inner, LABEL_KEY, string(p, "pid"));
	proto_uint(&p->inner, LABEL_NUMBER, (uint64_t)s->pid);
	proto_message(sample, SAMPLE_LABEL, &p->inner);
}

/* Their packed numbers, innermost first. */
static void locations_put(struct pprof *p, struct strbuf *ids, const struct stack *stack)
{
	if (stack->ancestor)
		proto_varint(ids, label_location(p, "(inner frames missing)"));
	for (uint32_t i = 0, n; i < stack->nframes; i += n) {
		for (n = 1; i + n < stack->nframes; n++)
			if (!snapshot_frame(stack, i + n - 1)->inlined)
				break;
		proto_varint(ids, location_of(p, stack, i, n));
	}
	if (stack->truncated)
		proto_varint(ids, label_location(p, "(outer frames missing)"));
}

/* False: all are 0. */
static bool values_put(const struct pprof *p, struct strbuf *values, const struct snapshot *s,
	const struct snap_site *site)
{
	bool any = false;

	for (size_t i = 0; i < SAMPLE_TYPES; i++) {
		const struct sample_type *t = &sample_types[i];
		int64_t value = profile_weight(s, site, t->value);

		if (t->value == VALUE_PEAK && !p->peak)
			continue;
		if (t->blocks_at_peak)
			value = s->moment == SNAP_RANGE ? 0 : (int64_t)site->at_peak_blocks;
		proto_varint(values, (uint64_t)value);
		any |= value != 0;
	}
	return any;
}

static void site_put(struct pprof *p, const struct snapshot *s, const struct snap_site *site)
{
	struct strbuf values = STRBUF_INIT, ids = STRBUF_INIT, sample = STRBUF_INIT;

	if (values_put(p, &values, s, site)) {
		locations_put(p, &ids, site->stack);
		proto_message(&sample, SAMPLE_LOCATION, &ids);
		proto_message(&sample, SAMPLE_VALUE, &values);
		labels_put(p, &sample, s, site);
		proto_message(&p->out, PROFILE_SAMPLE, &sample);
	}
	strbuf_free(&values);
	strbuf_free(&ids);
	strbuf_free(&sample);
}

/* ---- the rest ---- */

static void type_put(struct pprof *p, unsigned field, const char *type, const char *unit)
{
	proto_uint(&p->message, TYPE_TYPE, string(p, type));
	proto_uint(&p->message, TYPE_UNIT, string(p, unit));
	proto_message(&p->out, field, &p->message);
}

static void types_put(struct pprof *p)
{
	for (size_t i = 0; i < SAMPLE_TYPES; i++) {
		const struct sample_type *t = &sample_types[i];

		if (t->value == VALUE_PEAK && !p->peak)
			continue;
		type_put(p, PROFILE_SAMPLE_TYPE, t->type, t->unit);
		if (t->value == p->profile.options->value && !t->blocks_at_peak)
			proto_uint(&p->out, PROFILE_DEFAULT_TYPE, string(p, t->type));
	}
}

static void mappings_put(struct pprof *p)
{
	for (uint32_t i = 0; i < p->mappings.count; i++) {
		const struct mapping *m = &p->mapping[i];

		if (i == sizeof(p->mapping) / sizeof(p->mapping[0]))
			break;
		proto_uint(&p->message, MAPPING_ID, i + 1ull);
		proto_uint(&p->message, MAPPING_START, m->start);
		proto_uint(&p->message, MAPPING_LIMIT, m->limit);
		proto_uint(&p->message, MAPPING_FILE, string(p, m->module->path));
		proto_uint(&p->message, MAPPING_BUILD_ID, string(p, m->module->build_id));
		for (unsigned f = MAPPING_HAS_FUNCTIONS; m->named && f <= MAPPING_HAS_INLINES; f++)
			proto_uint(&p->message, f, 1);
		proto_message(&p->out, PROFILE_MAPPING, &p->message);
	}
}

static void head_put(struct pprof *p, const struct snapshot *s)
{
	string(p, ""); /* number 0, as the format demands */
	types_put(p);
	proto_uint(&p->out, PROFILE_TIME_NS, s->start_realtime_ns + s->uptime_ns);
	proto_uint(&p->out, PROFILE_DURATION_NS, s->uptime_ns);
	type_put(p, PROFILE_PERIOD_TYPE, "space", "bytes");
	proto_uint(&p->out, PROFILE_PERIOD, s->sampling.most ? s->sampling.most : 1);
	proto_uint(&p->out, PROFILE_COMMENT, string(p, s->command));
}

static void strings_put(struct pprof *p)
{
	for (uint32_t i = 0; i < p->strings.count; i++) {
		size_t len;
		const char *text = numbering_key(&p->strings, i, &len);

		proto_bytes(&p->out, PROFILE_STRING, text, len);
	}
}

static void pprof_free(struct pprof *p)
{
	numbering_free(&p->strings);
	numbering_free(&p->functions);
	numbering_free(&p->locations);
	numbering_free(&p->mappings);
	strbuf_free(&p->out);
	strbuf_free(&p->message);
	strbuf_free(&p->inner);
	strbuf_free(&p->packed);
	profile_free(&p->profile);
}

void export_pprof(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	static struct pprof p;

	p = (struct pprof){ .peak = true };
	profile_open(&p.profile, s, o, 0, NAMES_FULL);
	for (size_t n = 0; n < p.profile.nprocesses; n++)
		p.peak &= p.profile.processes[n]->totals.has_at_peak;
	head_put(&p, s);
	for (size_t n = 0; n < p.profile.nprocesses; n++)
		for (size_t i = 0; i < p.profile.processes[n]->nsites; i++)
			site_put(&p, p.profile.processes[n], &p.profile.processes[n]->sites[i]);
	mappings_put(&p);
	strings_put(&p);
	p.out.failed |= p.profile.failed || p.strings.failed || p.functions.failed ||
			p.locations.failed || p.mappings.failed;
	gzip_put(out, &p.out);
	pprof_free(&p);
}
