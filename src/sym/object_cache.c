/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Object files by what they are (sources.h): a table of chains, and the open ones by last use. */
#include "src/sym/object_cache.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/util/shortage.h"

#define CHAINS 1024u
/* Above this much debug information at once, those longest unused give theirs back. */
#define DEBUG_MAX_BYTES ((uint64_t)1024 * 1024 * 1024)

/* The file behind a path, as far as it can be told without reading it. All 0: there is none. */
struct behind {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec changed;
};

struct source {
	struct source *next;
	uint64_t hash;
	struct sym_module info;
	char *path; /* owned, as is build_id */
	uint8_t *build_id;
	struct behind behind;
	struct object *object; /* NULL: not opened, or closed again */
	enum sym_quality quality;
	struct source *older, *newer; /* open ones */
};

struct sources {
	const struct debugfile_dirs *dirs;
	struct source *chains[CHAINS];
	struct source *oldest, *newest; /* open ones by last use */
	uint64_t open_bytes;
};

struct sources *sources_new(const struct debugfile_dirs *dirs)
{
	struct sources *s = calloc(1, sizeof(*s));

	if (s)
		s->dirs = dirs;
	return s;
}

static void source_free(struct source *of)
{
	object_close(of->object);
	free(of->path);
	free(of->build_id);
	free(of);
}

void sources_free(struct sources *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < CHAINS; i++) {
		while (s->chains[i]) {
			struct source *of = s->chains[i];

			s->chains[i] = of->next;
			source_free(of);
		}
	}
	free(s);
}

static struct behind behind_path(const struct sources *s, const char *path)
{
	char full[PATH_MAX];
	struct stat st;

	if (snprintf(full, sizeof(full), "%s%s", s->dirs->root, path) >= (int)sizeof(full) ||
		stat(full, &st) != 0)
		return (struct behind){ 0 };
	return (struct behind){ st.st_dev, st.st_ino, st.st_size, st.st_ctim };
}

static bool same_file(const struct behind *a, const struct behind *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

static bool same_module(const struct sym_module *a, const struct sym_module *b)
{
	return a->build_id_len == b->build_id_len && !strcmp(a->path, b->path) &&
	       (a->build_id_len == 0 || !memcmp(a->build_id, b->build_id, a->build_id_len));
}

static uint64_t hash_of(const char *path)
{
	uint64_t h = 14695981039346656037u;

	for (; *path; path++)
		h = (h ^ (unsigned char)*path) * 1099511628211u;
	return h ^ h >> 32;
}

static struct source *source_new(const struct sym_module *m)
{
	struct source *of = calloc(1, sizeof(*of));

	if (!of)
		return NULL;
	of->quality = SYM_PENDING;
	of->path = strdup(m->path);
	of->build_id = malloc(m->build_id_len + 1);
	if (!of->path || !of->build_id) {
		source_free(of);
		return NULL;
	}
	of->info = *m;
	of->info.path = of->path;
	of->info.build_id = of->build_id;
	if (m->build_id_len > 0)
		memcpy(of->build_id, m->build_id, m->build_id_len);
	return of;
}

struct source *sources_find(struct sources *s, const struct sym_module *m)
{
	uint64_t hash = hash_of(m->path);
	struct source **chain = &s->chains[hash % CHAINS], *of;
	struct behind behind = behind_path(s, m->path);

	for (of = *chain; of; of = of->next)
		if (of->hash == hash && same_file(&of->behind, &behind) &&
			same_module(&of->info, m))
			return of;
	of = source_new(m);
	if (!of)
		return NULL;
	of->hash = hash;
	of->behind = behind;
	of->next = *chain;
	*chain = of;
	return of;
}

/* ---- open ones ------------------------------------------------------------------------------ */

static void open_list_remove(struct sources *s, struct source *of)
{
	*(of->older ? &of->older->newer : &s->oldest) = of->newer;
	*(of->newer ? &of->newer->older : &s->newest) = of->older;
	of->older = of->newer = NULL;
}

static void open_list_append(struct sources *s, struct source *of)
{
	of->older = s->newest;
	*(s->newest ? &s->newest->newer : &s->oldest) = of;
	s->newest = of;
}

static void source_close(struct sources *s, struct source *of)
{
	open_list_remove(s, of);
	s->open_bytes -= object_bytes(of->object);
	object_close(of->object);
	of->object = NULL;
}

static bool source_open(struct sources *s, struct source *of)
{
	of->object = object_open(&of->info, s->dirs);
	if (!of->object) {
		shortage_note(ENOMEM);
		return false;
	}
	of->quality = object_quality(of->object);
	s->open_bytes += object_bytes(of->object);
	open_list_append(s, of);
	while (s->open_bytes > DEBUG_MAX_BYTES && s->oldest != of)
		source_close(s, s->oldest);
	return true;
}

struct object *source_object(struct sources *s, struct source *of)
{
	if (!of->object)
		return source_open(s, of) ? of->object : NULL;
	if (s->newest != of) {
		open_list_remove(s, of);
		open_list_append(s, of);
	}
	return of->object;
}

enum sym_quality source_quality(const struct source *of)
{
	return of->quality;
}
