/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program: threads that allocate while a timer's signals interrupt them, ten thousand times
 * in a second of their time. The handler counts and, with "allocate", allocates and frees: that is
 * for an allocator that may be entered again (tests/faults/targets/reentrant.so). Usage:
 * signal_storm count|allocate [MILLISECONDS [THREADS]], of processor time
 */
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include "tests/targets/truth.h"

#define HELD 128u

enum { MAIN, GROWN, HANDLER };

static volatile sig_atomic_t allocates;
static uint64_t signals, handled;
static clock_t until;

static NOINLINE void *site_main(size_t n)
{
	return truth_got(MAIN, malloc(n), n);
}

static NOINLINE void site_grown(struct truth_block *b, size_t n)
{
	truth_gone(b->site, b->bytes);
	truth_add(&truth_reallocs, 1);
	*b = (struct truth_block){ truth_got(GROWN, realloc(b->at, n), n), n, GROWN };
}

static NOINLINE void *site_handler(size_t n)
{
	return truth_got(HANDLER, malloc(n), n);
}

static void on_signal(int number)
{
	void *p;

	(void)number;
	truth_add(&signals, 1);
	if (!allocates)
		return;
	p = site_handler(77);
	truth_gone(HANDLER, 77);
	free(p);
	truth_add(&handled, 1);
}

static void *work(void *arg)
{
	struct truth_block held[HELD] = { { 0 } };
	unsigned seed = (unsigned)(uintptr_t)arg;

	while (clock() < until) {
		for (unsigned i = 0; i < 1000; i++) {
			struct truth_block *b = &held[truth_dice(&seed, HELD)];
			size_t n = 1 + truth_dice(&seed, 600);

			if (b->at && n % 3 == 0) {
				site_grown(b, n * 2);
				continue;
			}
			truth_block_free(b);
			*b = (struct truth_block){ site_main(n), n, MAIN };
		}
	}
	for (unsigned i = 0; i < HELD / 2; i++)
		truth_block_free(&held[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { 0 };
	unsigned threads = argc > 3 ? (unsigned)atoi(argv[3]) : 2;
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	pthread_t thread[64];
	sigset_t alarms;

	if (threads > 64)
		return 2;
	truth_name(MAIN, "site_main", "malloc");
	truth_name(GROWN, "site_grown", "realloc");
	truth_name(HANDLER, "site_handler", "malloc");
	allocates = argc > 1 && !strcmp(argv[1], "allocate");
	until = clock() + (argc > 2 ? atoi(argv[2]) : 500) * (CLOCKS_PER_SEC / 1000);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	sigaction(SIGALRM, &action, NULL);
	for (uintptr_t i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, (void *)(i + 1));
	pthread_sigmask(SIG_BLOCK, &alarms, NULL); /* for the others to take */
	setitimer(ITIMER_REAL, &often, NULL);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	if (signals == 0 || (allocates && handled != signals))
		truth_text(2, "no signal came\n");
	truth_text(1, "done\n");
	return 0;
}
