/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Maps memory in every way, and keeps an account of its own, by page:
 *
 *	truth_maps FILE SEED STEPS [THREADS]     random calls, each thread in pages of its own
 *	truth_maps FILE signal                   the same calls, interrupted by a handler that maps
 *	truth_maps FILE breaks                   brk, sbrk and System V shared memory
 *	truth_maps FILE forked                   a child that maps, after its parent has
 *	truth_maps FILE vforked                  a vfork child that maps in its parent's memory
 *
 * FILE gets one line for each function that maps: its name, calls that mapped, bytes mapped, bytes
 * unmapped, blocks of which something is left. The account allocates nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

#define PAGE  4096ul
#define PAGES 256u /* of a thread, in an arena where nothing else is */
#ifdef __LP64__
#define ARENA	    0x200000000000ul
#define ARENA_BYTES (1ul << 32)
#else
#define ARENA	    0x20000000ul
#define ARENA_BYTES (1ul << 24)
#endif
#define THREADS 8u
#define SITES	7u

#define NOINLINE __attribute__((noinline, noclone))

static const char *const names[SITES] = { "map_fixed", "map_hinted", "map_remapped", "map_broken",
	"map_more", "map_attached", "map_signal" };

struct sum {
	unsigned long maps, mapped, unmapped, blocks;
};

/* A thread's pages: which block each belongs to, 0: none, and the block's site. */
struct account {
	uint64_t seed, blocks;
	char *base;
	uint64_t block[PAGES];
	uint8_t site[PAGES];
	struct sum sum[SITES];
};

static struct account accounts[THREADS];

static uint64_t random_next(struct account *a)
{
	a->seed ^= a->seed >> 12;
	a->seed ^= a->seed << 25;
	a->seed ^= a->seed >> 27;
	return a->seed * 2685821657736338717ull;
}

static void gone(struct account *a, unsigned first, unsigned last)
{
	for (unsigned p = first; p < last && p < PAGES; p++) {
		if (a->block[p])
			a->sum[a->site[p]].unmapped += PAGE;
		a->block[p] = 0;
	}
}

static void came(struct account *a, unsigned first, unsigned last, unsigned site)
{
	a->blocks++;
	a->sum[site].maps++;
	a->sum[site].mapped += (last - first) * PAGE;
	for (unsigned p = first; p < last; p++) {
		a->block[p] = a->blocks;
		a->site[p] = (uint8_t)site;
	}
}

static void fail(const char *what)
{
	perror(what);
	exit(3);
}

/* ---- the calls, each in a function that names its site ---- */

NOINLINE void map_fixed(struct account *a, unsigned first, unsigned last)
{
	void *p = mmap(a->base + first * PAGE, (last - first) * PAGE - 5, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);

	if (p != a->base + first * PAGE)
		fail("mmap");
	gone(a, first, last);
	came(a, first, last, 0);
}

/* Where nothing is, the kernel takes the hint. */
NOINLINE void map_hinted(struct account *a, unsigned first, unsigned last)
{
	void *p;

	for (unsigned i = first; i < last; i++)
		if (a->block[i])
			return;
	p = mmap64(a->base + first * PAGE, (last - first) * PAGE, PROT_READ,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p != a->base + first * PAGE)
		fail("mmap64");
	came(a, first, last, 1);
}

static void unmap(struct account *a, unsigned first, unsigned last)
{
	if (munmap(a->base + first * PAGE, (last - first) * PAGE - 7) != 0)
		fail("munmap");
	gone(a, first, last);
}

static int is_full(const struct account *a, unsigned first, unsigned last)
{
	while (first < last && a->block[first])
		first++;
	return first == last;
}

