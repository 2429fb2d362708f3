/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Segments that appear in a directory: each is offered until it is settled or gone. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "src/run/segment_watch.h"
#include "tests/check.h"

#define NAMES 300

static char directory[] = "/tmp/heaptop-unit-XXXXXX";

struct offered {
	int times[NAMES], others;
	bool settle;
};

static const char *path_of(const char *name, int number)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s%d", directory, name, number);
	return path;
}

static void make(const char *name, int number)
{
	int fd = open(path_of(name, number), O_CREAT | O_EXCL | O_WRONLY, 0600);

	CHECK(fd >= 0);
	close(fd);
}

static enum segment_watch_answer offer(void *ctx, const char *path)
{
	struct offered *o = ctx;
	int number;

	if (sscanf(path + strlen(directory), "/heaptop-%d", &number) == 1 && number < NAMES)
		o->times[number]++;
	else
		o->others++;
	return o->settle ? SEGMENT_WATCH_SETTLED : SEGMENT_WATCH_LATER;
}

static int offered_least(const struct offered *o, int from)
{
	int least = o->times[from];

	for (int i = from; i < NAMES; i++)
		if (o->times[i] < least)
			least = o->times[i];
	return least;
}

static void names_make(struct segment_watch *w, struct offered *o)
{
	for (int i = 0; i < NAMES; i++)
		make("heaptop-", i);
	make("other-", 1);
	segment_watch_new_ones(w, offer, o);
}

static void names_remove(void)
{
	for (int i = 0; i < NAMES; i++)
		unlink(path_of("heaptop-", i));
	unlink(path_of("other-", 1));
}

/* However many wait, and however long. */
TEST(until_settled)
{
	struct segment_watch *w = segment_watch_new(directory);
	struct offered o = { 0 };

	names_make(w, &o);
	CHECK_INT(offered_least(&o, 0), 1);
	segment_watch_new_ones(w, offer, &o);
	CHECK_INT(offered_least(&o, 0), 2);
	o.settle = true;
	segment_watch_new_ones(w, offer, &o);
	CHECK_INT(offered_least(&o, 0), 3);
	segment_watch_new_ones(w, offer, &o);
	CHECK_INT(o.times[0], 3);
	CHECK_INT(o.times[NAMES - 1], 3);
	CHECK_INT(o.others, 0);
	segment_watch_free(w);
	names_remove();
}

TEST(until_gone)
{
	struct segment_watch *w = segment_watch_new(directory);
	struct offered o = { 0 };

	names_make(w, &o);
	unlink(path_of("heaptop-", 0));
	segment_watch_new_ones(w, offer, &o);
	segment_watch_new_ones(w, offer, &o);
	CHECK_INT(o.times[0], 2);
	CHECK_INT(offered_least(&o, 1), 3);
	segment_watch_free(w);
	names_remove();
}

/* What the kernel did not report, and what was settled before. */
TEST(all)
{
	struct offered o = { .settle = true };
	struct segment_watch *w;

	make("heaptop-", 0);
	w = segment_watch_new(directory);
	make("heaptop-", 1);
	segment_watch_new_ones(w, offer, &o);
	CHECK_INT(o.times[0], 0);
	CHECK_INT(o.times[1], 1);
	segment_watch_all(w, offer, &o);
	CHECK_INT(o.times[0], 1);
	CHECK_INT(o.times[1], 2);
	segment_watch_free(w);
	names_remove();
}

/* As where the user's inotify instances are used up. */
static struct segment_watch *watch_without_kernel(void)
{
	struct rlimit before, none;
	struct segment_watch *w;

	CHECK_INT(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ 0, before.rlim_max };
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
	w = segment_watch_new(directory);
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &before), 0);
	return w;
}

TEST(without_the_kernel)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct segment_watch *w = watch_without_kernel();
	struct offered o = { .settle = true };

	make("heaptop-", 0);
	segment_watch_new_ones(w, offer, &o);
	CHECK_INT(o.times[0], 1);
	segment_watch_new_ones(w, offer, &o);
	make("heaptop-", 1);
	for (int i = 0; i < 10000 && o.times[1] == 0; i++) {
		segment_watch_new_ones(w, offer, &o);
		nanosleep(&pause, NULL);
	}
	CHECK_INT(o.times[1], 1);
	segment_watch_free(w);
	names_remove();
}

int main(void)
{
	CHECK(mkdtemp(directory) != NULL);
	RUN(until_settled);
	RUN(until_gone);
	RUN(all);
	RUN(without_the_kernel);
	rmdir(directory);
	return check_end();
}
