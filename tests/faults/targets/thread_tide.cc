// SPDX-License-Identifier: GPL-3.0-or-later
// Threads come and go, eight at a time. Each holds a block in thread-specific data whose destructor
// frees it, allocates another and sets the key again as often as it may; and a thread_local object
// whose destructor allocates and frees. What they leave to the program is freed at the end. Then
// waits for the end of its input, so that its state can be read. With "late" another thread has
// allocated before the program makes its key. Usage: thread_tide THREADS [late]
#include <climits>
#include <pthread.h>

#include "tests/faults/targets/witness.h"

#define TOGETHER 8

static pthread_key_t key;

extern "C" {
NOINLINE void *site_specific(size_t n)
{
	return witness_malloc(n);
}

NOINLINE void *site_thread_local(size_t n)
{
	return witness_malloc(n);
}

NOINLINE void *site_thread(size_t n)
{
	return witness_malloc(n);
}
}

struct local {
	void *held = nullptr;
	~local()
	{
		free(held);
		free(site_thread_local(33));
	}
};

static thread_local local mine;
static thread_local int rounds;

static void specific_end(void *value)
{
	free(value);
	if (++rounds < PTHREAD_DESTRUCTOR_ITERATIONS)
		pthread_setspecific(key, site_specific(20));
	else
		free(site_specific(21));
}

static void *run(void *)
{
	pthread_setspecific(key, site_specific(20));
	mine.held = site_thread_local(32);
	free(site_thread(10));
	return site_thread(11);
}

static void *warm_up(void *)
{
	free(witness_malloc(1));
	return nullptr;
}

int main(int argc, char **argv)
{
	long threads = argc > 1 ? atol(argv[1]) : 100;
	pthread_t t[TOGETHER];
	void *left;

	if (argc > 2) {
		witness_need(pthread_create(&t[0], nullptr, warm_up, nullptr) == 0, "no thread");
		pthread_join(t[0], nullptr);
	}
	pthread_key_create(&key, specific_end);
	for (long i = 0; i < threads; i += TOGETHER) {
		for (int j = 0; j < TOGETHER; j++)
			witness_need(
				pthread_create(&t[j], nullptr, run, nullptr) == 0, "no thread");
		for (int j = 0; j < TOGETHER; j++) {
			pthread_join(t[j], &left);
			free(left);
		}
	}
	witness_print("ready");
	while (getchar() != EOF)
		;
	return 0;
}
