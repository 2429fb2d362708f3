/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Results of leak scans as bytes: that of a real scan comes back the same, and nothing that is cut
 * off or spoilt makes an index that is outside of what came.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/leak/analysis/result_bytes.h"
#include "src/leak/scan.h"
#include "src/scan/scan_outcome.h"
#include "src/target/target.h"
#include "tests/check.h"

#define SPOILS 5000u

static struct bytes whole; /* an outcome */

/* tests/targets/leaks, which waits until `*in` is closed. */
static pid_t leaks_start(int *in)
{
	const char *build = getenv("B");
	char library[512], program[512], line[128] = "";
	int to[2], from[2];
	FILE *said;
	pid_t pid;

	snprintf(library, sizeof(library), "%s/libheaptop.so", build ? build : "build");
	snprintf(program, sizeof(program), "%s/tests/targets/leaks", build ? build : "build");
	CHECK(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0);
	pid = fork();
	if (pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		setenv("LD_PRELOAD", library, 1);
		execl(program, program, "wait", (char *)NULL);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	said = fdopen(from[0], "r");
	while (strcmp(line, "ready\n") != 0 && fgets(line, sizeof(line), said))
		;
	fclose(said);
	*in = to[1];
	return pid;
}

static void scan(pid_t pid, struct scan_outcome *o)
{
	const struct leak_scan_options options = { .pid = pid,
		.roots = LEAK_ROOT_ALL,
		.heuristics = ~0u,
		.copying = LEAK_COPY_ALWAYS,
		.why = true,
		.contents = true,
		.behind = true,
		.holders = true };
	char message[TRACE_MESSAGE_MAX];
	struct target_segment found;
	struct read_segment *segment;

	CHECK_INT(target_find(pid, &found, message), 0);
	segment = read_open(found.path, message);
	CHECK(segment != NULL);
	scan_outcome_make(o, segment, &options);
	CHECK_STR(o->failed, "");
	read_close(segment);
}

static bool same(const struct bytes *a, const struct bytes *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

static bool runs_are_inside(const struct leak_result *r)
{
	for (size_t i = 0; i < r->rows; i++)
		if (r->row[i].first_block + (uint64_t)r->row[i].blocks > r->block_count ||
			(r->row[i].type && r->row[i].type >= r->text_bytes))
			return false;
	for (size_t i = 0; i < r->block_count; i++)
		if (r->block[i].first_step + (uint64_t)r->block[i].steps > r->step_count ||
			r->block[i].first_holder + (uint64_t)r->block[i].holder_steps >
				r->step_count)
			return false;
	for (size_t i = 0; i < r->holders; i++)
		if (r->holder[i].parent != LEAK_NONE && r->holder[i].parent >= i)
			return false;
	return true;
}

static bool graph_is_inside(const struct leak_lost_graph *l, size_t rows)
{
	for (uint32_t i = 0; i < l->count; i++) {
		if ((l->row[i] != LEAK_NONE && l->row[i] >= rows) ||
			(l->leader[i] != LEAK_NONE && l->leader[i] >= l->count) ||
			l->first[i] > l->first[i + 1])
			return false;
		for (uint64_t e = l->first[i]; e < l->first[i + 1]; e++)
			if (l->edge[e] >= l->count)
				return false;
	}
	return true;
}

TEST(what_a_scan_found_comes_back_the_same)
{
	struct scan_outcome here, there;
	struct bytes again = { 0 };
	struct bytes_cursor c;
	int in, status;
	pid_t pid = leaks_start(&in);

	scan(pid, &here);
	CHECK(here.result.rows > 20 && here.result.block_count > 20 && here.result.holders > 0);
	CHECK(here.result.lost_graph.count > 10 && here.result.cycles > 0);
	CHECK(here.result.has_contents && here.result.text_bytes > 10);
	scan_outcome_put(&whole, &here);
	c = bytes_begin(&whole);
	CHECK_INT(scan_outcome_get(&c, &there), 0);
	CHECK(c.at == c.end);
	CHECK_STR(there.result.access.how, here.result.access.how);
	CHECK_STR(there.result.text + there.result.holder[0].root,
		here.result.text + here.result.holder[0].root);
	CHECK(runs_are_inside(&there.result));
	CHECK(graph_is_inside(&there.result.lost_graph, there.result.rows));
	scan_outcome_put(&again, &there);
	CHECK(same(&whole, &again));
	bytes_free(&again);
	scan_outcome_free(&here);
	scan_outcome_free(&there);
	close(in);
	CHECK_INT(waitpid(pid, &status, 0), pid);
}

TEST(what_is_cut_off_is_refused)
{
	struct scan_outcome o;
	size_t step = whole.len / 2000 + 1;

	for (size_t len = 0; len < whole.len; len += step) {
		struct bytes_cursor c = { whole.data, whole.data + len, false };

		CHECK_INT(scan_outcome_get(&c, &o), -EPROTO);
	}
}

TEST(what_is_spoilt_stays_inside)
{
	uint8_t *copy = malloc(whole.len);
	unsigned taken = 0;

	CHECK(copy != NULL);
	srandom(7);
	for (unsigned i = 0; i < SPOILS; i++) {
		struct bytes_cursor c = { copy, copy + whole.len, false };
		struct scan_outcome o;

		memcpy(copy, whole.data, whole.len);
		for (unsigned k = 0; k <= i % 3; k++)
			copy[(size_t)random() % whole.len] = (uint8_t)random();
		if (scan_outcome_get(&c, &o) != 0)
			continue;
		taken++;
		CHECK(runs_are_inside(&o.result));
		CHECK(graph_is_inside(&o.result.lost_graph, o.result.rows));
		scan_outcome_free(&o);
	}
	CHECK(taken > 0 && taken < SPOILS);
	free(copy);
}

/* The byte before the arrays says whether blocks were requested. */
TEST(blocks_that_were_not_requested_are_none)
{
	struct leak_shown shown[2] = { { .lost = LEAK_NONE }, { .lost = LEAK_NONE } };
	struct leak_result r = { .block = shown, .block_count = 2, .access = { .how = "" } }, out;
	struct bytes b = { 0 };
	unsigned taken = 0;

	leak_result_bytes_put(&b, &r);
	for (size_t i = 0; i < b.len; i++) {
		struct bytes_cursor c = bytes_begin(&b);
		uint8_t was = b.data[i];

		b.data[i] = 0;
		if (leak_result_bytes_get(&c, &out) == 0) {
			taken += out.block == NULL;
			CHECK(out.block || out.block_count == 0);
			leak_result_free(&out);
		}
		b.data[i] = was;
	}
	CHECK(taken > 0);
	bytes_free(&b);
}

TEST(a_failure_crosses_with_its_reason)
{
	struct scan_outcome o = { .failed = "no leak scan: it ended\n", .refused = -EPERM }, there;
	struct bytes b = { 0 };
	struct bytes_cursor c;

	scan_outcome_put(&b, &o);
	c = bytes_begin(&b);
	CHECK_INT(scan_outcome_get(&c, &there), 0);
	CHECK_STR(there.failed, "no leak scan: it ended?");
	CHECK_INT(there.refused, -EPERM);
	bytes_free(&b);
}

int main(void)
{
	RUN(what_a_scan_found_comes_back_the_same);
	RUN(what_is_cut_off_is_refused);
	RUN(what_is_spoilt_stays_inside);
	RUN(blocks_that_were_not_requested_are_none);
	RUN(a_failure_crosses_with_its_reason);
	bytes_free(&whole);
	return check_end();
}
