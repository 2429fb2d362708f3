/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies of call stacks (merged_stacks.h). Main thread. */
#include "src/model/merged_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/util/array.h"

#define MEMO_MODULES 64u
#define MEMO_TEXTS   4096u

/*
 * Object files and names of the process that is added, with their copies: most frames share them,
 * and each has one address there.
 */
struct memo {
	struct {
		const struct snap_module *from, *to;
		uint64_t hash;
	} module[MEMO_MODULES];
	struct {
		const char *from, *to;
	} text[MEMO_TEXTS];
};

struct merged_stacks {
	struct intern *memory;
	const struct snap_module **module; /* owned; some dozens */
	size_t count, room;
	struct frame *frame; /* owned; a stack on its way, */
	struct stack_place **place; /* and its places in the model */
	size_t frames; /* room for them */
	struct memo memo;
};

void merged_stacks_begin(struct merged_stacks *s)
{
	memset(&s->memo, 0, sizeof(s->memo));
}

static size_t memo_at(const void *p, size_t size)
{
	return (size_t)(((uintptr_t)p >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 40) % size;
}

/* ---- keys ---- */

static void word_add(struct merged_key *k, uint64_t word)
{
	k->word[0] = (k->word[0] ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	k->word[0] ^= k->word[0] >> 29;
	k->word[1] = (k->word[1] + word) * UINT64_C(0xd6e8feb86659fd93);
	k->word[1] ^= k->word[1] >> 32;
}

static void text_add(struct merged_key *k, const char *text)
{
	for (const char *at = text ? text : ""; *at; at++)
		word_add(k, (unsigned char)*at);
	word_add(k, 256);
}

static uint64_t module_hash(struct merged_stacks *s, const struct snap_module *m)
{
	size_t at = memo_at(m, MEMO_MODULES);
	struct merged_key k = { { 0, 0 } };

	if (s->memo.module[at].from == m)
		return s->memo.module[at].hash;
	text_add(&k, m->build_id[0] ? m->build_id : m->path);
	s->memo.module[at].from = m;
	s->memo.module[at].to = NULL;
	s->memo.module[at].hash = k.word[0] ^ k.word[1];
	return s->memo.module[at].hash;
}

static void frame_add(struct merged_stacks *s, struct merged_key *k, const struct frame *f)
{
	const struct snap_module *m = f->module;

	if (f->inlined)
		return; /* follows from the one that it is inlined into */
	word_add(k, module_hash(s, m));
	if (m->path[0])
		word_add(k, f->offset);
	else if (f->function)
		text_add(k, f->function);
	else
		word_add(k, f->pc);
}

struct merged_key merged_stacks_key(
	struct merged_stacks *s, const struct snapshot *of, const struct snap_site *site)
{
	struct merged_key k = { { 0x6d65, 0x7267 } };

	text_add(&k, of->exe);
	text_add(&k, site->alloc_function);
	word_add(&k, (uint64_t)site->kind << 2 | (uint64_t)site->stack->truncated << 1 |
			     site->stack->ancestor);
	for (uint32_t i = 0; i < site->stack->nframes; i++)
		frame_add(s, &k, snapshot_frame(site->stack, i));
	return k;
}

/* ---- copies ---- */

struct merged_stacks *merged_stacks_new(void)
{
	struct merged_stacks *s = calloc(1, sizeof(*s));

	if (s)
		s->memory = intern_new();
	if (s && s->memory)
		return s;
	free(s);
	return NULL;
}

void merged_stacks_free(struct merged_stacks *s)
{
	if (!s)
		return;
	intern_free(s->memory);
	free(s->module);
	free(s->frame);
	free(s->place);
	free(s);
}

const char *merged_stacks_text(struct merged_stacks *s, const char *text)
{
	return text ? intern_text(s->memory, text, strlen(text)) : NULL;
}

const char *const *merged_stacks_texts(
	struct merged_stacks *s, const char *const *text, unsigned count)
{
	const char **copy = intern_alloc(s->memory, (count + 1) * sizeof(*copy));

	for (unsigned i = 0; copy && i < count; i++) {
		copy[i] = merged_stacks_text(s, text[i]);
		if (!copy[i])
			return NULL;
	}
	return copy;
}

/* NULL: no memory. */
static const struct snap_module *module_make(
	struct merged_stacks *s, const char *path, const char *build_id)
{
	const struct snap_module **grown =
		array_grow(s->module, s->count, &s->room, sizeof(*s->module));
	const char *slash = strrchr(path, '/');
	struct snap_module *made;

	if (!grown)
		return NULL;
	s->module = grown;
	made = intern_alloc(s->memory, sizeof(*made));
	if (!made)
		return NULL;
	*made = (struct snap_module){
		.path = path, .name = slash ? slash + 1 : path, .build_id = build_id
	};
	s->module[s->count++] = made;
	return made;
}

/* Each text is stored once, so its address says whether it is the same. */
static const struct snap_module *module_find(
	struct merged_stacks *s, const struct snap_module *from)
{
	const char *path = merged_stacks_text(s, from->path);
	const char *build_id = merged_stacks_text(s, from->build_id);

	if (!path || !build_id)
		return NULL;
	for (size_t i = 0; i < s->count; i++)
		if (s->module[i]->path == path && s->module[i]->build_id == build_id)
			return s->module[i];
	return module_make(s, path, build_id);
}

static const struct snap_module *module_copy(
	struct merged_stacks *s, const struct snap_module *from)
{
	size_t at = memo_at(from, MEMO_MODULES);

	module_hash(s, from);
	if (!s->memo.module[at].to)
		s->memo.module[at].to = module_find(s, from);
	return s->memo.module[at].to;
}

static const char *name_copy(struct merged_stacks *s, const char *from)
{
	size_t at = memo_at(from, MEMO_TEXTS);

	if (!from || s->memo.text[at].from == from)
		return from ? s->memo.text[at].to : NULL;
	s->memo.text[at].from = from;
	s->memo.text[at].to = merged_stacks_text(s, from);
	return s->memo.text[at].to;
}

static int frame_copy(struct merged_stacks *s, const struct frame *from, struct frame *to)
{
	*to = *from;
	to->module = module_copy(s, from->module);
	to->function = name_copy(s, from->function);
	to->mangled = name_copy(s, from->mangled);
	to->file = name_copy(s, from->file);
	return to->module ? 0 : -ENOMEM;
}

/* Room for the frames of a stack. */
static int frames_room(struct merged_stacks *s, uint32_t nframes)
{
	struct frame *frame;
	struct stack_place **place;

	if (nframes <= s->frames)
		return 0;
	frame = realloc(s->frame, nframes * sizeof(*frame));
	if (!frame)
		return -ENOMEM;
	s->frame = frame;
	place = realloc(s->place, nframes * sizeof(*place));
	if (!place)
		return -ENOMEM;
	s->place = place;
	s->frames = nframes;
	return 0;
}

/* Frames that have an address are registered without names, which come later; what stands for a
 * stack that was not kept has only a name. */
int merged_stacks_add(
	struct merged_stacks *s, struct model *m, uint32_t id, const struct snap_site *site)
{
	const struct stack *stack = site->stack;
	int rc = frames_room(s, stack->nframes);
	uint32_t n = 0;

	for (uint32_t i = 0; rc == 0 && i < stack->nframes; i++) {
		const struct frame *f = snapshot_frame(stack, i);
		struct frame *to = &s->frame[n];

		if (f->inlined)
			continue;
		rc = frame_copy(s, f, to);
		if (to->pc)
			to->function = to->mangled = to->file = NULL;
		n++;
	}
	return rc ? rc
		  : model_site_add(m, id, merged_stacks_text(s, site->alloc_function), s->frame, n,
			    (stack->truncated ? SNAP_MISSING_OUTER : 0) |
				    (stack->ancestor ? SNAP_MISSING_INNER : 0));
}

/* A frame with those inlined into it, from `from` on, for the place that it was registered with.
 * Returns where the next one begins. */
static uint32_t frame_name(struct merged_stacks *s, struct model *m, struct stack_place *place,
	const struct stack *stack, uint32_t from)
{
	uint32_t n = 0;
	int rc = 0;

	do
		rc = frame_copy(s, snapshot_frame(stack, from + n), &s->frame[n]);
	while (rc == 0 && s->frame[n++].inlined && from + n < stack->nframes);
	if (rc == 0 && (stack->resolved || s->frame[n - 1].function))
		rc = model_place_resolve(m, place, s->frame, n);
	return rc == 0 ? from + n : stack->nframes;
}

bool merged_stacks_name(
	struct merged_stacks *s, struct model *m, uint32_t id, const struct snap_site *site)
{
	const struct stack *stack = site->stack;
	uint32_t at = 0, count;

	if (frames_room(s, stack->nframes) != 0)
		return false;
	count = model_site_places(m, id, s->place, (uint32_t)s->frames);
	for (uint32_t i = 0; i < count && at < stack->nframes; i++)
		at = frame_name(s, m, s->place[i], stack, at);
	return stack->resolved;
}
