/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that allocate, resize and free at random, with blocks of all sizes, and an account of
 * what is live, by malloc_usable_size. A line on standard input is an order, which ends with an
 * answer: "run": the threads go on; "park": they stand still; "turn N": the same after N rounds of
 * each; "end N": N threads, one after the other, do the same and end; "mark": what is live is old;
 * "clear": all old blocks are freed; "lose N": N blocks of 700 bytes to which nothing points;
 * "account": old blocks, their bytes, live blocks, their bytes.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 4
#define SLOTS	4000
#define ROUND	200

struct slot {
	void *p;
	bool old;
};

static struct slot slots[THREADS][SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t goes = PTHREAD_COND_INITIALIZER, stands = PTHREAD_COND_INITIALIZER;
static long rounds[THREADS]; /* to go, under the lock; negative: for ever */
static unsigned parked;
static atomic_bool stop;
static void *volatile last_lost;

static unsigned draw(unsigned long *state)
{
	*state = *state * 6364136223846793005ul + 1442695040888963407ul;
	return (unsigned)(*state >> 33);
}

static size_t size_of(unsigned long *state)
{
	unsigned r = draw(state);

	if (r % 2000 == 0)
		return 150000 + draw(state) % 500000;
	return r % 20 == 0 ? draw(state) % 20000 : draw(state) % 300;
}

static void step(struct slot *s, unsigned long *state)
{
	unsigned r = draw(state) % 10;
	size_t size = size_of(state);

	if (r == 0) {
		s->p = realloc(s->p, size + 1);
	} else {
		free(s->p);
		s->p = r < 3 ? NULL : r == 3 ? memalign(256, size) : malloc(size);
	}
	s->old = false;
}

static void *work(void *arg)
{
	size_t self = (size_t)arg;
	unsigned long state = self + 1;

	for (;;) {
		pthread_mutex_lock(&lock);
		while (rounds[self] == 0 || atomic_load(&stop)) {
			rounds[self] = 0;
			parked++;
			pthread_cond_signal(&stands);
			pthread_cond_wait(&goes, &lock);
			parked--;
		}
		rounds[self] -= rounds[self] > 0;
		pthread_mutex_unlock(&lock);
		for (int i = 0; i < ROUND; i++)
			step(&slots[self][draw(&state) % SLOTS], &state);
	}
	return NULL;
}

/* Its caches go back to malloc as it ends. */
static void *brief(void *arg)
{
	size_t self = (size_t)arg % THREADS;
	unsigned long state = (size_t)arg + 1000;

	for (int i = 0; i < ROUND; i++)
		step(&slots[self][draw(&state) % SLOTS], &state);
	return NULL;
}

static void end(int n)
{
	pthread_t thread;

	for (int i = 0; i < n; i++) {
		pthread_create(&thread, NULL, brief, (void *)(size_t)i);
		pthread_join(thread, NULL);
	}
}

static void go(long n)
{
	pthread_mutex_lock(&lock);
	atomic_store(&stop, false);
	for (int i = 0; i < THREADS; i++)
		rounds[i] = n;
	pthread_cond_broadcast(&goes);
	pthread_mutex_unlock(&lock);
}

static void park(bool now)
{
	pthread_mutex_lock(&lock);
	atomic_store(&stop, now);
	for (int i = 0; i < THREADS; i++)
		while (parked < THREADS || rounds[i] != 0)
			pthread_cond_wait(&stands, &lock);
	pthread_mutex_unlock(&lock);
}

static void account(void)
{
	unsigned long sum[4] = { 0 };

	for (int i = 0; i < THREADS * SLOTS; i++) {
		const struct slot *s = &slots[0][0] + i;
		size_t bytes = s->p ? malloc_usable_size(s->p) : 0;

		sum[0] += s->p && s->old;
		sum[1] += s->p && s->old ? bytes : 0;
		sum[2] += s->p != NULL;
		sum[3] += bytes;
	}
	printf("%lu %lu %lu %lu\n", sum[0], sum[1], sum[2], sum[3]);
}

static void each(bool clear)
{
	for (int i = 0; i < THREADS * SLOTS; i++) {
		struct slot *s = &slots[0][0] + i;

		if (!clear) {
			s->old = s->p != NULL;
		} else if (s->old) {
			free(s->p);
			*s = (struct slot){ NULL, false };
		}
	}
}

/* Large enough to overwrite what deeper calls have left on the stack. */
__attribute__((noinline)) static void scrub(void)
{
	volatile char room[16384];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

__attribute__((noinline)) static void lose(int n)
{
	while (n-- > 0) {
		last_lost = malloc(700);
		memset(last_lost, 'x', 700);
	}
	last_lost = NULL;
}

static void obey(const char *line)
{
	char what[16] = "";
	int n = 0;

	sscanf(line, "%15s %d", what, &n);
	if (strcmp(what, "run") == 0)
		go(-1);
	else if (strcmp(what, "turn") == 0)
		go(n), park(false);
	else if (strcmp(what, "end") == 0)
		end(n);
	else if (strcmp(what, "park") == 0)
		park(true);
	else if (strcmp(what, "lose") == 0)
		lose(n), scrub();
	else if (strcmp(what, "account") != 0)
		each(strcmp(what, "clear") == 0);
	if (strcmp(what, "account") == 0)
		account();
	else
		printf("done\n");
	fflush(stdout);
}

/* read, not stdio: a thread that waits there is one that can be used to attach. */
int main(void)
{
	char line[64];
	size_t have = 0;
	pthread_t thread;

	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, work, (void *)i);
	go(100);
	park(false);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	for (ssize_t got; have < sizeof(line) - 1 && (got = read(0, line + have, 1)) == 1;) {
		have++;
		if (line[have - 1] != '\n')
			continue;
		line[have] = '\0';
		obey(line);
		have = 0;
	}
	_exit(0);
}
