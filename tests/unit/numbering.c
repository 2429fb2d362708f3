/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers for byte strings: dense, stable while the table grows, and by content alone. */
#include "src/util/numbering.h"
#include "tests/check.h"

TEST(same_key_same_number)
{
	struct numbering n = { 0 };
	uint32_t number;
	bool is_new;
	size_t len;

	CHECK(!numbering_find(&n, "one", 3, &number));
	CHECK_INT(numbering_add(&n, "one", 3, &is_new), 0);
	CHECK(is_new);
	CHECK_INT(numbering_add(&n, "two", 4, &is_new), 1);
	CHECK(is_new);
	CHECK_INT(numbering_add(&n, "one more", 3, &is_new), 0);
	CHECK(!is_new);
	CHECK_STR(numbering_key(&n, 1, &len), "two");
	CHECK_INT(len, 4);
	CHECK_INT(n.count, 2);
	CHECK(!n.failed);
	CHECK(numbering_find(&n, "two", 4, &number) && number == 1);
	CHECK(!numbering_find(&n, "three", 5, &number));
	numbering_free(&n);
	CHECK_INT(n.count, 0);
}

TEST(bytes_and_lengths_differ)
{
	struct numbering n = { 0 };

	CHECK_INT(numbering_add(&n, "", 0, NULL), 0);
	CHECK_INT(numbering_add(&n, "\0", 1, NULL), 1);
	CHECK_INT(numbering_add(&n, "\0\0", 2, NULL), 2);
	CHECK_INT(numbering_add(&n, "12345678", 8, NULL), 3);
	CHECK_INT(numbering_add(&n, "12345678\0", 9, NULL), 4);
	CHECK_INT(numbering_add(&n, "", 0, NULL), 0);
	numbering_free(&n);
}

TEST(many_keys)
{
	struct numbering n = { 0 };
	int wrong = 0;

	for (unsigned i = 0; i < 100000; i++)
		wrong += numbering_add(&n, &i, sizeof(i), NULL) != i;
	for (unsigned i = 0; i < 100000; i++)
		wrong += numbering_add(&n, &i, sizeof(i), NULL) != i;
	CHECK_INT(wrong, 0);
	CHECK_INT(n.count, 100000);
	CHECK(!n.failed);
	numbering_free(&n);
}

int main(void)
{
	RUN(same_key_same_number);
	RUN(bytes_and_lengths_differ);
	RUN(many_keys);
	return check_end();
}
