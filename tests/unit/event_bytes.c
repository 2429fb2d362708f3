/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The events of a call site, as they cross between machines. */
#include "src/run/event_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

/* What the agent has now, what it knows of the desk, and what the desk has. */
static struct event_copy now, sent, desk;

static void begin(void)
{
	memset(&now, 0, sizeof(now));
	memset(&sent, 0, sizeof(sent));
	memset(&desk, 0, sizeof(desk));
}

/* The next allocation; the oldest line goes when there is no room. */
static void allocated(void)
{
	uint64_t number = now.count ? now.line[now.count - 1].number + 1 : 1;

	if (now.count == EVENT_TAIL_LINES)
		memmove(now.line, now.line + 1, --now.count * sizeof(*now.line));
	now.line[now.count++] = (struct event_line){ .number = number,
		.ns = number * 1000,
		.slot = 3,
		.tid = 4711,
		.addr = 0x7f0000000000 + number * 16,
		.size = number * 7 };
}

static void freed(size_t i)
{
	now.line[i].freed = true;
	now.line[i].freed_after_ns = 55;
	now.line[i].freed_by = 2;
}

/* An answer; the caller frees it. */
static struct bytes answer(bool has_news)
{
	struct bytes b = { 0 };

	CHECK_INT(event_copy_put(&b, &sent, &now), has_news);
	CHECK(!b.failed);
	return b;
}

static void lines_compare(void)
{
	CHECK_INT(desk.count, now.count);
	CHECK_INT(desk.missed, now.missed);
	CHECK_INT(desk.ended, now.ended);
	for (size_t i = 0; i < now.count; i++) {
		const struct event_line *a = &desk.line[i], *b = &now.line[i];

		CHECK(a->number == b->number && a->ns == b->ns && a->slot == b->slot &&
			a->tid == b->tid && a->addr == b->addr && a->size == b->size &&
			a->freed == b->freed && a->freed_after_ns == b->freed_after_ns &&
			a->freed_by == b->freed_by);
	}
}

/* Returns the length of the answer. */
static size_t cross(bool has_news)
{
	struct bytes b = answer(has_news);
	struct bytes_cursor c = bytes_begin(&b);
	size_t len = b.len;

	CHECK_INT(event_copy_get(&c, &desk), 0);
	lines_compare();
	bytes_free(&b);
	return len;
}

TEST(the_desk_has_what_the_agent_has)
{
	size_t all;

	begin();
	(void)cross(false);
	for (unsigned i = 0; i < 100; i++)
		allocated();
	all = cross(true);
	CHECK(cross(false) < 8);
	freed(7);
	freed(99);
	allocated();
	CHECK(cross(true) < all / 10);
	now.missed = 12;
	(void)cross(true);
	/* More than are kept, by a few, and all at once. */
	for (unsigned i = 0; i < EVENT_TAIL_LINES - 90; i++)
		allocated();
	(void)cross(true);
	for (unsigned i = 0; i < 2 * EVENT_TAIL_LINES + 5; i++)
		allocated();
	CHECK_INT(now.count, EVENT_TAIL_LINES);
	(void)cross(true);
	now.ended = true;
	strcpy(now.why, "cannot follow events: Input/output error");
	(void)cross(true);
	CHECK_STR(desk.why, now.why);
}

/* An answer of nothing but its end, for which there is a reason of `len` bytes. */
static int ended_get(const char *why, size_t len)
{
	struct bytes b = { 0 };
	struct bytes_cursor c;
	int rc;

	bytes_number(&b, 0);
	bytes_number(&b, true);
	bytes_number(&b, len);
	bytes_add(&b, why, len);
	bytes_number(&b, 0);
	bytes_number(&b, 0);
	c = bytes_begin(&b);
	rc = event_copy_get(&c, &desk);
	bytes_free(&b);
	return rc;
}

TEST(a_reason_is_one_printable_line)
{
	char longest[EVENT_TAIL_MESSAGE_MAX];

	begin();
	memset(longest, 'x', sizeof(longest));
	CHECK_INT(ended_get("gone\033[2J\n\377\0more", 15), 0);
	CHECK(desk.ended);
	CHECK_STR(desk.why, "gone?[2J???more");
	CHECK_INT(ended_get(longest, sizeof(longest) - 1), 0);
	CHECK_INT(strlen(desk.why), sizeof(longest) - 1);
	CHECK_INT(ended_get(longest, sizeof(longest)), -EPROTO);
	CHECK_INT(ended_get("", 0), 0);
	CHECK_STR(desk.why, "");
}

TEST(what_is_cut_is_no_answer)
{
	struct bytes b;

	begin();
	for (unsigned i = 0; i < 5; i++)
		allocated();
	freed(2);
	b = answer(true);
	for (size_t len = 0; len < b.len; len++) {
		struct bytes_cursor c = { b.data, b.data + len, false };

		memset(&desk, 0, sizeof(desk));
		CHECK_INT(event_copy_get(&c, &desk), -EPROTO);
	}
	bytes_free(&b);
}

/* Whatever comes, the numbers stay consecutive and no more lines are kept than there is room for.
 */
TEST(what_is_spoilt_leaves_a_list)
{
	unsigned refused = 0;
	struct bytes b;

	begin();
	for (unsigned i = 0; i < 40; i++)
		allocated();
	b = answer(true);
	for (size_t i = 0; i < b.len; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			struct bytes_cursor c = bytes_begin(&b);

			b.data[i] ^= (uint8_t)(1u << bit);
			refused += event_copy_get(&c, &desk) != 0;
			b.data[i] ^= (uint8_t)(1u << bit);
			CHECK(desk.count <= EVENT_TAIL_LINES);
			for (size_t line = 1; line < desk.count; line++)
				CHECK(desk.line[line].number == desk.line[line - 1].number + 1);
		}
	CHECK(refused > 100);
	bytes_free(&b);
}

TEST(requests)
{
	const struct event_request r = { 17, true };
	struct event_request again;
	struct bytes b = { 0 };
	struct bytes_cursor c;

	event_request_put(&b, &r);
	c = bytes_begin(&b);
	CHECK_INT(event_request_get(&c, &again), 0);
	CHECK(again.site == 17 && again.begins);
	c = (struct bytes_cursor){ b.data, b.data + 1, false };
	CHECK_INT(event_request_get(&c, &again), -EPROTO);
	bytes_add(&b, "", 1);
	c = bytes_begin(&b);
	CHECK_INT(event_request_get(&c, &again), -EPROTO);
	bytes_free(&b);
}

int main(void)
{
	RUN(the_desk_has_what_the_agent_has);
	RUN(a_reason_is_one_printable_line);
	RUN(what_is_cut_is_no_answer);
	RUN(what_is_spoilt_leaves_a_list);
	RUN(requests);
	return check_end();
}
