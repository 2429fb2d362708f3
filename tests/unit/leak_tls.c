/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/leak/tls: where the data of threads are, of this very process; and what roots there are
 * called. */
#include "src/leak/analysis/tls.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

#include "src/leak/analysis/root_names.h"
#include "tests/check.h"

static __thread uint64_t mine[64];

struct thread {
	int tid;
	uint64_t pointer, first, last, own; /* own: what it is described by */
	sem_t seen, end;
};

static void thread_note(struct thread *t)
{
	t->tid = gettid();
	t->pointer = (uint64_t)(uintptr_t)__builtin_thread_pointer();
	t->first = (uint64_t)(uintptr_t)&mine[0];
	t->last = (uint64_t)(uintptr_t)&mine[63];
	t->own = (uint64_t)pthread_self();
}

static void *thread_run(void *arg)
{
	struct thread *t = arg;

	thread_note(t);
	sem_post(&t->seen);
	sem_wait(&t->end);
	return NULL;
}

static bool lies_in(const struct leak_range *r, uint64_t addr)
{
	return addr >= r->start && addr + sizeof(uint64_t) <= r->end;
}

static void check_thread(struct leak_space *s, const struct thread *t)
{
	struct leak_thread_places who = { .tid = t->tid, .data = t->pointer };
	struct leak_root_context found = { .space = s, .thread = &who, .threads = 1 };
	char text[64], want[64];

	who.tls = leak_tls_of(s, t->pointer);
	CHECK(lies_in(&who.tls, t->first));
	CHECK(lies_in(&who.tls, t->last));
	CHECK(lies_in(&who.tls, t->own));
	CHECK(who.tls.end - who.tls.start < 65536);
	leak_root_names_text(&found, t->first, text, sizeof(text));
	snprintf(want, sizeof(want), "tls of thread %d", t->tid);
	CHECK_STR(text, want);
	leak_root_names_text(&found, who.tls.start - 8, text, sizeof(text));
	CHECK(!strstr(text, "tls"));
}

TEST(of_the_first_thread_and_of_another)
{
	struct thread first, other;
	struct leak_space s;
	pthread_t id;

	sem_init(&other.seen, 0, 0);
	sem_init(&other.end, 0, 0);
	CHECK_INT(pthread_create(&id, NULL, thread_run, &other), 0);
	sem_wait(&other.seen);
	thread_note(&first);
	CHECK_INT(leak_space_open(&s, getpid()), 0);
	leak_space_freeze(&s);
	check_thread(&s, &first);
	check_thread(&s, &other);
	leak_space_close(&s);
	sem_post(&other.end);
	pthread_join(id, NULL);
}

TEST(of_no_thread)
{
	static uint64_t words[512]; /* zeros */
	static uint64_t self[512]; /* begins as a thread does, and has no variables */
	struct leak_range r;
	struct leak_space s;

	self[0] = self[2] = (uint64_t)(uintptr_t)self;
	CHECK_INT(leak_space_open(&s, getpid()), 0);
	leak_space_freeze(&s);
	r = leak_tls_of(&s, 0);
	CHECK(r.start == 0 && r.end == 0);
	r = leak_tls_of(&s, 8);
	CHECK(r.start == 0 && r.end == 0);
	r = leak_tls_of(&s, (uint64_t)(uintptr_t)words);
	CHECK(r.start == 0 && r.end == 0);
	r = leak_tls_of(&s, (uint64_t)(uintptr_t)self);
	CHECK(r.start == (uint64_t)(uintptr_t)self && r.end > r.start);
	leak_space_close(&s);
}

int main(void)
{
	RUN(of_the_first_thread_and_of_another);
	RUN(of_no_thread);
	return check_end();
}
