/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls for which the queue of shm/mappings has no room: they wait for the lock's holder, here this
 * test when they wait. */
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "shm/stack.h"
#include "tests/unit/shm_fixture.h"

#define pause_spin pause_spin_really
#include "shm/pause.h"
#undef pause_spin
static void pause_spin(unsigned times);
#include "shm/mappings.c"

#define PAGE 4096ull
#define BASE 0x7f0000000000ull

static struct fixture fixture;
static uint64_t waits, free_at, moves_each;
static bool really;

/* Frees the lock at the `free_at`-th time, as its holder does; until then it gets on now and then.
 */
static void pause_spin(unsigned times)
{
	if (really)
		pause_spin_really(times);
	else
		CHECK(times == PAUSES);
	waits++;
	if (waits != free_at && (moves_each == 0 || waits % moves_each != 0))
		return;
	fixture.s.header->mapping_changes += 2;
	if (waits == free_at)
		fixture.s.header->mapping_lock = 0;
}

static void hold(void)
{
	fixture.s.header->mapping_changes++;
	fixture.s.header->mapping_lock = 1;
	waits = 0;
	moves_each = 0;
}

/* Whether nothing was lost. */
static bool enter(uint64_t page, uint32_t site)
{
	struct mappings_block b = { BASE + page * PAGE, BASE + (page + 1) * PAGE, 7, site,
		HT_MAPPING_MMAP, 0 };
	uint64_t lost = fixture.s.header->untracked_maps;

	mappings_enter(&fixture.s, &b);
	return fixture.s.header->untracked_maps == lost;
}

static uint32_t open_full(uint64_t *pages)
{
	uint64_t pc = 0x1000;
	uint32_t module = 0, site;
	struct stack_trace t = { HT_FN_MMAP, 1, false, &pc, &module, NULL, 0 };

	fixture_open(&fixture, SEGMENT_SMALL);
	site = stack_intern(&fixture.s, &t);
	hold();
	free_at = UINT64_MAX;
	for (*pages = 0; enter(2 * *pages, site); ++*pages)
		;
	return site;
}

/* Waits once, in vain; then not again before the holder has got on. */
TEST(a_holder_that_is_stopped)
{
	uint64_t pages;
	uint32_t site = open_full(&pages);

	CHECK_INT(waits, IDLE_MAX);
	CHECK(!enter(1, site));
	CHECK_INT(waits, IDLE_MAX);
	CHECK_INT(fixture.s.header->untracked_maps, 2);
	fixture_close(&fixture);
}

TEST(a_holder_that_gets_on_and_makes_no_room)
{
	uint64_t pages;
	uint32_t site = open_full(&pages);

	fixture.s.header->mapping_changes += 2;
	waits = 0;
	moves_each = IDLE_MAX - 1;
	CHECK(!enter(1, site));
	CHECK_INT(waits, WAITS_MAX);
	fixture_close(&fixture);
}

TEST(a_holder_that_gets_on)
{
	uint64_t pages;
	uint32_t site = open_full(&pages);

	fixture.s.header->mapping_changes += 2;
	waits = 0;
	free_at = IDLE_MAX - 1;
	CHECK(enter(1, site));
	CHECK_INT(waits, IDLE_MAX - 1);
	/* All that was queued is there, and this one. */
	CHECK_INT(fixture.s.header->map_bytes, (pages + 1) * PAGE);
	CHECK_INT(fixture.s.header->mapping_lock, 0);
	CHECK_INT(fixture.s.header->mapping_queue, 0);
	/* Half of the table is left for what is mapped: calls are not in its way. */
	hold();
	free_at = 1;
	for (uint64_t i = 0; i < pages / 2; i++)
		CHECK(enter(2 * (pages + i), site));
	CHECK_INT(waits <= 1, 1);
	fixture_close(&fixture);
}

/* One that may read, write and exit, and is killed for any other system call. */
static int waits_in_a_sandbox(uint32_t site)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		really = true;
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
			_exit(77);
		syscall(SYS_exit, enter(1, site) || waits != IDLE_MAX);
	}
	waitpid(pid, &status, 0);
	return status;
}

TEST(a_sandbox_that_kills_for_any_system_call)
{
	uint64_t pages;
	uint32_t site = open_full(&pages);
	int status;

	fixture.s.header->mapping_changes += 2;
	waits = 0;
	status = waits_in_a_sandbox(site);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		printf("# no seccomp here\n");
	else
		CHECK_INT(status, 0);
	fixture_close(&fixture);
}

int main(void)
{
	RUN(a_holder_that_is_stopped);
	RUN(a_holder_that_gets_on_and_makes_no_room);
	RUN(a_holder_that_gets_on);
	RUN(a_sandbox_that_kills_for_any_system_call);
	return check_end();
}
