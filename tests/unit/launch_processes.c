/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The processes of a launch: what is kept of them when their segments go. */
#include <stdio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include "src/model/processes.h"
#include "src/proc/proc.h"
#include "src/run/launch_processes.h"
#include "tests/unit/segment_fixture.h"

#define PID_GONE 0x3fffff0 /* above what Linux gives out */

static struct made made;
static struct launch_processes *l;

static struct target_segment segment(pid_t pid, uint32_t exec_gen, enum target_state state)
{
	struct target_segment t = { .pid = pid,
		.process = state == TARGET_RUNNING ? pid : 0,
		.exec_gen = exec_gen,
		.state = state,
		.created_ns = (uint64_t)pid,
		.command = "made --fast" };

	if (state == TARGET_RUNNING)
		CHECK_INT(proc_start_ticks(pid, &t.start_ticks), 0);
	snprintf(t.path, sizeof(t.path), "%s", made.path);
	return t;
}

static const struct launch_process *process(const struct target_segment *t)
{
	uint64_t id = processes_id(t->pid, t->start_ticks, t->pid_namespace);
	const struct launch_process *const *all;
	size_t count = launch_processes_all(l, &all);

	for (size_t i = 0; i < count; i++)
		if (all[i]->id == id)
			return all[i];
	return NULL;
}

static uint64_t live(void)
{
	uint64_t sum = 0;

	for (uint32_t site = 1; site < MADE_SITES; site++)
		sum += made_live_bytes(site);
	return sum;
}

TEST(ended_ones_are_kept)
{
	struct target_segment t = segment(PID_GONE, 0, TARGET_EXITED);
	struct snap_launch sum;

	l = launch_processes_new();
	launch_processes_note(l, &t);
	launch_processes_removing(l, t.path);
	launch_processes_tick(l);
	CHECK(process(&t) && process(&t)->ended);
	CHECK_STR(process(&t)->command, "made --fast");
	CHECK_INT(process(&t)->live_bytes, live());
	CHECK(process(&t)->peak_bytes >= live());
	CHECK_INT(process(&t)->status, -1);
	CHECK_STR(process(&t)->path, "");
	sum = launch_processes_sum(l, 0);
	CHECK_INT(sum.running, 0);
	CHECK_INT(sum.ended, 1);
	CHECK_INT(sum.live_bytes, 0);
	launch_processes_free(l);
}

TEST(running_ones_are_summed)
{
	struct target_segment t = segment(getpid(), 0, TARGET_RUNNING);
	struct snap_launch sum;

	l = launch_processes_new();
	made.s.header->state = HT_STATE_RUNNING;
	launch_processes_note(l, &t);
	launch_processes_tick(l);
	sum = launch_processes_sum(l, 0);
	CHECK_INT(sum.running, 1);
	CHECK_INT(sum.live_bytes, live());
	CHECK_INT(sum.peak_bytes, process(&t)->peak_bytes);
	sum = launch_processes_sum(l, process(&t)->id);
	CHECK_INT(sum.running, 0);
	CHECK_INT(sum.live_bytes, 0);
	made_free(&made, 1, 1);
	launch_processes_tick(l);
	sum = launch_processes_sum(l, 0);
	CHECK_INT(sum.live_bytes, live() - made_size(1, 1));
	CHECK(sum.peak_bytes >= live());
	made_alloc(&made, 1, 1);
	launch_processes_free(l);
	made.s.header->state = HT_STATE_EXITED;
}

/* Whether pidfds say how processes have ended. */
static bool has_statuses(void)
{
	unsigned major = 0, minor = 0;
	struct utsname u;

	uname(&u);
	sscanf(u.release, "%u.%u", &major, &minor);
	return major > 6 || (major == 6 && minor >= 15);
}

TEST(how_it_ended)
{
	pid_t child = fork();
	struct target_segment t;

	if (child == 0) {
		pause();
		_exit(1);
	}
	l = launch_processes_new();
	t = segment(child, 0, TARGET_RUNNING);
	made.s.header->state = HT_STATE_RUNNING;
	launch_processes_note(l, &t);
	CHECK(!process(&t)->ended);
	CHECK_INT(process(&t)->parent, 0); /* we are not recorded */
	kill(child, SIGTERM);
	CHECK_INT(waitpid(child, NULL, 0), child);
	launch_processes_tick(l);
	CHECK(process(&t)->ended);
	CHECK_INT(process(&t)->status, has_statuses() ? SIGTERM : -1);
	launch_processes_free(l);
	made.s.header->state = HT_STATE_EXITED;
}

