/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asking a program for help: what a second viewer at it may do to the first, which is nothing. */
#include "src/read/cooperation.h"
#include "tests/unit/segment_fixture.h"

#define COMMAND_AT (offsetof(struct ht_header, coop) + offsetof(struct ht_coop, command))

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

int main(void)
{
	made_open(&made, &fixture_identity);
	made_fill(&made);
	RUN(another_viewer_waits_and_writes_nothing);
	made_close(&made);
	return check_end();
}
