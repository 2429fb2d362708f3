/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One process of a JSON report as it is read (json_image.h). Main thread. Long because all members
 * of a report are read here, field by field.
 */
#include "src/record/json_image.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "src/record/json_values.h"
#include "src/util/array.h"
#include "src/util/intern.h"
#include "src/util/text.h"

#define RATES_NS UINT64_C(10000000000) /* rates of a report are over its last ticks, about 10 s */
#define NS_PER_S UINT64_C(1000000000)
/* The id of the row of ignored sites in reports of earlier versions. It is no index: here the row
 * gets the next one that is free. */
#define OLD_ROW (UINT32_MAX - 1)

static const struct snap_module nowhere = { .path = "", .name = "", .build_id = "" };

struct json_image {
	struct snapshot head; /* filled in as members come */
	struct intern *texts;
	struct snap_sites {
		struct snap_site *at;
		size_t n, room;
	} sites, mapped; /* of the heap, and of the other kinds */
	uint32_t free_id; /* not 0; ids of all sites are below, OLD_ROW apart */
	struct snap_thread *threads;
	size_t nthreads, threads_room;
	const struct snapshot **children;
	size_t nchildren, children_room;
	/* Open addressing, by the texts' addresses; a power of two, at most half full. */
	const struct snap_module **modules;
	size_t nmodules, slots;
	char *scratch; /* a text while it is cleaned */
	size_t scratch_room;
	bool rates; /* a site has a rate */
	bool failed; /* no memory */
};

struct json_image *json_image_new(void)
{
	struct json_image *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->free_id = 1;
	m->texts = intern_new();
	if (m->texts)
		return m;
	free(m);
	return NULL;
}

void json_image_free(struct json_image *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->nchildren; i++)
		snapshot_unref((struct snapshot *)(uintptr_t)m->children[i]);
	free(m->children);
	free(m->modules);
	free(m->sites.at);
	free(m->mapped.at);
	free(m->threads);
	free(m->scratch);
	intern_free(m->texts);
	free(m);
}

static void image_release(void *owner)
{
	json_image_free(owner);
}

/* ---- values ---- */

static const char *text_keep(struct json_image *m, const char *text, size_t len)
{
	const char *kept;

	if (len >= m->scratch_room) {
		char *more = realloc(m->scratch, 2 * len + 1);

		if (!more) {
			m->failed = true;
			return "";
		}
		m->scratch = more;
		m->scratch_room = 2 * len + 1;
	}
	len = text_clean(m->scratch, m->scratch_room, text, len);
	kept = intern_text(m->texts, m->scratch, len);
	m->failed |= !kept;
	return kept ? kept : "";
}

/* Clean; NULL if it is no text. */
static const char *text_of(struct json_image *m, const struct json_object *v)
{
	struct json_object *o = (struct json_object *)(uintptr_t)v;

	if (!json_object_is_type(v, json_type_string))
		return NULL;
	return text_keep(m, json_object_get_string(o), (size_t)json_object_get_string_len(o));
}

static const char *text(struct json_image *m, const struct json_object *o, const char *key)
{
	return text_of(m, json_values_member(o, key));
}

static const char *text_or_empty(struct json_image *m, const struct json_object *o, const char *key)
{
	const char *t = text(m, o, key);

	return t ? t : "";
}

/* "2026-11-21T13:05:12Z" */
static uint64_t realtime(struct json_image *m, const struct json_object *o, const char *key)
{
	const char *iso = text(m, o, key);
	struct tm tm = { 0 };
	time_t seconds;

	if (!iso || !strptime(iso, "%Y-%m-%dT%H:%M:%SZ", &tm))
		return 0;
	seconds = timegm(&tm);
	return seconds < 0 || (uint64_t)seconds > UINT64_MAX / NS_PER_S
		       ? 0
		       : (uint64_t)seconds * NS_PER_S;
}

/* ---- members ---- */

