/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The library's side of attaching (preload/attached.c), in this very process: counts against what
 * was called, code as it was before, threads that know nothing of it, children. Runs itself again
 * with each allocator that is installed.
 */
#include <malloc.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/unit/attached_fixture.h"

#define BLOCKS	     256u
#define CYCLES	     500u
#define CYCLES_OTHER 50u

static void *volatile kept[BLOCKS];

/* What was called, by our own count. */
static struct truth {
	uint64_t allocs, frees, reallocs, bytes;
} truth;

static void *made(void *p, size_t bytes)
{
	truth.allocs++;
	truth.bytes += bytes;
	return p;
}

static void *resized(void *p, size_t bytes)
{
	truth.frees++;
	truth.reallocs++;
	return made(p, bytes);
}

static void dropped(void *p)
{
	truth.frees += p != NULL;
	free(p);
}

/* One call of each function that returns a block, and some that libc makes itself. */
static void *make_one(unsigned i)
{
	size_t bytes = 16 + i * 37u % 3000;
	void *p = NULL;

	switch (i % 8) {
	case 0:
		return made(malloc(bytes), bytes);
	case 1:
		return made(calloc(3, bytes), 3 * bytes);
	case 2:
		return made(realloc(NULL, bytes), bytes);
	case 3:
		return made(posix_memalign(&p, 64, bytes) == 0 ? p : NULL, bytes);
	case 4:
		return made(aligned_alloc(16, bytes & ~15ul), bytes & ~15ul);
	case 5:
		return made(reallocarray(NULL, 2, bytes), 2 * bytes);
	case 6:
		return made(strdup("a name"), 7);
	default:
		return made(memalign(128, bytes), bytes);
	}
}

static void work(unsigned rounds)
{
	for (unsigned i = 0; i < rounds * BLOCKS; i++) {
		unsigned at = i * 7 % BLOCKS;

		if (i % 5 == 0 && kept[at])
			kept[at] = resized(realloc(kept[at], 50000 + i % 9000), 50000 + i % 9000);
		else if (kept[at]) {
			dropped(kept[at]);
			kept[at] = NULL;
		} else {
			kept[at] = make_one(i);
		}
	}
}

static void drop_all(void)
{
	for (unsigned i = 0; i < BLOCKS; i++) {
		dropped(kept[i]);
		kept[i] = NULL;
	}
}

/* Blocks from before count as allocated, as far as they are known: those that were freed. */
static void check_truth(const struct read_totals *t)
{
	CHECK_INT(t->allocs - t->before.blocks, truth.allocs);
	CHECK_INT(t->frees, truth.frees);
	CHECK_INT(t->reallocs, truth.reallocs);
	CHECK_INT(t->alloc_bytes - t->before.bytes, truth.bytes);
	CHECK_INT(t->unknown_frees, 0);
	CHECK_INT(t->untracked_blocks, 0);
	CHECK_INT(t->missed_frees, 0);
	CHECK_INT(t->state, HT_STATE_STOPPED);
}

static uint64_t code_at_first;

/* What the process has: its mappings by rights, and its open files. */
struct has {
	unsigned mappings, writable, files;
};

static struct has what_it_has(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	struct has h = { 0 };
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		h.mappings++;
		h.writable += strstr(line, " rw-p ") || strstr(line, " rw-s ");
	}
	if (f)
		fclose(f);
	for (int fd = 0; fd < 100; fd++)
		h.files += fcntl(fd, F_GETFD) >= 0;
	return h;
}

TEST(inert)
{
	CHECK(attached_open());
	code_at_first = attached_code_sum();
	CHECK_INT(attached->magic, HT_ATTACHED_MAGIC);
	CHECK_INT(attached->state, HT_ATTACHED_NONE);
	CHECK_INT(launch_dir_files(false), 0);
}

TEST(counted)
{
	bool begun, ended;
	struct read_totals t;

	truth = (struct truth){ 0 };
	begun = attached_begin();
	work(20);
	drop_all();
	ended = attached_end();
	CHECK(begun && ended);
	t = attached_totals();
	check_truth(&t);
	CHECK_INT(t.live_bytes, 0);
	CHECK_INT(attached->state, HT_ATTACHED_RELEASED);
	CHECK(attached->pads != 0 && attached->pads_bytes >= 4096);
}

/* Blocks from before: each free is known, by the bytes that the allocator says. */
TEST(blocks_from_before)
{
	uint64_t usable = 0, frees = 0;
	struct read_totals t;
	bool begun, ended;

	truth = (struct truth){ 0 };
	work(3);
	for (unsigned i = 0; i < BLOCKS; i++)
		if (kept[i]) {
			usable += malloc_usable_size(kept[i]);
			frees++;
		}
	truth = (struct truth){ 0 };
	begun = attached_begin();
	for (unsigned i = 0; i < BLOCKS; i += 2)
		if (kept[i])
			kept[i] = resized(realloc(kept[i], 70000), 70000);
	drop_all();
	ended = attached_end();
	CHECK(begun && ended && frees > 50);
	t = attached_totals();
	check_truth(&t);
	CHECK_INT(t.before.blocks, frees);
	CHECK_INT(t.before.bytes, usable);
	CHECK_INT(t.live_bytes, 0);
}

