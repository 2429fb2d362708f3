/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Object files from scan to scan (object_store.h): the symboliser's cache, one round per scan. */
#include "src/leak/names/object_store.h"

#include <pthread.h>
#include <stdlib.h>
#define ROUNDS_KEPT 16u /* so many processes may be scanned in turn */
#define KEPT_BYTES  (UINT64_C(256) << 20) /* of debug information between scans */

struct leak_object_store {
	pthread_mutex_t mutex; /* held by the scan that uses it */
	struct debugfile_dirs dirs; /* that scan's */
	struct object_cache *objects;
};

struct leak_object_store *leak_object_store_new(void)
{
	struct leak_object_store *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	pthread_mutex_init(&s->mutex, NULL);
	s->objects = object_cache_new(&s->dirs);
	if (s->objects)
		return s;
	leak_object_store_free(s);
	return NULL;
}

void leak_object_store_free(struct leak_object_store *s)
{
	if (!s)
		return;
	object_cache_free(s->objects);
	pthread_mutex_destroy(&s->mutex);
	free(s);
}

bool leak_object_store_begin(struct leak_object_store *s, const struct debugfile_dirs *dirs)
{
	if (!s || pthread_mutex_trylock(&s->mutex) != 0)
		return false;
	s->dirs = *dirs;
	return true;
}

struct cached_object *leak_object_store_find(struct leak_object_store *s, const char *path)
{
	const struct sym_module module = { .path = path };

	return object_cache_find(s->objects, &module);
}

struct object_file *leak_object_store_open(struct leak_object_store *s, struct cached_object *found)
{
	struct object_file *o = object_cache_open(s->objects, found);

	if (o)
		object_file_stop_by(o, s->dirs.stop);
	return o;
}

void leak_object_store_end(struct leak_object_store *s)
{
	object_cache_round(s->objects, ROUNDS_KEPT, *s->dirs.stop ? 0 : KEPT_BYTES);
	s->dirs = (struct debugfile_dirs){ 0 };
	pthread_mutex_unlock(&s->mutex);
}
