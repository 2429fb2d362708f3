/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Retained sizes in a real heap, compared with brute force: delete a block, search the scan's graph
 * again. Without arguments, 50 random blocks of tests/targets/holders. Arguments: the pid of a
 * recorded program, and how many blocks (tests/soak/retained.py).
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/leak/analysis/holders.h"
#include "src/leak/analysis/roots.h"
#include "src/leak/scan.h"
#include "src/target/target.h"
#include "tests/check.h"
#include "tests/unit/ready_fixture.h"

#define FEW 50u

/* The search without one node, in the graph of a struct leak_holders. */
struct search {
	struct leak_holders *h;
	uint32_t nodes;
	uint8_t *reached;
	uint32_t *todo;
	unsigned blocks; /* to check */
	unsigned checked, with_more, wrong;
	uint64_t reachable; /* bytes, with all of them */
};

static uint64_t bytes_reached(struct search *s, uint32_t without)
{
	const struct leak_block *block = s->h->graph->blocks->block;
	uint32_t count = 1;
	uint64_t bytes = 0;

	memset(s->reached, 0, s->nodes);
	s->reached[0] = 1;
	s->todo[0] = 0;
	while (count > 0) {
		uint32_t from = s->todo[--count], cursor = 0, to;

		if (from >= s->h->roots && block[from - s->h->roots].birth != LEAK_BIRTH_UNSURE)
			bytes += block[from - s->h->roots].size;
		while ((to = leak_holders_next(s->h, from, &cursor)) != LEAK_NO_NODE)
			if (!s->reached[to] && to != without) {
				s->reached[to] = 1;
				s->todo[count++] = to;
			}
	}
	return bytes;
}

static void block_check(struct search *s, uint32_t i)
{
	uint64_t gone = s->reachable - bytes_reached(s, s->h->roots + i);
	uint32_t number = leak_holders_number(s->h, i);

	s->checked++;
	if (number == LEAK_NO_NODE)
		s->wrong += gone != 0;
	else
		s->wrong += s->h->bytes[number] != gone;
	s->with_more += gone > s->h->graph->blocks->block[i].size;
}

/* Half of them of any blocks, half of those that retain others. */
static void compare(void *ctx, const struct leak_holders *h)
{
	struct search *s = ctx;
	uint32_t n = h->graph->blocks->count, i = 0;

	s->h = (struct leak_holders *)(uintptr_t)h;
	s->nodes = h->roots + n;
	s->reached = malloc(s->nodes);
	s->todo = malloc(s->nodes * sizeof(*s->todo));
	CHECK(s->reached && s->todo && n > 0);
	s->reachable = bytes_reached(s, LEAK_NO_NODE);
	CHECK_INT(s->reachable, h->bytes[0]);
	srandom(3);
	for (unsigned k = 0; k < s->blocks / 2; k++)
		block_check(s, (uint32_t)random() % n);
	for (unsigned tries = 0; s->checked < s->blocks && tries < 100000; tries++) {
		i = (uint32_t)random() % n;
		if (leak_holders_number(h, i) != LEAK_NO_NODE &&
			h->blocks[leak_holders_number(h, i)] > 1)
			block_check(s, i);
	}
	free(s->reached);
	free(s->todo);
}

static void scan(pid_t pid, struct search *s)
{
	struct leak_scan_options options = { .pid = pid,
		.roots = LEAK_ROOT_ALL,
		.heuristics = ~0u,
		.copying = LEAK_COPY_AUTO,
		.holders = true,
		.inspect = compare,
		.inspect_ctx = s };
	char message[TRACE_MESSAGE_MAX];
	struct target_segment found;
	struct read_segment *segment;
	struct leak_result result;

	CHECK_INT(target_find(pid, &found, message), 0);
	segment = read_open(found.path, message);
	CHECK(segment != NULL);
	CHECK_INT(leak_scan(segment, &options, &result, message), 0);
	CHECK_INT(result.no_holders, 0);
	fprintf(stderr, "%u blocks checked, %u retain others, %u wrong; %llu bytes held, %.1f ms\n",
		s->checked, s->with_more, s->wrong, (unsigned long long)result.held.bytes,
		(double)result.holders_ns / 1e6);
	leak_result_free(&result);
	read_close(segment);
}

TEST(as_many_bytes_as_deleting_the_block_loses)
{
	struct search s = { .blocks = FEW };
	int in, status = 0;
	pid_t pid = ready_start("holders", &in);

	scan(pid, &s);
	CHECK_INT(s.checked, FEW);
	CHECK_INT(s.wrong, 0);
	CHECK(s.with_more >= FEW / 2);
	close(in);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
}

static int of_program(const char *pid, const char *blocks)
{
	struct search s = { .blocks = (unsigned)strtoul(blocks, NULL, 10) };

	scan((pid_t)strtol(pid, NULL, 10), &s);
	CHECK_INT(s.wrong, 0);
	CHECK(s.checked > 0);
	return check_end();
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return of_program(argv[1], argv[2]);
	RUN(as_many_bytes_as_deleting_the_block_loses);
	return check_end();
}