static void command_set(struct json_image *m, const struct json_object *list)
{
	size_t n = json_values_items(list), room = 1, used = 0;
	const char **argv = intern_alloc(m->texts, (n + 1) * sizeof(*argv));
	char *joined;

	m->failed |= !argv;
	for (size_t i = 0; argv && i < n; i++) {
		argv[i] = text_of(m, json_object_array_get_idx(list, i));
		argv[i] = argv[i] ? argv[i] : "";
		room += strlen(argv[i]) + 1;
	}
	joined = argv ? intern_alloc(m->texts, room) : NULL;
	m->failed |= !joined;
	if (!joined || n > UINT_MAX)
		return;
	for (size_t i = 0; i < n; i++)
		used += (size_t)sprintf(joined + used, "%s%s", i ? " " : "", argv[i]);
	m->head.argv = argv;
	m->head.argc = (unsigned)n;
	m->head.command = joined;
}

static int signal_number(const char *name)
{
	for (int i = 1; i < NSIG; i++)
		if (sigabbrev_np(i) && !strcmp(name + 3, sigabbrev_np(i)))
			return i;
	return atoi(name + 3);
}

static void state_set(struct json_image *m, const struct json_object *o)
{
	static const struct {
		const char *word;
		enum snap_state state;
	} words[] = { { "running", SNAP_RUNNING }, { "exited", SNAP_EXITED },
		{ "copy", SNAP_COPY } };
	const char *word = text_or_empty(m, o, "state"), *signal = text(m, o, "signal");

	m->head.state = SNAP_GONE;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i].word))
			m->head.state = words[i].state;
	if (m->head.state != SNAP_EXITED)
		return;
	m->head.exit_status = json_values_has_number(o, "exit_status")
				      ? (int)(json_values_number(o, "exit_status") & 255)
				      : -1;
	if (!signal || strncmp(signal, "SIG", 3) != 0)
		return;
	m->head.state = SNAP_KILLED;
	m->head.signal = signal_number(signal);
	m->head.signal_name = signal;
}

static void process_set(struct json_image *m, const struct json_object *o)
{
	uint64_t pid = json_values_number(o, "pid");

	m->head.pid = pid <= INT_MAX ? (pid_t)pid : 0;
	m->head.forked = json_values_flag(o, "forked");
	m->head.exe = text_or_empty(m, o, "exe");
	command_set(m, json_values_member(o, "command"));
	state_set(m, o);
}

static void time_set(struct json_image *m, const struct json_object *o)
{
	m->head.start_realtime_ns = realtime(m, o, "start");
	m->head.now_realtime_ns = realtime(m, o, "now");
	m->head.uptime_ns = json_values_number(o, "uptime_ns");
}

struct field {
	const char *key;
	size_t at;
};
#define FIELDS(table) table, sizeof(table) / sizeof(table[0])

static void fields_set(
	void *to, const struct json_object *o, const struct field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++)
		*(uint64_t *)((char *)to + fields[i].at) = json_values_number(o, fields[i].key);
}

static const struct field error_fields[] = {
	{ "error_bytes", offsetof(struct snap_error, live_bytes) },
	{ "error_blocks", offsetof(struct snap_error, live_blocks) },
	{ "error_alloc_bytes", offsetof(struct snap_error, alloc_bytes) },
	{ "error_allocs", offsetof(struct snap_error, allocs) },
};

/* A field of the same name. */
#define SAME(name) #name, offsetof(struct snap_totals, name)

