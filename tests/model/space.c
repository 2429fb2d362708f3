/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A region's mapping grows: threads that need the next step at once, one that takes a step and is
 * never heard of again, a kernel that has no more. The kernel is here: mremap and mprotect for this
 * one mapping, each in one step, by mm/mremap.c (vma_to_resize, vma_expandable).
 */
#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shm/mapping.h"
#include "tests/model/model.h"

#define REGION HT_REGION_NODES
#define START  (1ull << 30) /* of the region, far from the others */
#define FIRST  (256u << 10) /* bytes mapped at the start, and of each step: the least */
#define TAIL   HT_COMMIT_BYTES

static struct segment *segment; /* in the checked memory, for its words change */
/* What the kernel knows: where the mapping ends, how far it is open, how far it may go. */
static uint64_t kernel_end, kernel_open, kernel_most;
static uint64_t *kernel_lock; /* of the address space: orders what threads did before */
static uint64_t known; /* the largest value that `mapped` has had */

static void lock(void)
{
	uint64_t turn = ht_load_relaxed_64(kernel_lock);

	while (!ht_cas_acq_rel_64(kernel_lock, &turn, turn + 1))
		;
}

static void *kernel_extend(void *at, size_t old_bytes, size_t new_bytes)
{
	uint64_t start = (uint64_t)((char *)at - (char *)segment->header);
	uint64_t end = start + old_bytes, vma_end;

	lock();
	vma_end = start < kernel_open ? kernel_open : kernel_end;
	errno = end > vma_end ? EFAULT : ENOMEM;
	if (end != kernel_end || vma_end != kernel_end || start + new_bytes > kernel_most)
		return MAP_FAILED;
	model_require(start >= kernel_open, "what is added is closed");
	kernel_end = start + new_bytes;
	return at;
}

/* shm/kernel.h's mremap. */
long syscall(long number, ...)
{
	size_t old_bytes, new_bytes;
	va_list args;
	void *at;

	model_require(number == SYS_mremap, "nothing else comes this way");
	va_start(args, number);
	at = va_arg(args, void *);
	old_bytes = va_arg(args, size_t);
	new_bytes = va_arg(args, size_t);
	va_end(args);
	return (long)kernel_extend(at, old_bytes, new_bytes);
}

int mprotect(void *at, size_t bytes, int protection)
{
	uint64_t end = (uint64_t)((char *)at - (char *)segment->header) + bytes;

	lock();
	model_require(end <= kernel_end, "what is opened is mapped");
	if (kernel_open < end)
		kernel_open = end;
	return 0;
}

static void setup(void)
{
	static struct segment made;

	model_segment(&made, 1, 1);
	for (int i = 0; i < HT_REGION_COUNT; i++)
		made.part[i].start = i < REGION ? 0 : START * (uint64_t)(i - REGION + 1);
	made.part[REGION] = (struct segment_part){
		.start = START, .limit = START + 16 * FIRST, .mapped = START + FIRST
	};
	segment = model_shared(sizeof(*segment));
	__builtin_memcpy(segment, &made, sizeof(made));
	kernel_lock = model_shared(8);
}

static void begin_with(uint64_t steps)
{
	kernel_end = known = START + FIRST;
	kernel_open = START + FIRST - TAIL;
	kernel_most = START + (1 + steps) * FIRST;
}

static void begin(void)
{
	begin_with(8);
}

static void begin_short(void)
{
	begin_with(1);
}

/* Sees to it that so many steps are there, less the tail. */
static int take(uint64_t steps)
{
	uint64_t bytes = (1 + steps) * FIRST - TAIL;
	int rc = mapping_take(segment, START + bytes - 64, 64);

	model_require(rc != 0 || kernel_open >= START + bytes, "what was taken is open");
	return rc;
}

static void want_one(void)
{
	model_require(take(1) == 0, "one step is there for all");
}

static void want_two(void)
{
	model_require(take(2) == 0, "two steps are there for all");
}

/* As if a signal handler left it when the kernel has done it. */
static void take_and_leave(void)
{
	char *tail = (char *)segment->header + START + FIRST - TAIL;

	(void)kernel_extend(tail, TAIL, TAIL + FIRST);
}

static void want_too_much(void)
{
	model_require(take(1) == 0, "one step is there for all");
	model_require(take(2) == -ENOMEM, "the kernel refuses the second");
}

static void check(void)
{
	uint64_t mapped = *(volatile uint64_t *)&segment->part[REGION].mapped;

	model_require(mapped <= kernel_end, "no more is known than there is");
	model_require(mapped >= known, "what is known is not forgotten");
	known = mapped;
}

static void end(void)
{
	check();
	model_require(segment->part[REGION].mapped == kernel_end, "all there is is known");
}

static const struct model_scenario scenarios[] = {
	{ .name = "two threads need the next step",
		.setup = setup,
		.begin = begin,
		.thread = { want_one, want_one },
		.invariant = check,
		.end = end,
		.deviations = 4 },
	{ .name = "one thread needs more than the other",
		.setup = setup,
		.begin = begin,
		.thread = { want_two, want_one },
		.invariant = check,
		.end = end,
		.deviations = 4 },
	{ .name = "three threads grow it, one is left in the middle",
		.setup = setup,
		.begin = begin,
		.thread = { want_two, take_and_leave, want_one },
		.invariant = check,
		.end = end,
		.deviations = 3 },
	{ .name = "the kernel has one step more",
		.setup = setup,
		.begin = begin_short,
		.thread = { want_too_much, want_too_much },
		.invariant = check,
		.end = end,
		.deviations = 4 },
};

int main(void)
{
	return model_run(scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
