/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of shm/stack by one thread: stacks to sites and back, comparing, and full tables. The file
 * is long because every table that a stack goes through is filled up here, by the same few helpers.
 */
#include "tests/unit/shm_fixture.h"

#include "shm/stack.h"
#include "shm/stack_ancestor.h"

static uint64_t pcs[HT_DEPTH_MAX];
static uint32_t modules[HT_DEPTH_MAX];

/* A stack of `count` frames that are different for each `seed`. */
static struct stack_trace trace(uint64_t seed, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		pcs[i] = 0x400000 + seed * 0x10000 + i * 8;
		modules[i] = 1 + (uint32_t)(i % 5);
	}
	return (struct stack_trace){
		.function = HT_FN_MALLOC, .count = count, .pcs = pcs, .modules = modules
	};
}

/* Walks from the leaf to the root as a viewer does. */
static void check_walk(const struct segment *s, uint32_t site, const struct stack_trace *t)
{
	const struct ht_site *e = stack_site(s, site);
	const struct ht_node *n = stack_node(s, e->node);

	CHECK(site != 0 && site < s->header->sites);
	CHECK_INT(n->pc & HT_LEAF_FUNCTION, t->function);
	CHECK_INT((n->pc & HT_LEAF_TRUNCATED) != 0, t->truncated);
	CHECK_INT((e->flags & HT_SITE_TRUNCATED) != 0, t->truncated);
	CHECK_INT(n->site, site);
	for (uint32_t i = 0; i < t->count; i++) {
		CHECK(n->parent != 0 && n->parent < s->header->nodes);
		n = stack_node(s, n->parent);
		CHECK_INT(n->pc, t->pcs[i]);
		CHECK_INT(n->module, t->modules[i]);
	}
	CHECK_INT(n->parent, 0);
}

TEST(same_stack_same_site)
{
	struct fixture f;
	struct stack_trace t = trace(1, 20);
	uint32_t site, nodes;

	fixture_open(&f, SEGMENT_SMALL);
	site = stack_intern(&f.s, &t);
	check_walk(&f.s, site, &t);
	nodes = f.s.header->nodes;
	CHECK_INT(nodes, 1 + 20 + 1);
	for (int i = 0; i < 10; i++)
		CHECK_INT(stack_intern(&f.s, &t), site);
	CHECK_INT(f.s.header->nodes, nodes);
	CHECK_INT(f.s.header->sites, 2);
	fixture_close(&f);
}

/* Every way in which a stack can differ gives another site, and shares what it can. */
TEST(different_stacks)
{
	struct fixture f;
	struct stack_trace t = trace(1, 8);
	uint32_t sites[6], before;

	fixture_open(&f, SEGMENT_SMALL);
	sites[0] = stack_intern(&f.s, &t);
	before = f.s.header->nodes;
	t.function = HT_FN_CALLOC;
	sites[1] = stack_intern(&f.s, &t);
	CHECK_INT(f.s.header->nodes, before + 1);
	t.truncated = true;
	sites[2] = stack_intern(&f.s, &t);
	CHECK_INT(f.s.header->nodes, before + 2);
	check_walk(&f.s, sites[2], &t);
	pcs[0]++; /* innermost */
	sites[3] = stack_intern(&f.s, &t);
	CHECK_INT(f.s.header->nodes, before + 4);
	modules[7] ^= HT_NODE_UNPINNED; /* outermost: nothing to share */
	sites[4] = stack_intern(&f.s, &t);
	CHECK_INT(f.s.header->nodes, before + 4 + 9);
	t.count = 7;
	sites[5] = stack_intern(&f.s, &t);
	check_walk(&f.s, sites[5], &t);
	for (int i = 0; i < 6; i++)
		for (int j = 0; j < i; j++)
			CHECK(sites[i] != sites[j]);
	CHECK_INT(f.s.header->sites, 7);
	fixture_close(&f);
}

