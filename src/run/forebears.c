/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Segments that stay for the children of processes that ended (forebears.h). Main thread. */
#include "src/run/forebears.h"

#include <stdlib.h>
#include <string.h>

#include "src/util/array.h"

/* A segment of the launch, of which only its place among forks matters. */
struct forebears_kin {
	char name[HT_PARENT_MAX], parent[HT_PARENT_MAX]; /* of files in the same directory */
	bool runs, needed;
};

struct forebears_held {
	char path[sizeof(((struct target_segment *)0)->path)];
	bool left_out;
};

void forebears_free(struct forebears *f)
{
	free(f->kin);
	free(f->held);
	*f = (struct forebears){ 0 };
}

void forebears_begin(struct forebears *f)
{
	f->nkin = 0;
	f->from_before = f->nheld;
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A segment with a longer name than the library gives has no children. */
void forebears_note(struct forebears *f, const struct target_segment *t)
{
	const char *name = name_of(t->path);
	struct forebears_kin *kin;

	if (strlen(name) >= sizeof(kin->name))
		return;
	kin = array_grow(f->kin, f->nkin, &f->kin_room, sizeof(*kin));
	if (!kin)
		return;
	f->kin = kin;
	kin += f->nkin++;
	*kin = (struct forebears_kin){ .runs = t->state == TARGET_RUNNING ||
					       t->state == TARGET_ELSEWHERE };
	strcpy(kin->name, name);
	strcpy(kin->parent, t->parent);
}

bool forebears_hold(struct forebears *f, const char *path, bool left_out)
{
	struct forebears_held *held = array_grow(f->held, f->nheld, &f->held_room, sizeof(*held));

	if (!held)
		return false;
	f->held = held;
	held += f->nheld++;
	held->left_out = left_out;
	f->left_out += left_out;
	memcpy(held->path, path, strlen(path) + 1);
	return true;
}

bool forebears_holds(const struct forebears *f, const char *path)
{
	for (size_t i = 0; i < f->from_before; i++)
		if (strcmp(f->held[i].path, path) == 0)
			return true;
	return false;
}

static int kin_order(const void *left, const void *right)
{
	const struct forebears_kin *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static struct forebears_kin *kin_named(const struct forebears *f, const char *name)
{
	struct forebears_kin key;

	if (!name[0] || strlen(name) >= sizeof(key.name) || f->nkin == 0)
		return NULL;
	strcpy(key.name, name);
	return bsearch(&key, f->kin, f->nkin, sizeof(*f->kin), kin_order);
}

/* What a hostile segment names as its parent may lead round in a circle. */
void forebears_end(struct forebears *f)
{
	if (f->nkin > 0)
		qsort(f->kin, f->nkin, sizeof(*f->kin), kin_order);
	for (size_t i = 0; i < f->nkin; i++) {
		struct forebears_kin *k = f->kin[i].runs ? &f->kin[i] : NULL;

		for (unsigned level = 0; k && level < FOREBEARS_LEVELS; level++) {
			k = kin_named(f, k->parent);
			if (k)
				k->needed = true;
		}
	}
}

bool forebears_needs(const struct forebears *f, const char *path)
{
	const struct forebears_kin *k = kin_named(f, name_of(path));

	return k && k->needed;
}

void forebears_settle(struct forebears *f, forebears_remove *remove, void *ctx)
{
	size_t stay = 0;

	for (size_t i = 0; i < f->nheld; i++) {
		struct forebears_held *h = &f->held[i];

		if ((stay < FOREBEARS_MAX && forebears_needs(f, h->path)) ||
			(!remove(ctx, h->path, h->left_out) && stay < FOREBEARS_MAX))
			f->held[stay++] = *h;
		else
			f->left_out -= h->left_out;
	}
	f->nheld = f->from_before = stay;
}

void forebears_drop(struct forebears *f, forebears_remove *remove, void *ctx)
{
	for (size_t i = 0; i < f->nheld; i++)
		remove(ctx, f->held[i].path, f->held[i].left_out);
	f->nheld = f->from_before = f->left_out = 0;
}
