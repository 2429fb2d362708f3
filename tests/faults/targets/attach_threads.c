/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that allocate, each checking every byte of its blocks before it frees them; half of the
 * blocks are freed by another thread than the one that made them.
 *
 *	attach_threads PAGE THREADS churn    all the time
 *	attach_threads PAGE THREADS idle     they wait, in several ways, and allocate in between
 *	attach_threads PAGE THREADS account  in phases: a row lets them go on, and when all have
 *arrived again, the page's account is that of all calls since.
 */
#include <malloc.h>
#include <poll.h>
#include <pthread.h>

#include "tests/faults/targets/attach_page.h"

#define BLOCKS	   256u
#define PHASE_OPS  20000u
#define OLD_BLOCKS 2000u /* of each thread, before the first phase */

static struct {
	pthread_mutex_t lock;
	struct page_block block[BLOCKS];
} shelf[16];

static _Thread_local unsigned phase; /* of the account */

/* ---- the account ---- */

static void account_birth(struct page_block *b)
{
	b->phase = phase;
	atomic_fetch_add(&page->held_blocks, 1);
	atomic_fetch_add(&page->held_bytes, malloc_usable_size(b->p));
	atomic_fetch_add(&page->allocs, 1);
	atomic_fetch_add(&page->alloc_bytes, b->bytes);
	atomic_fetch_add(&page->live_blocks, 1);
	atomic_fetch_add(&page->live_bytes, b->bytes);
}

static void account_death(const struct page_block *b)
{
	atomic_fetch_sub(&page->held_blocks, 1);
	atomic_fetch_sub(&page->held_bytes, malloc_usable_size(b->p));
	if (b->phase != phase) {
		atomic_fetch_add(&page->old_freed, 1);
		atomic_fetch_add(&page->old_freed_bytes, malloc_usable_size(b->p));
		return;
	}
	atomic_fetch_add(&page->frees, 1);
	atomic_fetch_sub(&page->live_blocks, 1);
	atomic_fetch_sub(&page->live_bytes, b->bytes);
}

/* ---- blocks ---- */

static size_t random_bytes(unsigned *state)
{
	unsigned r = page_random(state);

	return r % 512 ? 1 + r % 2000 : 150000 + r % 100000; /* some are mapped on their own */
}

static NOINLINE void *attach_born(size_t bytes, unsigned how)
{
	void *p = NULL;

	switch (how % 5) {
	case 0:
		p = calloc(1, bytes);
		break;
	case 1:
		p = posix_memalign(&p, 64, bytes) ? NULL : p;
		break;
	case 2:
		p = aligned_alloc(32, (bytes + 31) / 32 * 32);
		break;
	default:
		p = malloc(bytes);
	}
	__asm__ volatile("" : "+r"(p) : : "memory"); /* no tail call */
	return p;
}

static NOINLINE void *attach_grown(void *p, size_t bytes)
{
	void *bigger = realloc(p, bytes);

	__asm__ volatile("" : "+r"(bigger) : : "memory");
	return bigger;
}

static void block_make(struct page_block *b, unsigned *state)
{
	unsigned how = page_random(state) >> 8;

	b->bytes = random_bytes(state);
	if (how % 5 == 2)
		b->bytes = (b->bytes + 31) / 32 * 32;
	b->p = attach_born(b->bytes, how);
	page_need(b->p != NULL, "no block", (long)b->bytes);
	page_block_fill(b, (unsigned char)*state);
	account_birth(b);
}

static void block_end(struct page_block *b)
{
	page_block_check(b);
	account_death(b);
	free(b->p);
	b->p = NULL;
}

static void block_resize(struct page_block *b, unsigned *state)
{
	size_t bytes = random_bytes(state), kept = bytes < b->bytes ? bytes : b->bytes;

	page_block_check(b);
	account_death(b);
	b->p = attach_grown(b->p, bytes);
	page_need(b->p != NULL, "no larger block", (long)bytes);
	b->bytes = kept;
	page_block_check(b);
	b->bytes = bytes;
	page_block_fill(b, (unsigned char)*state);
	account_birth(b);
}