TEST(no_frames)
{
	struct fixture f;
	struct stack_trace t = trace(1, 0);
	uint32_t a, b;

	fixture_open(&f, SEGMENT_SMALL);
	a = stack_intern(&f.s, &t);
	check_walk(&f.s, a, &t);
	t.function = HT_FN_NEW;
	b = stack_intern(&f.s, &t);
	check_walk(&f.s, b, &t);
	CHECK(a != b);
	fixture_close(&f);
}

TEST(recursion)
{
	struct fixture f;
	struct stack_trace t = trace(1, HT_DEPTH_MAX);
	uint32_t site;

	fixture_open(&f, SEGMENT_SMALL);
	for (uint32_t i = 0; i < HT_DEPTH_MAX; i++) {
		pcs[i] = 0x1234;
		modules[i] = 1;
	}
	site = stack_intern(&f.s, &t);
	check_walk(&f.s, site, &t);
	t.count--;
	CHECK(stack_intern(&f.s, &t) != site);
	CHECK_INT(stack_compare(&f.s, site, &t), STACK_DIFFERS);
	fixture_close(&f);
}

TEST(compare)
{
	struct fixture f;
	struct stack_trace t = trace(1, 6);
	uint32_t site;

	fixture_open(&f, SEGMENT_SMALL);
	site = stack_intern(&f.s, &t);
	CHECK_INT(stack_compare(&f.s, site, &t), STACK_SAME);
	for (uint32_t i = 0; i < t.count; i++) {
		pcs[i] ^= 1;
		CHECK_INT(stack_compare(&f.s, site, &t), STACK_DIFFERS);
		pcs[i] ^= 1;
		modules[i] ^= 1;
		CHECK_INT(stack_compare(&f.s, site, &t), STACK_DIFFERS);
		modules[i] ^= 1;
	}
	t.count = 5;
	CHECK_INT(stack_compare(&f.s, site, &t), STACK_DIFFERS);
	t.count = 7;
	CHECK_INT(stack_compare(&f.s, site, &t), STACK_DIFFERS);
	t.count = 6;
	t.function = HT_FN_REALLOC;
	CHECK_INT(stack_compare(&f.s, site, &t), STACK_DIFFERS);
	t.function = HT_FN_MALLOC;
	t.truncated = true;
	CHECK_INT(stack_compare(&f.s, site, &t), STACK_DIFFERS);
	t.truncated = false;
	CHECK_INT(stack_compare(&f.s, 0, &t), STACK_DIFFERS); /* the catch-all matches nothing */
	t.modules = NULL; /* all frames pinned: addresses suffice */
	CHECK_INT(stack_compare(&f.s, site, &t), STACK_SAME);
	fixture_close(&f);
}

TEST(compare_unpinned)
{
	struct fixture f;
	struct stack_trace t = trace(1, 6), bare;
	uint32_t site, other;

	fixture_open(&f, SEGMENT_SMALL);
	modules[3] = 4 | HT_NODE_UNPINNED;
	site = stack_intern(&f.s, &t);
	bare = t;
	bare.modules = NULL;
	CHECK_INT(stack_compare(&f.s, site, &bare), STACK_SAME_ADDRESSES);
	CHECK_INT(stack_compare(&f.s, site, &t), STACK_SAME);
	modules[3] = 9 | HT_NODE_UNPINNED; /* another object took the range */
	CHECK_INT(stack_compare(&f.s, site, &t), STACK_DIFFERS);
	other = stack_intern(&f.s, &t);
	CHECK(other != site);
	CHECK_INT(stack_compare(&f.s, other, &bare), STACK_SAME_ADDRESSES);
	pcs[0]++;
	CHECK_INT(stack_compare(&f.s, site, &bare), STACK_DIFFERS);
	fixture_close(&f);
}

