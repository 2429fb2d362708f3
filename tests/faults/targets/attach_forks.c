/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Forks all the time, and never waits in a system call: children that live for a while allocate,
 * load a plugin, and end; the program asks whether they have ended, and allocates meanwhile. A
 *child that is stuck ends by an alarm, which is wrong.
 *
 *	attach_forks PAGE PLUGIN
 */
#include <dlfcn.h>
#include <sys/wait.h>

#include "tests/faults/targets/attach_page.h"

#define STUCK_S	 60
#define AT_ONCE	 4u
#define PAUSE_NS 2000000u /* a child's life */

static const char *plugin;

static void child(unsigned state)
{
	uint64_t end = page_now_ns() + PAUSE_NS;
	void *handle;

	alarm(STUCK_S);
	while (page_now_ns() < end)
		page_allocate(&state);
	handle = dlopen(plugin, RTLD_NOW);
	page_need(handle != NULL, "dlopen in a child", 0);
	page_allocate(&state);
	_exit(7);
}

static void child_make(pid_t *pid, unsigned n)
{
	*pid = fork();
	if (*pid == 0)
		child(n);
	page_need(*pid > 0, "fork", errno);
}

static void child_ask(pid_t *pid)
{
	int status = -1;
	pid_t r = waitpid(*pid, &status, WNOHANG);

	page_need(r >= 0, "waitpid", errno);
	if (r <= 0)
		return;
	page_need(status == 7 << 8, "a child's status", status);
	atomic_fetch_add(&page->children, 1);
	*pid = 0;
}

int main(int argc, char **argv)
{
	pid_t pids[AT_ONCE] = { 0 };
	unsigned state = 1;

	if (argc < 3)
		return 2;
	page_open(argv[1]);
	plugin = argv[2];
	page_ready();
	for (unsigned n = 1; !page_stopped(); n++) {
		if (pids[n % AT_ONCE] > 0)
			child_ask(&pids[n % AT_ONCE]);
		else
			child_make(&pids[n % AT_ONCE], n);
		page_allocate(&state);
		page_goes_on();
	}
	while (wait(NULL) > 0)
		;
	return page_end();
}
