/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Attaching and detaching, with a library in the place of ours (tests/tools/standin.c): it patches
 * getppid, which returns the process's own pid while attached.
 */
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <sys/mount.h>

#include "src/attach/enter.h"
#include "src/attach/phase.h"
#include "src/util/clock.h"
#include "tests/unit/attach_fixture.h"

#define SHORT_NS  UINT64_C(1000000000)
#define STEPS_MAX 2000
#define STEPS	  200
#define CYCLES	  5

static char library[512], holds[512];

static void library_find(void)
{
	char exe[400];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	exe[n > 0 ? n : 0] = '\0';
	if (strrchr(exe, '/'))
		*strrchr(exe, '/') = '\0';
	snprintf(library, sizeof(library), "%s/../tools/standin/libheaptop.so", exe);
	if (realpath(library, exe))
		snprintf(library, sizeof(library), "%s", exe);
	snprintf(holds, sizeof(holds), "%.*s/../holds.so", (int)(strrchr(library, '/') - library),
		library);
}

/* ---- programs ---- */

/* Holds the loader's lock, in a callback, until the other thread says so. */
static int hold(struct dl_phdr_info *info, size_t bytes, void *ctx)
{
	while (!shared->stop)
		in_registers();
	return 1;
}

static void in_loader(void)
{
	idle_add();
	dl_iterate_phdr(hold, NULL);
}

static void *wait_and_go_on(void *ctx)
{
	while (!shared->stop) {
		poll(NULL, 0, 1);
		judge(true);
	}
	return NULL;
}

/* In a constructor: the other thread must go on. */
static void await_other(void)
{
	shared->argument[0] = 1;
	while (!shared->stop) {
		unsigned long before = shared->rounds;

		for (int i = 0; i < 10000 && shared->rounds == before && !shared->stop; i++)
			poll(NULL, 0, 1);
		shared->wrong += shared->rounds == before && !shared->stop;
	}
}

static void in_constructor(void)
{
	char address[32];
	pthread_t thread;

	pthread_create(&thread, NULL, wait_and_go_on, NULL);
	snprintf(address, sizeof(address), "%lx", (unsigned long)(uintptr_t)await_other);
	setenv("HOLDS", address, 1);
	if (!dlopen(holds, RTLD_NOW))
		shared->wrong++;
	pthread_join(thread, NULL);
}

/* Nothing of it can be used. */
static void in_loops(void)
{
	for (volatile int i = 0; i < 100000; i++)
		;
	judge(true);
}

/* ---- viewers ---- */

static int begin_within(pid_t pid, uint64_t ns, const char *segment)
{
	struct attach_options o = { .library = library, .segment = segment, .timeout_ns = ns };
	struct attach_pauses p;

	return attach_begin(pid, &o, &p, message);
}

static int begin(pid_t pid)
{
	return begin_within(pid, TIMEOUT_NS, "segment");
}

static int end(pid_t pid)
{
	struct attach_pauses p;
	uint64_t stays;
	int rc = attach_end(pid, TIMEOUT_NS, &p, &stays, message);

	return rc == 0 && stays == 0 ? -EIO : rc;
}

static int cycle(pid_t pid)
{
	int rc = begin(pid);

	/* A viewer that was killed may have left it attached. */
	return rc != 0 && rc != -EALREADY ? rc : end(pid);
}

static int descriptors(pid_t pid)
{
	char path[64];
	int n = 0;

	for (int fd = 0; fd < 256; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
		n += access(path, F_OK) == 0;
	}
	return n;
}

TEST(programs_are_attached_to_and_left_again)
{
	for (size_t i = 0; i < ATTACHED && !check_failed_here; i++) {
		pid_t pid = start(attached[i].what);

		CHECK(await_rounds(2));
		CHECK_INT(attach_state_of(pid), ATTACH_NONE);
		for (int n = 0; n < CYCLES; n++) {
			CHECK_INT(begin(pid), 0);
			CHECK_INT(attach_state_of(pid), ATTACH_RECORDED);
			CHECK_INT(begin(pid), -EALREADY);
			CHECK_INT(end(pid), 0);
			CHECK_INT(attach_state_of(pid), ATTACH_LEFTOVER);
		}
		CHECK(await_rounds(2));
		CHECK_INT(shared->wrong, 0);
		CHECK_INT(shared->cut, 0);
		CHECK(finish(pid));
		report(attached[i].name);
	}
}

