/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program for tight places: fills a table with blocks, reallocates some, checks what is in them,
 * frees them all, in one round or several, and says what it did.
 *
 *	worker [-c] [-l NAME=BYTES] [-m] [-s HOW] [-t THREADS] [-k N] [-w] BLOCKS [ROUNDS]
 *
 *	-c	close every descriptor from 3 on before it begins
 *	-l	set a limit for itself before it begins: as, fsize, nofile, nproc
 *	-m	lock its future memory, as far as it may
 *	-s	a sandbox after a first round: "errno" refuses all system calls but a few, "kill"
 *		is the end of who makes another, "clock" of who asks for the time
 *	-t	so many threads do a round each, side by side
 *	-k N	keep the blocks of the last round, and be killed by signal N
 *	-w	say "ready" after each round and wait for a byte of standard input
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

static struct {
	size_t blocks, rounds, threads;
	int close, lock, wait, kill;
	const char *sandbox;
} o = { .rounds = 1 };

static uint64_t allocs, frees, live_bytes, failed, wrong;

static void count(uint64_t *counter, uint64_t n)
{
	__atomic_add_fetch(counter, n, __ATOMIC_RELAXED);
}

/* The last round's blocks, for the account. */
static size_t size_of(size_t i)
{
	return 16 + i * 31 % 480;
}

static __attribute__((noinline)) void *worker_block(size_t bytes)
{
	void *p = malloc(bytes);

	KEEP_FRAME();
	return p;
}

static __attribute__((noinline)) void *worker_longer(void *p, size_t bytes)
{
	p = realloc(p, bytes);
	KEEP_FRAME();
	return p;
}

/* True when it is there; says in its first and last bytes whose it is. */
static int block_make(unsigned char **slot, size_t i)
{
	size_t bytes = size_of(i);

	*slot = worker_block(bytes);
	if (!*slot) {
		count(&failed, 1);
		return 0;
	}
	count(&allocs, 1);
	count(&live_bytes, bytes);
	memset(*slot, (int)(i & 0xff), bytes);
	return 1;
}

static void block_lengthen(unsigned char **slot, size_t i)
{
	unsigned char *longer = worker_longer(*slot, size_of(i) + 100);

	if (!longer)
		return;
	*slot = longer;
	count(&allocs, 1);
	count(&frees, 1);
	*slot = worker_longer(*slot, size_of(i));
	count(&allocs, 1);
	count(&frees, 1);
}

static void block_end(unsigned char **slot, size_t i)
{
	size_t bytes = size_of(i);

	if (!*slot)
		return;
	count(&wrong, (*slot)[0] != (i & 0xff) || (*slot)[bytes - 1] != (i & 0xff));
	free(*slot);
	*slot = NULL;
	count(&frees, 1);
	count(&live_bytes, -(uint64_t)bytes);
}

/* `table` is not in the heap. All of it is reported. */
static void round_fill(unsigned char **table)
{
	for (size_t i = 0; i < o.blocks; i++)
		if (block_make(&table[i], i) && i % 8 == 0)
			block_lengthen(&table[i], i);
}

static void round_clear(unsigned char **table)
{
	for (size_t i = 0; i < o.blocks; i++)
		block_end(&table[i], i);
}

