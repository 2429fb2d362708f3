/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/leak: classes of blocks by vtables, and of call sites by most of their blocks. */
#include <stdio.h>

#include "src/leak/analysis/types.h"
#include "tests/unit/leak_fixture.h"

#define VTABLE 0x400010ull

/* The word's last digit is its class; 9 is none's. */
static bool class_name(void *names, uint64_t word, char *out, size_t cap)
{
	snprintf(out, cap, "Class%u", (unsigned)(word & 15));
	return (word & 15) != 9;
}

static void object(uint32_t i, uint32_t site, uint64_t first)
{
	struct leak_block b = { HEAP + i * 0x40, 0x40, site, 0 };

	CHECK_INT(leak_blocks_add(&heap.blocks, &b), 0);
	store(i * 0x40, first);
}

TEST(of_a_site_the_class_of_most_blocks)
{
	static const struct leak_space none;
	struct leak_root_context found = {
		.graph = &heap.graph, .space = &none, .class_name = class_name
	};
	struct leak_types t;

	reset();
	object(0, 1, VTABLE + 1); /* three of five */
	object(1, 1, VTABLE + 1);
	object(2, 1, VTABLE + 2);
	object(3, 2, VTABLE + 3); /* one of two: no more than half */
	object(4, 2, 0);
	object(5, 3, VTABLE + 9); /* no vtable after all */
	object(6, 1, VTABLE + 1);
	block(7 * 0x40, 0x40); /* of site 1 */
	ready();
	leak_graph_keep(&heap.graph);
	for (uint32_t i = 0; i < 8; i++)
		leak_graph_header(&heap.graph, i, heap.word[i * 8], 0,
			heap.word[i * 8] ? LEAK_WORD_FILE : LEAK_WORD_NUMBER);
	root(HEAP);
	finish();
	CHECK_INT(class_of(0), LEAK_REACHABLE);
	/* As the scan of a memory without files has it. */
	for (uint32_t i = 0; i < 8; i++)
		heap.graph.first_word[i] = heap.word[i * 8];
	CHECK_INT(leak_types_find(&t, &found, 4), 0);
	CHECK_STR(t.site[1].name, "Class1");
	CHECK_INT(t.site[1].blocks, 3);
	CHECK(t.site[2].name == NULL);
	CHECK(t.site[3].name == NULL);
	CHECK_INT(t.blocks, 5);
	CHECK_INT(t.bytes, 5 * 0x40);
	leak_types_free(&t);
	found.class_name = NULL;
	CHECK_INT(leak_types_find(&t, &found, 4), 0);
	CHECK_INT(t.blocks, 0);
	leak_types_free(&t);
	reset();
}

TEST(words)
{
	static const struct {
		const char *name, *want;
	} rows[] = {
		{ "Session", "Session" },
		{ "std::_Sp_counted_ptr_inplace<Session, std::allocator<void>, "
		  "(__gnu_cxx::_Lock_policy)2>",
			"Session (make_shared)" },
		{ "std::_Sp_counted_ptr_inplace<std::map<int, long>, std::allocator<void>, "
		  "(__gnu_cxx::_Lock_policy)2>",
			"std::map<int, long> (make_shared)" },
		{ "std::_Sp_counted_ptr<app::Conn*, (__gnu_cxx::_Lock_policy)2>",
			"counts of shared_ptr to app::Conn" },
		{ "std::_Sp_counted_deleter<Conn*, std::default_delete<Conn>, "
		  "std::allocator<void>, (__gnu_cxx::_Lock_policy)2>",
			"counts of shared_ptr to Conn" },
	};
	char out[128];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		leak_types_word(rows[i].name, out, sizeof(out));
		CHECK_STR(out, rows[i].want);
	}
	leak_types_word(rows[1].name, out, 8);
	CHECK_STR(out, "Session");
}

int main(void)
{
	RUN(of_a_site_the_class_of_most_blocks);
	RUN(words);
	return check_end();
}
