/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readings that fail say why; the thread that makes them hands each over once. Real programs are
 * read in tests/e2e/memory.py. */
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "src/memory/map_reader.h"
#include "tests/check.h"

static int image; /* stands for one */

#define NOWHERE "/nonexistent/heaptop-1"

static void check_why(pid_t pid, const char *why)
{
	struct map *m =
		map_reader_read(&(struct map_reader_of){ .path = NOWHERE, .pid = pid }, NULL);

	CHECK(m != NULL && !m->account.known && m->rows == 0);
	CHECK(m && m->account.why && strstr(m->account.why, why));
	map_unref(m);
}

TEST(what_cannot_be_had_says_why)
{
	pid_t child = fork();

	if (child == 0)
		pause();
	check_why(0, "cannot be seen from here");
	check_why(getpid(), "cannot be read");
	kill(child, SIGKILL);
	waitid(P_PID, (id_t)child, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	check_why(child, "gone"); /* a zombie has no mappings */
	waitpid(child, NULL, 0);
	check_why(child, "gone");
}

TEST(a_reading_is_handed_over_once)
{
	const struct map_reader_of ours = { .path = NOWHERE, .pid = getpid() };
	struct map_reader *m = map_reader_new(&ours, &image);
	struct pollfd p = { map_reader_fd(m), POLLIN, 0 };

	CHECK(map_reader_is_of(m, NOWHERE, &image));
	CHECK(!map_reader_is_of(m, NOWHERE, m) && !map_reader_is_of(m, "/other", &image));
	CHECK(!map_reader_collect(m) && map_reader_newest(m) == NULL);
	map_reader_want(m);
	map_reader_want(m); /* one is on its way */
	CHECK_INT(poll(&p, 1, -1), 1);
	CHECK(map_reader_collect(m));
	CHECK(!map_reader_collect(m));
	CHECK(map_reader_newest(m) && map_reader_newest(m)->owner == &image);
	CHECK(map_reader_newest(m)->account.again_ns >= MAP_READER_FIRST_NS);
	CHECK(map_reader_newest(m)->account.again_ns < MAP_READER_EVERY_NS);
	map_reader_want(m); /* not so soon */
	CHECK_INT(poll(&p, 1, 0), 0);
	map_reader_free(m);
}

TEST(what_takes_long_is_read_less_often_but_read)
{
	const uint64_t s = 1000000000;
	struct map_account a = { .cpu_ns = s / 100, .took_ns = 3 * s };

	CHECK_INT(map_reader_every_ns(&a, s, 0), s); /* the machine was busy, not we */
	CHECK_INT(map_reader_every_ns(&a, 5 * s, 0), 5 * s);
	a.cpu_ns = s / 2;
	CHECK_INT(map_reader_every_ns(&a, s, s), 5 * s);
	a.cpu_ns = 8 * s;
	CHECK_INT(map_reader_every_ns(&a, s, 0), MAP_READER_MOST_NS);
	CHECK_INT(map_reader_every_ns(&a, s, 9 * s), 17 * s); /* half of the time at most */
}

TEST(it_can_be_left_while_it_reads)
{
	for (int i = 0; i < 20; i++) {
		const struct map_reader_of ours = { .path = NOWHERE, .pid = getpid() };
		struct map_reader *m = map_reader_new(&ours, NULL);

		map_reader_want(m);
		map_reader_free(m);
	}
	map_reader_free(NULL);
}

int main(void)
{
	RUN(what_cannot_be_had_says_why);
	RUN(a_reading_is_handed_over_once);
	RUN(what_takes_long_is_read_less_often_but_read);
	RUN(it_can_be_left_while_it_reads);
	return check_end();
}
