/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Double frees shortly after an attach, in this very process, whose libc does not notice them: a
 * block may be of a call that began before the attach until a viewer has seen that none is left.
 */
#include <stdlib.h>

#include "src/util/clock.h"
#include "tests/unit/attached_fixture.h"

#define TRUSTED_NS UINT64_C(2000000000) /* after so long it is one without a viewer's word, too */

static void *volatile kept[64];

#define TWICE_BYTES  1030u /* nothing else is of that size */
#define TWICE_LISTED (sizeof(kept) / sizeof(kept[0])) /* libc has fewer at hand */

/* libc's own mark of a freed block, without which it does not notice the second free. */
static void unmark(void *p)
{
	((volatile uint64_t *)p)[1] = 0;
}

/* Frees a block twice, and takes it off libc's list again, which it empties before. */
static void free_twice(void)
{
	void *volatile p, *volatile again;

	for (unsigned i = 0; i < TWICE_LISTED; i++)
		kept[i] = malloc(TWICE_BYTES);
	p = again = malloc(TWICE_BYTES);
	free(p);
	unmark(again);
	free(again);
	p = malloc(TWICE_BYTES);
	again = malloc(TWICE_BYTES);
	CHECK(p == again);
}

static uint64_t doubles(struct read_segment *s)
{
	struct read_wrong_frees *w = calloc(1, sizeof(*w));
	uint64_t count = 0;

	CHECK(w && read_wrong_frees(s, 1u << 20, w) == 0);
	count = w ? w->count[HT_WRONG_DOUBLE] : 0;
	free(w);
	return count;
}

/* As a viewer does that has seen no thread inside malloc: what is born from then on is known. */
static void settle(struct read_segment *s)
{
	uint64_t now_ns = clock_monotonic_ns();
	void *volatile p;

	CHECK_INT(read_before_settle(s, now_ns), 0);
	while (clock_monotonic_ns() < now_ns + (3ull << HT_TICK_SHIFT)) {
		p = malloc(8);
		free(p);
	}
}

/* Shortly after the attach a block may belong to a call that began before it; later it may not. */
TEST(freed_twice)
{
	char message[READ_MESSAGE_MAX];
	struct read_segment *s;
	uint64_t start_ns = clock_monotonic_ns(), early, early_ns, late;
	bool begun, ended;

	CHECK(attached_open());
	begun = attached_begin();
	s = read_open(attached_path, message);
	CHECK(s != NULL);
	free_twice();
	early_ns = clock_monotonic_ns() - start_ns;
	early = doubles(s);
	settle(s);
	free_twice();
	late = doubles(s);
	read_close(s);
	ended = attached_end();
	CHECK(begun && ended);
	CHECK(early == 0 || early_ns > TRUSTED_NS);
	CHECK_INT(late - early, 1);
	attached_totals();
}

int main(void)
{
	launch_dir_make();
	RUN(freed_twice);
	launch_dir_drop();
	return check_end();
}