static void totals_set(struct json_image *m, const struct json_object *o)
{
	static const struct field fields[] = { { SAME(allocs) }, { SAME(frees) },
		{ SAME(reallocs) }, { SAME(alloc_bytes) }, { SAME(free_bytes) },
		{ SAME(live_blocks) }, { SAME(live_bytes) }, { SAME(peak_live_bytes) },
		{ SAME(peak_ns) }, { SAME(at_peak_bytes) }, { SAME(at_peak_blocks) },
		{ SAME(temporary) }, { SAME(failed) }, { SAME(unknown_frees) },
		{ SAME(missed_frees) }, { SAME(lost_events) }, { SAME(untracked_blocks) },
		{ SAME(untracked_bytes) }, { SAME(paused_blocks) }, { SAME(paused_bytes) },
		{ SAME(truncated_stacks) }, { SAME(ancestor_allocs) },
		{ SAME(ancestor_live_bytes) }, { SAME(mapped_bytes) }, { SAME(mapped_blocks) },
		{ SAME(mapped_peak_bytes) }, { SAME(mapped_peak_ns) }, { SAME(maps) },
		{ SAME(unmaps) }, { SAME(map_bytes) }, { SAME(unmap_bytes) },
		{ SAME(allocator_mapped_bytes) }, { SAME(unknown_unmap_bytes) },
		{ SAME(missed_unmap_bytes) }, { SAME(untracked_maps) },
		{ SAME(untracked_map_bytes) }, { SAME(untracked_unmap_bytes) },
		{ SAME(pool_bytes) }, { SAME(pool_blocks) }, { SAME(pool_peak_bytes) },
		{ SAME(pool_untracked) }, { SAME(pool_untracked_bytes) },
		{ SAME(before_found_blocks) }, { SAME(before_found_bytes) },
		{ SAME(before_blocks) }, { SAME(before_bytes) } };
	struct snap_totals *t = &m->head.totals;

	fields_set(t, o, FIELDS(fields));
	fields_set(&t->error, o, FIELDS(error_fields));
	t->has_at_peak = json_values_has_number(o, "at_peak_bytes");
	t->has_mapped = json_values_has_number(o, "mapped_bytes");
	t->no_reallocs = !json_values_has_number(o, "reallocs");
	t->no_peak_time = !json_values_has_number(o, "peak_ns");
	t->has_before = json_values_has_number(o, "before_bytes");
}

static void proc_set(struct json_image *m, const struct json_object *o)
{
	struct snap_proc *p = &m->head.proc;
	uint64_t threads = json_values_number(o, "threads");

	p->valid = json_values_has_number(o, "rss");
	p->rss = json_values_number(o, "rss");
	p->hwm = json_values_number(o, "hwm");
	p->have_pss = json_values_has_number(o, "pss");
	p->pss = json_values_number(o, "pss");
	p->swap = json_values_number(o, "swap");
	p->minor_faults = json_values_number(o, "minor_faults");
	p->major_faults = json_values_number(o, "major_faults");
	p->threads = threads <= UINT32_MAX ? (uint32_t)threads : 0;
}

static void self_set(struct json_image *m, const struct json_object *o)
{
	m->head.segment_bytes = json_values_number(o, "segment_bytes");
	m->head.totals.stacks_bytes = json_values_number(o, "stack_memory_bytes");
	m->head.totals.stacks_forgotten = json_values_number(o, "stacks_forgotten");
	m->head.viewer_cpu_ns = json_values_number(o, "viewer_cpu_ns");
}

static void sampling_set(struct json_image *m, const struct json_object *o)
{
	struct snap_sampling *s = &m->head.sampling;
	const struct json_object *marks = json_values_member(o, "marks");
	size_t n = json_values_items(marks);

	*s = (struct snap_sampling){ 0 }; /* a file may say it more than once */
	s->bytes = s->most = json_values_number(o, "bytes");
	for (size_t i = 0; i < n && i < SNAP_RATE_CHANGES; i++) {
		const struct json_object *mark = json_object_array_get_idx(marks, i);

		s->mark[i] = (struct snap_rate_change){ json_values_number(mark, "ns"),
			json_values_number(mark, "bytes") };
		s->most = s->mark[i].bytes > s->most ? s->mark[i].bytes : s->most;
		s->marks++;
	}
	s->measured = json_values_has_number(o, "measured_overhead");
	s->overhead = json_values_real(o, "measured_overhead");
	s->passing = json_values_real(o, "measured_pass_through");
}

