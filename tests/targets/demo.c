/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program of `make demo`: a heap with a handful of call sites, each of another shape, so that
 * every column of heaptop has something to show. One thread per shape and a few workers; 50-100 MB,
 * modest rates. Usage: demo [SECONDS]; without an argument it runs until it is killed.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

#define CACHE_ENTRIES  6000u
#define CACHE_PAGE     4000u
#define LOG_LINES      40000u /* then the log is rotated: the growth is long, the memory bounded */
#define BATCH_RECORDS  9000u
#define BATCH_BYTES    1800u
#define BURST_REQUESTS 12000u
#define WORKERS	       8u
#define WORKER_SET     400u
#define MAILBOXES      64u

struct session {
	char *user, *buffer, *history;
};

static atomic_bool stop;
static atomic_ulong cache_hits, log_lines, sessions, requests, jobs, batches;
static atomic_uintptr_t mailbox[MAILBOXES];

static unsigned dice(unsigned *seed, unsigned sides)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % sides;
}

static void nap_ms(unsigned ms)
{
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

/* Memory that is only asked for takes no RSS; a real program writes into it. */
static void *filled(void *block, size_t bytes)
{
	if (!block)
		abort();
	return memset(block, 0x5a, bytes);
}

static NOINLINE char *page_load(void)
{
	return filled(malloc(CACHE_PAGE), CACHE_PAGE);
}

static NOINLINE void steady_cache(char **page, unsigned *seed)
{
	unsigned i = dice(seed, CACHE_ENTRIES);

	free(page[i]);
	page[i] = page_load();
	atomic_fetch_add(&cache_hits, 1);
}

static void *cache_thread(void *arg)
{
	char **page = calloc(CACHE_ENTRIES, sizeof(*page));
	unsigned seed = 1;

	for (unsigned i = 0; i < CACHE_ENTRIES; i++)
		page[i] = page_load();
	while (!stop) {
		for (int i = 0; i < 40; i++)
			steady_cache(page, &seed);
		nap_ms(50);
	}
	return arg;
}

static NOINLINE void growing_log(char **line, unsigned n, unsigned *seed)
{
	size_t bytes = 200 + dice(seed, 800);

	line[n] = filled(malloc(bytes), bytes);
	atomic_fetch_add(&log_lines, 1);
}

static void *log_thread(void *arg)
{
	char **line = NULL;
	unsigned n = 0, capacity = 0, seed = 2;

	while (!stop) {
		if (n == LOG_LINES) {
			while (n)
				free(line[--n]);
		}
		if (n == capacity) {
			capacity = capacity ? capacity * 2 : 256;
			line = realloc(line, capacity * sizeof(*line));
		}
		growing_log(line, n++, &seed);
		if (n % 20 == 0)
			nap_ms(100);
	}
	return arg;
}

static NOINLINE char *sawtooth_batch(void)
{
	return filled(malloc(BATCH_BYTES), BATCH_BYTES);
}

static void *batch_thread(void *arg)
{
	static char *record[BATCH_RECORDS];

	while (!stop) {
		for (unsigned i = 0; i < BATCH_RECORDS && !stop; i++) {
			record[i] = sawtooth_batch();
			if (i % 90 == 89)
				nap_ms(100);
		}
		for (unsigned i = 0; i < BATCH_RECORDS; i++) {
			free(record[i]);
			record[i] = NULL;
		}
		atomic_fetch_add(&batches, 1);
	}
	return arg;
}

/* The bug of this program: a session's history is forgotten when it ends. */
static NOINLINE void leaking_session(unsigned *seed)
{
	struct session *s = calloc(1, sizeof(*s));
	size_t history = 500 + dice(seed, 2000);

	s->user = strdup("somebody@example.org");
	s->buffer = malloc(8192);
	s->history = filled(malloc(history), history);
	nap_ms(5);
	free(s->user);
	free(s->buffer);
	free(s);
	atomic_fetch_add(&sessions, 1);
}

static void *session_thread(void *arg)
{
	unsigned seed = 3;

	while (!stop) {
		leaking_session(&seed);
		nap_ms(20);
	}
	return arg;
}

static NOINLINE char *request_parse(size_t bytes)
{
	return filled(malloc(bytes), bytes);
}

static NOINLINE void bursty_requests(char **request, unsigned *seed)
{
	for (unsigned i = 0; i < BURST_REQUESTS; i++) {
		request[i] = request_parse(64 + dice(seed, 1500));
		atomic_fetch_add(&requests, 1);
	}
	nap_ms(700);
	for (unsigned i = 0; i < BURST_REQUESTS; i++)
		free(request[i]);
}

static void *request_thread(void *arg)
{
	static char *request[BURST_REQUESTS];
	unsigned seed = 4;

	while (!stop) {
		bursty_requests(request, &seed);
		nap_ms(4000);
	}
	return arg;
}

static NOINLINE char *worker_result(size_t bytes)
{
	return filled(malloc(bytes), bytes);
}

static NOINLINE char *worker_scratch(size_t bytes)
{
	return filled(calloc(1, bytes), bytes);
}

/* A job leaves its result in a mailbox; who finds an older one there frees it, whoever made it. */
static void worker_job(char **set, unsigned *seed)
{
	char *scratch = worker_scratch(256 + dice(seed, 4096));
	unsigned i = dice(seed, WORKER_SET);

	free(set[i]);
	set[i] = worker_result(32 + dice(seed, 600));
	free((void *)atomic_exchange(
		&mailbox[dice(seed, MAILBOXES)], (uintptr_t)worker_result(100 + dice(seed, 3000))));
	free(scratch);
	atomic_fetch_add(&jobs, 1);
}

static void *worker_thread(void *arg)
{
	char **set = calloc(WORKER_SET, sizeof(*set));
	unsigned seed = (unsigned)(uintptr_t)arg;

	while (!stop) {
		for (int i = 0; i < 50; i++)
			worker_job(set, &seed);
		nap_ms(25);
	}
	for (unsigned i = 0; i < WORKER_SET; i++)
		free(set[i]);
	free(set);
	return NULL;
}

static void on_signal(int signal)
{
	(void)signal;
	stop = true;
}

static void report(unsigned second)
{
	printf("%4u s  cache %lu  log %lu  batches %lu  sessions %lu  requests %lu  jobs %lu\n",
		second, cache_hits, log_lines, batches, sessions, requests, jobs);
	fflush(stdout);
}

static void thread_start(pthread_t *thread, void *(*run)(void *), void *arg, const char *name)
{
	if (pthread_create(thread, NULL, run, arg) == 0)
		pthread_setname_np(*thread, name);
}

int main(int argc, char **argv)
{
	static const struct {
		void *(*run)(void *);
		const char *name;
	} shape[] = { { cache_thread, "cache" }, { log_thread, "log" }, { batch_thread, "batches" },
		{ session_thread, "sessions" }, { request_thread, "requests" } };
	unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
	pthread_t thread;

	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	puts("demo: a cache, a log, batches, sessions that leak, bursts of requests, eight "
	     "workers");
	for (size_t i = 0; i < sizeof(shape) / sizeof(*shape); i++)
		thread_start(&thread, shape[i].run, NULL, shape[i].name);
	for (uintptr_t i = 0; i < WORKERS; i++)
		thread_start(&thread, worker_thread, (void *)(i + 10), "worker");
	for (unsigned now = 1; !stop && (!seconds || now <= seconds); now++) {
		nap_ms(1000);
		if (now % 2 == 0)
			report(now);
	}
	puts("demo: done");
	return 0;
}
