/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asking a program for help: what a second viewer at it may do to the first, which is nothing; and
 * a thread that does not answer. */
#include "src/read/cooperation.h"
#include "tests/unit/segment_fixture.h"

#define AT(field)  (offsetof(struct ht_header, coop) + offsetof(struct ht_coop, field))
#define COMMAND_AT AT(command)

static struct made made;

TEST(another_viewer_waits_and_writes_nothing)
{
	struct read_segment *one = made_read(&made), *two = made_read(&made);
	uint32_t command = HT_COOP_READ, after = 0;
	struct read_coop *first, *second;
	int rc;

	first = read_coop_open(one, &rc);
	CHECK(first != NULL);
	/* The first is about to have memory read. */
	CHECK_INT(pwrite(made.fd, &command, sizeof(command), COMMAND_AT), sizeof(command));
	second = read_coop_open(two, &rc);
	CHECK(second == NULL);
	CHECK_INT(rc, -EBUSY);
	CHECK_INT(pread(made.fd, &after, sizeof(after), COMMAND_AT), sizeof(after));
	CHECK_INT(after, HT_COOP_READ);
	read_coop_close(first);
	second = read_coop_open(two, &rc);
	CHECK(second != NULL);
	read_coop_close(second);
	read_close(one);
	read_close(two);
}

/* The copy sees that a request is not its own by the answer. */
TEST(a_request_that_the_thread_did_not_wait_for_is_answered_for_it)
{
	struct read_segment *s = made_read(&made);
	uint32_t request = 0, answer = 0;
	struct read_coop *c;
	int rc;

	c = read_coop_open(s, &rc);
	CHECK(c != NULL);
	CHECK_INT(read_coop_request(c, HT_COOP_THREAD, HT_COOP_END, 0, NULL, 0), -ETIMEDOUT);
	CHECK_INT(pread(made.fd, &request, sizeof(request), AT(request)), sizeof(request));
	CHECK_INT(pread(made.fd, &answer, sizeof(answer), AT(answer)), sizeof(answer));
	CHECK_INT(request, 1);
	CHECK_INT(answer, request);
	read_coop_close(c);
	read_close(s);
}

int main(void)
{
	made_open(&made, &fixture_identity);
	made_fill(&made);
	RUN(another_viewer_waits_and_writes_nothing);
	RUN(a_request_that_the_thread_did_not_wait_for_is_answered_for_it);
	made_close(&made);
	return check_end();
}