static void sizes_set(struct json_image *m, const struct json_object *list)
{
	for (size_t i = 0; i < json_values_items(list) && i < SNAP_SIZE_BUCKETS; i++) {
		const struct json_object *b = json_object_array_get_idx(list, i);

		m->head.sizes[i] = (struct snap_size){ json_values_number(b, "live_blocks"),
			json_values_number(b, "live_bytes"), json_values_number(b, "allocs") };
	}
}

static void lifetimes_set(struct json_image *m, const struct json_object *list)
{
	for (size_t i = 0; i < json_values_items(list) && i < SNAP_LIFE_BUCKETS; i++)
		m->head.lifetimes[i] =
			json_values_number(json_object_array_get_idx(list, i), "frees");
}

static void thread_add(struct json_image *m, const struct json_object *o)
{
	struct snap_thread *t,
		*more = array_grow(m->threads, m->nthreads, &m->threads_room, sizeof(*more));

	if (!more) {
		m->failed = true;
		return;
	}
	m->threads = more;
	m->head.has_alive |= json_values_has_number(o, "live_bytes");
	m->head.alive_bytes += json_values_number(o, "live_bytes");
	t = &more[m->nthreads];
	*t = (struct snap_thread){ .slot = (uint32_t)m->nthreads + 1,
		.tid = (uint32_t)json_values_number(o, "tid"),
		.owners = json_values_number(o, "owners"),
		.allocs = json_values_number(o, "allocs"),
		.frees = json_values_number(o, "frees"),
		.alloc_bytes = json_values_number(o, "alloc_bytes"),
		.free_bytes = json_values_number(o, "free_bytes"),
		.foreign_frees = json_values_number(o, "foreign_frees"),
		.foreign_bytes = json_values_number(o, "foreign_bytes"),
		.live_blocks = json_values_number(o, "live_blocks"),
		.live_bytes = json_values_number(o, "live_bytes") };
	snprintf(t->name, sizeof(t->name), "%s", text_or_empty(m, o, "name"));
	m->nthreads++;
}

static void threads_set(struct json_image *m, const struct json_object *list)
{
	for (size_t i = 0; i < json_values_items(list) && !m->failed; i++)
		thread_add(m, json_object_array_get_idx(list, i));
}

static void notice_set(struct json_image *m, const struct json_object *value)
{
	m->head.notice = text_of(m, value);
}

bool json_image_member(struct json_image *m, const char *key, const struct json_object *value)
{
	static const struct {
		const char *key;
		void (*set)(struct json_image *m, const struct json_object *value);
	} members[] = {
		{ "process", process_set },
		{ "time", time_set },
		{ "totals", totals_set },
		{ "proc", proc_set },
		{ "self", self_set },
		{ "sampling", sampling_set },
		{ "size_histogram", sizes_set },
		{ "lifetime_histogram", lifetimes_set },
		{ "threads", threads_set },
		{ "notice", notice_set },
	};

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (!strcmp(members[i].key, key))
			members[i].set(m, value);
	return !m->failed;
}

/* ---- call sites ---- */

static size_t module_slot(const struct json_image *m, const char *path, const char *build_id)
{
	uint64_t hash = ((uintptr_t)path * 31 + (uintptr_t)build_id) * UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (size_t)(hash >> 32) & (m->slots - 1);

	while (m->modules[i] &&
		(m->modules[i]->path != path || m->modules[i]->build_id != build_id))
		i = (i + 1) & (m->slots - 1);
	return i;
}