TEST(the_patched_function_is_called_while_attached)
{
	pid_t pid = start(in_calls);

	CHECK(await_rounds(2));
	CHECK_INT(shared->argument[0], 0);
	CHECK_INT(begin(pid), 0);
	CHECK(await_rounds(1000));
	CHECK_INT(shared->argument[0], 1);
	CHECK_INT(end(pid), 0);
	CHECK(await_rounds(1000));
	CHECK_INT(shared->argument[0], 0);
	CHECK(finish(pid));
}

TEST(a_viewer_may_be_killed_at_each_step_of_both)
{
	for (size_t i = 0; i < ATTACHED && !check_failed_here; i++) {
		pid_t pid = start(attached[i].what);
		int kills = 0;

		shared->killed = true;
		CHECK(await_rounds(1));
		/* What one has left, the next finds. */
		for (int step = (int)i; step < STEPS; step += 17)
			kills += viewer_until(pid, cycle, step);
		CHECK(kills > 2);
		CHECK(await_rounds(2));
		CHECK_INT(cycle(pid), 0);
		CHECK_INT(attach_state_of(pid), ATTACH_LEFTOVER);
		CHECK_INT(shared->wrong, 0);
		CHECK(attached[i].waits || shared->cut == 0);
		CHECK(finish(pid));
		report(attached[i].name);
	}
}

/* The library is not there yet. */
TEST(a_viewer_may_be_killed_while_it_loads_the_library)
{
	int kills = 0;
	bool killed = true;

	for (int step = 0; step < STEPS_MAX && killed && !check_failed_here; step += 37) {
		pid_t pid = start(in_poll);

		shared->killed = true;
		CHECK(await_rounds(1));
		killed = viewer_until(pid, begin, step);
		kills += killed;
		CHECK(await_rounds(1));
		CHECK_INT(cycle(pid), 0);
		CHECK(await_rounds(1));
		CHECK_INT(shared->wrong, 0);
		CHECK(finish(pid));
	}
	CHECK(kills > 4);
	report("a process that waits");
}

/* A process that does not see our files: it gets the library in memory. */
static void in_another_namespace(void)
{
	static bool apart;
	char folder[sizeof(library)];

	snprintf(folder, sizeof(folder), "%s", library);
	folder[1 + strcspn(folder + 1, "/")] = 0; /* all of the top folder that it is in */
	if (!apart && (unshare(CLONE_NEWNS) != 0 ||
			      mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
			      mount("none", folder, "tmpfs", 0, NULL) != 0))
		shared->wrong++;
	apart = true;
	in_poll();
}

TEST(a_process_that_does_not_see_the_library_gets_it_in_memory)
{
	pid_t pid;
	int before;

	if (geteuid() != 0)
		SKIP("needs root, to mount");
	pid = start(in_another_namespace);
	if (!await_rounds(2)) {
		finish(pid);
		SKIP("nothing can be mounted");
	}
	before = descriptors(pid);
	CHECK_INT(begin(pid), 0);
	CHECK_INT(attach_state_of(pid), ATTACH_RECORDED);
	CHECK_INT(descriptors(pid), before);
	CHECK_INT(end(pid), 0);
	CHECK_INT(descriptors(pid), before);
	CHECK(await_rounds(2));
	CHECK(finish(pid));
	report("another namespace");
}

TEST(the_descriptor_that_a_killed_viewer_left_is_closed)
{
	bool left = false;
	pid_t pid;
	int before;

	if (geteuid() != 0)
		SKIP("needs root, to mount");
	pid = start(in_another_namespace);
	if (!await_rounds(2)) {
		finish(pid);
		SKIP("nothing can be mounted");
	}
	before = descriptors(pid);
	shared->killed = true;
	for (int s = 0; s < STEPS_MAX && !left && viewer_until(pid, begin, s); s++)
		/* When the thread has come back, which opens files meanwhile. */
		left = await_rounds(2) && descriptors(pid) > before;
	CHECK(left);
	CHECK_INT(attach_state_of(pid), ATTACH_BROKEN_OFF);
	CHECK_INT(begin(pid), 0);
	CHECK_INT(descriptors(pid), before);
	CHECK_INT(end(pid), 0);
	CHECK(finish(pid));
	report("a descriptor that was left");
}

