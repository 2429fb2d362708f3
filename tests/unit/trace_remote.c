/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls in another process: what they return, and that its threads find nothing changed, also when
 * the viewer is killed.
 */
#include <sys/syscall.h>

#include "src/trace/remote.h"
#include "src/trace/unwind.h"
#include "tests/unit/traced_fixture.h"

#define STEPS_MAX 400

/* What a function may do to a thread: all registers that it need not keep, errno, its stack. */
__attribute__((target("avx2"))) static void scribble(
	uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	char stack[8192];
	const uint64_t given[6] = { a, b, c, d, e, f };

	memset(stack, 0xa5, sizeof(stack));
	__asm__ volatile("" ::"r"(stack) : "memory");
	for (int i = 0; i < 6; i++)
		shared->argument[i] = given[i];
	__asm__ volatile("vpcmpeqd %%ymm0,%%ymm0,%%ymm0; vpcmpeqd %%ymm7,%%ymm7,%%ymm7\n"
			 "vpcmpeqd %%ymm15,%%ymm15,%%ymm15; vpcmpeqd %%ymm8,%%ymm8,%%ymm8\n"
			 "fldpi; fldpi" ::
				 : "xmm0", "xmm7", "xmm8", "xmm15", "st", "st(1)");
	errno = EDOM;
	getppid();
	errno = ERANGE;
	shared->scribbled++;
}

static void lend(uint64_t what)
{
	shared->lent = what;
}

/* What is promised when it was lent. */
static void give_back(uint64_t what)
{
	if (shared->lent != 0 && shared->lent != what)
		shared->wrong++;
	shared->lent = 0;
}

/* ---- the viewer ---- */

struct result {
	bool stopped, begun, parent_right, error_right, mapped, called, lent, ended;
};

/* Killed at any step of this, too, the thread gives back what it was lent. */
static bool promise(struct trace_remote *r)
{
	const uint64_t undo = (uint64_t)(uintptr_t)give_back;
	uint64_t what[6] = { 4711 }, numbers[6] = { 11, 12, 13, 14, 15, 16 };
	bool lent = trace_remote_promise(r, undo, what[0]) == 0 &&
		    trace_remote_call(r, (uint64_t)(uintptr_t)lend, what, PATIENCE) == 0 &&
		    trace_remote_call(r, (uint64_t)(uintptr_t)scribble, numbers, PATIENCE) == 0 &&
		    shared->lent == what[0];

	trace_remote_promise_end(r);
	return lent && trace_remote_call(r, undo, what, PATIENCE) == 0 && shared->lent == 0;
}

static void calls(struct trace_remote *r, pid_t pid, struct result *out)
{
	uint64_t none[6] = { 0 }, numbers[6] = { 11, 12, 13, 14, 15, 16 };
	uint64_t map[6] = { 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		(uint64_t)-1, 0 };
	uint64_t close_bad[6] = { 9999 };
	uint64_t unmap[6] = { 0, 4096 };
	long at;

	out->parent_right = trace_remote_syscall(r, SYS_gettid, none) == pid;
	out->error_right = trace_remote_syscall(r, SYS_close, close_bad) == -EBADF;
	at = trace_remote_syscall(r, SYS_mmap, map);
	unmap[0] = (uint64_t)at;
	out->mapped = at > 0 && trace_memory_write(r->memory, (uint64_t)at, "abc", 3) &&
		      trace_remote_syscall(r, SYS_munmap, unmap) == 0;
	out->called = trace_remote_call(r, (uint64_t)(uintptr_t)scribble, numbers, PATIENCE) == 0;
	out->lent = promise(r);
}

static const struct trace_module *libc_of(const struct trace_image *i)
{
	struct trace_symbol s;

	for (size_t n = 0; n < i->modules; n++)
		if (trace_image_symbol(i, &i->module[n], "gnu_get_libc_version", &s))
			return &i->module[n];
	return NULL;
}

/* A thread that a killed viewer has sent away comes back first: its stack has room for one call. */
static bool stop_settled(struct trace_stop *s, pid_t pid, const struct trace_remote_code *c,
	const struct trace_image *i)
{
	const struct timespec pause = { .tv_nsec = 200000 };
	uint64_t until = clock_monotonic_ns() + PATIENCE;
	char message[TRACE_MESSAGE_MAX];

	while (clock_monotonic_ns() < until && trace_stop(s, pid, "attached to", message) == 0) {
		/* A signal of its own may come first. */
		if (s->whole && s->thread[0].held && !trace_remote_is_underway(c, i, &s->thread[0]))
			return true;
		trace_stop_release(s);
		nanosleep(&pause, NULL);
	}
	return false;
}

