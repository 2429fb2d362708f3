/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The wait for a leak scan (exit_wait.h). Uses a futex: a program that restricts its own system
 * calls hardly forbids that one. Uses no descriptor, since a program may close any.
 */
#include "preload/exit_wait.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/arch/entry.h"
#include "preload/attach.h"
#include "preload/coop.h"
#include "preload/modules.h"
#include "preload/unwind_cfi.h"

#define STEP_NS	      2000000 /* the longest delay of the end after the scan */
#define STEPS_WITHOUT 2500u /* after 5 seconds without a sign a viewer counts as dead */

static void step(const uint32_t *word)
{
	const struct timespec t = { .tv_nsec = STEP_NS };

	syscall(SYS_futex, word, FUTEX_WAIT, 0, &t, NULL, 0);
}

/* When main has returned, nothing below _start's frame is the program's: the frames of exit cover
 * what main left there, and have not overwritten all of it. */
static uint64_t stack_left(uintptr_t frame)
{
	struct module_range libc;

	if (!frame)
		return 0;
	modules_find((uint64_t)(uintptr_t)syscall, &libc);
	return unwind_cfi_outermost(frame, libc.module);
}

void exit_wait(struct ht_header *h)
{
	uint32_t beat = ht_load_relaxed_32(&h->leak_beat);
	unsigned without = 0;

	if (!ht_load_relaxed_32(&h->leak_ask) || ht_load_relaxed_32(&h->leak_done) ||
		ht_load_relaxed_64(&h->family) == 0)
		return; /* no launch: the viewer that asked has gone */
	h->leak_stack = stack_left(ENTRY_FRAME_HERE);
	ht_store_release_32(&h->leak_wait, (uint32_t)syscall(SYS_gettid)); /* WAIT */
	while (!ht_load_acquire_32(&h->leak_done) /* WAIT */ && without < STEPS_WITHOUT) {
		uint32_t now;

		step(&h->leak_done);
		attach_check(h);
		if (ht_load_relaxed_64(&h->family) == 0)
			break; /* the viewer has gone meanwhile */
		if (ht_load_relaxed_32(&h->coop_ask) != HT_COOP_NOTHING)
			coop_serve();
		now = ht_load_relaxed_32(&h->leak_beat);
		without = now == beat ? without + 1 : 0;
		beat = now;
	}
	ht_store_relaxed_32(&h->leak_wait, 0);
}
