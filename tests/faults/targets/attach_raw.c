/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program without call frame information, as Go's: its stacks cannot be followed. It waits in
 * system calls that it makes itself, and never allocates, but where that is said.
 *
 *	attach_raw PAGE waits       its thread waits
 *	attach_raw PAGE callback    it waits in a function that libc has called
 *	attach_raw PAGE handler     it waits in a handler that interrupted libc
 *	attach_raw PAGE malloc      it never waits, and allocates
 *	attach_raw PAGE within      the same, in a function that libc has called
 */
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

#include "tests/faults/targets/attach_page.h"

#define WAIT_NS 1000000

static uint32_t word;

/* futex(2), not by libc's syscall(). */
static NOINLINE long futex_wait(void)
{
	struct timespec ns = { .tv_nsec = WAIT_NS };
	register struct timespec *most __asm__("r10") = &ns;
	long rc;

	__asm__ volatile("syscall"
			 : "=a"(rc)
			 : "a"(SYS_futex), "D"(&word), "S"(FUTEX_WAIT_PRIVATE), "d"(0), "r"(most)
			 : "rcx", "r11", "memory");
	return rc;
}

static NOINLINE void wait_round(void)
{
	long rc = futex_wait();

	page_need(rc == -ETIMEDOUT || rc == -EINTR, "futex", rc);
	page_goes_on();
}

static void waits(void)
{
	while (!page_stopped())
		wait_round();
}

static void allocates(void)
{
	unsigned state = 1;

	while (!page_stopped()) {
		page_allocate(&state);
		page_goes_on();
	}
}

static void (*inner)(void) = waits;

static void handler(int number __attribute__((unused)))
{
	waits();
}

static int compare(const void *a, const void *b)
{
	inner();
	return *(const int *)a - *(const int *)b;
}

static void in_callback(void)
{
	int numbers[] = { 2, 1 };

	qsort(numbers, 2, sizeof(*numbers), compare);
	page_need(numbers[0] == 1, "sorted", numbers[0]);
}

static void how(const char *name)
{
	if (strcmp(name, "handler") == 0) {
		signal(SIGUSR1, handler);
		raise(SIGUSR1);
	} else if (strcmp(name, "waits") == 0) {
		waits();
	} else if (strcmp(name, "malloc") == 0) {
		allocates();
	} else {
		inner = strcmp(name, "within") == 0 ? allocates : waits;
		in_callback();
	}
}

/* On a stack that the loader has not used. The first thread's cannot be followed, either. */
static void *thread(void *name)
{
	how(name);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other;

	if (argc < 3)
		return 2;
	page_open(argv[1]);
	if (pthread_create(&other, NULL, thread, argv[2]) != 0)
		return 2;
	page_ready(); /* pthread_create no longer blocks signals */
	pthread_join(other, NULL);
	return page_end();
}
