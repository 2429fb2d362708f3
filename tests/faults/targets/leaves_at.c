/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs one operation of the recorder's between two breakpoints, where tests/faults/tools/step.c
 * stops it and sends a signal, whose handler leaves by siglongjmp. Then it goes on: blocks by known
 * stacks, by new ones, from a plugin that was not called before, in new threads, for some steps of
 * the history. Writes its account (leaves_at.h), and waits for the end of its input. Only an
 * allocator that stands this may be behind it (plugin/reentrant.c).
 * Usage: leaves_at OPERATION PLUGIN PLUGIN [NUMBER]
 */
#include "tests/faults/targets/leaves_at.h"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "shm/layout.h"
#include "tests/faults/targets/witness.h"

/* Functions in sections of their own tell their calls by the return addresses. */
#define PLACED(name) __attribute__((noinline, section(#name)))
extern char __start_at_kept[], __stop_at_kept[], __start_at_passing[], __stop_at_passing[];
extern char __start_at_paths[], __stop_at_paths[], __start_at_threads[], __stop_at_threads[];

#define PASSING	    500
#define SETTLED	    3000
#define LOOKS_EVERY 64 /* events, of which one at least looks at the time */
#define STACKS_LOG  12 /* of stacks that fill the memory for them */
#define GROWTH	    16 /* pages that are more than anything else maps */
#define PIECE_BYTES ((size_t)66 << 20) /* the next block is in another piece of the live table */

static sigjmp_buf back;
static void *(*plugin[2])(size_t);
static struct ht_header *header; /* of our segment, mapped once more */
static void *volatile kept[2 * LEAVES_KEPT + 1];
static struct leaves_account account;
static unsigned growing; /* the stack with which the memory for them grows; 0: to be found */
static void *(*operator_new)(size_t);
static void (*operator_delete)(void *);

