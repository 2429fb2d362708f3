/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program: threads that fork one after the other while all of them allocate. Each child frees
 * and allocates, and must end by itself: one that hangs on a lock that a thread of the parent held
 * is killed by its own alarm. The account is the parent's. Usage: fork_storm [THREADS [FORKS]]
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include "tests/targets/truth.h"

#define HELD	      64u
#define BETWEEN	      200u /* steps from one fork to the next */
#define HANGS_SECONDS 60u /* a child has some microseconds of work */
#define CHILD_STATUS  21

enum { SMALL, LARGE };

static unsigned forks = 1000, forked, hung, wrong;

static NOINLINE void *site_small(size_t n)
{
	return truth_got(SMALL, malloc(n), n);
}

static NOINLINE void *site_large(size_t n)
{
	return truth_got(LARGE, calloc(1, n), n);
}

/* One thread's heap. */
struct heap {
	struct truth_block held[HELD];
	unsigned seed;
};

static void step(struct heap *h)
{
	struct truth_block *b = &h->held[truth_dice(&h->seed, HELD)];
	size_t n = 1 + truth_dice(&h->seed, 900);

	truth_block_free(b);
	if (n < 800)
		*b = (struct truth_block){ site_small(n), n, SMALL };
	else
		*b = (struct truth_block){ site_large(n * 10), n * 10, LARGE };
}

static _Noreturn void child(struct heap *h)
{
	alarm(HANGS_SECONDS);
	for (unsigned i = 0; i < HELD / 2; i++)
		free(h->held[i].at);
	for (unsigned i = 0; i < HELD; i++)
		h->held[i].at = malloc(1 + i * 13);
	_exit(h->held[HELD - 1].at ? CHILD_STATUS : 1);
}

static void fork_once(struct heap *h)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		child(h);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		truth_add(&truth_failed, 1);
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		__atomic_add_fetch(&hung, 1, __ATOMIC_RELAXED);
	else if (!WIFEXITED(status) || WEXITSTATUS(status) != CHILD_STATUS)
		__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
}

static void *work(void *arg)
{
	struct heap h = { .seed = (unsigned)(uintptr_t)arg };

	while (__atomic_fetch_add(&forked, 1, __ATOMIC_RELAXED) < forks) {
		for (unsigned i = 0; i < BETWEEN; i++)
			step(&h);
		fork_once(&h);
	}
	for (unsigned i = 0; i < HELD / 2; i++)
		truth_block_free(&h.held[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 8;
	pthread_t thread[64];

	if (argc > 2)
		forks = (unsigned)atoi(argv[2]);
	if (threads > 64)
		return 2;
	truth_name(SMALL, "site_small", "malloc");
	truth_name(LARGE, "site_large", "calloc");
	for (uintptr_t i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, (void *)(i + 1));
	for (unsigned i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	dprintf(1, "%u children, %u hung, %u ended badly\n", forks, hung, wrong);
	return hung || wrong ? 1 : 0;
}