/* How many outermost frames a stack has in common with another. */
static uint32_t frames_kept(const struct stack_trace *t, const uint64_t *last_pcs,
	const uint32_t *last_modules, uint32_t last_count)
{
	uint32_t n = 0;

	while (n < t->count && n < last_count &&
		t->pcs[t->count - 1 - n] == last_pcs[last_count - 1 - n] &&
		t->modules[t->count - 1 - n] == last_modules[last_count - 1 - n])
		n++;
	return n;
}

/* Along the last stack or by search, every stack comes to the same site, and the path stays sound.
 */
TEST(along_the_last_stack)
{
	static union {
		struct stack_path path;
		unsigned char bytes[sizeof(struct stack_path) + 8 * sizeof(struct stack_step)];
	} kept = { .path = { .room = 8 } };
	struct fixture f;
	uint64_t random = 3;

	uint64_t last[12];
	uint32_t last_modules[12], last_count = 0;

	fixture_open(&f, SEGMENT_SMALL);
	for (unsigned round = 0; round < 20000; round++) {
		struct stack_trace t = trace(0, (uint32_t)(fixture_random(&random) % 12));
		uint32_t along, fresh = t.count;

		if (round % 2) { /* the last one, but for the inner frames */
			t.count = last_count;
			fresh = (uint32_t)(fixture_random(&random) % (last_count + 1));
			memcpy(pcs, last, sizeof(last));
			memcpy(modules, last_modules, sizeof(last_modules));
		}

		/* Few values, so that stacks share their beginnings and differ anywhere. */
		for (uint32_t i = 0; i < fresh; i++) {
			pcs[i] = 0x1000 + fixture_random(&random) % 3;
			modules[i] = 1 + (uint32_t)(fixture_random(&random) % 2);
		}
		t.path = &kept.path;
		t.kept = round % 3 ? frames_kept(&t, last, last_modules, last_count) : 0;
		/* As if the guesses so far had held: this one mostly is wrong, anywhere. */
		if (round % 4 >= 2)
			kept.path.guessed = kept.path.leaf != 0;
		along = stack_intern(&f.s, &t);
		last_count = t.count;
		memcpy(last, pcs, sizeof(last));
		memcpy(last_modules, modules, sizeof(last_modules));
		t.kept = 0;
		t.path = NULL;
		CHECK_INT(stack_intern(&f.s, &t), along);
		check_walk(&f.s, along, &t);
	}
	fixture_close(&f);
}

static uint32_t leaf_intern(struct fixture *f, struct stack_path *path, uint64_t seed)
{
	struct stack_trace t = trace(seed, 8);
	uint32_t site;

	t.path = path;
	site = stack_intern(&f->s, &t);
	check_walk(&f->s, site, &t);
	return stack_site(&f->s, site)->node;
}

/* A leaf names the one that came after it. That is only a guess: others come as well. */
TEST(leaf_names_the_next)
{
	static union {
		struct stack_path path;
		unsigned char bytes[sizeof(struct stack_path) + 8 * sizeof(struct stack_step)];
	} kept = { .path = { .room = 8 } };
	struct fixture f;
	uint32_t leaf[3], nodes;

	fixture_open(&f, SEGMENT_SMALL);
	for (uint32_t i = 0; i < 3; i++)
		leaf[i] = leaf_intern(&f, &kept.path, i);
	nodes = f.s.header->nodes;
	CHECK_INT(stack_node(&f.s, leaf[0])->child[0], leaf[1]);
	CHECK_INT(stack_node(&f.s, leaf[1])->child[0], leaf[2]);
	CHECK_INT(leaf_intern(&f, &kept.path, 0), leaf[0]);
	CHECK_INT(leaf_intern(&f, &kept.path, 1), leaf[1]);
	CHECK_INT(leaf_intern(&f, &kept.path, 0), leaf[0]);
	CHECK_INT(leaf_intern(&f, &kept.path, 2), leaf[2]);
	CHECK_INT(leaf_intern(&f, NULL, 1), leaf[1]);
	CHECK_INT(stack_node(&f.s, leaf[0])->child[0], leaf[2]);
	CHECK_INT(stack_node(&f.s, leaf[1])->child[0], leaf[0]);
	CHECK_INT(stack_node(&f.s, leaf[2])->child[0], leaf[0]);
	CHECK_INT(f.s.header->nodes, nodes);
	fixture_close(&f);
}