static void on_signal(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

/* ---- blocks ---- */

static PLACED(at_kept) void keep(int i)
{
	kept[i] = malloc(LEAVES_SIZE);
	KEEP_FRAME();
}

static PLACED(at_passing) void pass(void)
{
	free(witness_malloc(60));
	account.passed++;
}

/* As many stacks as there are values of `way`. */
static PLACED(at_paths) void path(unsigned way, unsigned left)
{
	if (left == 0)
		free(witness_malloc(70));
	else if (way & 1)
		path(way >> 1, left - 1);
	else
		path(way >> 1, left - 1);
	KEEP_FRAME();
}

static PLACED(at_threads) void *thread_works(void *arg)
{
	for (int i = 0; i < LEAVES_EACH; i++)
		free(witness_malloc(80));
	return arg;
}

static void thread_run(void *(*work)(void *))
{
	pthread_t t;

	witness_need(pthread_create(&t, NULL, work, NULL) == 0, "no thread");
	pthread_join(t, NULL);
}

static void places(void)
{
	const struct {
		char *start, *end;
	} at[LEAVES_PLACES] = { [LEAVES_KEEP] = { __start_at_kept, __stop_at_kept },
		[LEAVES_PASS] = { __start_at_passing, __stop_at_passing },
		[LEAVES_PATH] = { __start_at_paths, __stop_at_paths },
		[LEAVES_THREAD] = { __start_at_threads, __stop_at_threads } };

	for (int i = 0; i < LEAVES_PLACES; i++) {
		account.start[i] = (uintptr_t)at[i].start;
		account.end[i] = (uintptr_t)at[i].end;
	}
	for (int i = 0; i < 2; i++)
		account.plugin[i] = (uintptr_t)plugin[i];
}

/* Writes the account, waits until it has been read, ends. */
static _Noreturn void account_tell(void)
{
	char byte;

	places();
	witness_need(write(1, &account, sizeof(account)) == sizeof(account), "nobody reads");
	exit(read(0, &byte, 1) == 0 ? 0 : 4);
}

/* ---- operations ---- */

static NOINLINE void nested(int depth, size_t size)
{
	if (depth > 0)
		nested(depth - 1, size);
	else
		free(witness_malloc(size));
	KEEP_FRAME();
}

static void known(void)
{
	void *volatile p;

	nested(5, 100);
	p = calloc(3, 40);
	free(p);
}

static void grown(void)
{
	void *volatile p = witness_malloc(100);

	p = realloc(p, 200);
	p = realloc(p, 50);
	free(p);
}

static void first(void)
{
	nested(12, 100);
}

/* More than a share of the live bytes gathers, in blocks of which each is less than it moves. */
static void settle(void)
{
	void *volatile p = witness_malloc(SETTLED), *volatile q = witness_malloc(SETTLED);

	free(p);
	free(q);
}

static void small(void)
{
	free(witness_malloc(48));
}

static void overflow(void)
{
	free(witness_malloc(9000));
	free(witness_malloc(70000));
}

static void loaded(void)
{
	free(plugin[0](100));
}

/* Enough events for the clock to be read. */
static void many(void)
{
	for (int i = 0; i < 20; i++)
		nested(5, 100);
}

static NOINLINE void spread(unsigned way, unsigned left)
{
	if (left == 0)
		free(witness_malloc(30));
	else if (way & 1)
		spread(way >> 1, left - 1);
	else
		spread(way >> 1, left - 1);
	KEEP_FRAME();
}

static NOINLINE void nested_spread(int depth)
{
	if (depth > 0)
		nested_spread(depth - 1);
	else
		spread(growing, STACKS_LOG);
	KEEP_FRAME();
}

/* From some frames more than those before: it is no smaller. */
static NOINLINE void grow(void)
{
	nested_spread(3);
	KEEP_FRAME();
}

static void find_new(void)
{
	*(void **)&operator_new = dlsym(RTLD_DEFAULT, "_Znwm");
	*(void **)&operator_delete = dlsym(RTLD_DEFAULT, "_ZdlPv");
}

static void made(void)
{
	if (!operator_new)
		find_new();
	operator_delete(operator_new(100));
}

/* ---- what they need ---- */

static void none(void)
{
}

/* Our segment, to set its history and thread slots. */
static void header_map(void)
{
	static char name[4200], prefix[64];
	const char *folder = getenv("HEAPTOP_DIR");
	DIR *d = opendir(folder);
	struct dirent *e;
	struct stat st;

	snprintf(prefix, sizeof(prefix), "heaptop-%d-", (int)getpid());
	while (d && (e = readdir(d))) {
		int fd;

		if (strncmp(e->d_name, prefix, strlen(prefix)) != 0)
			continue;
		snprintf(name, sizeof(name), "%s/%s", folder, e->d_name);
		fd = open(name, O_RDWR | O_CLOEXEC);
		if (fstat(fd, &st) == 0)
			header = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_NORESERVE, fd, 0);
		close(fd);
	}
	witness_need(header && header != MAP_FAILED, "no segment");
	closedir(d);
}

static void history_begin(uint64_t step_ns)
{
	header->history.points = 0;
	header->history.step_ns = step_ns;
}

/* The next point halves the resolution some times. */
static void full_history(void)
{
	history_begin(1000);
	for (uint32_t i = 0; i < HT_HISTORY_POINTS; i++)
		header->history.point[i] = LEAVES_SIZE;
	header->history.points = HT_HISTORY_POINTS;
}

static void other_piece(void)
{
	small();
	kept[2 * LEAVES_KEPT] = malloc(PIECE_BYTES);
}

static long pages(void)
{
	static char text[128];
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t got = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return atol(text);
}

/* The next stack makes the memory for them grow. Which one does is found by a process before, that
 * does the same. */
static void nearly_full(void)
{
	unsigned number = 0;
	long before = 0;

	while (number < (growing ? growing : 1u << STACKS_LOG)) {
		if (!growing)
			before = pages();
		spread(number, STACKS_LOG);
		if (!growing && pages() - before >= GROWTH)
			break;
		number++;
	}
	account.grew = number;
	if (!growing)
		account_tell();
}

