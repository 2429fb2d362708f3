/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading wrong frees: all that the library counted comes back, and nothing that it cannot have. */
#include "src/read/read.h"
#include "tests/unit/segment_fixture.h"

#include "shm/wrong_frees.h"

static struct read_wrong_frees got;
static struct made made;

static struct read_segment *open_made(void)
{
	char message[READ_MESSAGE_MAX];
	struct read_segment *r = read_open(made.path, message);

	if (!r)
		made_give_up(message);
	return r;
}

TEST(none)
{
	struct read_segment *r;

	made_open(&made, &fixture_identity);
	r = open_made();
	CHECK_INT(read_wrong_frees(r, MADE_SITES, &got), 0);
	CHECK_INT(got.entries, 0);
	CHECK_INT(got.refused, 0);
	read_close(r);
	made_close(&made);
}

TEST(all_fields)
{
	const struct wrong_free w = { .kind = HT_WRONG_INSIDE,
		.alloc_site = 2,
		.addr = 0x7f1234567890,
		.bytes = 1000,
		.offset = 77,
		.want = 5 };
	struct read_segment *r;

	made_open(&made, &fixture_identity);
	wrong_frees_add(&made.s, &w, 3);
	wrong_frees_add(&made.s, &w, 3);
	r = open_made();
	CHECK_INT(read_wrong_frees(r, MADE_SITES, &got), 0);
	CHECK_INT(got.entries, 1);
	CHECK_INT(got.count[HT_WRONG_INSIDE], 2);
	CHECK_INT(got.entry[0].kind, HT_WRONG_INSIDE);
	CHECK_INT(got.entry[0].site, 3);
	CHECK_INT(got.entry[0].alloc_site, 2);
	CHECK_INT(got.entry[0].count, 2);
	CHECK_INT(got.entry[0].bytes, 2000);
	CHECK_INT(got.entry[0].addr, 0x7f1234567890);
	CHECK_INT(got.entry[0].offset, 77);
	CHECK_INT(got.entry[0].want, 5);
	read_close(r);
	made_close(&made);
}

/* Sites out of range, kinds that do not exist, entries without a mark or a count. */
TEST(broken_entries)
{
	const struct wrong_free w = { .kind = HT_WRONG_DOUBLE, .alloc_site = 1 };
	struct ht_wrong_frees *t;
	struct read_segment *r;

	made_open(&made, &fixture_identity);
	wrong_frees_add(&made.s, &w, 1);
	t = segment_at(&made.s, made.s.header->region[HT_REGION_WRONG_FREES].offset);
	memset(t->entry, 0, sizeof(t->entry));
	t->entry[0] = (struct ht_wrong_free){ .key = ht_wrong_key(0, MADE_SITES, 1), .count = 1 };
	t->entry[1] = (struct ht_wrong_free){ .key = ht_wrong_key(0, 1, MADE_SITES), .count = 1 };
	t->entry[2] = (struct ht_wrong_free){ .key = ht_wrong_key(7, 1, 1), .count = 1 };
	t->entry[3] = (struct ht_wrong_free){ .key = ht_wrong_key(0, 1, 1), .count = 0 };
	t->entry[4] = (struct ht_wrong_free){ .key = 1, .count = 1 };
	t->entry[HT_WRONG_MOST - 1] =
		(struct ht_wrong_free){ .key = ht_wrong_key(1, 3, 2), .count = 9 };
	r = open_made();
	CHECK_INT(read_wrong_frees(r, MADE_SITES, &got), 0);
	CHECK_INT(got.entries, 1);
	CHECK_INT(got.entry[0].count, 9);
	read_close(r);
	made_close(&made);
}

int main(void)
{
	RUN(none);
	RUN(all_fields);
	RUN(broken_entries);
	return check_end();
}
