/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Registers call stacks of the segment with the model (stack_registration.h). Stacks and modules
 * never change, so each is read once. Main thread.
 */
#include "src/session/stack_registration.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/session/allocators.h"
#include "src/model/ignored.h"
#include "src/session/name_requests.h"
#include "src/session/program_path.h"
#include "src/util/shortage.h"
#include "src/util/text.h"

struct module {
	struct snap_module *snap; /* NULL: not seen yet */
	uint64_t bias;
	uint32_t round; /* the one that first found it unwritten; 0: none did */
};

struct stack_registration {
	struct read_segment *segment;
	struct model *model;
	struct sym *sym;
	struct name_requests *naming;
	struct module *modules; /* by index */
	uint32_t room;
	uint32_t round; /* counts calls of stack_registration_register, from 1 */
	uint32_t registered, most; /* sites in the model, and their limit */
	struct allocators allocators; /* names of functions */
	pid_t pid; /* of the process, while it runs; 0: unknown */
	char *exe, *started; /* the program's file, and by which path it was started, or NULL */
};

/* Once there are modules: a segment that was prepared has the program's name only when that runs.
 * Without it, the program goes by the name that the kernel reports. */
static void program_name(struct stack_registration *s)
{
	static struct read_identity id; /* the stack may be small */

	if (read_identity(s->segment, &id) != 0)
		return;
	s->exe = strdup(id.exe);
	s->started = id.command_bytes ? program_path_started(id.exe, id.command) : NULL;
}

struct stack_registration *stack_registration_new(
	struct read_segment *segment, struct model *model, struct sym *sym)
{
	struct stack_registration *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->segment = segment;
	s->model = model;
	s->sym = sym;
	s->most = UINT32_MAX;
	s->naming = name_requests_new(model, sym);
	if (!s->naming) {
		free(s);
		return NULL;
	}
	return s;
}

void stack_registration_process(struct stack_registration *s, pid_t pid)
{
	s->pid = pid;
}

void stack_registration_hold(struct stack_registration *s, const uint32_t *below)
{
	name_requests_hold(s->naming, below);
}

static void module_free(struct snap_module *m)
{
	if (!m)
		return;
	free((char *)(uintptr_t)m->path);
	free((char *)(uintptr_t)m->file);
	free((char *)(uintptr_t)m->build_id);
	free(m);
}

void stack_registration_free(struct stack_registration *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->room; i++)
		module_free(s->modules[i].snap);
	name_requests_free(s->naming);
	free(s->exe);
	free(s->started);
	free(s->modules);
	allocators_free(&s->allocators);
	free(s);
}

static int modules_room(struct stack_registration *s, uint32_t module)
{
	uint32_t room = s->room ? s->room : 64;
	struct module *grown;

	if (module < s->room)
		return 0;
	while (room <= module)
		room *= 2;
	grown = realloc(s->modules, room * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + s->room, 0, (room - s->room) * sizeof(*grown));
	s->modules = grown;
	s->room = room;
	return 0;
}

static char *hex(const uint8_t *bytes, uint32_t count)
{
	char *out = malloc(count * 2 + 1);

	if (!out)
		return NULL;
	out[0] = '\0';
	for (uint32_t i = 0; i < count; i++)
		sprintf(out + 2 * i, "%02x", bytes[i]);
	return out;
}

/* A copy of a module's text in the segment, cleaned. NULL: out of memory. */
static struct snap_module *snap_make(struct stack_registration *s, const struct read_module *info)
{
	struct snap_module *m = calloc(1, sizeof(*m));
	const char *path, *slash;
	bool renamed;

	if (!m)
		return NULL;
	if (!s->exe)
		program_name(s);
	renamed = s->started && s->exe && strcmp(s->exe, info->path) == 0;
	path = renamed ? s->started : info->path;
	m->path = text_clean_copy(path, strlen(path));
	m->file = renamed ? text_clean_copy(info->path, strlen(info->path)) : NULL;
	m->build_id = hex(info->build_id, info->build_id_bytes);
	if (!m->path || !m->build_id || (renamed && !m->file)) {
		module_free(m);
		return NULL;
	}
	slash = strrchr(m->path, '/');
	m->name = slash ? slash + 1 : m->path;
	return m;
}

/*
 * Whether to leave a module for the next round: its number is visible a moment before its fields
 * are written. If they still are missing then, the writer was killed in between.
 */
