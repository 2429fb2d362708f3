/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Object files by identity (object_cache.h): a hash table of chains, and a list by last use. */
#include "src/sym/object_cache.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/util/shortage.h"

#define CHAINS 1024u
/* With more debug information than this in memory, the least recently used files are closed. */
#define DEBUG_MAX_BYTES ((uint64_t)1024 * 1024 * 1024)

/* Identifies the file at a path without reading it. All 0: no file. */
struct file_identity {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec changed;
};

struct cached_object {
	struct cached_object *next;
	uint64_t hash;
	struct sym_module info;
	char *path; /* owned, as is build_id */
	uint8_t *build_id;
	struct file_identity identity;
	struct object_file *object; /* NULL: not open */
	enum sym_quality quality;
	unsigned round; /* in which it was requested last */
	struct cached_object *older, *newer; /* in the list of open files */
};

struct object_cache {
	const struct debugfile_dirs *dirs;
	struct cached_object *chains[CHAINS];
	struct cached_object *oldest, *newest; /* list of open files by last use */
	uint64_t open_bytes;
	unsigned round;
};

struct object_cache *object_cache_new(const struct debugfile_dirs *dirs)
{
	struct object_cache *s = calloc(1, sizeof(*s));

	if (s)
		s->dirs = dirs;
	return s;
}

static void cached_free(struct cached_object *c)
{
	object_file_close(c->object);
	free(c->path);
	free(c->build_id);
	free(c);
}

void object_cache_free(struct object_cache *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < CHAINS; i++) {
		while (s->chains[i]) {
			struct cached_object *c = s->chains[i];

			s->chains[i] = c->next;
			cached_free(c);
		}
	}
	free(s);
}

static struct file_identity identity_read(const struct object_cache *s, const char *path)
{
	char full[PATH_MAX];
	struct stat st;

	if (snprintf(full, sizeof(full), "%s%s", s->dirs->root, path) >= (int)sizeof(full) ||
		stat(full, &st) != 0)
		return (struct file_identity){ 0 };
	return (struct file_identity){ st.st_dev, st.st_ino, st.st_size, st.st_ctim };
}

static bool same_file(const struct file_identity *a, const struct file_identity *b)
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

static struct cached_object *cached_new(const struct sym_module *m)
{
	struct cached_object *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->quality = SYM_PENDING;
	c->path = strdup(m->path);
	c->build_id = malloc(m->build_id_len + 1);
	if (!c->path || !c->build_id) {
		cached_free(c);
		return NULL;
	}
	c->info = *m;
	c->info.path = c->path;
	c->info.build_id = c->build_id;
	if (m->build_id_len > 0)
		memcpy(c->build_id, m->build_id, m->build_id_len);
	return c;
}

struct cached_object *object_cache_find(struct object_cache *s, const struct sym_module *m)
{
	uint64_t hash = hash_of(m->path);
	struct cached_object **chain = &s->chains[hash % CHAINS], *c;
	struct file_identity identity = identity_read(s, m->path);

	for (c = *chain; c; c = c->next)
		if (c->hash == hash && same_file(&c->identity, &identity) &&
			same_module(&c->info, m)) {
			c->round = s->round;
			return c;
		}
	c = cached_new(m);
	if (!c)
		return NULL;
	c->round = s->round;
	c->hash = hash;
	c->identity = identity;
	c->next = *chain;
	*chain = c;
	return c;
}

/* ---- open files ----------------------------------------------------------------------------- */

static void open_list_remove(struct object_cache *s, struct cached_object *c)
{
	*(c->older ? &c->older->newer : &s->oldest) = c->newer;
	*(c->newer ? &c->newer->older : &s->newest) = c->older;
	c->older = c->newer = NULL;
}

static void open_list_append(struct object_cache *s, struct cached_object *c)
{
	c->older = s->newest;
	*(s->newest ? &s->newest->newer : &s->oldest) = c;
	s->newest = c;
}

static void cached_close(struct object_cache *s, struct cached_object *c)
{
	open_list_remove(s, c);
	s->open_bytes -= object_file_bytes(c->object);
	object_file_close(c->object);
	c->object = NULL;
}

static bool cached_open(struct object_cache *s, struct cached_object *c)
{
	c->object = object_file_open(&c->info, s->dirs);
	if (!c->object) {
		shortage_note(ENOMEM);
		return false;
	}
	c->quality = object_file_quality(c->object);
	s->open_bytes += object_file_bytes(c->object);
	open_list_append(s, c);
	while (s->open_bytes > DEBUG_MAX_BYTES && s->oldest != c)
		cached_close(s, s->oldest);
	return true;
}

struct object_file *object_cache_open(struct object_cache *s, struct cached_object *c)
{
	if (!c->object)
		return cached_open(s, c) ? c->object : NULL;
	if (s->newest != c) {
		open_list_remove(s, c);
		open_list_append(s, c);
	}
	return c->object;
}

static void chain_trim(struct object_cache *s, struct cached_object **at, unsigned rounds)
{
	while (*at) {
		struct cached_object *c = *at;

		if (s->round - c->round <= rounds) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		if (c->object)
			cached_close(s, c);
		cached_free(c);
	}
}

void object_cache_round(struct object_cache *s, unsigned rounds, uint64_t bytes)
{
	s->round++;
	for (size_t i = 0; i < CHAINS; i++)
		chain_trim(s, &s->chains[i], rounds);
	while (s->oldest && (bytes == 0 || s->open_bytes > bytes))
		cached_close(s, s->oldest);
}

enum sym_quality object_cache_quality(const struct cached_object *c)
{
	return c->quality;
}
