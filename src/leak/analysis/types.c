/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classes by vtables (types.h). */
#include "src/leak/analysis/types.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/util/intern.h"

#define TABLES_MAX 4096u /* different first words that are looked up; a power of two */
#define NAME_BYTES 256u

/* A first word. */
struct table {
	uint64_t word; /* 0: free */
	const char *name; /* NULL: it is no vtable's */
};

/* The blocks of one site, one class at a time. */
struct count {
	uint32_t site;
	const char *name;
	uint64_t blocks;
};

struct finder {
	struct leak_types *t;
	const struct leak_root_context *found;
	struct table *table;
	uint32_t tables;
	struct count *count; /* a hash table by site and name; no name: free */
	uint32_t counts, mask;
	bool failed;
};

/* ---- names ---- */

/* The first argument of a template whose name ends at `args`. */
static size_t argument_length(const char *args)
{
	size_t n = 0;
	int depth = 0;

	for (; args[n] && !(depth == 0 && (args[n] == ',' || args[n] == '>')); n++)
		depth += args[n] == '<' || args[n] == '('   ? 1
			 : args[n] == '>' || args[n] == ')' ? -1
							    : 0;
	return n;
}

void leak_types_word(const char *name, char *out, size_t cap)
{
	static const char inplace[] = "_Sp_counted_ptr_inplace<", counted[] = "_Sp_counted_ptr<",
			  deleter[] = "_Sp_counted_deleter<";
	const char *made = strstr(name, inplace), *count = strstr(name, counted);

	count = count ? count + sizeof(counted) - 1 : strstr(name, deleter);
	if (count && strncmp(count, deleter, sizeof(deleter) - 1) == 0)
		count += sizeof(deleter) - 1;
	if (made) {
		made += sizeof(inplace) - 1;
		snprintf(out, cap, "%.*s (make_shared)", (int)argument_length(made), made);
	} else if (count) {
		snprintf(
			out, cap, "counts of shared_ptr to %.*s", (int)strcspn(count, "*,"), count);
	} else {
		snprintf(out, cap, "%s", name);
	}
}

static const char *name_of(struct finder *f, uint64_t word)
{
	char name[NAME_BYTES];

	if (!f->found->class_name(f->found->names, word, name, sizeof(name)))
		return NULL;
	f->t->names = f->t->names ? f->t->names : intern_new();
	return f->t->names ? intern_text(f->t->names, name, strlen(name)) : NULL;
}

/* The class whose vtable `word` points to; NULL: none, or too many were looked up. */
static const char *class_of(struct finder *f, uint64_t word)
{
	uint32_t i = (uint32_t)(word * UINT64_C(0x9e3779b97f4a7c15) >> 40) % TABLES_MAX;

	for (; f->table[i].word != 0; i = (i + 1) % TABLES_MAX)
		if (f->table[i].word == word)
			return f->table[i].name;
	if (f->tables >= TABLES_MAX / 4 * 3)
		return NULL;
	f->tables++;
	f->table[i] = (struct table){ word, name_of(f, word) };
	return f->table[i].name;
}

/* ---- call sites ---- */

static struct count *slot_of(const struct finder *f, uint32_t site, const char *name)
{
	uint64_t key = (uint64_t)(uintptr_t)name << 16 ^ site;
	uint32_t i = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & f->mask;

	while (f->count[i].name && (f->count[i].site != site || f->count[i].name != name))
		i = (i + 1) & f->mask;
	return &f->count[i];
}

static bool counts_grow(struct finder *f)
{
	uint32_t old = f->mask + 1, size = f->count ? 2 * old : 1024;
	struct count *before = f->count, *fresh = calloc(size, sizeof(*fresh));

	if (!fresh)
		return false;
	f->count = fresh;
	f->mask = size - 1;
	for (uint32_t i = 0; before && i < old; i++)
		if (before[i].name)
			*slot_of(f, before[i].site, before[i].name) = before[i];
	free(before);
	return true;
}

static void block_count(struct finder *f, const struct leak_block *b, const char *name)
{
	struct leak_type *site = &f->t->site[b->site];
	struct count *c;

	if ((!f->count || f->counts > f->mask / 2) && !counts_grow(f)) {
		f->failed = true;
		return;
	}
	c = slot_of(f, b->site, name);
	f->counts += !c->name;
	c->site = b->site;
	c->name = name;
	if (++c->blocks > site->blocks)
		*site = (struct leak_type){ name, c->blocks };
	f->t->blocks++;
	f->t->bytes += b->size;
}

/* A class that only the minority of a site's blocks has says nothing of the site. */
static int minorities_drop(struct leak_types *t, const struct leak_graph *g, uint32_t sites)
{
	uint64_t *all = calloc(sites + (size_t)1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->blocks->count; i++)
		all[g->blocks->block[i].site]++;
	for (uint32_t i = 0; i < sites; i++)
		if (t->site[i].blocks * 2 <= all[i])
			t->site[i].name = NULL;
	free(all);
	return 0;
}

int leak_types_find(struct leak_types *t, const struct leak_root_context *found, uint32_t sites)
{
	const struct leak_graph *g = found->graph;
	struct finder f = { .t = t, .found = found };
	int rc = -ENOMEM;

	*t = (struct leak_types){ .site = calloc(sites + (size_t)1, sizeof(*t->site)) };
	f.table = calloc(TABLES_MAX, sizeof(*f.table));
	if (t->site && f.table) {
		for (uint32_t i = 0; g->first_word && i < g->blocks->count && !f.failed; i++) {
			uint64_t word = g->first_word[i];
			const char *name = word && found->class_name ? class_of(&f, word) : NULL;

			if (name && g->blocks->block[i].birth != LEAK_BIRTH_UNSURE)
				block_count(&f, &g->blocks->block[i], name);
		}
		rc = f.failed ? -ENOMEM : minorities_drop(t, g, sites);
	}
	free(f.table);
	free(f.count);
	if (rc != 0)
		leak_types_free(t);
	return rc;
}

void leak_types_free(struct leak_types *t)
{
	free(t->site);
	if (t->names)
		intern_free(t->names);
	*t = (struct leak_types){ 0 };
}
