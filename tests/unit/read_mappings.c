/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of src/read/mappings: ranges and counts as the library wrote them, and hostile entries. */
#include <errno.h>

#include "shm/mappings.h"
#include "shm/mappings_tree.h"
#include "shm/stack.h"
#include "tests/unit/segment_fixture.h"

#define PAGE 4096ull
#define BASE 0x7f0000000000ull

static struct made made;
static struct read_segment *s;
static uint32_t site[3];

static uint32_t site_make(uint32_t function, uint64_t pc)
{
	uint32_t module = 0;
	struct stack_trace t = { function, 1, false, &pc, &module, NULL, 0 };

	return stack_intern(&made.s, &t);
}

static void enter(uint64_t page, uint64_t pages, uint32_t at, enum ht_mapping_kind kind)
{
	struct mappings_block b = { BASE + page * PAGE, BASE + (page + pages) * PAGE, 9, at, kind,
		0 };

	mappings_enter(&made.s, &b);
}

static void unmap(uint64_t page, uint64_t pages)
{
	struct mappings_taken t =
		mappings_take(&made.s, BASE + page * PAGE, BASE + (page + pages) * PAGE);

	mappings_gone(&made.s, &t);
}

/* Pages 0 to 3 and 6 to 9 of one block, 20 to 21 of another, 30 to 33 of the allocator. */
static void open_filled(void)
{
	char message[READ_MESSAGE_MAX];

	made_open(&made, &fixture_identity);
	site[1] = site_make(HT_FN_MMAP, 0x1000);
	site[2] = site_make(HT_FN_SHMAT, 0x2000);
	enter(30, 4, 0, HT_MAPPING_ALLOCATOR);
	enter(20, 2, site[2], HT_MAPPING_SHM);
	enter(0, 10, site[1], HT_MAPPING_MMAP);
	unmap(4, 2);
	s = read_open(made.path, message);
	if (!s)
		made_give_up(message);
}

static void close_filled(void)
{
	read_close(s);
	made_close(&made);
}

TEST(ranges)
{
	struct read_mapping *m = NULL;
	bool whole = false;

	open_filled();
	CHECK_INT(read_mappings(s, &m, &whole), 4);
	CHECK(whole);
	CHECK_INT(m[0].start, BASE);
	CHECK_INT(m[0].end, BASE + 4 * PAGE);
	CHECK_INT(m[1].start, BASE + 6 * PAGE);
	CHECK_INT(m[1].end, BASE + 10 * PAGE);
	CHECK(m[0].block == m[1].block && m[0].block != m[2].block);
	CHECK_INT(m[0].site, site[1]);
	CHECK_INT(m[0].tick, 9);
	CHECK_INT(m[2].site, site[2]);
	CHECK_INT(m[2].kind, HT_MAPPING_SHM);
	CHECK_INT(m[3].site, 0);
	CHECK_INT(m[3].kind, HT_MAPPING_ALLOCATOR);
	free(m);
	close_filled();
}

TEST(counts)
{
	struct read_mapped of[8];
	struct read_totals t;

	open_filled();
	CHECK_INT(read_totals(s, &t), 0);
	CHECK_INT(t.mapped.sites, 3);
	CHECK_INT(t.mapped.maps, 2);
	CHECK_INT(t.mapped.unmaps, 0);
	CHECK_INT(t.mapped.map_bytes - t.mapped.unmap_bytes, 10 * PAGE);
	CHECK_INT(t.mapped.peak_bytes, 12 * PAGE);
	CHECK_INT(t.mapped.allocator_bytes, 4 * PAGE);
	CHECK_INT(read_mapped(s, 1, of, 8), 2);
	CHECK_INT(of[0].site, site[2]);
	CHECK_INT(of[1].site, site[1]);
	CHECK_INT(of[1].map_bytes, 10 * PAGE);
	CHECK_INT(of[1].unmap_bytes, 2 * PAGE);
	CHECK_INT(of[1].peak_bytes, 10 * PAGE);
	CHECK_INT(read_mapped(s, 2, of, 8), 1);
	CHECK_INT(read_mapped(s, 3, of, 8), 0);
	/* None of it is the heap's. */
	CHECK_INT(t.allocs + t.alloc_bytes + t.live_bytes + t.peak_bytes, 0);
	close_filled();
}