/* Failing calls, and an old block that stays. */
TEST(failed)
{
	void *volatile old = malloc(100);
	struct read_totals t;
	bool begun, ended;
	volatile size_t huge = SIZE_MAX / 4;

	truth = (struct truth){ 0 };
	begun = attached_begin();
	CHECK(realloc(old, huge) == NULL);
	CHECK(malloc(huge) == NULL);
	free(NULL);
	dropped(old);
	ended = attached_end();
	CHECK(begun && ended);
	t = attached_totals();
	check_truth(&t);
	CHECK_INT(t.failed, 2);
	CHECK_INT(t.before.blocks, 1);
}

TEST(cycles)
{
	uint64_t pads = attached->pads_bytes;
	unsigned cycles = getenv("ATTACHED_ALLOCATOR") ? CYCLES_OTHER : CYCLES;
	unsigned jumps = 0, wrong = 0;
	struct has had = { 0 }, has;
	struct read_totals t;

	for (unsigned i = 0; i < cycles && wrong == 0; i++) {
		if (i == 2)
			had = what_it_has();
		truth = (struct truth){ 0 };
		wrong += !attached_begin();
		jumps = attached->jumps;
		work(1);
		drop_all();
		wrong += !attached_end();
		t = attached_totals();
		wrong += t.allocs != truth.allocs || t.frees != truth.frees;
	}
	has = what_it_has();
	CHECK_INT(has.mappings, had.mappings);
	CHECK_INT(has.writable, had.writable);
	CHECK_INT(has.files, had.files);
	CHECK(jumps > 20);
	CHECK_INT(attached->jumps, 0); /* the list is of what is patched */
	CHECK_INT(wrong, 0);
	CHECK_INT(attached->pads_bytes, pads);
	CHECK(attached_code_sum() == code_at_first);
}

/* ---- threads ---- */

#define THREADS 6u
static pthread_barrier_t barrier;
static _Atomic uint64_t thread_allocs, thread_frees;

/* Works in every session; waits while the jumps are written. */
static void *thread_run(void *arg)
{
	unsigned number = (unsigned)(uintptr_t)arg;
	void *volatile own[16] = { NULL };

	attached_threads[number] = attached_pointer();
	for (unsigned session = 0; session < 20; session++) {
		pthread_barrier_wait(&barrier);
		for (unsigned i = 0; i < 2000; i++) {
			unsigned at = i % 16;

			if (own[at]) {
				free(own[at]);
				atomic_fetch_add(&thread_frees, 1);
			}
			own[at] = malloc(10 + i);
			atomic_fetch_add(&thread_allocs, 1);
		}
		pthread_barrier_wait(&barrier);
	}
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < 16; i++)
		free(own[i]);
	return NULL;
}

TEST(threads)
{
	pthread_t thread[THREADS];
	struct read_totals t;

	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, thread_run, (void *)i), 0);
	attached_thread_count = THREADS;
	for (unsigned session = 0; session < 20; session++) {
		thread_allocs = thread_frees = 0;
		CHECK(attached_begin());
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		CHECK(attached_end());
		t = attached_totals();
		CHECK_INT(t.allocs - t.before.blocks, thread_allocs);
		CHECK_INT(t.frees, thread_frees);
	}
	attached_thread_count = 0;
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&barrier);
}

/* ---- mappings ---- */

/* libc's own mappings are not the program's. */
TEST(mappings)
{
	struct read_totals t;
	bool begun, ended;
	void *volatile large, *map;

	begun = attached_begin();
	large = malloc(64u << 20);
	map = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(map, 4096);
	free(large);
	ended = attached_end();
	munmap((char *)map + 4096, 4096);
	CHECK(begun && ended);
	t = attached_totals();
	CHECK_INT(t.mapped.maps, 1);
	CHECK_INT(t.mapped.map_bytes, 8192);
	CHECK_INT(t.mapped.unmap_bytes, 4096);
}

/* ---- children ---- */

/* In a forked child, which has the jumps, too: it can be detached from, and attached to by itself.
 */
static int child_run(void)
{
	void *volatile p = malloc(1000);
	unsigned segments = launch_dir_files(false);

	free(p);
	if (segments != 2 || !attached_end() || attached->jumps != 0)
		return 8;
	p = malloc(1000);
	if (!attached_begin())
		return 9;
	free(p);
	p = malloc(10);
	return attached_end() ? 7 : 10;
}

/* A forked child is recorded in a segment of its own. */
TEST(children)
{
	struct read_totals t;
	bool begun, ended;
	int status = -1;
	pid_t pid;

	begun = attached_begin();
	pid = fork();
	if (pid == 0)
		_exit(child_run());
	waitpid(pid, &status, 0);
	ended = attached_end();
	CHECK(begun && ended);
	CHECK_INT(WEXITSTATUS(status), 7);
	t = attached_totals();
	CHECK_INT(t.allocs, 0);
	launch_dir_files(true);
}