/* Which site comes next is expected as long as the last one came as expected. */
TEST(what_comes_next)
{
	static union {
		struct stack_path path;
		unsigned char bytes[sizeof(struct stack_path) + 8 * sizeof(struct stack_step)];
	} kept = { .path = { .room = 8 } };
	struct fixture f;
	uint32_t site[3];

	fixture_open(&f, SEGMENT_SMALL);
	for (uint32_t i = 0; i < 3; i++)
		site[i] = stack_node(&f.s, leaf_intern(&f, &kept.path, i))->site;
	CHECK_INT(stack_expect(&f.s, &kept.path), 0);
	leaf_intern(&f, &kept.path, 0);
	CHECK_INT(stack_expect(&f.s, &kept.path), 0);
	leaf_intern(&f, &kept.path, 1);
	CHECK_INT(stack_expect(&f.s, &kept.path), site[2]);
	leaf_intern(&f, &kept.path, 2);
	CHECK_INT(stack_expect(&f.s, &kept.path), site[0]);
	leaf_intern(&f, &kept.path, 1);
	CHECK_INT(stack_expect(&f.s, &kept.path), 0);
	fixture_close(&f);
}

/* The leaf that came next is tried only as long as such guesses have held. Here it is a copy of the
 * right one, which a search does not find. */
TEST(guesses_that_have_held)
{
	static union {
		struct stack_path path;
		unsigned char bytes[sizeof(struct stack_path) + 8 * sizeof(struct stack_step)];
	} kept = { .path = { .room = 8 } };
	struct fixture f;
	uint32_t leaf[2], copy;

	fixture_open(&f, SEGMENT_SMALL);
	for (uint32_t i = 0; i < 2; i++)
		leaf[i] = leaf_intern(&f, &kept.path, i);
	copy = f.s.header->nodes++;
	for (uint32_t held = 0; held < 2; held++) {
		struct stack_trace t;

		leaf_intern(&f, &kept.path, 0);
		t = trace(1, 8);
		*stack_node(&f.s, copy) = *stack_node(&f.s, leaf[1]);
		stack_node(&f.s, copy)->site = 0;
		stack_node(&f.s, leaf[0])->child[0] = copy;
		kept.path.guessed = held;
		t.path = &kept.path;
		CHECK(stack_site(&f.s, stack_intern(&f.s, &t))->node == (held ? copy : leaf[1]));
	}
	fixture_close(&f);
}

/* That the site is an ancestor's, with the `kept` outermost frames of the stack and no others. */
static void check_ancestor(
	const struct segment *s, uint32_t site, const struct stack_trace *t, uint32_t kept)
{
	const struct ht_site *e = stack_site(s, site);
	uint32_t node = e->node, i = t->count - kept;

	CHECK(site != 0 && site < s->header->sites);
	CHECK_INT((e->flags & HT_SITE_ANCESTOR) != 0, 1);
	CHECK_INT((e->flags & HT_SITE_TRUNCATED) != 0, t->truncated);
	CHECK_INT(stack_node(s, node)->site, site);
	for (; node != 0 && i < t->count; i++, node = stack_node(s, node)->parent) {
		CHECK_INT(stack_node(s, node)->pc, t->pcs[i]);
		CHECK_INT(stack_node(s, node)->module, t->modules[i]);
	}
	CHECK_INT(node, 0);
	CHECK_INT(i, t->count);
	CHECK_INT(stack_compare(s, site, t), STACK_DIFFERS);
}

