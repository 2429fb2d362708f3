/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Former blocks: which are found, and that a generation knows nothing of the one before. */
#include "preload/former.c"

#include "tests/check.h"

#define TOP UINT64_C(0x7fffffffffff)

static bool has(uint64_t addr, uint32_t counter)
{
	uint32_t found;

	return former_find(addr, &found) && found == counter;
}

TEST(found)
{
	static const uint64_t addresses[] = { 16, 0x1010, 0x7f0000000010, TOP & ~15ull };
	static const uint32_t counters[] = { 0, 1, HT_COUNTERS_MAX - 1 };
	uint32_t counter;

	CHECK(!former_find(0, &counter));
	for (unsigned i = 0; i < 4; i++)
		for (unsigned k = 0; k < 3; k++) {
			former_note(addresses[i], counters[k]);
			CHECK(has(addresses[i], counters[k]));
			CHECK(!former_find(addresses[i] + 8, &counter));
			CHECK(!former_find(addresses[i] ^ 0x100000, &counter));
		}
}

/* Mapped blocks all begin 16 bytes into a page: they do not take each other's places. */
TEST(pages)
{
	unsigned kept = 0;

	for (uint64_t i = 0; i < PLACES; i++)
		former_note(0x7f1234000010 + i * 4096, (uint32_t)i);
	for (uint64_t i = 0; i < PLACES; i++)
		kept += has(0x7f1234000010 + i * 4096, (uint32_t)i);
	CHECK(kept >= PLACES / 4);
}

/* Two addresses of one place: the later one is known. */
TEST(replaced)
{
	uint64_t a = 0x7f0000000010, b = a + 16;
	uint32_t counter;

	while (place_of(b) != place_of(a))
		b += 16;
	former_note(a, 5);
	former_note(b, 6);
	CHECK(!former_find(a, &counter));
	CHECK(has(b, 6));
}

/* What is not a pointer of user space, or not aligned, is not remembered as something else. */
TEST(odd)
{
	uint32_t counter;

	former_note(TOP + 17, 7);
	former_note(24, 7);
	CHECK(!former_find(TOP + 17, &counter));
	CHECK(!former_find(24, &counter));
	CHECK(!former_find(16, &counter) || counter != 7);
}

TEST(forgotten)
{
	uint32_t counter;

	for (unsigned i = 0; i < 300; i++) {
		former_note(0x7f0000000010, 9);
		CHECK(has(0x7f0000000010, 9));
		former_forget();
		CHECK(!former_find(0x7f0000000010, &counter));
	}
}

int main(void)
{
	RUN(found);
	RUN(pages);
	RUN(replaced);
	RUN(odd);
	RUN(forgotten);
	return check_end();
}
