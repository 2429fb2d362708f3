/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The call stacks of a recording of all events (event_stacks.h). One thread. */
#include "src/record/event_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/record/event_blocks.h"
#include "src/record/event_tags.h"
#include "src/record/number_table.h"
#include "src/util/array.h"
#include "src/util/text.h"

#define PAGE_SITES 16u /* sites are kept in pages of so many */
/* Frames of a stack, inlined calls included; a longer one is shown without them: some bytes of a
 * file must not take megabytes for each stack. */
#define FRAMES_MOST (4 * EVENT_FRAMES_MAX)

struct module {
	struct snap_module snap;
	char *path, *build_id; /* cleaned; owned */
	uint64_t bias;
};

struct site {
	char *function; /* owned; NULL: no such site */
	unsigned missing;
	uint32_t nframes;
	struct place {
		uint64_t pc;
		uint32_t module; /* below the number of modules */
	} * places;
	struct stack stack;
	struct frame *frames; /* of `stack`; NULL: not made yet */
};

/* The names of one place: inlined frames, and the one they are inlined into, last. */
struct named {
	struct frame *frames; /* module NULL */
	uint32_t count;
};

struct event_stacks {
	/* Numbers of modules, and ids of sites, may be far apart: a file of some bytes must not
	 * take megabytes. Both are kept in the order of the file; `numbers` and `positions` are 1
	 * more than a module's or site's place in it. */
	struct module **modules;
	size_t nmodules, module_room;
	struct number_table numbers; /* by number */
	struct site **pages; /* of PAGE_SITES sites */
	size_t npages, page_room;
	struct number_table positions; /* by id */
	uint32_t nsites;
	/* Made by event_stacks_end, in one piece: */
	uint32_t *ids; /* by index */
	uint32_t *index; /* by position */
	uint32_t indexed; /* sites that have an index */
	/* Of `names`, which may be itself: */
	struct event_stacks *names;
	struct named *named;
	size_t nnamed, named_room;
	struct event_blocks places; /* hash of module and offset -> index of `named` */
	char **texts; /* of names, owned */
	size_t ntexts, text_room;
};

static struct module nowhere = { .snap = { .path = "", .name = "", .build_id = "" } };

struct event_stacks *event_stacks_new(struct event_stacks *names)
{
	struct event_stacks *s = calloc(1, sizeof(*s));

	if (s)
		s->names = names ? names : s;
	return s;
}

static void module_free(struct module *m)
{
	if (!m)
		return;
	free(m->path);
	free(m->build_id);
	free(m);
}

static void page_free(struct site *page)
{
	for (size_t i = 0; page && i < PAGE_SITES; i++) {
		free(page[i].function);
		free(page[i].places);
		free(page[i].frames);
	}
	free(page);
}

void event_stacks_free(struct event_stacks *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nmodules; i++)
		module_free(s->modules[i]);
	for (size_t i = 0; i < s->npages; i++)
		page_free(s->pages[i]);
	for (size_t i = 0; i < s->nnamed; i++)
		free(s->named[i].frames);
	for (size_t i = 0; i < s->ntexts; i++)
		free(s->texts[i]);
	event_blocks_free(&s->places);
	number_table_free(&s->numbers);
	number_table_free(&s->positions);
	free(s->modules);
	free(s->pages);
	free(s->ids);
	free(s->named);
	free(s->texts);
	free(s);
}

static char *text_take(struct bytes_cursor *c)
{
	size_t len;
	const char *text = bytes_read_text(c, EVENT_TEXT_MAX, &len);

	return text ? text_clean_copy(text, len) : NULL;
}

/* ---- sites ---- */

static struct module *module_take(struct bytes_cursor *c)
{
	struct module *m = calloc(1, sizeof(*m));
	const char *slash;

	if (!m)
		return NULL;
	m->path = text_take(c);
	m->build_id = text_take(c);
	m->bias = bytes_read(c);
	if (!m->path || !m->build_id) {
		module_free(m);
		return NULL;
	}
	slash = strrchr(m->path, '/');
	m->snap = (struct snap_module){
		.path = m->path, .name = slash ? slash + 1 : m->path, .build_id = m->build_id
	};
	return m;
}

static int module_read(struct event_stacks *s, struct bytes_cursor *c)
{
	uint64_t number = bytes_read_below(c, EVENT_MODULES_MAX - 1);
	struct module *m = module_take(c), **modules;
	uint32_t *at = m && !c->bad ? number_table_reach(&s->numbers, (uint32_t)number) : NULL;

	modules = array_grow(s->modules, s->nmodules, &s->module_room, sizeof(*modules));
	if (modules)
		s->modules = modules;
	if (!at || !modules || *at) {
		module_free(m);
		return c->bad || (at && modules) ? -EPROTO : -ENOMEM;
	}
	modules[s->nmodules++] = m;
	*at = (uint32_t)s->nmodules;
	return 0;
}

