/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads from a segment whose contents are known, their names, and their rates. */
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "src/model/model.h"
#include "src/session/threads.h"
#include "tests/unit/segment_fixture.h"

#define S 1000000000ull

static struct made made;

static struct read_segment *begin(void)
{
	char message[READ_MESSAGE_MAX] = "";
	struct read_segment *r;

	made_open(&made, &fixture_identity);
	made_fill(&made);
	r = read_open(made.path, message);
	if (!r)
		made_give_up(message);
	return r;
}

static void end(struct read_segment *r)
{
	read_close(r);
	made_close(&made);
}

/* What the slots counted adds up to the totals, in a segment with a slot that was never used. */
TEST(slots_add_up)
{
	struct read_segment *r = begin();
	struct read_thread t[8];
	struct read_totals totals;
	uint64_t allocs = 0, frees = 0, alloc_bytes = 0, free_bytes = 0;
	ssize_t n;

	made.s.header->threads = 4;
	n = read_threads(r, t, 8);
	CHECK_INT(read_totals(r, &totals), 0);
	CHECK(n >= 1 && n < 4);
	for (ssize_t i = 0; i < n; i++) {
		CHECK(t[i].allocs || t[i].tid);
		allocs += t[i].allocs;
		frees += t[i].frees;
		alloc_bytes += t[i].alloc_bytes;
		free_bytes += t[i].free_bytes;
	}
	CHECK_INT(allocs, totals.allocs);
	CHECK_INT(frees, totals.frees);
	CHECK_INT(alloc_bytes, totals.alloc_bytes);
	CHECK_INT(free_bytes, totals.free_bytes);
	CHECK_INT(read_threads(r, t, 0), 0);
	/* More than there can be: a broken header. */
	made.s.header->threads = UINT32_MAX;
	CHECK(read_threads(r, t, 8) <= 8);
	end(r);
}

TEST(names_are_those_of_now)
{
	struct read_segment *r = begin();
	struct threads threads = { 0 };
	struct snapshot head = { 0 };

	thread_at(&made.s, 1)->tid = (uint32_t)gettid();
	thread_at(&made.s, 1)->owners = 3;
	prctl(PR_SET_NAME, "wor\033ker");
	threads_read(&threads, r, getpid(), &head);
	CHECK_INT(head.nthreads, 1);
	CHECK_INT(head.threads[0].slot, 1);
	CHECK_INT(head.threads[0].owners, 3);
	CHECK_STR(head.threads[0].name, "wor?ker");
	/* It ends: its place has its name until another has it; then nobody has. */
	thread_at(&made.s, 1)->tid = HT_NONE;
	threads_read(&threads, r, getpid(), &head);
	CHECK_INT(head.threads[0].tid, 0);
	CHECK_STR(head.threads[0].name, "wor?ker");
	thread_at(&made.s, 1)->owners++;
	thread_at(&made.s, 1)->tid = 0x3ffffff;
	threads_read(&threads, r, getpid(), &head);
	CHECK_STR(head.threads[0].name, "");
	thread_at(&made.s, 1)->tid = HT_NONE;
	threads_read(&threads, r, getpid(), &head);
	CHECK_INT(head.threads[0].tid, 0);
	CHECK_STR(head.threads[0].name, "");
	threads_free(&threads);
	end(r);
}

/* A program that ended before anybody looked still has a name for the thread that it began with. */
TEST(the_first_thread_has_a_name_without_proc)
{
	struct read_segment *r = begin();
	struct threads threads = { 0 };
	struct snapshot head = { .pid = 4711 };

	thread_at(&made.s, 1)->tid = 4711;
	thread_at(&made.s, 1)->owners = 1;
	threads_read(&threads, r, 0, &head);
	CHECK_STR(head.threads[0].name, "(main thread)");
	threads_free(&threads);
	memset(&threads, 0, sizeof(threads));
	head.pid = 4712; /* it is another */
	threads_read(&threads, r, 0, &head);
	CHECK_STR(head.threads[0].name, "");
	threads_free(&threads);
	end(r);
}

static struct snapshot *tick(struct model *m, uint64_t seconds, const struct snap_thread *t)
{
	struct model_input in = { .now_ns = (100 + seconds) * S };

	in.head.uptime_ns = in.now_ns;
	in.head.threads = t;
	in.head.nthreads = 2;
	return model_tick(m, &in);
}

TEST(rates_are_over_the_last_seconds)
{
	struct model *m = model_new();
	struct snap_thread t[2] = { { .slot = 3, .name = "a" }, { .slot = 40, .name = "b" } };
	struct snapshot *s;

	for (uint64_t i = 0; i < 30; i++) {
		t[0].allocs += i < 15 ? 10 : 100;
		t[1].frees += 20;
		s = tick(m, i, t);
		if (i < 29)
			snapshot_unref(s);
	}
	CHECK_INT(s->nthreads, 2);
	CHECK_STR(s->threads[1].name, "b");
	CHECK_INT(s->threads[0].allocs_per_s + 0.5, 100);
	CHECK_INT(s->threads[1].frees_per_s + 0.5, 20);
	CHECK_INT(s->threads[1].frees, 600);
	snapshot_unref(s);
	model_free(m);
}

int main(void)
{
	RUN(slots_add_up);
	RUN(names_are_those_of_now);
	RUN(the_first_thread_has_a_name_without_proc);
	RUN(rates_are_over_the_last_seconds);
	return check_end();
}
