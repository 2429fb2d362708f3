/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of shm/thread: who gets which slot, when all are taken, and that counters pass on. */
#include "tests/unit/shm_fixture.h"

#include "shm/thread.h"

static uint32_t first_alive, asked;

static bool alive_from(uint32_t tid)
{
	asked++;
	return tid >= first_alive;
}

static uint32_t slots(const struct fixture *f)
{
	return (uint32_t)(f->s.header->region[HT_REGION_THREADS].bytes / sizeof(struct ht_thread));
}

/* Takes all slots, by threads 1000, 1001, ...; the first is in slot 1. */
static void take_all(struct fixture *f)
{
	first_alive = 0;
	for (uint32_t i = 1; i < slots(f); i++)
		CHECK_INT(thread_claim(&f->s, 999 + i, alive_from), i);
}

TEST(claim)
{
	struct fixture f;
	const struct ht_thread *t;

	fixture_open(&f, SEGMENT_SMALL);
	f.s.header->clock_ns = 31;
	CHECK_INT(thread_claim(&f.s, 4711, alive_from), 1);
	CHECK_INT(thread_claim(&f.s, 4712, alive_from), 2);
	t = thread_at(&f.s, 2);
	CHECK_INT(t->tid, 4712);
	CHECK_INT(t->state, HT_THREAD_USED);
	CHECK_INT(t->owners, 1);
	CHECK_INT(t->since_ns, 31);
	CHECK_INT(f.s.header->threads, 3);
	CHECK_INT(thread_at(&f.s, 0)->tid, 0);
	fixture_close(&f);
}

/* A dead thread's kernel id comes back: its slot is that of the new one, and keeps its counts. */
TEST(namesake)
{
	struct fixture f;
	struct ht_thread *t;

	fixture_open(&f, SEGMENT_SMALL);
	CHECK_INT(thread_claim(&f.s, 100, alive_from), 1);
	CHECK_INT(thread_claim(&f.s, 101, alive_from), 2);
	t = thread_at(&f.s, 1);
	thread_add(1, &t->reallocs, 5);
	CHECK_INT(thread_claim(&f.s, 100, alive_from), 1);
	CHECK_INT(t->owners, 2);
	CHECK_INT(t->reallocs, 5);
	CHECK_INT(f.s.header->threads, 3);
	fixture_close(&f);
}

TEST(all_taken)
{
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	take_all(&f);
	asked = 0;
	CHECK_INT(thread_claim(&f.s, 50000, alive_from), 0);
	CHECK_INT(asked, slots(&f) - 1); /* each was asked about, once */
	CHECK_INT(f.s.header->threads, slots(&f));
	for (uint32_t i = 1; i < slots(&f); i++)
		CHECK_INT(thread_at(&f.s, i)->tid, 999 + i);
	fixture_close(&f);
}

TEST(sweep)
{
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	take_all(&f);
	first_alive = 1010; /* slots 1 to 10 are of the dead */
	thread_at(&f.s, 1)->ring_head = 44;
	CHECK_INT(thread_claim(&f.s, 50000, alive_from), 1);
	CHECK_INT(thread_at(&f.s, 1)->owners, 2);
	CHECK_INT(thread_at(&f.s, 1)->ring_head, 44);
	asked = 0;
	for (uint32_t i = 2; i <= 10; i++)
		CHECK_INT(thread_claim(&f.s, 50000 + i, alive_from), i);
	CHECK_INT(asked, 0); /* one sweep freed them all */
	CHECK_INT(thread_claim(&f.s, 60000, alive_from), 0);
	for (uint32_t i = 11; i < slots(&f); i++)
		CHECK_INT(thread_at(&f.s, i)->tid, 999 + i);
	fixture_close(&f);
}

/* Between a sweep's look at a dead thread and its freeing the slot, the kernel may give the id to
 * a new thread, which takes the slot over: it must not lose it. */
static struct fixture *reborn_in;
static uint32_t reborn_slot;

static bool dead_then_reborn(uint32_t tid)
{
	if (tid == 1000 && reborn_slot == UINT32_MAX) {
		reborn_slot = 0;
		reborn_slot = thread_claim(&reborn_in->s, 1000, alive_from);
		return false;
	}
	return true;
}

TEST(reborn_during_sweep)
{
	struct fixture f;
	uint32_t other;

	fixture_open(&f, SEGMENT_SMALL);
	take_all(&f);
	reborn_in = &f;
	reborn_slot = UINT32_MAX;
	other = thread_claim(&f.s, 50000, dead_then_reborn);
	CHECK(reborn_slot != UINT32_MAX);
	CHECK(reborn_slot == 0 || reborn_slot != other);
	CHECK(reborn_slot == 0 || thread_at(&f.s, reborn_slot)->tid == 1000);
	fixture_close(&f);
}

TEST(add)
{
	uint64_t counter = 5;

	thread_add(0, &counter, 2);
	CHECK_INT(counter, 7);
	thread_add(3, &counter, 10);
	CHECK_INT(counter, 17);
}

int main(void)
{
	RUN(claim);
	RUN(namesake);
	RUN(all_taken);
	RUN(sweep);
	RUN(reborn_during_sweep);
	RUN(add);
	return check_end();
}
