/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/run/list_command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/run/failure.h"
#include "src/target/target.h"
#include "src/util/clock.h"
#include "src/util/text.h"
#include "src/util/units.h"

#define COMMAND_CELLS 40u

struct table {
	bool cut; /* a reader that is a program wants all of it */
};

/* `why`: what is to be said of the file, or NULL. */
static void row(const struct table *t, const char *pid, const char *state, const char *memory,
	const char *age, const char *command, const char *path, const char *why)
{
	char text[COMMAND_CELLS * 4 + 1];
	size_t used = text_elide(text, sizeof(text), command, COMMAND_CELLS, false, true);

	printf("%8s %-10s %7s %7s  %s%*s  %s%s%s\n", pid, state, memory, age,
		t->cut ? text : command, (int)(COMMAND_CELLS - used), "", path, why ? ": " : "",
		why ? why : "");
}

static int segment(void *ctx, const struct target_segment *s)
{
	static const char *const states[] = { [TARGET_RUNNING] = "running",
		[TARGET_EXITED] = "exited",
		[TARGET_DEAD] = "dead",
		[TARGET_ELSEWHERE] = "elsewhere",
		[TARGET_OUTSIDE] = "outside",
		[TARGET_UNREADABLE] = "unreadable" };
	const struct table *t = ctx;
	char pid[16] = "?", memory[UNITS_MAX], age[UNITS_MAX] = "?";
	char path[sizeof(s->path)], why[sizeof(s->why)];
	bool readable = s->state != TARGET_UNREADABLE;
	uint64_t now = clock_realtime_ns();

	if (s->process > 0 || s->pid > 0)
		snprintf(pid, sizeof(pid), "%d", (int)(s->process > 0 ? s->process : s->pid));
	if (s->created_ns && now > s->created_ns)
		units_duration(age, now - s->created_ns);
	/* Anyone may make a file there, of any name. */
	text_clean(path, sizeof(path), s->path, strlen(s->path));
	text_clean(why, sizeof(why), s->why, strlen(s->why));
	row(t, pid, states[s->state], units_bytes(memory, s->memory_bytes), age,
		readable ? s->command : "?", path, readable ? NULL : why);
	return 0;
}

/* `rc`: of target_list or target_clean. */
static int exit_status(int rc)
{
	return rc < 0 ? failure_print_errno("cannot read the segment directory", rc) : 0;
}

int list_command_print(void)
{
	struct table t = { .cut = isatty(STDOUT_FILENO) };

	row(&t, "PID", "STATE", "MEMORY", "AGE", "COMMAND", "SEGMENT", NULL);
	return exit_status(target_list(segment, &t));
}

static int unreadable_count(void *ctx, const struct target_segment *s)
{
	*(unsigned *)ctx += s->state == TARGET_UNREADABLE;
	return 0;
}

/* Programs that did not end by exit, so that there may be core files of them. */
struct crashed {
	unsigned count;
	pid_t pid; /* of one */
	char command[COMMAND_CELLS * 4 + 1];
};

static int crashed_count(void *ctx, const struct target_segment *s)
{
	struct crashed *c = ctx;

	if (s->state != TARGET_DEAD)
		return 0;
	c->count++;
	c->pid = s->pid;
	text_elide(c->command, sizeof(c->command), s->command, COMMAND_CELLS, false, true);
	return 0;
}

/* A core file is of no use to us without its segment. */
static void cores_warn(const struct crashed *before)
{
	struct crashed after = { 0 };

	if (before->count == 0 || target_list(crashed_count, &after) < 0 ||
		after.count >= before->count)
		return;
	fprintf(stderr,
		"heaptop: %u of them did not end by exit, such as process %d (%s): if there is a "
		"core "
		"file, -r cannot read it any more without a copy of the segment\n",
		before->count - after.count, (int)before->pid, before->command);
}

/* Asks a person; without one, the warning comes after. */
static bool cores_agree(const struct crashed *c)
{
	char answer[16] = "";

	if (c->count == 0 || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return true;
	fprintf(stderr,
		"heaptop: %u program%s did not end by exit, such as process %d (%s); -r needs the "
		"segment beside a core file. Remove all the same? [y/N] ",
		c->count, units_plural(c->count), (int)c->pid, c->command);
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

int list_command_clean(void)
{
	struct crashed crashed = { 0 };
	unsigned left = 0;
	int rc = target_list(crashed_count, &crashed);

	if (rc >= 0 && !cores_agree(&crashed)) {
		printf("nothing removed\n");
		return 0;
	}
	if (rc >= 0)
		rc = target_clean();
	if (rc < 0)
		return exit_status(rc);
	cores_warn(&crashed);
	printf("%d segment%s of ended programs removed\n", rc, units_plural((uint64_t)rc));
	rc = target_list(unreadable_count, &left);
	if (left)
		printf("%u file%s left that this heaptop cannot read, in use or not: \"heaptop "
		       "-l\" says why\n",
			left, left == 1 ? " is" : "s are");
	return exit_status(rc);
}