TEST(pools)
{
	const uint64_t at = BASE + 25 * PAGE;
	struct mappings_block b = { at + HT_POOL_SPACE, at + 24 + HT_POOL_SPACE, 9, 0,
		HT_MAPPING_POOL, 0 };
	struct read_mapping *m = NULL;
	struct read_totals t;
	bool whole;

	open_filled();
	b.site = site_make(HT_FN_POOL, 0x3000);
	mappings_enter(&made.s, &b);
	CHECK_INT(read_mappings(s, &m, &whole), 5);
	CHECK_INT(m[4].kind, HT_MAPPING_POOL);
	CHECK_INT(m[4].start, at);
	CHECK_INT(m[4].end, at + 24);
	CHECK_INT(read_totals(s, &t), 0);
	CHECK_INT(t.mapped.pool_blocks, 1);
	CHECK_INT(t.mapped.pool_bytes, 24);
	CHECK_INT(t.mapped.maps, 2);
	free(m);
	close_filled();
}

/* The writer was killed in the middle: of an entry, of a call, of a change of the table. */
TEST(unfinished)
{
	struct read_mapping *m = NULL;
	struct mappings_taken t;
	bool whole = true;

	open_filled();
	t = mappings_take(&made.s, BASE + 20 * PAGE, BASE + 22 * PAGE);
	CHECK(t.list != 0);
	mappings_tree_at(&made.s, mappings_tree_floor(&made.s, BASE))->end += PAGE;
	made.s.header->mapping_changes++;
	CHECK_INT(read_mappings(s, &m, &whole), 2);
	CHECK(!whole);
	CHECK_INT(m[0].start, BASE + 6 * PAGE);
	free(m);
	close_filled();
}

TEST(hostile)
{
	struct read_mapping *m = NULL;
	struct read_mapped of[8];
	struct read_totals t;
	struct ht_mapping *e;
	bool whole;

	open_filled();
	e = mappings_tree_at(&made.s, mappings_tree_floor(&made.s, BASE));
	*e = (struct ht_mapping){ .start = 7, .end = 7, .kind = HT_MAPPING_MMAP };
	e->mark = ht_mapping_mark(e);
	e = mappings_tree_at(&made.s, mappings_tree_floor(&made.s, BASE + 21 * PAGE));
	e->kind = 77;
	e->mark = ht_mapping_mark(e);
	made.s.header->mapped = UINT32_MAX;
	CHECK_INT(read_totals(s, &t), 0);
	CHECK(t.mapped.sites <= made.s.header->region[HT_REGION_MAPPED].bytes / 64);
	CHECK_INT(read_mapped(s, 1, of, 8), 8);
	CHECK_INT(of[2].site, 0);
	made.s.header->mappings = UINT32_MAX;
	CHECK_INT(read_mappings(s, &m, &whole), 2);
	free(m);
	close_filled();
}

TEST(what_a_parent_left)
{
	struct read_unmapped u[HT_UNMAPPED_MAX];
	struct read_parent p;
	struct ht_header *h;

	open_filled();
	h = made.s.header;
	CHECK_INT(read_parent(s, &p), -ENOENT);
	h->forked = 1;
	CHECK_INT(read_parent(s, &p), -ENOENT);
	h->parent_created_ns = 77;
	h->parent_blocks = 5;
	strcpy(h->parent, "heaptop-1-2-0");
	CHECK_INT(read_parent(s, &p), 0);
	CHECK_STR(p.name, "heaptop-1-2-0");
	CHECK(p.created_ns == 77 && p.blocks == 5);
	CHECK_INT(read_unmapped(s, u), 0);
	unmap(50, 2);
	unmap(60, 1);
	CHECK_INT(read_unmapped(s, u), 2);
	CHECK(u[0].start == BASE + 50 * PAGE && u[0].end == BASE + 52 * PAGE);
	CHECK(u[1].start == BASE + 60 * PAGE && u[1].end == BASE + 61 * PAGE);
	h->untracked_unmap_bytes = 1;
	CHECK_INT(read_unmapped(s, u), -ENODATA);
	h->untracked_unmap_bytes = 0;
	h->unmapped_used = UINT32_MAX;
	CHECK_INT(read_unmapped(s, u), -ENODATA);
	close_filled();
}

/* The name is a file's beside the child's, whatever a hostile program writes there. */
TEST(a_parents_name_is_no_path)
{
	static const char *const bad[] = { "", "..", "../x", "/x", "a/b", ".x" };
	struct read_parent p;

	open_filled();
	made.s.header->forked = 1;
	made.s.header->parent_created_ns = 77;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		strcpy(made.s.header->parent, bad[i]);
		CHECK_INT(read_parent(s, &p), -ENOENT);
	}
	memset(made.s.header->parent, 'x', HT_PARENT_MAX);
	CHECK_INT(read_parent(s, &p), -ENOENT);
	close_filled();
}

int main(void)
{
	RUN(what_a_parent_left);
	RUN(a_parents_name_is_no_path);
	RUN(ranges);
	RUN(counts);
	RUN(pools);
	RUN(unfinished);
	RUN(hostile);
	return check_end();
}
