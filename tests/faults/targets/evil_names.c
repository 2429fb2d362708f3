/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program whose names are not fit for a terminal: of a function (by an assembler's label, so that
 * it is in the symbol table as it is), of its thread, and of its process. Ends with 5, or, with
 * EVIL_WAIT in its environment, when its standard input ends.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

static __attribute__((noinline)) void *evil_escape(size_t n) __asm__(
	"\"evil_\x1b[31m_escape\x1b]52;c;aGVhcHRvcA==\x07\"");
static __attribute__((noinline)) void *evil_bidi(size_t n) __asm__(
	"\"evil_\xe2\x80\xae_bidi\xff\xfe\"");

static void *evil_escape(size_t n)
{
	void *p = malloc(n);

	KEEP_FRAME();
	return p;
}

static void *evil_bidi(size_t n)
{
	void *p = malloc(n);

	KEEP_FRAME();
	return p;
}

static void *thread_main(void *unused)
{
	prctl(PR_SET_NAME, "t\x1b[2J\xff\xe2\x80\xae\x07");
	evil_bidi(500);
	return unused;
}

int main(void)
{
	pthread_t thread;
	char byte;

	prctl(PR_SET_NAME, "p\x1b]0;x\x07\xff\n");
	for (int i = 0; i < 100; i++)
		evil_escape(1000);
	if (pthread_create(&thread, NULL, thread_main, NULL) == 0)
		pthread_join(thread, NULL);
	if (getenv("EVIL_WAIT"))
		while (read(0, &byte, 1) > 0)
			;
	return 5;
}