static int places_read(struct site *site, struct bytes_cursor *c)
{
	uint64_t pc = 0;

	site->missing = (unsigned)bytes_read(c) & (SNAP_MISSING_OUTER | SNAP_MISSING_INNER);
	site->nframes = (uint32_t)bytes_read_below(c, EVENT_FRAMES_MAX);
	site->places = calloc(site->nframes + 1, sizeof(*site->places));
	if (!site->places)
		return -ENOMEM;
	for (uint32_t i = 0; i < site->nframes; i++) {
		site->places[i].module = (uint32_t)bytes_read_below(c, EVENT_MODULES_MAX - 1);
		pc += bytes_read_change(c);
		site->places[i].pc = pc;
	}
	return c->bad ? -EPROTO : 0;
}

static struct site *site_at(const struct event_stacks *s, uint32_t position)
{
	return &s->pages[position / PAGE_SITES][position % PAGE_SITES];
}

/* Room for one more site, which is all zeros; NULL: no memory. */
static struct site *site_room(struct event_stacks *s)
{
	struct site **pages;

	if (s->nsites < s->npages * PAGE_SITES)
		return site_at(s, s->nsites);
	pages = array_grow(s->pages, s->npages, &s->page_room, sizeof(*pages));
	if (!pages)
		return NULL;
	s->pages = pages;
	pages[s->npages] = calloc(PAGE_SITES, sizeof(struct site));
	return pages[s->npages] ? pages[s->npages++] : NULL;
}

static int site_read(struct event_stacks *s, struct bytes_cursor *c)
{
	uint64_t id = bytes_read_below(c, EVENT_SITES_MAX - 1);
	char *function = text_take(c);
	struct site *site = c->bad ? NULL : site_room(s);
	uint32_t *at = site ? number_table_reach(&s->positions, (uint32_t)id) : NULL;
	int rc;

	if (!at || !function || *at) {
		free(function);
		return c->bad || (at && function) ? -EPROTO : -ENOMEM;
	}
	rc = places_read(site, c);
	if (rc == 0) {
		site->function = function;
		*at = ++s->nsites;
		return 0;
	}
	free(function);
	free(site->places);
	site->places = NULL;
	return rc;
}

int event_stacks_read_sites(struct event_stacks *s, struct bytes_cursor *c)
{
	int rc = 0;

	while (rc == 0 && c->at < c->end) {
		switch (bytes_read(c)) {
		case EVENT_TAG_MODULE:
			rc = module_read(s, c);
			break;
		case EVENT_TAG_SITE:
			rc = site_read(s, c);
			break;
		default:
			return -EPROTO;
		}
	}
	return rc;
}

/* ---- names ---- */

static uint64_t place_key(const char *path, uint64_t offset)
{
	uint64_t key = 0xcbf29ce484222325ull;

	for (; *path; path++)
		key = (key ^ (uint8_t)*path) * 0x100000001b3ull;
	key = (key ^ offset) * 0x9e3779b97f4a7c15ull;
	return key ? key : 1;
}

/* A text that lives as long as `s`; NULL for an empty one. */
static const char *text_keep(struct event_stacks *s, struct bytes_cursor *c, bool *failed)
{
	char *text = text_take(c), **texts;

	if (!text || !*text) {
		free(text);
		return NULL;
	}
	texts = array_grow(s->texts, s->ntexts, &s->text_room, sizeof(*texts));
	if (!texts) {
		*failed = true;
		free(text);
		return NULL;
	}
	s->texts = texts;
	texts[s->ntexts++] = text;
	return text;
}

static bool frames_read(
	struct event_stacks *s, struct bytes_cursor *c, struct frame *frames, uint32_t count)
{
	bool failed = false;

	for (uint32_t i = 0; i < count; i++) {
		frames[i].function = text_keep(s, c, &failed);
		frames[i].mangled = text_keep(s, c, &failed);
		frames[i].file = text_keep(s, c, &failed);
		frames[i].line = (uint32_t)bytes_read(c);
		frames[i].hidden = bytes_read(c) != 0;
		frames[i].inlined = i + 1 < count;
	}
	return !failed;
}