TEST(sites_full)
{
	struct fixture f;
	struct stack_trace t;
	uint32_t limit, bad = 0;

	fixture_open(&f, SEGMENT_SMALL);
	limit = (uint32_t)stack_ancestor_limit(&f.s);
	for (uint32_t i = 1; i < limit; i++) {
		t = trace(i, 3);
		bad += stack_intern(&f.s, &t) != i;
	}
	CHECK_INT(bad, 0);
	CHECK_INT(f.s.header->sites_refused, 0);
	/* None of these has a frame in the tree: they have only the root in common. */
	for (uint32_t i = 0; i < 50; i++) {
		t = trace(limit + i % 5, 3);
		check_ancestor(&f.s, stack_intern(&f.s, &t), &t, 0);
	}
	CHECK_INT(f.s.header->sites_refused, 50);
	CHECK_INT(f.s.header->nodes_refused, 0);
	CHECK_INT(f.s.header->sites, limit + 1);
	for (uint32_t i = 1; i < limit; i++) {
		t = trace(i, 3);
		bad += stack_intern(&f.s, &t) != i;
		bad += stack_compare(&f.s, i, &t) != STACK_SAME;
	}
	CHECK_INT(bad, 0);
	CHECK(!memcmp(stack_site(&f.s, 0), &(struct ht_site){ 0 }, sizeof(struct ht_site)));
	fixture_close(&f);
}

TEST(nodes_full)
{
	struct fixture f;
	struct stack_trace t;
	uint32_t limit, used, known, refused = 0, bad = 0;

	fixture_open(&f, SEGMENT_SMALL);
	limit = (uint32_t)(f.s.header->region[HT_REGION_NODES].bytes / sizeof(struct ht_node));
	for (known = 0;; known++) {
		t = trace(known, 1000);
		if (stack_site(&f.s, stack_intern(&f.s, &t))->flags & HT_SITE_ANCESTOR)
			break;
	}
	CHECK_INT(known, (limit - 1) / 1001);
	used = f.s.header->nodes;
	CHECK(used <= limit && limit - used < 1001);
	refused = 1;
	for (uint32_t i = 0; i < 20; i++, refused++) {
		t = trace(known + i, 1000);
		check_ancestor(&f.s, stack_intern(&f.s, &t), &t, 0);
	}
	CHECK_INT(f.s.header->nodes_refused, refused);
	CHECK_INT(f.s.header->sites_refused, 0);
	CHECK_INT(f.s.header->nodes, used);
	for (uint32_t i = 0; i < known; i++) {
		t = trace(i, 1000);
		bad += stack_intern(&f.s, &t) != i + 1;
	}
	CHECK_INT(bad, 0);
	fixture_close(&f);
}

/* A stack that there was no room for leads nowhere; the next is not to be found along it. */
TEST(refused_along_the_last_stack)
{
	static union {
		struct stack_path path;
		unsigned char bytes[sizeof(struct stack_path) + 64 * sizeof(struct stack_step)];
	} kept = { .path = { .room = 64 } };
	struct fixture f;
	struct stack_trace t;
	uint32_t site;

	fixture_open(&f, SEGMENT_SMALL);
	t = trace(1, 20);
	t.path = &kept.path;
	check_walk(&f.s, stack_intern(&f.s, &t), &t);
	f.s.header->nodes =
		(uint32_t)(f.s.header->region[HT_REGION_NODES].bytes / sizeof(struct ht_node)) - 30;
	t = trace(2, 40);
	t.path = &kept.path;
	kept.path.guessed = true;
	check_ancestor(&f.s, stack_intern(&f.s, &t), &t, 0);
	CHECK(!kept.path.guessed);
	for (uint32_t i = 0; i < 20; i++)
		pcs[i] = pcs[i + 20];
	t.count = 20;
	t.kept = 20;
	site = stack_intern(&f.s, &t);
	CHECK(site != 0);
	check_walk(&f.s, site, &t);
	fixture_close(&f);
}