/* What the kernel refuses changes nothing. */
NOINLINE void map_remapped(struct account *a, unsigned first, unsigned last)
{
	unsigned to = (unsigned)(random_next(a) % PAGES), size = last - first;
	unsigned more = 1 + (unsigned)(random_next(a) % 8), kind = random_next(a) % 4;
	char *from = a->base + first * PAGE;
	void *p;

	if (first + more > PAGES)
		more = PAGES - first;
	if (!is_full(a, first, last))
		return; /* the kernel accepts gaps, in some cases */
	if (kind == 0) { /* in place, smaller or larger */
		p = mremap(from, size * PAGE, more * PAGE, 0);
		if (p == MAP_FAILED)
			return;
		gone(a, first, last);
		came(a, first, first + more, 2);
	} else if (kind == 1) { /* elsewhere: gone from here, and at once from there */
		p = mremap(from, size * PAGE, (PAGES + more) * PAGE, MREMAP_MAYMOVE);
		if (p == MAP_FAILED)
			return;
		gone(a, first, last);
		a->sum[2].maps++;
		a->sum[2].mapped += (PAGES + more) * PAGE;
		if (munmap(p, (PAGES + more) * PAGE) != 0)
			fail("munmap");
		a->sum[2].unmapped += (PAGES + more) * PAGE;
	} else {
		if (to + size > PAGES || (to < last && first < to + size))
			return;
		p = mremap(from, size * PAGE, size * PAGE,
			MREMAP_MAYMOVE | MREMAP_FIXED | (kind == 2 ? MREMAP_DONTUNMAP : 0),
			a->base + to * PAGE);
		if (p == MAP_FAILED) { /* some of it may be done: start anew */
			unmap(a, to, to + size);
			unmap(a, first, last);
			return;
		}
		if (kind != 2)
			gone(a, first, last);
		gone(a, to, to + size);
		came(a, to, to + size, 2);
	}
}

static void refused(struct account *a)
{
	void *p;

	errno = 0;
	if (munmap(a->base + 1, PAGE) == 0 || errno != EINVAL)
		fail("munmap of an odd address");
	p = mmap(a->base, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (p != MAP_FAILED || errno != EINVAL)
		fail("mmap of nothing");
	p = mmap(a->base, PAGES * PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, 9999, 0);
	if (p != MAP_FAILED || errno != EBADF)
		fail("mmap of no file");
	p = mremap(a->base + 1, PAGE, PAGE, MREMAP_MAYMOVE);
	if (p != MAP_FAILED || errno != EINVAL)
		fail("mremap of an odd address");
}

static void step(struct account *a)
{
	unsigned first = (unsigned)(random_next(a) % PAGES), last;

	last = first + 1 + (unsigned)(random_next(a) % 12);
	if (last > PAGES)
		last = PAGES;
	switch (random_next(a) % 8) {
	case 0:
	case 1:
		map_fixed(a, first, last);
		break;
	case 2:
	case 3:
		map_hinted(a, first, last);
		break;
	case 4:
	case 5:
		map_remapped(a, first, last);
		break;
	case 6:
		refused(a);
		break;
	default:
		unmap(a, first, last);
		break;
	}
}

/* ---- the account ---- */

static void blocks_count(struct account *a)
{
	for (unsigned p = 0; p < PAGES; p++) {
		unsigned q = 0;

		while (q < p && a->block[q] != a->block[p])
			q++;
		if (a->block[p] && q == p)
			a->sum[a->site[p]].blocks++;
	}
}

/* Into memory, then by one write: stdio may map or allocate. */
static void truth_write(const char *path)
{
	static char text[4096];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), n = 0;

	for (unsigned i = 0; i < THREADS; i++)
		blocks_count(&accounts[i]);
	for (unsigned s = 0; s < SITES; s++) {
		struct sum all = { 0 };

		for (unsigned i = 0; i < THREADS; i++) {
			all.maps += accounts[i].sum[s].maps;
			all.mapped += accounts[i].sum[s].mapped;
			all.unmapped += accounts[i].sum[s].unmapped;
			all.blocks += accounts[i].sum[s].blocks;
		}
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s %lu %lu %lu %lu\n", names[s],
			all.maps, all.mapped, all.unmapped, all.blocks);
	}
	if (fd < 0 || write(fd, text, (size_t)n) != n)
		fail(path);
	close(fd);
}

/* ---- random calls ---- */

static unsigned long steps;

static void *work(void *arg)
{
	for (unsigned long i = 0; i < steps; i++)
		step(arg);
	return NULL;
}

static void accounts_start(uint64_t seed)
{
	for (unsigned i = 0; i < THREADS; i++) {
		accounts[i].seed = seed * 2654435761u + i + 1;
		accounts[i].base = (char *)ARENA + i * ARENA_BYTES;
	}
}

static void run_random(uint64_t seed, unsigned threads)
{
	pthread_t thread[THREADS];

	accounts_start(seed);
	for (unsigned i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, work, &accounts[i]) != 0)
			fail("pthread_create");
	for (unsigned i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
}

/* ---- a handler that maps ---- */

static volatile unsigned long handled;

