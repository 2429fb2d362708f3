/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree of processes. */
#include "src/model/processes.h"

#include <stdio.h>
#include <string.h>
#include "tests/check.h"

static struct process_row rows[PROCESSES_MAX + 4];
static size_t count;

static void row(pid_t pid, pid_t parent)
{
	rows[count] = (struct process_row){
		.id = (uint64_t)pid + 1000 * count, .pid = pid, .parent = parent
	};
	count++;
}

/* "10 >20 >>30": pids, with a > for each level. */
static const char *shape(void)
{
	static char text[4096];
	char *out = text;

	*out = 0;
	for (size_t i = 0; i < count && out < text + 4000; i++) {
		if (i)
			*out++ = ' ';
		for (unsigned k = 0; k < rows[i].level; k++)
			*out++ = '>';
		out += sprintf(out, "%d", (int)rows[i].pid);
	}
	return text;
}

static const char *arranged(pid_t first)
{
	processes_arrange(rows, count, first);
	return shape();
}

TEST(children_stand_below_their_parents)
{
	count = 0;
	row(40, 20);
	row(30, 10);
	row(20, 10);
	row(5, 0);
	row(10, 0);
	row(50, 20);
	CHECK_STR(arranged(10), "10 >20 >>40 >>50 >30 5");
	CHECK_INT(rows[1].last, 0); /* 20, and 30 is below it */
	CHECK_INT(rows[3].last, 1);
	CHECK_INT(rows[3].guides, 2); /* 20's line goes on beside its children */
	CHECK_INT(rows[4].last, 1);
	CHECK_INT(rows[4].guides, 0);
}

TEST(a_parent_that_is_not_there_is_none)
{
	count = 0;
	row(30, 777);
	row(20, 777);
	CHECK_STR(arranged(1), "20 30");
}

TEST(circles_do_not_hide_anybody)
{
	count = 0;
	row(10, 30);
	row(20, 10);
	row(30, 20);
	row(7, 7);
	row(9, 0);
	CHECK_STR(arranged(9), "9 7 10 >20 >>30");
}

/* Two rows of one pid: one has ended, and its number was given again. */
TEST(one_pid_twice)
{
	count = 0;
	row(10, 0);
	row(10, 0);
	row(20, 10);
	processes_arrange(rows, count, 10);
	CHECK_STR(shape(), "10 >20 10");
}

TEST(any_parents_keep_all_rows)
{
	unsigned seed = 1;

	for (int round = 0; round < 300; round++) {
		uint64_t sum = 0, after = 0;

		count = 0;
		for (size_t n = (size_t)round % (PROCESSES_MAX + 1); count < n;) {
			seed = seed * 1103515245u + 12345u;
			row((pid_t)(seed >> 16) % 300 + 1, (pid_t)(seed >> 8) % 300);
			sum += rows[count - 1].id;
		}
		processes_arrange(rows, count, 5);
		for (size_t i = 0; i < count; i++)
			after += rows[i].id;
		CHECK_INT(after, sum);
		for (size_t i = 0; i < count; i++)
			CHECK(rows[i].level <= (i ? rows[i - 1].level + 1 : 0));
	}
}

TEST(a_long_line_of_children)
{
	count = 0;
	for (pid_t pid = 1; pid <= (pid_t)PROCESSES_MAX; pid++)
		row(pid, pid - 1);
	processes_arrange(rows, count, 1);
	for (size_t i = 0; i < count; i++)
		CHECK(rows[i].pid > 0 && rows[i].level < 64);
}

TEST(what_names_a_process_makes_its_id)
{
	CHECK(processes_id(10, 100, 7) == processes_id(10, 100, 7));
	CHECK(processes_id(10, 100, 7) != processes_id(11, 100, 7));
	CHECK(processes_id(10, 100, 7) != processes_id(10, 101, 7));
	CHECK(processes_id(10, 100, 7) != processes_id(10, 100, 8));
	CHECK(processes_id(0, 0, 0) != 0);
}

int main(void)
{
	RUN(children_stand_below_their_parents);
	RUN(a_parent_that_is_not_there_is_none);
	RUN(circles_do_not_hide_anybody);
	RUN(one_pid_twice);
	RUN(any_parents_keep_all_rows);
	RUN(a_long_line_of_children);
	RUN(what_names_a_process_makes_its_id);
	return check_end();
}