/* Changes a block of its own for one on a shelf, so that another thread frees it. */
static void block_hand_over(struct page_block *b, unsigned *state)
{
	unsigned r = page_random(state);
	struct page_block *other = &shelf[r % 16].block[r / 16 % BLOCKS], was;

	pthread_mutex_lock(&shelf[r % 16].lock);
	was = *other;
	*other = *b;
	pthread_mutex_unlock(&shelf[r % 16].lock);
	*b = was;
}

static void one_operation(struct page_block *blocks, unsigned *state)
{
	struct page_block *b = &blocks[page_random(state) % BLOCKS];

	if (!b->p)
		block_make(b, state);
	else if (*state % 4 == 0)
		block_resize(b, state);
	else if (*state % 4 == 1)
		block_hand_over(b, state);
	else
		block_end(b);
	page_goes_on();
}

/* ---- what a thread does ---- */

static void waits(unsigned *state)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	struct timespec nap = { .tv_nsec = 20000000 }, until;
	int r = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 20000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	switch (page_random(state) % 3) {
	case 0:
		r = nanosleep(&nap, NULL);
		break;
	case 1:
		r = poll(NULL, 0, 20);
		break;
	default:
		pthread_mutex_lock(&lock);
		r = pthread_cond_timedwait(&never, &lock, &until) - ETIMEDOUT;
		pthread_mutex_unlock(&lock);
	}
	page_need(r == 0, "a wait ended", errno);
}

static void *churns(void *arg)
{
	unsigned state = (unsigned)(uintptr_t)arg;
	static _Thread_local struct page_block blocks[BLOCKS];

	while (!page_stopped())
		one_operation(blocks, &state);
	return NULL;
}

static void *idles(void *arg)
{
	unsigned state = (unsigned)(uintptr_t)arg;

	while (!page_stopped()) {
		waits(&state);
		page_allocate(&state);
		page_goes_on();
	}
	return NULL;
}

/* What a program has from before: blocks, and free chunks of all kinds between them. */
static void old_make(unsigned *state)
{
	struct page_block *old = calloc(OLD_BLOCKS, sizeof(*old)), itself;

	itself.p = (void *)old;
	itself.bytes = OLD_BLOCKS * sizeof(*old);
	account_birth(&itself);
	for (unsigned i = 0; i < OLD_BLOCKS; i++)
		block_make(&old[i], state);
	for (unsigned i = 0; i < OLD_BLOCKS; i += 2)
		block_end(&old[i]);
}

static void phase_wait(void)
{
	struct timespec nap = { .tv_nsec = 1000000 };

	atomic_fetch_add(&page->arrived, 1);
	while (atomic_load(&page->phase) <= phase && !page_stopped())
		nanosleep(&nap, NULL);
	phase++;
}

static void *accounts(void *arg)
{
	unsigned state = (unsigned)(uintptr_t)arg;
	static _Thread_local struct page_block blocks[BLOCKS];

	old_make(&state);
	while (!page_stopped()) {
		for (unsigned i = 0; i < PHASE_OPS; i++)
			one_operation(blocks, &state);
		phase_wait();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static pthread_t thread[1024];
	unsigned threads = argc < 4 ? 0 : (unsigned)strtoul(argv[2], NULL, 10) % 1024;
	void *(*does)(void *) = churns;

	if (argc < 4)
		return 2;
	page_open(argv[1]);
	if (strcmp(argv[3], "churn") != 0)
		does = strcmp(argv[3], "idle") == 0 ? idles : accounts;
	for (unsigned i = 0; i < 16; i++)
		pthread_mutex_init(&shelf[i].lock, NULL);
	for (unsigned i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, does, (void *)(uintptr_t)(i * 7919 + 1));
	page_ready();
	for (unsigned i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return page_end();
}