static bool is_early(struct stack_registration *s, struct module *m)
{
	if (m->round == 0)
		m->round = s->round;
	return m->round == s->round;
}

static int module_make(struct stack_registration *s, uint32_t module)
{
	struct read_module info;
	struct sym_module sym = { .id = module, .path = info.path, .pid = s->pid };
	struct module *m = &s->modules[module];
	int rc = module == 0 ? -EINVAL : read_module(s->segment, module, &info);

	if (rc == -EAGAIN && is_early(s, m))
		return rc;
	if (rc != 0)
		memset(&info, 0, sizeof(info));
	m->bias = info.bias;
	m->snap = snap_make(s, &info);
	if (!m->snap)
		return -ENOMEM;
	if (info.build_id_bytes) {
		sym.build_id = info.build_id;
		sym.build_id_len = info.build_id_bytes;
	}
	sym_module_add(s->sym, &sym);
	return 0;
}

/* The module of an index; never changes once made. NULL: not yet written, or out of memory. */
static const struct module *module_get(struct stack_registration *s, uint32_t module)
{
	int rc = modules_room(s, module);

	if (rc == 0 && !s->modules[module].snap)
		rc = module_make(s, module);
	shortage_note(rc);
	return rc == 0 ? &s->modules[module] : NULL;
}

/* Whether no program writes the segment: it shows what can be read from outside. */
static bool is_outside(const struct stack_registration *s)
{
	struct read_identity id;

	return read_identity(s->segment, &id) == 0 && id.state == HT_STATE_PREPARED;
}

/* What is there before a recording that never begins is all that there is. */
static const char *before_name(const struct stack_registration *s, uint32_t function)
{
	static const char front[] = "before attach, ";
	const char *name = ht_function_name(function);

	return is_outside(s) ? name + sizeof(front) - 1 : name;
}

/*
 * Converts a stack of the segment to frames; 0 while one of its modules is unavailable. A stack
 * without frames gets one that says so, or what its blocks are.
 */
static uint32_t frames_make(struct stack_registration *s, const struct read_frame *in, size_t count,
	uint32_t function, struct frame *out)
{
	const struct module *m;
	bool missing = false;

	for (size_t i = 0; i < count; i++) {
		m = module_get(s, in[i].module);
		if (!m)
			missing = true; /* the other modules are read all the same */
		else
			out[i] = (struct frame){
				.pc = in[i].pc, .module = m->snap, .offset = in[i].pc - m->bias
			};
	}
	if (count > 0)
		return missing ? 0 : (uint32_t)count;
	m = module_get(s, 0);
	if (!m)
		return 0;
	out[0] = (struct frame){ .module = m->snap,
		.function = ht_function_is_before(function)    ? before_name(s, function)
			    : ht_function_is_ignored(function) ? IGNORED_NAME
							       : "(stack not recorded)" };
	return 1;
}

static const char *alloc_function(
	struct stack_registration *s, const struct read_site *site, uint32_t function)
{
	if (site->flags & HT_SITE_ANCESTOR)
		return "(deeper calls not kept)";
	if (ht_function_is_before(function))
		return is_outside(s) ? "in use" : "before attach";
	if (ht_function_is_ignored(function))
		return "several";
	return function ? allocators_function(&s->allocators, s->segment, function) : "several";
}

static unsigned missing_of(const struct read_site *site)
{
	return (site->flags & HT_SITE_TRUNCATED ? SNAP_MISSING_OUTER : 0) |
	       (site->flags & HT_SITE_ANCESTOR ? SNAP_MISSING_INNER : 0);
}

/* A site of a segment that is to be in the model by the number `id`. */
struct entry {
	struct read_segment *segment;
	uint32_t number, id; /* the same, but for a parent's site */
};

/*
 * Reads a site's stack, as read_stack. A site that has counted is complete, but it may have been
 * copied before it was: then its node is 0 still, and it is read again.
 */
static ssize_t stack_of(
	const struct entry *of, struct read_site *site, struct read_frame *out, uint32_t *function)
{
	int rc = 0;

	if (site->node == 0 && of->number != 0)
		rc = read_site_node(of->segment, of->number, &site->node, &site->flags);
	if (rc != 0 || site->node == 0)
		return rc;
	return read_stack(of->segment, site->node, out, HT_DEPTH_MAX, function);
}