static bool modules_grow(struct json_image *m)
{
	const struct snap_module **old = m->modules;
	size_t count = m->slots;
	const struct snap_module **more = calloc(count ? 2 * count : 64, sizeof(*more));

	if (!more)
		return false;
	m->modules = more;
	m->slots = count ? 2 * count : 64;
	for (size_t i = 0; i < count; i++)
		if (old[i])
			more[module_slot(m, old[i]->path, old[i]->build_id)] = old[i];
	free(old);
	return true;
}

static const struct snap_module *module_find(struct json_image *m, const struct json_object *frame)
{
	const char *path = text_or_empty(m, frame, "module");
	const char *build_id = text_or_empty(m, frame, "build_id"), *slash = strrchr(path, '/');
	struct snap_module *found;
	size_t at;

	if (m->failed || (2 * m->nmodules >= m->slots && !modules_grow(m))) {
		m->failed = true;
		return &nowhere;
	}
	at = module_slot(m, path, build_id);
	if (m->modules[at])
		return m->modules[at];
	found = intern_alloc(m->texts, sizeof(*found));
	if (!found) {
		m->failed = true;
		return &nowhere;
	}
	*found = (struct snap_module){
		.path = path, .name = slash ? slash + 1 : path, .build_id = build_id
	};
	m->modules[at] = found;
	m->nmodules++;
	return found;
}

static void frame_set(struct json_image *m, struct frame *f, const struct json_object *o)
{
	uint64_t line = json_values_number(o, "line");

	f->module = module_find(m, o);
	f->inlined = json_values_flag(o, "inlined");
	f->hidden = json_values_flag(o, "hidden");
	f->pc = f->inlined ? 0 : json_values_hex(o, "pc");
	f->offset = f->inlined ? 0 : json_values_hex(o, "offset");
	f->function = text(m, o, "function");
	f->file = text(m, o, "file");
	f->line = line <= UINT32_MAX ? (uint32_t)line : 0;
}

/* As src/model/stacks.c chooses it. */
static uint32_t title_of(const struct frame *frames, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!frames[i].hidden && (frames[i].function || frames[i].module->path[0]))
			return i;
	return 0;
}

/* A stack without frames gets one that says nothing, since others rely on the first. */
static const struct stack *stack_make(struct json_image *m, const struct json_object *site)
{
	const struct json_object *list = json_values_member(site, "stack");
	size_t n = json_values_items(list) < UINT32_MAX ? json_values_items(list) : 0;
	struct stack *s = intern_alloc(m->texts, sizeof(*s));
	struct frame *frames = intern_alloc(m->texts, (n ? n : 1) * sizeof(*frames));

	if (!s || !frames) {
		m->failed = true;
		return NULL;
	}
	frames[0].module = &nowhere;
	for (size_t i = 0; i < n; i++)
		frame_set(m, &frames[i], json_object_array_get_idx(list, i));
	*s = (struct stack){ .frames = frames,
		.nframes = n ? (uint32_t)n : 1,
		.truncated = json_values_flag(site, "truncated"),
		.resolved = true,
		.ancestor = json_values_flag(site, "ancestor") };
	s->title = title_of(frames, s->nframes);
	return s;
}

/* Its parts are not in the report. */
static struct snap_growth growth_of(const struct json_object *o)
{
	return (struct snap_growth){ .sure = json_values_real(o, "sure"),
		.bytes_per_s = json_values_real(o, "bytes_per_s"),
		.over_ns = json_values_number(o, "over_ns"),
		.has_kept = json_values_has_number(o, "kept"),
		.kept = json_values_real(o, "kept") };
}

#undef AT
#define AT(name) offsetof(struct snap_site, name)

/* Reports of earlier versions have the heap only. */
static enum snap_kind kind_of(struct json_image *m, const struct json_object *o)
{
	const char *word = text_or_empty(m, o, "kind");

	for (unsigned kind = 0; kind < SNAP_KINDS; kind++)
		if (strcmp(word, snapshot_kind_word((enum snap_kind)kind)) == 0)
			return (enum snap_kind)kind;
	return SNAP_HEAP;
}