TEST(what_the_viewer_itself_has_waited_for)
{
	struct target_segment t = segment(PID_GONE, 0, TARGET_EXITED);

	l = launch_processes_new();
	launch_processes_note(l, &t);
	launch_processes_ended(l, PID_GONE, 3 << 8);
	CHECK_INT(process(&t)->status, 3 << 8);
	launch_processes_free(l);
}

TEST(images_of_one_process_are_one)
{
	struct target_segment second = segment(getpid(), 1, TARGET_RUNNING),
			      first = segment(getpid(), 0, TARGET_RUNNING);
	const struct launch_process *const *all;

	l = launch_processes_new();
	snprintf(second.command, sizeof(second.command), "second");
	launch_processes_note(l, &first);
	launch_processes_note(l, &second);
	first.replaced = true;
	first.created_ns++; /* the clock was set back in between */
	launch_processes_note(l, &first);
	CHECK_INT(launch_processes_all(l, &all), 1);
	CHECK_INT(all[0]->exec_gen, 1);
	CHECK_STR(all[0]->command, "second");
	launch_processes_free(l);
}

/* The segments of all images before are removed, so that the newest has the first one's name. */
TEST(generations_start_again)
{
	struct target_segment t = segment(getpid(), 2, TARGET_RUNNING);

	l = launch_processes_new();
	made.s.header->state = HT_STATE_RUNNING;
	launch_processes_note(l, &t);
	launch_processes_removing(l, t.path);
	t.exec_gen = 0;
	t.created_ns++;
	snprintf(t.command, sizeof(t.command), "again");
	launch_processes_note(l, &t);
	CHECK_STR(process(&t)->path, made.path);
	CHECK_STR(process(&t)->command, "again");
	launch_processes_free(l);
	made.s.header->state = HT_STATE_EXITED;
}

/* Its end may be noticed before its last image is found. */
TEST(the_last_image_is_found_after_the_end)
{
	struct target_segment t = segment(PID_GONE, 0, TARGET_EXITED);

	l = launch_processes_new();
	launch_processes_note(l, &t);
	launch_processes_tick(l);
	CHECK(process(&t)->ended);
	t.exec_gen = 1;
	t.created_ns++;
	launch_processes_note(l, &t);
	CHECK(process(&t)->ended);
	CHECK_INT(process(&t)->exec_gen, 1);
	launch_processes_free(l);
}

/* The lowest peaks go, and whoever was below them stands below their parents. */
TEST(only_so_many_are_kept)
{
	const struct launch_process *const *all;
	struct snap_launch sum;

	l = launch_processes_new();
	for (unsigned i = 0; i < LAUNCH_PROCESSES_MAX + 40; i++) {
		struct target_segment t = segment(PID_GONE + (pid_t)i, 0, TARGET_EXITED);

		launch_processes_note(l, &t);
	}
	CHECK_INT(launch_processes_all(l, &all), LAUNCH_PROCESSES_MAX);
	sum = launch_processes_sum(l, 0);
	CHECK_INT(sum.ended, LAUNCH_PROCESSES_MAX + 40);
	launch_processes_free(l);
	launch_processes_free(NULL);
	CHECK_INT(launch_processes_all(NULL, &all), 0);
}

TEST(all_that_run_are_summed)
{
	struct snap_launch sum;

	l = launch_processes_new();
	made.s.header->state = HT_STATE_RUNNING;
	for (unsigned i = 0; i < LAUNCH_PROCESSES_MAX + 40; i++) {
		struct target_segment t = segment(PID_GONE + (pid_t)i, 0, TARGET_ELSEWHERE);

		launch_processes_note(l, &t);
	}
	sum = launch_processes_sum(l, 0);
	CHECK_INT(sum.running, LAUNCH_PROCESSES_MAX + 40);
	CHECK_INT(sum.live_bytes, (LAUNCH_PROCESSES_MAX + 40) * live());
	launch_processes_free(l);
	made.s.header->state = HT_STATE_EXITED;
}

int main(void)
{
	made_open(&made, &fixture_identity);
	made_fill(&made);
	RUN(ended_ones_are_kept);
	RUN(running_ones_are_summed);
	RUN(how_it_ended);
	RUN(what_the_viewer_itself_has_waited_for);
	RUN(images_of_one_process_are_one);
	RUN(generations_start_again);
	RUN(the_last_image_is_found_after_the_end);
	RUN(only_so_many_are_kept);
	RUN(all_that_run_are_summed);
	made_close(&made);
	return check_end();
}