/* Registers a site with the model and asks for its names. False: not readable yet, try again. */
static bool entry_register(
	struct stack_registration *s, const struct entry *of, const struct read_site *in)
{
	static struct read_frame raw[HT_DEPTH_MAX];
	static struct frame frames[HT_DEPTH_MAX];
	static struct stack_place *places[HT_DEPTH_MAX];
	struct read_site site = *in;
	uint32_t function = 0, count;
	int rc;
	ssize_t got = stack_of(of, &site, raw, &function);

	if (got < 0) {
		shortage_note((int)got);
		return false;
	}
	count = frames_make(s, raw, (size_t)got, function, frames);
	if (count == 0)
		return false;
	rc = model_site_add(s->model, of->id, alloc_function(s, &site, function), frames, count,
		missing_of(&site));
	shortage_note(rc);
	if (rc != 0)
		return false;
	count = model_site_places(s->model, of->id, places, (uint32_t)got);
	for (uint32_t i = 0; i < count; i++)
		(void)name_requests_want(s->naming, places[i], raw[i].module);
	return true;
}

static bool site_register(struct stack_registration *s, uint32_t id, const struct read_site *in)
{
	const struct entry of = { s->segment, id, id };

	return entry_register(s, &of, in);
}

struct fresh {
	uint32_t id;
	const struct read_site *site;
};

static int by_live_bytes(const void *a, const void *b)
{
	uint64_t x = ((const struct fresh *)a)->site->live_bytes,
		 y = ((const struct fresh *)b)->site->live_bytes;

	return (x < y) - (x > y);
}

void stack_registration_limit(struct stack_registration *s, uint32_t most)
{
	s->most = most;
}

bool stack_registration_is_full(const struct stack_registration *s)
{
	return s->registered >= s->most;
}

/* Site 0 may be registered at any time: it stands for all sites beyond the limit. */
static bool may_register(const struct stack_registration *s, uint32_t id)
{
	return id == 0 || !stack_registration_is_full(s);
}

void stack_registration_register(
	struct stack_registration *s, const struct read_site *sites, uint32_t count)
{
	struct fresh *fresh;
	size_t found = 0;

	s->round++;
	if (stack_registration_is_full(s) && count > 1)
		count = 1;
	fresh = malloc(count * sizeof(*fresh));
	shortage_note(!fresh && count > 0 ? ENOMEM : 0);
	for (uint32_t i = 0; fresh && i < count; i++)
		if (sites[i].allocs > 0 && !model_site_known(s->model, i))
			fresh[found++] = (struct fresh){ i, &sites[i] };
	if (found > 1)
		qsort(fresh, found, sizeof(*fresh), by_live_bytes);
	for (size_t i = 0; i < found; i++)
		if (may_register(s, fresh[i].id))
			s->registered += site_register(s, fresh[i].id, fresh[i].site);
	free(fresh);
}

void stack_registration_add(struct stack_registration *s, uint32_t id)
{
	struct read_site site = { 0 };

	if (!model_site_known(s->model, id) && may_register(s, id) &&
		read_site_node(s->segment, id, &site.node, &site.flags) == 0)
		s->registered += site_register(s, id, &site);
}

bool stack_registration_register_mapped(
	struct stack_registration *s, uint32_t id, uint32_t *function)
{
	struct read_site site = { .allocs = 1 };
	struct read_frame innermost;

	if (read_site_node(s->segment, id, &site.node, &site.flags) != 0 ||
		read_stack(s->segment, site.node, &innermost, 1, function) < 0 ||
		!ht_function_maps(*function))
		return false;
	if (!model_site_known(s->model, id) && may_register(s, id))
		s->registered += site_register(s, id, &site);
	return model_site_known(s->model, id);
}

bool stack_registration_inherit(struct stack_registration *s, struct read_segment *parent,
	uint32_t site, uint32_t id, uint32_t *function)
{
	const struct entry of = { parent, site, id };
	struct read_site read = { 0 };
	struct read_frame innermost;

	return read_site_node(parent, site, &read.node, &read.flags) == 0 &&
	       read_stack(parent, read.node, &innermost, 1, function) >= 0 &&
	       ht_function_maps(*function) && entry_register(s, &of, &read);
}

bool stack_registration_collect(struct stack_registration *s, bool settle)
{
	return name_requests_collect(s->naming, settle);
}

void stack_registration_hide_again(struct stack_registration *s)
{
	name_requests_hide_again(s->naming);
}

void stack_registration_allocators(struct stack_registration *s, struct snapshot *head)
{
	allocators_read(&s->allocators, s->segment, head);
}
