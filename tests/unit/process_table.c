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

static struct process_row *of(pid_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].pid == pid)
			return &rows[i];
	return NULL;
}

static void live(pid_t pid, uint64_t bytes, uint64_t peak)
{
	of(pid)->live_bytes = bytes;
	of(pid)->peak_bytes = peak;
	of(pid)->has_live = of(pid)->has_peak = true;
}

/* 10 has 20, which has 30 and the ended 40; 50 has ended. */
static void family(void)
{
	count = 0;
	row(10, 0);
	row(20, 10);
	row(30, 20);
	row(40, 20);
	row(50, 10);
	live(10, 1, 9);
	live(20, 10, 20);
	live(30, 100, 300);
	live(40, 1000, 4000);
	live(50, 10000, 50000);
	of(40)->ended = of(50)->ended = true;
	for (size_t i = 0; i < count; i++)
		rows[i].state = "";
}

TEST(sums_are_of_what_runs)
{
	family();
	processes_arrange(rows, count, 10);
	CHECK_INT(of(10)->sum_bytes, 111);
	CHECK_INT(of(20)->sum_bytes, 110);
	CHECK_INT(of(50)->sum_bytes, 0);
	CHECK_INT(of(10)->below, 4);
	CHECK_INT(of(20)->below, 2);
	CHECK_INT(of(30)->below, 0);
}

/* Numbers that were given again: the parent is the one that had the id. */
TEST(parents_by_id)
{
	count = 0;
	row(10, 0);
	row(20, 10);
	row(20, 10);
	row(30, 20);
	rows[1].id = 7;
	rows[1].ended = true;
	rows[2].id = 8;
	rows[3].parent_id = 7;
	processes_arrange(rows, count, 10);
	CHECK_STR(shape(), "10 >20 >>30 >20");
	CHECK_INT(rows[1].id, 7);
	rows[2].parent_id = 0; /* by pid: the one that runs */
	processes_arrange(rows, count, 10);
	CHECK_STR(shape(), "10 >20 >20 >>30");
}

TEST(launches_have_headings)
{
	family();
	row(60, 0);
	row(70, 60);
	row(80, 30); /* recorded by itself, but below one of ours */
	rows[5].group = rows[6].group = 1;
	rows[7].group = PROCESSES_ALONE;
	live(60, 5, 5);
	live(70, 7, 7);
	count = processes_heads(rows, count, PROCESSES_MAX);
	processes_arrange(rows, count, 10);
	CHECK_STR(shape(), "0 10 >20 >>30 >>>80 >>40 >50 0 60 >70");
	CHECK_INT(rows[0].kind, PROCESS_ALL);
	CHECK(rows[0].id == PROCESSES_ALL);
	CHECK_INT(rows[0].live_bytes, 111);
	CHECK_INT(rows[0].below, 6);
	CHECK_INT(rows[7].kind, PROCESS_HEAD);
	CHECK_INT(rows[7].live_bytes, 12);
	CHECK_STR(rows[7].command, "another launch");
	count = 1;
	rows[0] = (struct process_row){ .id = 5, .pid = 10, .kind = PROCESS_ONE };
	CHECK_INT(processes_heads(rows, count, PROCESSES_MAX), 1);
}

static struct process_line line[PROCESSES_MAX];

/* As `shape`, of the lines; "+n" behind what is folded. */
static const char *lines(struct process_lines_request r)
{
	static char text[4096];
	size_t n = processes_lines(rows, count, &r, line);
	char *out = text;

	*out = 0;
	for (size_t i = 0; i < n; i++) {
		const struct process_row *row = &rows[line[i].row];

		out += sprintf(
			out, "%s%.*s%d", i ? " " : "", (int)row->level, ">>>>>>>>", (int)row->pid);
		if (line[i].hidden)
			out += sprintf(out, "+%u", line[i].hidden);
	}
	return text;
}

