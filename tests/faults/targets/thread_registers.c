/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel keeps for a thread, which a library inside must not change: restartable
 * sequences, the list of robust mutexes, protection keys; and what those are for still works.
 * Prints it, for the first thread and another.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t robust;

static void robust_list_show(void)
{
	struct robust_list_head *head = NULL;
	size_t bytes = 0;

	if (syscall(SYS_get_robust_list, 0, &head, &bytes) != 0)
		printf("robust list: errno %d\n", errno);
	else
		printf("robust list: %zu bytes, inside the thread %d, empty %d\n", bytes,
			(char *)head - (char *)pthread_self() < 4096,
			(void *)head->list.next == (void *)&head->list);
}

static void rseq_show(void)
{
	const struct rseq *r = (void *)((char *)__builtin_thread_pointer() + __rseq_offset);

	printf("rseq: size %u, flags %u, on a processor %d\n", __rseq_size, __rseq_flags,
		__rseq_size && (int)r->cpu_id >= 0);
}

static void keys_show(void)
{
	int key = pkey_alloc(0, 0);

	printf("protection key: %d\n", key < 0 ? -errno : key);
	if (key >= 0)
		pkey_free(key);
}

static void *show(void *arg)
{
	void *volatile p = malloc(100);

	free(p);
	robust_list_show();
	rseq_show();
	keys_show();
	return arg;
}

static void *dies_with_it(void *arg)
{
	void *volatile p = malloc(100);

	pthread_mutex_lock(&robust);
	free(p);
	return arg;
}

int main(void)
{
	pthread_mutexattr_t attr;
	pthread_t thread;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attr);
	show(NULL);
	pthread_create(&thread, NULL, show, NULL);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, dies_with_it, NULL);
	pthread_join(thread, NULL);
	printf("a mutex whose owner died: %s\n", strerrorname_np(pthread_mutex_lock(&robust)));
	return 0;
}