TEST(one_that_is_detached_meanwhile_gets_no_jumps)
{
	struct attach_options o = {
		.library = library, .segment = "segment", .timeout_ns = TIMEOUT_NS
	};
	struct attach_pauses p = { 0 };
	struct attach_job j = {
		.pauses = &p, .until_ns = clock_monotonic_ns() + TIMEOUT_NS, .message = message
	};
	pid_t pid = start(attached[0].what);

	CHECK(await_rounds(2));
	CHECK_INT(attach_process_open(&j.process, pid, ATTACH_TO, message), 0);
	CHECK_INT(attach_enter(&j, &o), 0);
	CHECK_INT(end(pid), 0); /* another viewer's */
	CHECK_INT(attach_enter_jumps(&j), -ESTALE);
	CHECK(strstr(message, "another heaptop has detached it") != NULL);
	CHECK_INT(attach_state_of(pid), ATTACH_LEFTOVER);
	attach_process_close(&j.process);
	CHECK(await_rounds(2));
	CHECK_INT(begin(pid), 0);
	CHECK_INT(end(pid), 0);
	CHECK_INT(shared->wrong, 0);
	CHECK(finish(pid));
	report(attached[0].name);
}

TEST(without_a_thread_that_can_be_used_time_runs_out)
{
	pid_t pid = start(in_loops);

	CHECK(await_rounds(1));
	CHECK_INT(begin_within(pid, SHORT_NS, "segment"), -ETIMEDOUT);
	CHECK(strstr(message, "did not call malloc") != NULL);
	CHECK_INT(attach_state_of(pid), ATTACH_LEFTOVER);
	CHECK(await_rounds(2));
	CHECK(finish(pid));
	report("a program that computes");
}

TEST(a_thread_that_the_loader_may_wait_for_is_not_used)
{
	pid_t pid = start(in_loader);

	CHECK(await_rounds(1));
	CHECK_INT(begin_within(pid, SHORT_NS, "segment"), -ETIMEDOUT);
	CHECK(strstr(message, "loader") != NULL);
	CHECK(finish(pid));
	report("a program that holds the loader's lock");
}

TEST(a_constructor_that_waits_for_a_thread_gets_what_it_waits_for)
{
	pid_t pid = start(in_constructor);

	CHECK(await_rounds(10));
	for (unsigned i = 0; i < 10000 && shared->argument[0] != 1; i++)
		poll(NULL, 0, 1); /* the constructor holds the loader's lock then */
	CHECK_INT(begin_within(pid, SHORT_NS, "segment"), -ETIMEDOUT);
	CHECK(strstr(message, "loader") != NULL);
	CHECK(await_rounds(100));
	CHECK_INT(shared->wrong, 0);
	CHECK(finish(pid));
	report("a constructor");
}

/* A child of a process that is attached to has the library and the jumps, too. */
static void in_a_child(void)
{
	pid_t child;

	idle_add();
	for (int i = 0; i < 20 && shared->argument[0] == 0; i++) {
		poll(NULL, 0, 1);
		shared->argument[0] = getppid() == getpid();
	}
	if (shared->argument[0] == 0 || shared->argument[1] != 0)
		return judge(true);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		shared->argument[1] = (uint64_t)getpid();
		while (!shared->stop) {
			poll(NULL, 0, 1);
			shared->argument[2] = getppid() == getpid() ? 1 : 2;
		}
		_exit(0);
	}
	while (!shared->stop)
		in_poll();
	waitpid(child, NULL, 0);
}