/* Runs the shell, which says what it has in its environment, with `count` variables. */
static int spawn(unsigned count, const char *command)
{
	const char *arguments[] = { "sh", "-c", command, NULL };
	static const char *variables[1000];
	int status = -1;
	pid_t pid;

	variables[0] = "HEAPTOP_FOLLOW=0";
	variables[1] = "LD_PRELOAD=";
	for (unsigned i = 2; i < count; i++)
		variables[i] = "A=b";
	variables[count] = NULL;
	if (posix_spawn(&pid, "/bin/sh", NULL, NULL, (char **)(uintptr_t)arguments,
		    (char **)(uintptr_t)variables) != 0)
		return -1;
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

/* An executed program is recorded; one whose environment is too large, and what is executed when we
 * are detached again, is as it would be. */
TEST(executed)
{
	const char *with = "test \"$HEAPTOP_SEGMENT\" -a -z \"$HEAPTOP_FOLLOW\" -a "
			   "\"$LD_PRELOAD\" -a \"$HEAPTOP_FREES\" = 1 && exit 7";
	const char *without = "test -z \"$HEAPTOP_SEGMENT\" -a -z \"$LD_PRELOAD\" && exit 8";
	int followed, large, after;
	unsigned files;
	bool begun, ended;

	attached->free_stacks = 1;
	begun = attached_begin();
	followed = spawn(10, with);
	large = spawn(900, without);
	ended = attached_end();
	files = launch_dir_files(false);
	attached->free_stacks = 0;
	after = spawn(10, without);
	CHECK(begun && ended);
	CHECK_INT(followed, 7);
	CHECK_INT(large, 8);
	CHECK_INT(after, 8);
	CHECK_INT(files, 2);
	attached_totals();
	launch_dir_files(true);
}

/* ---- a launched program ---- */

/* Its hooks cannot be taken out; but they record no more, until a viewer attaches. */
TEST(detached_after_launch)
{
	struct read_totals t;
	bool begun, ended;

	CHECK(attached_open());
	CHECK_INT(attached->state, HT_ATTACHED_PREPARED);
	CHECK(attached_end());
	CHECK_INT(attached->state, HT_ATTACHED_RELEASED);
	work(1);
	for (unsigned round = 0; round < 3; round++) {
		truth = (struct truth){ 0 };
		drop_all();
		begun = attached_begin();
		truth = (struct truth){ 0 };
		work(5);
		drop_all();
		ended = attached_end();
		CHECK(begun && ended);
		t = attached_totals();
		CHECK(t.allocs - t.before.blocks >= truth.allocs);
		CHECK(t.allocs - t.before.blocks < truth.allocs + 100);
		CHECK_INT(t.unknown_frees, 0);
		work(1);
	}
	launch_dir_files(true);
}

/* ---- other allocators ---- */

static const char *const allocators[] = { "libjemalloc.so.2", "libtcmalloc_minimal.so.4",
	"libmimalloc.so.2.0" };
#define ALLOCATORS (sizeof(allocators) / sizeof(allocators[0]))

/* This program once more, with another allocator. */
static void run_again(const char *path, const char *allocator)
{
	int status = -1;
	pid_t pid;

	if (access(path, R_OK) != 0) {
		printf("skip - %s: it is not installed\n", allocator);
		return;
	}
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		setenv("LD_PRELOAD", path, 1);
		unsetenv("HEAPTOP_DIR"); /* it is gone */
		setenv("ATTACHED_ALLOCATOR", allocator, 1);
		execl("/proc/self/exe", allocator, NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	if (status != 0)
		check_fail(__FILE__, __LINE__, allocator);
}

TEST(other_allocators)
{
	char path[256];

	for (unsigned i = 0; i < ALLOCATORS; i++) {
		snprintf(path, sizeof(path), "/usr/lib/x86_64-linux-gnu/%s", allocators[i]);
		run_again(path, allocators[i]);
	}
}

#define LAUNCHED "launched"

TEST(launched)
{
	run_again(attached_library, LAUNCHED);
}

static bool is_run_again(const char *with)
{
	const char *is = getenv("ATTACHED_ALLOCATOR");

	return is && strcmp(is, with) == 0;
}

static void run_all(void)
{
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	launch_dir_make();
	if (is_run_again(LAUNCHED)) {
		RUN(detached_after_launch);
		launch_dir_drop();
		return;
	}
	RUN(inert);
	RUN(counted);
	RUN(blocks_from_before);
	RUN(failed);
	RUN(cycles);
	RUN(threads);
	RUN(mappings);
	RUN(children);
	RUN(executed);
	launch_dir_drop();
}

int main(void)
{
	run_all();
	if (!getenv("ATTACHED_ALLOCATOR")) {
		RUN(other_allocators);
		RUN(launched);
	}
	return check_end();
}
