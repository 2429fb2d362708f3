/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Segments that appear in a directory (segment_watch.h). The directory is shared with all other
 * launches, and a child of a busy machine may take seconds to complete its segment: so there is no
 * limit to the names that wait, nor to the time, except that the file exists.
 */
#include "src/run/segment_watch.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "src/read/read.h"
#include "src/util/array.h"
#include "src/util/clock.h"

#define NAME_HEAD   "heaptop-"
#define NAME_BYTES  128u
#define EAGER_NS    1000000000u /* so long after its creation a name is offered each time, */
#define PATIENCE_NS 100000000u /* and then only so often */
#define SEARCH_NS   10000000u /* between searches of a directory that the kernel does not watch */

struct waiting {
	char name[NAME_BYTES];
	uint64_t since_ns, offered_ns;
};

struct segment_watch {
	char directory[HT_PATH_MAX];
	int inotify; /* -1: the user's instances or watches, or our descriptors, are used up */
	bool overflow; /* the kernel has dropped names */
	uint64_t searched_ns; /* without inotify: the last search */
	struct waiting *waiting;
	size_t count, room;
};

struct segment_watch *segment_watch_new(const char *directory)
{
	struct segment_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	snprintf(w->directory, sizeof(w->directory), "%s", directory);
	w->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (w->inotify >= 0 &&
		inotify_add_watch(w->inotify, directory, IN_CREATE | IN_MOVED_TO) < 0) {
		close(w->inotify);
		w->inotify = -1;
	}
	return w;
}

void segment_watch_free(struct segment_watch *w)
{
	if (!w)
		return;
	if (w->inotify >= 0)
		close(w->inotify);
	free(w->waiting);
	free(w);
}

static bool is_segment_name(const char *name)
{
	return strncmp(name, NAME_HEAD, strlen(NAME_HEAD)) == 0 && strlen(name) < NAME_BYTES;
}

/* Without memory the directory is searched again later. */
static void name_add(struct segment_watch *w, const char *name)
{
	struct waiting *all;

	for (size_t i = 0; i < w->count; i++)
		if (strcmp(w->waiting[i].name, name) == 0)
			return;
	all = array_grow(w->waiting, w->count, &w->room, sizeof(*all));
	if (!all) {
		w->overflow = true;
		return;
	}
	w->waiting = all;
	all[w->count] = (struct waiting){ .since_ns = clock_monotonic_ns() };
	snprintf(all[w->count++].name, NAME_BYTES, "%s", name);
}

static void created_read(struct segment_watch *w)
{
	char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t got;

	while (w->inotify >= 0 && (got = read(w->inotify, buf, sizeof(buf))) > 0)
		for (ssize_t at = 0; at < got;) {
			const struct inotify_event *e = (const void *)(buf + at);

			w->overflow |= (e->mask & IN_Q_OVERFLOW) != 0;
			if (e->len > 0 && is_segment_name(e->name))
				name_add(w, e->name);
			at += (ssize_t)(sizeof(*e) + e->len);
		}
}

static void directory_read(struct segment_watch *w)
{
	DIR *d = opendir(w->directory);
	const struct dirent *e;

	while (d && (e = readdir(d)))
		if (is_segment_name(e->d_name))
			name_add(w, e->d_name);
	if (d)
		closedir(d);
}

/* Whether the name is settled, or gone. */
static bool offer_one(
	const struct segment_watch *w, const struct waiting *n, segment_watch_fn *offer, void *ctx)
{
	char path[HT_PATH_MAX + NAME_BYTES + 1];

	snprintf(path, sizeof(path), "%s/%s", w->directory, n->name);
	return offer(ctx, path) == SEGMENT_WATCH_SETTLED ||
	       (access(path, F_OK) != 0 && errno == ENOENT);
}

static bool is_due(const struct waiting *n, uint64_t now)
{
	return now - n->since_ns < EAGER_NS || now - n->offered_ns >= PATIENCE_NS;
}

static void waiting_offer(struct segment_watch *w, bool all, segment_watch_fn *offer, void *ctx)
{
	uint64_t now = clock_monotonic_ns();
	size_t kept = 0;

	for (size_t i = 0; i < w->count; i++) {
		struct waiting *n = &w->waiting[i];

		if (all || is_due(n, now)) {
			n->offered_ns = now;
			if (offer_one(w, n, offer, ctx))
				continue;
		}
		w->waiting[kept++] = *n;
	}
	w->count = kept;
}

/* Whether the directory must be searched, since names are not reported. */
static bool is_search_due(struct segment_watch *w)
{
	uint64_t now = w->inotify < 0 ? clock_monotonic_ns() : 0;

	if (w->inotify < 0 && now - w->searched_ns >= SEARCH_NS) {
		w->searched_ns = now;
		return true;
	}
	return w->overflow;
}

void segment_watch_new_ones(struct segment_watch *w, segment_watch_fn *offer, void *ctx)
{
	created_read(w);
	if (is_search_due(w)) {
		w->overflow = false;
		directory_read(w);
	}
	if (w->count > 0)
		waiting_offer(w, false, offer, ctx);
}

void segment_watch_all(struct segment_watch *w, segment_watch_fn *offer, void *ctx)
{
	created_read(w);
	directory_read(w);
	waiting_offer(w, true, offer, ctx);
}