TEST(a_forked_child_is_left_on_its_own)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	uint64_t until = clock_monotonic_ns() + PATIENCE;
	pid_t pid = start(in_a_child), child;

	CHECK(await_rounds(1));
	CHECK_INT(begin(pid), 0);
	while ((shared->argument[1] == 0 || shared->argument[2] != 1) &&
		clock_monotonic_ns() < until)
		nanosleep(&pause, NULL);
	child = (pid_t)shared->argument[1];
	CHECK_INT(shared->argument[2], 1);
	CHECK_INT(attach_state_of(child), ATTACH_RECORDED);
	CHECK_INT(end(child), 0);
	while (shared->argument[2] != 2 && clock_monotonic_ns() < until)
		nanosleep(&pause, NULL);
	CHECK_INT(shared->argument[2], 2);
	CHECK_INT(attach_state_of(pid), ATTACH_RECORDED);
	CHECK_INT(end(pid), 0);
	CHECK(finish(pid));
	report("a forked child");
}

/* Executes another program when it is told to. */
static void in_loops_then_exec(void)
{
	if (shared->argument[0])
		execl("/bin/sleep", "sleep", "1000", (char *)NULL);
	in_loops();
}

/* Called between two stops. */
static bool execute_now(void *ctx, const char *text)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	uint64_t until = clock_monotonic_ns() + PATIENCE;
	char path[32], to[64] = "";
	const pid_t *pid = ctx;

	shared->argument[0] = 1;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)*pid);
	while (!strstr(to, "sleep") && clock_monotonic_ns() < until) {
		ssize_t n = readlink(path, to, sizeof(to) - 1);

		to[n > 0 ? n : 0] = '\0';
		nanosleep(&pause, NULL);
	}
	return true;
}

TEST(one_that_executes_another_program_meanwhile_is_told_of)
{
	pid_t pid = start(in_loops_then_exec);
	struct attach_options o = { .library = library,
		.segment = "segment",
		.timeout_ns = TIMEOUT_NS,
		.progress = execute_now,
		.ctx = &pid };
	struct attach_pauses p;

	CHECK(await_rounds(1));
	CHECK_INT(attach_begin(pid, &o, &p, message), -ESTALE);
	CHECK(strstr(message, "executed another program") != NULL);
	CHECK_INT(attach_state_of(pid), ATTACH_NONE);
	CHECK_INT(begin(pid), 0);
	CHECK_INT(end(pid), 0);
	report("a program that calls exec");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(what_cannot_be_attached_to_is_said)
{
	int status;
	pid_t pid = start(in_poll);

	CHECK(await_rounds(1));
	CHECK_INT(begin_within(pid, TIMEOUT_NS, "refuse"), -ESTALE);
	CHECK(strstr(message, "as asked") != NULL);
	CHECK_INT(attach_state_of(pid), ATTACH_LEFTOVER);
	kill(pid, SIGSTOP);
	waitpid(pid, &status, WUNTRACED);
	CHECK_INT(attach_check(pid, message), -EBUSY);
	CHECK(strstr(message, "kill -CONT") != NULL);
	kill(pid, SIGCONT);
	CHECK(finish(pid));
	CHECK_INT(attach_check(pid, message), -ESRCH);
	CHECK_INT(attach_check(2, message), -ENOTSUP); /* kthreadd, or not to be seen */
	CHECK_INT(attach_check(getpid(), message), -ENOTSUP);
}

int main(void)
{
	shared = mmap(NULL, sizeof(*shared), SHARED, -1, 0);
	library_find();
	RUN(programs_are_attached_to_and_left_again);
	RUN(the_patched_function_is_called_while_attached);
	RUN(a_viewer_may_be_killed_at_each_step_of_both);
	RUN(a_viewer_may_be_killed_while_it_loads_the_library);
	RUN(a_process_that_does_not_see_the_library_gets_it_in_memory);
	RUN(the_descriptor_that_a_killed_viewer_left_is_closed);
	RUN(one_that_is_detached_meanwhile_gets_no_jumps);
	RUN(without_a_thread_that_can_be_used_time_runs_out);
	RUN(a_thread_that_the_loader_may_wait_for_is_not_used);
	RUN(a_constructor_that_waits_for_a_thread_gets_what_it_waits_for);
	RUN(a_forked_child_is_left_on_its_own);
	RUN(one_that_executes_another_program_meanwhile_is_told_of);
	RUN(what_cannot_be_attached_to_is_said);
	return check_end();
}
