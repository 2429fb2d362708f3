/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program that ends as told, its account written before: "segv", "kill", "abort", "exit",
 * "_exit", "wait" (says "ready" on stdout, then waits until stdin ends, and exits 5). "exec"
 * becomes /bin/true.
 */
#include <signal.h>
#include "tests/targets/truth.h"

static NOINLINE void site_crash(size_t n)
{
	truth_got(0, malloc(n), n);
}

static NOINLINE void site_given_back(size_t n)
{
	void *p = truth_got(1, malloc(n), n);

	truth_gone(1, n);
	free(p);
}

static NOINLINE void fault(void)
{
	*(volatile int *)(uintptr_t)8 = 1;
}

static int wait_for_end(void)
{
	char byte;

	truth_text(1, "ready\n");
	while (read(0, &byte, 1) > 0)
		;
	return 5;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "exit";

	truth_strict = 1;
	truth_name(0, "site_crash", "malloc");
	truth_name(1, "site_given_back", "malloc");
	for (size_t i = 1; i <= 1000; i++) {
		site_crash(i);
		site_given_back(i);
	}
	truth_write();
	if (!strcmp(how, "segv"))
		fault();
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "_exit"))
		_exit(5);
	if (!strcmp(how, "exec"))
		execl("/bin/true", "true", (char *)NULL);
	if (!strcmp(how, "wait"))
		return wait_for_end();
	return 5;
}
