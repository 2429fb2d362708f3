/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program: threads that allocate while they are being taken down. A key's destructor frees
 * what the thread held, allocates, and sets the key again, so that it is called once more; many
 * short threads one after the other, some cancelled. Usage: truth_teardown [THREADS]
 */
#include <pthread.h>
#include "tests/targets/truth.h"

enum { HELD, DESTRUCTOR, LEFT };

struct held {
	int round;
};

static pthread_key_t key;

static NOINLINE struct held *site_held(size_t n)
{
	return truth_got(HELD, calloc(1, n), n);
}

static NOINLINE void *site_destructor(size_t n)
{
	return truth_got(DESTRUCTOR, malloc(n), n);
}

static NOINLINE void *site_left(size_t n)
{
	return truth_got(LEFT, malloc(n), n);
}

static void key_destroy(void *value)
{
	struct held *h = value;
	void *extra = site_destructor(321);

	truth_gone(DESTRUCTOR, 321);
	free(extra);
	if (h->round++ < 2) {
		pthread_setspecific(key, h);
		return;
	}
	site_left(11);
	truth_gone(HELD, 200);
	free(h);
}

static void *short_life(void *arg)
{
	pthread_setspecific(key, site_held(200));
	if (arg)
		pthread_exit(NULL);
	return NULL;
}

static void *endless(void *arg)
{
	pthread_setspecific(key, site_held(200));
	pthread_testcancel();
	for (;;)
		usleep(100);
	return arg;
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 2000;
	pthread_t thread[4];

	truth_name(HELD, "site_held", "calloc");
	truth_name(DESTRUCTOR, "site_destructor", "malloc");
	truth_name(LEFT, "site_left", "malloc");
	pthread_key_create(&key, key_destroy);
	for (unsigned i = 0; i + 4 <= threads; i += 4) {
		for (uintptr_t j = 0; j < 4; j++)
			pthread_create(&thread[j], NULL,
				j == 3 && i % 16 == 0 ? endless : short_life, (void *)(j & 1));
		if (i % 16 == 0)
			pthread_cancel(thread[3]);
		for (unsigned j = 0; j < 4; j++)
			pthread_join(thread[j], NULL);
	}
	return 0;
}