/* Makes the tables full for stacks of their own, with `left` sites for ancestors. */
static void fill(const struct segment *s, uint64_t left)
{
	s->header->sites =
		(uint32_t)(segment_capacity(s, HT_REGION_SITES, sizeof(struct ht_site)) - left);
	CHECK_INT(commit_range(s,
			  segment_element(
				  s, HT_REGION_SITES, s->header->sites, sizeof(struct ht_site)),
			  sizeof(struct ht_site)),
		0);
}

/* Each stack without room is counted at the innermost of its frames that the tree has. */
TEST(nearest_ancestor)
{
	struct fixture f;
	struct stack_trace t = trace(1, 20);
	uint32_t sites[21], nodes;

	fixture_open(&f, SEGMENT_SMALL);
	check_walk(&f.s, stack_intern(&f.s, &t), &t);
	fill(&f.s, segment_capacity(&f.s, HT_REGION_SITES, sizeof(struct ht_site)) /
			   STACK_ANCESTOR_PART);
	nodes = f.s.header->nodes;
	for (uint32_t kept = 0; kept <= 20; kept++) {
		t = trace(1, 20);
		t.truncated = kept % 2;
		if (kept < 20)
			pcs[20 - 1 - kept] ^= 1; /* an inner one */
		else
			t.function = HT_FN_CALLOC;
		sites[kept] = stack_intern(&f.s, &t);
		check_ancestor(&f.s, sites[kept], &t, kept);
		CHECK_INT(stack_intern(&f.s, &t), sites[kept]);
		for (uint32_t i = 0; i < kept; i++)
			CHECK(sites[i] != sites[kept]);
	}
	CHECK_INT(f.s.header->nodes, nodes);
	CHECK_INT(f.s.header->sites_refused, 2 * 21);
	fixture_close(&f);
}

/* With less and less left of the reserve, stacks go further out; with nothing left, to one that has
 * a site; and the choice of a node stays. */
TEST(the_reserve_lasts)
{
	struct fixture f;
	struct stack_trace t = trace(1, 64);
	uint64_t reserve;
	uint32_t half, quarter, eighth, root;

	fixture_open(&f, SEGMENT_SMALL);
	reserve = segment_capacity(&f.s, HT_REGION_SITES, sizeof(struct ht_site)) /
		  STACK_ANCESTOR_PART;
	check_walk(&f.s, stack_intern(&f.s, &t), &t);
	pcs[0] ^= 1; /* 63 frames are there */
	fill(&f.s, reserve * 3 / 4 - 1);
	half = stack_intern(&f.s, &t);
	check_ancestor(&f.s, half, &t, 31);
	fill(&f.s, reserve / 2 - 1);
	pcs[32] ^= 1; /* 31 */
	CHECK_INT(stack_intern(&f.s, &t), half);
	pcs[33] ^= 1; /* 30 */
	quarter = stack_intern(&f.s, &t);
	check_ancestor(&f.s, quarter, &t, 7);
	fill(&f.s, reserve / 4 - 1);
	pcs[57] ^= 1; /* 6 */
	eighth = stack_intern(&f.s, &t);
	check_ancestor(&f.s, eighth, &t, 1);
	fill(&f.s, 7);
	pcs[63] ^= 1; /* 0 */
	root = stack_intern(&f.s, &t);
	check_ancestor(&f.s, root, &t, 0);
	fill(&f.s, 0);
	t = trace(1, 64);
	pcs[58] ^= 1; /* 5, of which only the outermost has a site */
	CHECK_INT(stack_intern(&f.s, &t), eighth);
	CHECK_INT(stack_node(&f.s, 5)->site, eighth);
	t = trace(1, 64);
	pcs[10] ^= 1; /* 53: on the way out is the one of 31 */
	CHECK_INT(stack_intern(&f.s, &t), half);
	fixture_close(&f);
}

