/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps and fetches source files (source_cache.h). One thread at a time reads one file. */
#include "src/source/source_cache.h"
#include "src/util/thread.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define KEPT 8u /* files; the frames of a stack are in about that many */
#define WAIT_MS                                                                                    \
	20 /* for a file that is nearby; no eye sees it, and no frame is drawn without it          \
	    */
#define JOIN_S 1 /* the wait at the end for a disk that does not answer */

struct kept {
	char *file, *object; /* the request; file NULL: empty */
	struct source_text *text;
	uint64_t used;
};

struct source_cache {
	struct source_file_dirs dirs;
	struct kept kept[KEPT];
	uint64_t clock; /* counts requests */
	int fd; /* the thread writes to it when it has finished */
	bool is_busy, stale; /* stale: the file in progress must be read again */
	pthread_t thread;
	struct kept job; /* its file and object; its text once it was joined */
};

struct source_cache *source_cache_new(const struct source_file_dirs *dirs)
{
	struct source_cache *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->fd < 0) {
		free(s);
		return NULL;
	}
	s->dirs = *dirs;
	return s;
}

static void kept_free(struct kept *k)
{
	free(k->file);
	free(k->object);
	source_file_free(k->text);
	*k = (struct kept){ 0 };
}

void source_cache_free(struct source_cache *s)
{
	struct timespec until;

	if (!s)
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += JOIN_S;
	if (s->is_busy && pthread_timedjoin_np(s->thread, NULL, &until) != 0)
		return; /* the thread still uses all of it */
	source_cache_forget(s);
	kept_free(&s->job);
	source_file_dirs_free(&s->dirs);
	close(s->fd);
	free(s);
}

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static struct kept *kept_find(struct source_cache *s, const char *file, const char *object)
{
	for (unsigned i = 0; i < KEPT; i++)
		if (same(s->kept[i].file, file) && same(s->kept[i].object, object))
			return &s->kept[i];
	return NULL;
}

static struct kept *kept_oldest(struct source_cache *s)
{
	struct kept *oldest = &s->kept[0];

	for (unsigned i = 1; i < KEPT; i++)
		if (s->kept[i].used < oldest->used)
			oldest = &s->kept[i];
	return oldest;
}

static void *job_run(void *ctx)
{
	struct source_cache *s = ctx;

	s->job.text = source_file_read(s->job.file, s->job.object, &s->dirs);
	eventfd_write(s->fd, 1);
	return NULL;
}

static void job_start(struct source_cache *s, const char *file, const char *object)
{
	s->job.file = strdup(file);
	s->job.object = object ? strdup(object) : NULL;
	s->stale = false;
	if (s->job.file && (s->job.object || !object))
		s->is_busy = thread_start(&s->thread, THREAD_STACK_BYTES, job_run, s) == 0;
	if (!s->is_busy)
		kept_free(&s->job);
}

bool source_cache_collect(struct source_cache *s)
{
	struct kept *at;
	eventfd_t count;

	if (!s->is_busy || eventfd_read(s->fd, &count) != 0)
		return false;
	pthread_join(s->thread, NULL);
	s->is_busy = false;
	if (s->stale || !s->job.text) {
		kept_free(&s->job);
		return true;
	}
	at = kept_oldest(s);
	kept_free(at);
	*at = s->job;
	at->used = ++s->clock;
	s->job = (struct kept){ 0 };
	return true;
}

const struct source_text *source_cache_get(
	struct source_cache *s, const char *file, const char *object)
{
	struct kept *k = kept_find(s, file, object);

	if (!k && !s->is_busy) {
		struct pollfd ready = { s->fd, POLLIN, 0 };

		job_start(s, file, object);
		if (s->is_busy && poll(&ready, 1, WAIT_MS) > 0 && source_cache_collect(s))
			k = kept_find(s, file, object);
	}
	if (!k)
		return NULL;
	k->used = ++s->clock;
	return k->text;
}

void source_cache_forget(struct source_cache *s)
{
	for (unsigned i = 0; i < KEPT; i++)
		kept_free(&s->kept[i]);
	s->stale = true;
}

int source_cache_fd(const struct source_cache *s)
{
	return s->fd;
}