static bool is_slow,
	slow; /* the viewer seldom gets a processor: after each second poll, an hour later */
static uint64_t late_ns;

int __real_waitid(idtype_t type, id_t id, siginfo_t *info, int options);
int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options);
uint64_t __real_clock_monotonic_ns(void);
uint64_t __wrap_clock_monotonic_ns(void);

int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	static unsigned polls;

	siginfo_t by_then;

	if (!slow || ++polls % 2 == 0)
		return __real_waitid(type, id, info, options);
	(void)__real_waitid(type, id, &by_then, (options & ~WNOHANG) | WNOWAIT);
	late_ns += UINT64_C(3600000000000);
	return 0;
}

uint64_t __wrap_clock_monotonic_ns(void)
{
	return __real_clock_monotonic_ns() + late_ns;
}

static void view(pid_t pid, struct result *out)
{
	struct trace_remote_code code;
	struct trace_memory memory;
	struct trace_image image;
	struct trace_remote r;
	struct trace_stop s;

	*out = (struct result){ 0 };
	if (trace_memory_open(&memory, pid) != 0 || trace_image_read(&image, pid, &memory) != 0)
		return;
	if (trace_remote_code_find(&code, &image, libc_of(&image)) &&
		stop_settled(&s, pid, &code, &image)) {
		shared->wrong += shared->lent != 0; /* since a viewer was killed */
		out->stopped = s.whole && s.thread[0].held;
		if (out->stopped &&
			trace_remote_begin(&r, &s, &s.thread[0], &memory, &code, false) == 0) {
			out->begun = true;
			slow = is_slow;
			calls(&r, pid, out);
			out->ended = trace_remote_end(&r);
			slow = false;
		}
		trace_stop_release(&s);
	}
	trace_image_free(&image);
	trace_memory_close(&memory);
}

/* In a process of its own, which dies at a step; returns whether it did. */
static bool view_until(pid_t pid, int fatal)
{
	pid_t viewer = fork();
	int status;

	if (viewer == 0) {
		struct result out;

		step_number = 0;
		step_fatal = fatal;
		view(pid, &out);
		_exit(0);
	}
	waitpid(viewer, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

TEST(calls_return_what_they_should_and_change_nothing)
{
	for (size_t i = 0; i < PROGRAMS; i++) {
		pid_t pid = start(programs[i].what);
		struct result r;

		CHECK(await_rounds(1));
		for (int n = 0; n < 20; n++) {
			is_slow = n % 2;
			view(pid, &r);
			/* A signal of its own may come first. */
			if (!r.stopped)
				continue;
			CHECK(r.begun && r.parent_right && r.error_right && r.mapped && r.called &&
				r.lent && r.ended);
			CHECK_INT(shared->argument[0], 11);
			CHECK_INT(shared->argument[5], 16);
		}
		is_slow = false;
		CHECK(await_rounds(2));
		CHECK(shared->scribbled > 0);
		CHECK_INT(shared->wrong, 0);
		CHECK_INT(shared->cut, 0);
		CHECK(finish(pid));
		if (check_failed_here)
			fprintf(stderr, "  in %s\n", programs[i].name);
	}
}

TEST(a_viewer_may_be_killed_at_each_step)
{
	for (size_t i = 0; i < PROGRAMS; i++) {
		pid_t pid = start(programs[i].what);
		int steps = 0;

		shared->killed = true;
		CHECK(await_rounds(1));
		while (steps < STEPS_MAX && view_until(pid, steps))
			steps += 1 + (int)i % 3;
		CHECK(steps > 20 && steps < STEPS_MAX);
		CHECK(await_rounds(2));
		CHECK_INT(shared->lent, 0);
		CHECK_INT(shared->wrong, 0);
		CHECK(programs[i].waits || shared->cut == 0);
		CHECK(finish(pid));
		if (check_failed_here)
			fprintf(stderr, "  in %s, %d steps\n", programs[i].name, steps);
	}
}

int main(void)
{
	shared = mmap(NULL, sizeof(*shared), SHARED, -1, 0);
	RUN(calls_return_what_they_should_and_change_nothing);
	RUN(a_viewer_may_be_killed_at_each_step);
	return check_end();
}
