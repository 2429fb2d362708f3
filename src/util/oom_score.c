/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Raises our OOM score (oom_score.h). Source: proc(5), oom_score_adj. */
#include "src/util/oom_score.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The OOM killer takes this before any ordinary program, whatever its size, but after a scan's
 * copy, which has 1000 and whose loss costs nothing. */
#define RAISED_SCORE 900

static const char own_score[] = "/proc/self/oom_score_adj";

static bool score_read(int *score)
{
	char text[16];
	int fd = open(own_score, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return false;
	text[got] = '\0';
	*score = (int)strtol(text, NULL, 10);
	return true;
}

static bool score_write(int score)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", score);
	int fd = open(own_score, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, (size_t)len) == len;

	if (fd >= 0)
		close(fd);
	return done;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned depth; /* guarded by `lock` */
static int before; /* the original score; valid if `changed` */
static bool changed;

void oom_score_raise(void)
{
	pthread_mutex_lock(&lock);
	if (depth++ == 0)
		changed = score_read(&before) && before < RAISED_SCORE && score_write(RAISED_SCORE);
	pthread_mutex_unlock(&lock);
}

void oom_score_restore(void)
{
	pthread_mutex_lock(&lock);
	if (--depth == 0 && changed)
		(void)score_write(before);
	pthread_mutex_unlock(&lock);
}

void oom_score_spawn_begin(void)
{
	pthread_mutex_lock(&lock);
	if (depth > 0 && changed)
		(void)score_write(before);
}

void oom_score_spawn_end(void)
{
	if (depth > 0 && changed)
		(void)score_write(RAISED_SCORE);
	pthread_mutex_unlock(&lock);
}