static int named_read(struct event_stacks *s, struct bytes_cursor *c)
{
	char *path = text_take(c);
	uint64_t offset = bytes_read(c);
	uint32_t count = (uint32_t)bytes_read_below(c, EVENT_INLINES_MAX);
	struct event_block key = { .number = s->nnamed };
	struct named n = { calloc(count + 1, sizeof(struct frame)), count }, *named;
	bool ok = path && n.frames && frames_read(s, c, n.frames, count) && !c->bad && count > 0;

	named = array_grow(s->named, s->nnamed, &s->named_room, sizeof(*named));
	if (named)
		s->named = named;
	key.key = path ? place_key(path, offset) : 1;
	free(path);
	/* Several images have the same libraries: the first one has named this place. */
	if (ok && named && event_blocks_find(&s->places, key.key)) {
		free(n.frames);
		return 0;
	}
	if (!ok || !named || !event_blocks_add(&s->places, &key)) {
		free(n.frames);
		return c->bad ? -EPROTO : -ENOMEM;
	}
	named[s->nnamed++] = n;
	return 0;
}

int event_stacks_read_names(struct event_stacks *s, struct bytes_cursor *c)
{
	int rc = 0;

	while (rc == 0 && c->at < c->end)
		rc = named_read(s, c);
	return rc;
}

/* ---- stacks ---- */

static struct site *site_find(const struct event_stacks *s, uint32_t id)
{
	uint32_t at = number_table_get(&s->positions, id);

	return at ? site_at(s, at - 1) : NULL;
}

static void site_number(void *ctx, uint32_t id, uint32_t at)
{
	struct event_stacks *s = ctx;

	s->index[at - 1] = s->indexed;
	s->ids[s->indexed++] = id;
}

int event_stacks_end(struct event_stacks *s)
{
	free(s->ids);
	s->indexed = 0;
	s->ids = malloc((2 * (size_t)s->nsites + 1) * sizeof(*s->ids));
	if (!s->ids)
		return -ENOMEM;
	s->index = s->ids + s->nsites;
	number_table_each(&s->positions, site_number, s);
	return 0;
}

uint32_t event_stacks_count(const struct event_stacks *s)
{
	return s->indexed;
}

uint32_t event_stacks_id(const struct event_stacks *s, uint32_t index)
{
	return s->ids[index];
}

uint32_t event_stacks_index(const struct event_stacks *s, uint32_t id)
{
	uint32_t at = number_table_get(&s->positions, id);

	return at && at <= s->indexed ? s->index[at - 1] : UINT32_MAX;
}

static const struct module *module_of(const struct event_stacks *s, const struct place *p)
{
	uint32_t at = number_table_get(&s->numbers, p->module);

	return at ? s->modules[at - 1] : &nowhere;
}

static const struct named *named_find(const struct event_stacks *s, const struct place *p)
{
	const struct module *m = module_of(s, p);
	const struct event_block *found =
		event_blocks_find(&s->names->places, place_key(m->snap.path, p->pc - m->bias));

	return found ? &s->names->named[found->number] : NULL;
}

/* Appends a place's frames, the last `most` of them; returns how many. `out` NULL: only counts. */
static uint32_t place_frames(
	const struct event_stacks *s, const struct place *p, uint32_t most, struct frame *out)
{
	const struct named *n = named_find(s, p);
	const struct module *m = module_of(s, p);
	uint32_t all = n ? n->count : 1, count = all < most ? all : most;

	for (uint32_t i = 0; out && i < count; i++) {
		out[i] = n ? n->frames[all - count + i] : (struct frame){ 0 };
		out[i].module = &m->snap;
		out[i].offset = p->pc - m->bias;
		out[i].pc = i + 1 == count ? p->pc : 0;
	}
	return count;
}

static bool stack_make(const struct event_stacks *s, struct site *site)
{
	static const struct place unknown = { 0, UINT32_MAX };
	const struct place *places = site->nframes ? site->places : &unknown;
	uint32_t count = 0, nplaces = site->nframes ? site->nframes : 1, most = EVENT_INLINES_MAX;
	struct stack *k = &site->stack;

	for (uint32_t i = 0; i < nplaces; i++)
		count += place_frames(s, &places[i], most, NULL);
	if (count > FRAMES_MOST) {
		count = nplaces;
		most = 1;
	}
	site->frames = calloc(count, sizeof(*site->frames));
	if (!site->frames)
		return false;
	count = 0;
	for (uint32_t i = 0; i < nplaces; i++)
		count += place_frames(s, &places[i], most, site->frames + count);
	*k = (struct stack){ .frames = site->frames,
		.nframes = count,
		.truncated = site->missing & SNAP_MISSING_OUTER,
		.resolved = true,
		.ancestor = site->missing & SNAP_MISSING_INNER };
	while (k->title < count && !snapshot_frame_names(&site->frames[k->title]))
		k->title++;
	if (k->title == count)
		k->title = 0;
	return true;
}

const struct stack *event_stacks_find(struct event_stacks *s, uint32_t id, const char **function)
{
	struct site *site = site_find(s, id);

	if (!site || (!site->frames && !stack_make(s, site)))
		return NULL;
	*function = site->function;
	return &site->stack;
}
