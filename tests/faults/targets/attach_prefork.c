/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A server that forks its workers, and those that end anew. The workers allocate; the parent waits.
 *
 *	attach_prefork PAGE WORKERS
 *
 * Phase 1: the workers are forked; 2: they end, and others are forked. The page's `arrived`:
 *workers that run.
 */
#include <sys/wait.h>

#include "tests/faults/targets/attach_page.h"

#define STUCK_S 120

static void worker(unsigned state, unsigned phase)
{
	struct timespec nap = { .tv_nsec = 1000000 };

	alarm(STUCK_S);
	atomic_fetch_add(&page->arrived, 1);
	while (!page_stopped() && atomic_load(&page->phase) == phase) {
		page_allocate(&state);
		page_goes_on();
		nanosleep(&nap, NULL);
	}
	_exit(7);
}

static void workers_make(unsigned workers, unsigned phase)
{
	for (unsigned i = 0; i < workers; i++) {
		pid_t pid = fork();

		if (pid == 0)
			worker(i + 1, phase);
		page_need(pid > 0, "fork", errno);
	}
}

static void workers_end(unsigned workers)
{
	for (unsigned i = 0; i < workers; i++) {
		int status = -1;

		page_need(wait(&status) > 0, "wait", errno);
		page_need(status == 7 << 8, "a worker's status", status);
		atomic_fetch_add(&page->children, 1);
	}
}

int main(int argc, char **argv)
{
	struct timespec nap = { .tv_nsec = 1000000 };
	unsigned workers, state = 1;

	if (argc < 3)
		return 2;
	page_open(argv[1]);
	workers = (unsigned)strtoul(argv[2], NULL, 10);
	page_ready();
	for (unsigned phase = 0; !page_stopped();) {
		if (atomic_load(&page->phase) > phase) {
			workers_end(phase ? workers : 0);
			workers_make(workers, ++phase);
		}
		page_allocate(&state);
		page_goes_on();
		nanosleep(&nap, NULL);
	}
	while (wait(NULL) > 0)
		;
	return page_end();
}