static unsigned char **table_make(void)
{
	/* Past the library's hook: a test makes the library's own calls fail. */
	void *p = (void *)syscall(SYS_mmap, NULL, o.blocks * sizeof(void *), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(98);
	return p;
}

static void *thread_main(void *unused)
{
	unsigned char **table = table_make();

	round_fill(table);
	round_clear(table);
	return unused;
}

static void threads_run(void)
{
	pthread_t thread[256];
	size_t n = 0;

	while (n < o.threads && n < 256 && pthread_create(&thread[n], NULL, thread_main, NULL) == 0)
		n++;
	for (size_t i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

/* Small blocks, over as much of the heap as a round will need: wherever one of those may begin,
 * there has been one. */
static void warm_up(void)
{
	void *last = NULL, *before;

	mallopt(M_MXFAST, 0); /* what is free becomes one again */
	for (size_t i = 0; i < o.blocks * 20; i++) {
		before = last;
		last = worker_block(24);
		if (!last)
			_exit(93);
		memcpy(last, &before, sizeof(before));
		count(&allocs, 1);
	}
	for (; last; last = before) {
		memcpy(&before, last, sizeof(before));
		free(last);
		count(&frees, 1);
	}
}

/* "ready", and a byte is awaited; its end is as good. */
static void meet(void)
{
	char byte;

	if (o.wait && (write(1, "ready\n", 6) != 6 || read(0, &byte, 1) < 0))
		_exit(97);
}

/* ---- what it does to itself ---- */

static void limit_set(const char *text)
{
	static const struct {
		const char *name;
		int resource;
	} limits[] = { { "as=", RLIMIT_AS }, { "fsize=", RLIMIT_FSIZE },
		{ "nofile=", RLIMIT_NOFILE }, { "nproc=", RLIMIT_NPROC } };

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		size_t n = strlen(limits[i].name);
		rlim_t bytes = strtoull(text + n, NULL, 10);
		const struct rlimit limit = { bytes, bytes };

		if (strncmp(text, limits[i].name, n) == 0 &&
			setrlimit((__rlimit_resource_t)limits[i].resource, &limit) != 0)
			_exit(96);
	}
}

/* Calls that a program with a heap of glibc's needs; how all others end. */
static void sandbox_enter(const char *how)
{
	static const unsigned allowed[] = { SYS_read, SYS_write, SYS_exit, SYS_exit_group,
		SYS_futex, SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap };
	const int only_clock = strcmp(how, "clock") == 0;
	const unsigned other =
		strcmp(how, "errno") == 0 ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_KILL_PROCESS;
	struct sock_filter code[32] = { BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)) };
	struct sock_fprog program = { 1, code };
	const unsigned clocks[] = { SYS_clock_gettime, SYS_gettimeofday, SYS_time };
	const unsigned *list = only_clock ? clocks : allowed;
	size_t n = only_clock ? 3 : sizeof(allowed) / sizeof(allowed[0]);

	for (size_t i = 0; i < n; i++) {
		code[program.len++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, list[i], 0, 1);
		code[program.len++] = (struct sock_filter)BPF_STMT(
			BPF_RET | BPF_K, only_clock ? other : SECCOMP_RET_ALLOW);
	}
	code[program.len++] = (struct sock_filter)BPF_STMT(
		BPF_RET | BPF_K, only_clock ? SECCOMP_RET_ALLOW : other);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(95);
}

static void options_take(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "cl:ms:t:k:w")) != -1) {
		if (c == 'l')
			limit_set(optarg);
		else if (c == 's')
			o.sandbox = optarg;
		else if (c == 't')
			o.threads = strtoul(optarg, NULL, 10);
		else if (c == 'c')
			o.close = 1;
		else if (c == 'm')
			o.lock = 1;
		else if (c == 'k')
			o.kill = atoi(optarg);
		else if (c == 'w')
			o.wait = 1;
		else
			_exit(94);
	}
	o.blocks = optind < argc ? strtoul(argv[optind], NULL, 10) : 1000;
	o.rounds = optind + 1 < argc ? strtoul(argv[optind + 1], NULL, 10) : 1;
}

static void tell(void)
{
	char line[256];
	int n = snprintf(line, sizeof(line),
		"{\"allocs\":%llu,\"frees\":%llu,\"live_bytes\":%llu,\"failed\":%llu,\"wrong\":%"
		"llu}\n",
		(unsigned long long)allocs, (unsigned long long)frees,
		(unsigned long long)live_bytes, (unsigned long long)failed,
		(unsigned long long)wrong);

	if (write(1, line, (size_t)n) != n)
		_exit(97);
}

int main(int argc, char **argv)
{
	unsigned char **table;

	options_take(argc, argv);
	if (o.close)
		syscall(SYS_close_range, 3u, ~0u, 0u);
	if (o.lock)
		(void)mlockall(MCL_FUTURE);
	table = table_make();
	for (size_t i = 0; i < o.rounds; i++) {
		if (i == 1 && o.sandbox) {
			warm_up();
			sandbox_enter(o.sandbox);
		}
		round_fill(table);
		if (!o.kill || i + 1 < o.rounds)
			round_clear(table);
		meet();
	}
	threads_run();
	tell();
	if (o.kill)
		kill(getpid(), o.kill);
	return 5;
}