/* Units of memory that the index has. */
static uint32_t index_units(const struct segment *s)
{
	const struct ht_region *r = &s->header->region[HT_REGION_INDEX];
	uint32_t units = 0;

	for (uint64_t at = 0; at < r->bytes; at += HT_COMMIT_BYTES)
		units += commit_has(s, r->offset + at);
	return units;
}

/* The index takes memory in proportion to the stacks, however many nodes they have. */
TEST(index_grows)
{
	static const struct {
		uint32_t nodes, most;
	} cases[] = { { 21, 0 }, { 50000, 1 }, { 400000, 9 } };
	struct fixture f;
	uint64_t seed = 0;

	fixture_open(&f, SEGMENT_FULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		while (f.s.header->nodes < cases[i].nodes) {
			struct stack_trace t = trace(seed++, 20);

			if (stack_intern(&f.s, &t) != seed)
				CHECK_INT(seed, 0);
		}
		CHECK(index_units(&f.s) <= cases[i].most);
	}
	for (uint64_t i = 0; i < seed; i++) {
		struct stack_trace t = trace(i, 20);

		CHECK_INT(stack_intern(&f.s, &t), i + 1);
	}
	CHECK_INT(f.s.header->nodes, 1 + 21 * seed);
	fixture_close(&f);
}

/* An index with room for fewer nodes than there are takes most of that, and counts the rest. */
TEST(index_full)
{
	enum { SLOTS = 16 << 10 };
	struct fixture f;
	uint64_t seed = 0;

	fixture_open(&f, SEGMENT_FULL);
	f.s.header->index_levels = 1;
	for (;; seed++) {
		struct stack_trace t = trace(seed, 3);

		if (stack_site(&f.s, stack_intern(&f.s, &t))->flags & HT_SITE_ANCESTOR)
			break;
	}
	CHECK(4 * seed > SLOTS / 4 * 3);
	CHECK_INT(f.s.header->nodes, 1 + 4 * seed);
	CHECK_INT(f.s.header->nodes_refused, 1);
	for (uint64_t i = 0; i < seed; i++) {
		struct stack_trace t = trace(i, 3);

		CHECK_INT(stack_intern(&f.s, &t), i + 1);
	}
	fixture_close(&f);
}

/* Several thousand stacks over few frames: shared prefixes, all told apart. */
TEST(many)
{
	enum { STACKS = 30000 };
	static uint32_t site[STACKS];
	static bool taken[STACKS + 1];
	struct fixture f;
	uint32_t bad = 0;

	fixture_open(&f, SEGMENT_SMALL);
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < STACKS; i++) {
			struct stack_trace t = trace(0, 16);
			uint32_t got;

			for (uint32_t bit = 0; bit < 15; bit++)
				pcs[bit] += (i >> bit & 1) << 12;
			got = stack_intern(&f.s, &t);
			if (pass == 0) {
				bad += got == 0 || got > STACKS || taken[got];
				taken[got] = true;
				site[i] = got;
			}
			bad += got != site[i];
		}
	CHECK_INT(bad, 0);
	CHECK_INT(f.s.header->sites, STACKS + 1);
	fixture_close(&f);
}

int main(void)
{
	RUN(same_stack_same_site);
	RUN(different_stacks);
	RUN(no_frames);
	RUN(recursion);
	RUN(compare);
	RUN(compare_unpinned);
	RUN(along_the_last_stack);
	RUN(leaf_names_the_next);
	RUN(what_comes_next);
	RUN(guesses_that_have_held);
	RUN(sites_full);
	RUN(nodes_full);
	RUN(refused_along_the_last_stack);
	RUN(nearest_ancestor);
	RUN(the_reserve_lasts);
	RUN(index_grows);
	RUN(index_full);
	RUN(many);
	return check_end();
}
