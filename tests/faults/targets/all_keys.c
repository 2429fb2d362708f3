/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes thread-specific keys until none is left, and says how many it had. Then THREADS threads
 * allocate and end, one after the other.
 *
 *	all_keys THREADS
 */
#include <limits.h>
#include <pthread.h>

#include "tests/faults/targets/witness.h"

static void *run(void *unused)
{
	free(witness_malloc(100));
	return unused;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 10, keys = 0;
	pthread_key_t key;
	pthread_t t;

	while (pthread_key_create(&key, NULL) == 0) {
		witness_need(pthread_setspecific(key, argv) == 0, "a key cannot be used");
		keys++;
	}
	printf("%d of %d keys\n", keys, PTHREAD_KEYS_MAX);
	for (int i = 0; i < threads; i++) {
		witness_need(pthread_create(&t, NULL, run, NULL) == 0, "no thread");
		pthread_join(t, NULL);
	}
	witness_threads(1);
	witness_print("ended");
	return 0;
}