/* -1: out of range. */
static int64_t id_of(struct json_image *m, const struct json_object *o)
{
	uint64_t id = json_values_number(o, "id");

	if (id == OLD_ROW)
		return OLD_ROW;
	if (id >= JSON_IMAGE_SITES_MAX)
		return -1;
	if (id >= m->free_id)
		m->free_id = (uint32_t)id + 1;
	return (int64_t)id;
}

int json_image_site(struct json_image *m, const struct json_object *o)
{
	static const struct field fields[] = {
		{ "live_bytes", AT(live_bytes) },
		{ "live_blocks", AT(live_blocks) },
		{ "allocs", AT(allocs) },
		{ "frees", AT(frees) },
		{ "alloc_bytes", AT(alloc_bytes) },
		{ "peak_live_bytes", AT(peak_live_bytes) },
		{ "at_peak_bytes", AT(at_peak_bytes) },
		{ "at_peak_blocks", AT(at_peak_blocks) },
		{ "temporary", AT(temporary) },
		{ "oldest_ns", AT(oldest_ns) },
		{ "youngest_ns", AT(youngest_ns) },
	};
	enum snap_kind kind = kind_of(m, o);
	struct snap_sites *sites = kind == SNAP_HEAP ? &m->sites : &m->mapped;
	struct snap_site *more = array_grow(sites->at, sites->n, &sites->room, sizeof(*more));
	int64_t id = id_of(m, o);
	struct snap_site *s;

	if (!more)
		return -ENOMEM;
	sites->at = more;
	if (id < 0)
		return -ERANGE;
	s = &more[sites->n];
	*s = (struct snap_site){ .id = (uint32_t)id,
		.kind = kind,
		.alloc_function = text_or_empty(m, o, "function"),
		.stack = stack_make(m, o),
		.growth = growth_of(json_values_member(o, "growth")),
		.has_ages = json_values_has_number(o, "oldest_ns"),
		.rate_bytes_per_s = json_values_real(o, "rate_bytes_per_s") };
	fields_set(s, o, FIELDS(fields));
	fields_set(&s->error, o, FIELDS(error_fields));
	m->rates |= s->rate_bytes_per_s != 0;
	sites->n += s->stack != NULL;
	return m->failed ? -ENOMEM : 0;
}

/* ---- the end ---- */

bool json_image_child(struct json_image *m, struct snapshot *child)
{
	const struct snapshot **more =
		array_grow(m->children, m->nchildren, &m->children_room, sizeof(*more));

	if (!more) {
		snapshot_unref(child);
		return false;
	}
	m->children = more;
	more[m->nchildren++] = child;
	return true;
}

static void old_row_number(const struct snap_sites *sites, uint32_t id)
{
	for (size_t i = 0; i < sites->n; i++)
		if (sites->at[i].id == OLD_ROW)
			sites->at[i].id = id;
}

struct snapshot *json_image_finish(struct json_image *m)
{
	struct snapshot *s = m->failed ? NULL : malloc(sizeof(*s));

	if (!s) {
		json_image_free(m);
		return NULL;
	}
	old_row_number(&m->sites, m->free_id);
	old_row_number(&m->mapped, m->free_id);
	*s = m->head;
	s->refs = 1;
	s->owner = m;
	s->release = image_release;
	s->command = s->command ? s->command : "";
	s->exe = s->exe ? s->exe : "";
	s->rates_ns = !m->rates ? 0 : s->uptime_ns < RATES_NS ? s->uptime_ns : RATES_NS;
	s->sites = m->sites.at;
	s->nsites = m->sites.n;
	s->mapped = m->mapped.at;
	s->nmapped = m->mapped.n;
	s->threads = m->threads;
	s->nthreads = m->nthreads;
	s->children = m->children;
	s->nchildren = m->nchildren;
	free(m->modules);
	m->modules = NULL;
	free(m->scratch);
	m->scratch = NULL;
	return s;
}