TEST(lines_are_siblings_in_order)
{
	family();
	processes_arrange(rows, count, 10);
	CHECK_STR(lines((struct process_lines_request){ .reverse = true }), "10 >20 >>30 >>40 >50");
	CHECK_STR(lines((struct process_lines_request){ 0 }), "10 >50 >20 >>40 >>30");
	CHECK_STR(lines((struct process_lines_request){ .by = PROCESS_BY_PEAK }),
		"10 >50 >20 >>40 >>30");
	CHECK_STR(lines((struct process_lines_request){ .by = PROCESS_BY_SUM }),
		"10 >20 >>30 >>40 >50");
	CHECK_INT(line[1].last, 0);
	CHECK_INT(line[2].guides, 2);
	CHECK_INT(line[4].last, 1);
}

/* A shell that holds nothing and waits for a compiler stands where the compiler would. */
TEST(siblings_stand_by_what_is_below_them)
{
	static const enum process_column by[] = { PROCESS_BY_LIVE, PROCESS_BY_SUM, PROCESS_BY_PEAK,
		PROCESS_BY_RATE, PROCESS_BY_RSS };

	count = 0;
	row(10, 0);
	row(20, 10); /* the shell, */
	row(30, 20); /* its compiler, */
	row(40, 20); /* and another */
	row(50, 10); /* one that holds something itself */
	live(10, 1, 1);
	live(20, 2, 2);
	live(30, 60, 300);
	live(40, 50, 90);
	live(50, 100, 200);
	for (size_t i = 0; i < count; i++) {
		rows[i].state = "";
		rows[i].has_rate = rows[i].has_rss = true;
		rows[i].rate_bytes_per_s = (double)rows[i].live_bytes;
		rows[i].rss_bytes = rows[i].live_bytes;
	}
	processes_arrange(rows, count, 10);
	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
		CHECK_STR(lines((struct process_lines_request){ .by = by[i] }),
			"10 >20 >>30 >>40 >50");
		CHECK_STR(lines((struct process_lines_request){ .by = by[i], .reverse = true }),
			"10 >50 >20 >>40 >>30");
	}
	/* Peaks are not added: 300 and 90 are less than 350. */
	of(50)->peak_bytes = 350;
	CHECK_STR(lines((struct process_lines_request){ .by = PROCESS_BY_PEAK }),
		"10 >50 >20 >>30 >>40");
}

TEST(lines_are_folded_and_left_out)
{
	uint64_t folded[2] = { 0 };

	family();
	processes_arrange(rows, count, 10);
	folded[0] = of(20)->id;
	CHECK_STR(lines((struct process_lines_request){
			  .reverse = true, .folded = folded, .nfolded = 1 }),
		"10 >20+2 >50");
	CHECK_STR(lines((struct process_lines_request){ .reverse = true, .no_ended = true }),
		"10 >20 >>30");
	of(20)->ended = true; /* but a child of it runs */
	CHECK_STR(lines((struct process_lines_request){ .reverse = true, .no_ended = true }),
		"10 >20 >>30");
	of(30)->ended = true;
	CHECK_STR(lines((struct process_lines_request){ .reverse = true, .no_ended = true }), "10");
}

TEST(how_it_ended)
{
	CHECK_STR(processes_ended(0), "exit 0");
	CHECK_STR(processes_ended(3 << 8), "exit 3");
	CHECK_STR(processes_ended(11), "SIGSEGV");
	CHECK_STR(processes_ended(11 | 128), "SIGSEGV");
	CHECK_STR(processes_ended(-1), "ended");
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
	RUN(sums_are_of_what_runs);
	RUN(parents_by_id);
	RUN(launches_have_headings);
	RUN(lines_are_siblings_in_order);
	RUN(siblings_stand_by_what_is_below_them);
	RUN(lines_are_folded_and_left_out);
	RUN(how_it_ended);
	return check_end();
}
