/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Call sites as weighted stacks of numbered frames (profile.h). */
#include "src/export/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/array.h"

#define NAME_MAX_BYTES 4096 /* longer names are cut, as on the screen */

static const char missing_outer[] = "(outer frames missing)";
static const char missing_inner[] = "(inner frames missing)";

static void processes_add(struct profile *p, const struct snapshot *s)
{
	const struct snapshot **all = array_grow(
		p->processes, p->nprocesses, &p->processes_capacity, sizeof(*p->processes));

	if (!all) {
		p->failed = true;
		return;
	}
	p->processes = all;
	all[p->nprocesses++] = s;
}

void profile_open(struct profile *p, const struct snapshot *s, const struct export_options *o,
	unsigned differ, enum name_style names)
{
	*p = (struct profile){ .options = o, .differ = differ };
	p->names = o->names == NAMES_SHORT ? names : o->names;
	processes_add(p, s);
	for (size_t i = 0; i < p->nprocesses; i++)
		for (size_t c = 0; c < p->processes[i]->nchildren; c++)
			processes_add(p, p->processes[i]->children[c]);
}

void profile_free(struct profile *p)
{
	for (uint32_t i = 0; i < p->nframes; i++)
		free((char *)(uintptr_t)p->frames[i].name);
	free(p->frames);
	free(p->processes);
	free(p->path);
	strbuf_free(&p->key);
	numbering_free(&p->numbers);
}

const char *profile_process_name(const struct snapshot *s, char *out, size_t cap)
{
	const char *name = s->argc ? s->argv[0] : s->exe ? s->exe : "?";
	const char *slash = strrchr(name, '/');

	snprintf(out, cap, "%s (%d)", slash && slash[1] ? slash + 1 : name, (int)s->pid);
	return out;
}

void profile_frame_name(const struct frame *f, enum name_style names, char *out, size_t cap)
{
	static const char unknown[] = "?? ";

	frame_name(f, names, 0, false, out, cap);
	if (!f->function && !strncmp(out, unknown, sizeof(unknown) - 1))
		memmove(out, out + sizeof(unknown) - 1, strlen(out) - sizeof(unknown) + 2);
}

/* The number of the key that is in p->key. */
static uint32_t number_of_key(
	struct profile *p, const struct frame *f, const struct frame *outer, const char *label)
{
	char name[NAME_MAX_BYTES];
	struct profile_frame *frames;
	bool is_new;
	uint32_t n = numbering_add(&p->numbers, strbuf_text(&p->key), p->key.len, &is_new);

	p->failed |= p->key.failed;
	if (!is_new)
		return n;
	frames = array_grow(p->frames, p->nframes, &p->frames_capacity, sizeof(*p->frames));
	if (!frames) {
		p->numbers.failed = true;
		return 0;
	}
	if (!label) {
		profile_frame_name(f, p->names, name, sizeof(name));
		label = name;
	}
	p->frames = frames;
	frames[p->nframes] = (struct profile_frame){ .name = strdup(label),
		.frame = f,
		.pc = outer ? outer->pc : 0,
		.offset = outer ? outer->offset : 0 };
	p->failed |= !frames[p->nframes].name;
	p->nframes++;
	return n;
}

static void key_text(struct profile *p, const char *text)
{
	strbuf_puts(&p->key, text ? text : "");
	strbuf_putc(&p->key, '\0');
}

static void key_bytes(struct profile *p, uint64_t value)
{
	strbuf_add(&p->key, (const char *)&value, sizeof(value));
}

static uint32_t number_of_label(struct profile *p, const char *label)
{
	strbuf_reset(&p->key);
	strbuf_putc(&p->key, 'l');
	key_text(p, label);
	return number_of_key(p, NULL, NULL, label);
}

/* `outer`: the frame with its address. */
static uint32_t number_of_frame(struct profile *p, const struct frame *f, const struct frame *outer)
{
	strbuf_reset(&p->key);
	strbuf_putc(&p->key, f->function ? 'f' : 'a');
	key_text(p, f->function);
	if (!f->function || p->names == NAMES_ADDRESS) {
		key_text(p, f->module->path);
		key_bytes(p, f->module->path[0] ? f->offset : f->pc);
	}
	if (p->differ & PROFILE_MODULE)
		key_text(p, f->module->path);
	if (p->differ & PROFILE_LINE) {
		key_text(p, f->file);
		key_bytes(p, f->line);
	}
	if (p->differ & PROFILE_PC)
		key_bytes(p, outer->pc);
	return number_of_key(p, f, outer, NULL);
}

static bool path_fits(struct profile *p, size_t frames)
{
	uint32_t *path;

	if (frames <= p->path_capacity)
		return true;
	path = reallocarray(p->path, frames, sizeof(*path));
	if (!path)
		return false;
	p->path = path;
	p->path_capacity = frames;
	return true;
}

uint32_t *profile_path(
	struct profile *p, size_t process, const struct snap_site *site, uint32_t *len)
{
	const struct stack *stack = site->stack;
	const struct frame *outer = NULL;
	char name[256];
	uint32_t n = 0;

	*len = 0;
	if (p->failed || !path_fits(p, (size_t)stack->nframes + 3)) {
		p->failed = true;
		return NULL;
	}
	if (p->nprocesses > 1)
		p->path[n++] = number_of_label(
			p, profile_process_name(p->processes[process], name, sizeof(name)));
	if (stack->truncated)
		p->path[n++] = number_of_label(p, missing_outer);
	for (uint32_t i = stack->nframes; i-- > 0;) {
		if (!snapshot_frame(stack, i)->inlined || !outer)
			outer = snapshot_frame(stack, i);
		p->path[n++] = number_of_frame(p, snapshot_frame(stack, i), outer);
	}
	if (stack->ancestor)
		p->path[n++] = number_of_label(p, missing_inner);
	p->failed |= p->numbers.failed;
	*len = p->failed ? 0 : n;
	return p->path;
}

void profile_number(struct profile *p)
{
	uint32_t len;

	for (size_t n = 0; n < p->nprocesses; n++)
		for (size_t i = 0; i < p->processes[n]->nsites; i++)
			profile_path(p, n, &p->processes[n]->sites[i], &len);
}

int64_t profile_weight(
	const struct snapshot *s, const struct snap_site *site, enum snap_value value)
{
	if (s->moment != SNAP_RANGE)
		return (int64_t)value_of(site, value);
	switch (value) {
	case VALUE_LIVE:
		return site->since.bytes;
	case VALUE_BLOCKS:
		return site->since.blocks;
	case VALUE_ALLOCATED:
		return (int64_t)site->since.alloc_bytes;
	case VALUE_ALLOCS:
		return (int64_t)site->since.allocs;
	case VALUE_TEMPORARY:
	case VALUE_PEAK:
	case VALUE_OWN_PEAK:
	case VALUE_COUNT:
		break;
	}
	return 0;
}