/* Counted in an account of its own: no other thread is here. */
NOINLINE void map_signal(void)
{
	void *p = mmap(NULL, 3 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sum *sum = &accounts[1].sum[6];

	if (p == MAP_FAILED || munmap(p, 3 * PAGE) != 0)
		_exit(4);
	sum->maps++;
	sum->mapped += 3 * PAGE;
	sum->unmapped += 3 * PAGE;
	handled++;
}

static void on_alarm(int signal)
{
	int saved = errno;

	(void)signal;
	map_signal();
	errno = saved;
}

static void run_signal(void)
{
	struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction act = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };

	accounts_start(5);
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < 300)
		step(&accounts[0]);
	setitimer(ITIMER_REAL, &never, NULL);
}

/* ---- brk, shmat: by bytes, so not in the pages above ---- */

NOINLINE void map_more(void)
{
	struct sum *sum = &accounts[0].sum[4];

	if (sbrk(100000) == (void *)-1 || sbrk(0) == (void *)-1)
		fail("sbrk");
	sum->maps++;
	sum->mapped += 100000;
	if (sbrk(-30001) == (void *)-1)
		fail("sbrk");
	sum->unmapped += 30001;
	sum->blocks++;
}

NOINLINE void map_broken(void)
{
	struct sum *sum = &accounts[0].sum[3];
	char *now = sbrk(0);

	if (brk(now + 12345) != 0)
		fail("brk");
	sum->maps++;
	sum->mapped += 12345;
	if (brk(now + 45) != 0)
		fail("brk");
	sum->unmapped += 12300;
	sum->blocks++;
	(void)brk((void *)1); /* refused, whatever libc says */
	if (sbrk(0) != now + 45)
		fail("brk of an address below the program");
}

NOINLINE void map_attached(void)
{
	struct sum *sum = &accounts[0].sum[5];
	int id = shmget(IPC_PRIVATE, 6 * PAGE + 1, IPC_CREAT | 0600);
	char *one = shmat(id, NULL, 0), *two = shmat(id, NULL, SHM_RDONLY);

	shmctl(id, IPC_RMID, NULL);
	if (id < 0 || one == (void *)-1 || two == (void *)-1)
		fail("shmat");
	sum->maps += 2;
	sum->mapped += 14 * PAGE;
	if (munmap(one + 2 * PAGE, PAGE) != 0 || shmdt(one) != 0)
		fail("shmdt");
	sum->unmapped += 7 * PAGE;
	if (munmap(two, PAGE) != 0 || shmdt(one) == 0)
		fail("shmdt of nothing");
	sum->unmapped += PAGE;
	sum->blocks++;
}

static void run_breaks(void)
{
	map_more();
	map_broken();
	map_attached();
}

/* ---- children ---- */

/* The child's account is what it maps itself; it also unmaps what it has inherited. */
static void run_forked(const char *path)
{
	char child[4096];
	int status;

	accounts_start(11);
	map_fixed(&accounts[0], 0, 10);
	map_fixed(&accounts[0], 20, 30);
	if (fork() == 0) {
		memset(accounts[0].sum, 0, sizeof(accounts[0].sum));
		if (munmap(accounts[0].base, 5 * PAGE) != 0)
			fail("munmap");
		memset(accounts[0].block, 0, sizeof(accounts[0].block));
		map_fixed(&accounts[0], 25, 40); /* over inherited ones, too */
		snprintf(child, sizeof(child), "%s.child", path);
		truth_write(child);
		exit(0);
	}
	if (wait(&status) < 0 || status != 0)
		fail("the child");
	unmap(&accounts[0], 3, 4);
}

/* Its memory is its parent's, and so are its mappings. */
static void run_vforked(void)
{
	int status;

	accounts_start(13);
	map_fixed(&accounts[0], 0, 10);
	if (vfork() == 0) {
		map_fixed(&accounts[0], 5, 20);
		_exit(0);
	}
	if (wait(&status) < 0 || status != 0)
		fail("the child");
	unmap(&accounts[0], 7, 8);
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[2] : "";

	if (argc < 3)
		return 2;
	if (strcmp(how, "signal") == 0) {
		run_signal();
	} else if (strcmp(how, "breaks") == 0) {
		run_breaks();
	} else if (strcmp(how, "forked") == 0) {
		run_forked(argv[1]);
	} else if (strcmp(how, "vforked") == 0) {
		run_vforked();
	} else {
		steps = argc > 3 ? strtoul(argv[3], NULL, 10) : 1000;
		run_random(strtoul(how, NULL, 10), argc > 4 ? (unsigned)atoi(argv[4]) : 1);
	}
	truth_write(argv[1]);
	return 0;
}