/* All slots but ours are of threads that ended and said nothing. */
static void slots_taken(void)
{
	struct ht_thread *t = (void *)((char *)header + header->region[HT_REGION_THREADS].offset);
	uint32_t all = (uint32_t)(header->region[HT_REGION_THREADS].bytes / sizeof(*t));

	witness_need(all <= 128, "too many slots: run with a limit on the size of files");
	for (uint32_t i = 2; i < all; i++)
		t[i].tid = 0x30000000 + i;
	header->threads = all;
}

/* `warm`: how often it was run before, by the same stack. */
static const struct operation {
	const char *name;
	void (*prepare)(void);
	void (*run)(void);
	unsigned warm;
	bool threaded;
	uint64_t largest; /* of its blocks */
} operations[] = {
	{ "known", none, known, 3, false, 120 },
	{ "realloc", none, grown, 3, false, 200 },
	{ "first", none, first, 0, false, 100 },
	{ "settle", none, settle, 3, false, SETTLED },
	{ "piece", other_piece, small, 0, false, 48 },
	{ "overflow", none, overflow, 0, false, 70000 },
	{ "module", none, loaded, 0, false, 100 },
	{ "history", full_history, many, 3, false, 100 },
	{ "grow", nearly_full, grow, 0, false, 30 },
	{ "new", none, made, 3, false, 100 },
	{ "thread", none, small, 0, true, 48 },
	{ "slots", slots_taken, small, 0, true, 48 },
};
static const struct operation *operation;

static void operate(void)
{
	account.broken = 1;
	if (sigsetjmp(back, 1) != 0)
		return;
	for (unsigned i = 0; i <= operation->warm; i++) {
		if (i == operation->warm) {
			operation->prepare();
			__asm__ volatile("int3");
		}
		operation->run();
	}
	__asm__ volatile("int3");
	account.broken = 0;
}

static void *begins(void *arg)
{
	operate();
	return arg;
}

/* ---- before and after ---- */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void go_on(void)
{
	uint64_t until;

	for (int i = 0; i < LEAVES_KEPT; i++)
		keep(LEAVES_KEPT + i);
	for (int i = 0; i < PASSING; i++)
		pass();
	for (unsigned i = 0; i < LEAVES_ROUNDS << LEAVES_LOG; i++)
		path(i, LEAVES_LOG);
	for (int i = 0; i < 2 * LEAVES_PLUGIN; i++)
		free(plugin[i % 2](100));
	for (int i = 0; i < LEAVES_THREADS; i++)
		thread_run(thread_works);
	kept[2 * LEAVES_KEPT] = malloc(LEAVES_BIG);
	until = now() + 3 * header->history.step_ns;
	do {
		pass();
		account.now_ns = now();
	} while (account.now_ns < until);
	for (int i = 0; i < LOOKS_EVERY; i++)
		pass();
}

static void plugins_open(char **paths)
{
	for (int i = 0; i < 2; i++) {
		void *library = dlopen(paths[i], RTLD_NOW);

		witness_need(library != NULL, "no plugin");
		*(void **)&plugin[i] = dlsym(library, "plugin_allocate");
	}
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	witness_need(argc >= 4, "usage: leaves_at OPERATION PLUGIN PLUGIN [NUMBER]");
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (strcmp(argv[1], operations[i].name) == 0)
			operation = &operations[i];
	sigaction(SIGUSR1, &action, NULL);
	plugins_open(argv + 2);
	growing = argc > 4 ? (unsigned)atoi(argv[4]) : 0;
	header_map();
	history_begin(LEAVES_STEP_NS);
	witness_need(operation != NULL, "no such operation");
	for (int i = 0; i < LEAVES_KEPT; i++)
		keep(i);
	account.largest = operation->largest;
	if (operation->threaded)
		thread_run(begins);
	else
		operate();
	go_on();
	account_tell();
}
