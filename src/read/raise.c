/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words of the header that program and viewers raise at the same time (segment.h). Reading,
 * comparing and writing could lower a word that another process has raised in between, so the
 * word is mapped and raised atomically. If the file is cut short meanwhile, this thread gets a
 * SIGBUS, which ends only this attempt. Main thread.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>

#include "src/read/segment.h"

static _Thread_local sigjmp_buf *cut_short; /* NULL: no word is being raised */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void bus_error(int signal_number)
{
	if (cut_short)
		siglongjmp(*cut_short, 1);
	signal(signal_number, SIG_DFL); /* another defect: the access is repeated, and ends us */
}

static void catch (void)
{
	struct sigaction action = { .sa_handler = bus_error, .sa_flags = SA_NODEFER };

	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}

/* The word's value before. */
static uint64_t word_raise(void *word, size_t bytes, uint64_t to)
{
	uint64_t *wide = word, before = 0;
	uint32_t *narrow = word, was = 0;

	/* Relaxed: a word by itself. */
	if (bytes == sizeof(*narrow)) {
		was = ht_load_relaxed_32(narrow);
		while (was < to && !ht_cas_relaxed_32(narrow, &was, (uint32_t)to))
			;
		return was;
	}
	before = ht_load_relaxed_64(wide);
	while (before < to && !ht_cas_relaxed_64(wide, &before, to))
		;
	return before;
}

static int mapped_raise(void *word, size_t bytes, uint64_t to, uint64_t *before)
{
	sigjmp_buf back;

	pthread_once(&once, catch);
	if (sigsetjmp(back, 0) != 0) {
		cut_short = NULL;
		return -EIO;
	}
	cut_short = &back;
	*before = word_raise(word, bytes, to);
	cut_short = NULL;
	return 0;
}

static int words_map(struct read_segment *s)
{
	const int rc = read_write_open(s);
	char *map;

	if (rc != 0 || s->words)
		return rc;
	map = mmap(NULL, HT_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, s->write_fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	s->words = map;
	return 0;
}

int read_word_raise(struct read_segment *s, size_t at, size_t bytes, uint64_t to, uint64_t *before)
{
	int rc = words_map(s);

	return rc != 0 ? rc : mapped_raise(s->words + at, bytes, to, before);
}
