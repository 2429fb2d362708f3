/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leak scans in recordings: all that they found comes back, but contents; and what is damaged in
 * it, or made to harm, is left out. */
#include <errno.h>
#include "src/model/moment.h"
#include "src/record/leak_details.h"
#include "tests/unit/record_file_fixture.h"

TEST(leak_scans_come_back)
{
	static const struct snap_leak_site rows[] = {
		{ .class = SNAP_LEAK_DEFINITE,
			.site = 3,
			.sum = { 2, 200 },
			.indirect = { 1, 5 },
			.oldest_ns = 77,
			.seen = 2,
			.before = { 1, 100 } },
		{ .class = SNAP_LEAK_POSSIBLE, .site = 6, .sum = { 1, 10 }, .suppressed = true },
	};
	static const struct snap_leak_round round = { .number = 1, .ns = 5, .sum = { { 1, 2 } } };
	struct snap_leaks first = { .failed = "no access", .at_ns = 2 * S_NS },
			  second = { .how = "process_vm_readv",
				  .sum = { { 2, 200 }, { 1, 5 }, { 1, 10 }, { 100, 10000 } },
				  .heuristic = { [2] = { 3, 30 } },
				  .heuristic_name = { [2] = "stdstring" },
				  .sites = rows,
				  .nsites = 2,
				  .rounds = &round,
				  .nrounds = 1,
				  .stop_ns = 12345,
				  .threads = 3,
				  .unknown = true,
				  .at_ns = 6 * S_NS };
	struct recording_writer *w = create(0);
	const struct snap_leaks *l;
	struct recording *r;
	struct snapshot *s, *early;
	struct program p;

	program_init(&p, 3, 4);
	for (unsigned i = 1; i <= 10; i++) {
		program_tick(&p, S_NS, 30);
		p.head.leaks = i < 3 ? NULL : i < 7 ? &first : &second;
		add(w, &p);
	}
	CHECK_INT(recording_close(w), 0);
	r = reopen(path);
	s = recording_last(r, 0);
	early = past(r, 0, s, 4 * S_NS);
	CHECK_STR(early->leaks->failed, "no access");
	snapshot_unref(early);
	early = past(r, 0, s, S_NS);
	CHECK(early->leaks == NULL);
	snapshot_unref(early);
	recording_free(r);
	l = s->leaks;
	CHECK(l && !l->failed && l->unknown && l->nsites == 2 && l->nrounds == 1);
	CHECK_STR(l->how, "process_vm_readv");
	CHECK_STR(l->heuristic_name[2], "stdstring");
	CHECK_INT(l->heuristic[2].bytes, 30);
	CHECK_INT(l->sum[SNAP_LEAK_REACHABLE].bytes, 10000);
	CHECK_INT(l->stop_ns, 12345);
	CHECK_INT(l->sites[0].before.bytes, 100);
	CHECK_INT(l->sites[0].indirect.bytes, 5);
	CHECK(l->sites[1].suppressed && l->sites[1].class == SNAP_LEAK_POSSIBLE);
	CHECK_INT(l->rounds[0].sum[0].bytes, 2);
	snapshot_unref(s);
	program_free(&p);
}

/* ---- details ---- */

#define NO_PARENT UINT32_MAX

static const struct snap_leak_step way[] = {
	{ .addr = 0x1000, .root = "table" },
	{ .addr = 0x2000, .size = 48, .site = 4 },
};
static const struct snap_leak_step only[] = { { .root = "rbx of thread 7" } };
static const struct snap_leak_block blocks[] = {
	{ .addr = 0x3000,
		.size = 100,
		.birth_ns = 99,
		.holders = 2,
		.left_out = 3,
		.inside = true,
		.retained = { 5, 600 },
		.through = only,
		.nthrough = 1,
		.through_left_out = 4,
		.steps = way,
		.nsteps = 2 },
	{ .addr = 0x4000, .size = 100 },
};
static const struct snap_leak_site rows[] = {
	{ .class = SNAP_LEAK_DEFINITE,
		.site = 3,
		.sum = { 2, 200 },
		.retained = { 7, 900 },
		.cyclic = { 1, 100 },
		.cyclic_retained = { 3, 300 },
		.type = "Node<int>",
		.type_blocks = 2,
		.blocks = blocks,
		.nblocks = 2 },
	{ .class = SNAP_LEAK_REACHABLE, .site = 4, .sum = { 1, 48 }, .retained = { 2, 148 } },
	{ .class = SNAP_LEAK_REACHABLE, .site = 3, .sum = { 1, 10 }, .retained = { 1, 10 } },
};
static const struct snap_holder holders[] = {
	{ .parent = NO_PARENT, .root = "table", .all = { 9, 999 } },
	{ .parent = 0, .depth = 1, .site = 4, .own = { 1, 48 }, .all = { 8, 900 } },
	{ .parent = 1, .depth = 2, .site = 3, .own = { 7, 800 }, .all = { 7, 852 } },
	{ .parent = 0, .depth = 1, .site = 5, .own = { 1, 99 }, .all = { 1, 99 } },
	{ .parent = NO_PARENT, .root = "stacks", .all = { 1, 10 } },
};
static const struct snap_cycle cycles[] = {
	{ .site = { 3, 4 }, .sites = 2, .times = 6, .sum = { 12, 1200 }, .retained = { 13, 1300 } },
	{ .site = { 1, 2, 3, 4 }, .sites = 9, .times = 1, .sum = { 9, 90 } },
};
static const struct snap_leaks whole = { .how = "h",
	.at_ns = 2 * S_NS,
	.sites = rows,
	.nsites = 3,
	.holders = holders,
	.nholders = 5,
	.held = { 10, 1009 },
	.typed = { 2, 200 },
	.no_holders = "because",
	.cycles = cycles,
	.ncycles = 2 };

/* A recording of ten seconds with these scans, in their order. */
static void recording_make(const struct snap_leaks *const *scans, size_t count)
{
	struct recording_writer *w = create(0);
	struct program p;

	program_init(&p, 6, 6);
	for (uint32_t i = 0; i < 6; i++)
		p.sites[i].id = i;
	for (size_t i = 1; i <= 10; i++) {
		program_tick(&p, S_NS, 60);
		for (size_t k = 0; k < count; k++)
			if (scans[k]->at_ns <= i * S_NS)
				p.head.leaks = scans[k];
		add(w, &p);
	}
	CHECK_INT(recording_close(w), 0);
	program_free(&p);
}

static void check_sum(struct snap_leak_sum sum, uint64_t n, uint64_t bytes)
{
	CHECK_INT(sum.blocks, n);
	CHECK_INT(sum.bytes, bytes);
}

static void check_steps(const struct snap_leak_step *step, uint32_t n,
	const struct snap_leak_step *want, uint32_t wanted)
{
	CHECK_INT(n, wanted);
	for (uint32_t i = 0; i < wanted && n == wanted; i++) {
		CHECK_INT(step[i].addr, want[i].addr);
		CHECK_INT(step[i].size, want[i].size);
		CHECK_INT(step[i].site, want[i].site);
		if (want[i].root)
			CHECK_STR(step[i].root, want[i].root);
		else
			CHECK(step[i].root == NULL);
	}
}

static void check_rows(const struct snap_leaks *l)
{
	const struct snap_leak_site *row = &l->sites[0];
	const struct snap_leak_block *b = row->blocks;

	check_sum(row->retained, 7, 900);
	check_sum(row->cyclic, 1, 100);
	check_sum(row->cyclic_retained, 3, 300);
	CHECK_STR(row->type, "Node<int>");
	CHECK_INT(row->type_blocks, 2);
	CHECK_INT(row->nblocks, 2);
	CHECK(b[0].addr == 0x3000 && b[0].size == 100 && b[0].birth_ns == 99 && b[0].inside);
	CHECK(b[0].holders == 2 && b[0].left_out == 3 && b[0].through_left_out == 4);
	check_sum(b[0].retained, 5, 600);
	check_steps(b[0].steps, b[0].nsteps, way, 2);
	check_steps(b[0].through, b[0].nthrough, only, 1);
	CHECK(b[1].addr == 0x4000 && b[1].nsteps == 0 && !b[1].inside);
	CHECK(l->sites[1].nblocks == 0 && l->sites[1].type == NULL);
	check_sum(l->sites[1].retained, 2, 148);
}

static void check_holders(const struct snap_leaks *l)
{
	check_sum(l->held, 10, 1009);
	check_sum(l->typed, 2, 200);
	CHECK_STR(l->no_holders, "because");
	CHECK_INT(l->nholders, 5);
	for (size_t i = 0; i < 5 && l->nholders == 5; i++) {
		CHECK_INT(l->holders[i].parent, holders[i].parent);
		CHECK_INT(l->holders[i].depth, holders[i].depth);
		CHECK_INT(l->holders[i].site, holders[i].site);
		check_sum(l->holders[i].own, holders[i].own.blocks, holders[i].own.bytes);
		check_sum(l->holders[i].all, holders[i].all.blocks, holders[i].all.bytes);
		CHECK((l->holders[i].root != NULL) == (holders[i].root != NULL));
	}
	CHECK_STR(l->holders[4].root, "stacks");
	CHECK_INT(l->ncycles, 2);
	CHECK(l->cycles[0].sites == 2 && l->cycles[0].site[1] == 4 && l->cycles[0].times == 6);
	check_sum(l->cycles[0].sum, 12, 1200);
	check_sum(l->cycles[0].retained, 13, 1300);
	CHECK(l->cycles[1].sites == 9 && l->cycles[1].site[3] == 4);
}

TEST(what_holds_the_heap_comes_back)
{
	const struct snap_leaks *scan = &whole;
	struct recording *r;
	struct snapshot *s;

	recording_make(&scan, 1);
	r = reopen(path);
	CHECK(!recording_notice(r));
	s = recording_last(r, 0);
	recording_free(r);
	CHECK(s->leaks && s->leaks->nsites == 3 && !s->leaks->blocks_cut);
	check_rows(s->leaks);
	check_holders(s->leaks);
	snapshot_unref(s);
}

static const struct snap_site *site_of(const struct snapshot *s, uint32_t id)
{
	for (size_t i = 0; i < s->nsites; i++)
		if (s->sites[i].id == id)
			return &s->sites[i];
	CHECK(false);
	return s->sites;
}

/* As in a live program: from the scan on, call sites have the types of their blocks and what they
 * retain; before it, and at the peak, nothing is known of that. */
TEST(call_sites_have_what_the_scan_found)
{
	const struct snap_leaks *scan = &whole;
	struct recording *r;
	struct snapshot *s, *changed;

	recording_make(&scan, 1);
	r = reopen(path);
	s = recording_last(r, 0);
	CHECK(s->has_retained && s->typed.known);
	check_sum(s->typed.typed, 2, 200);
	check_sum(s->typed.of, 10, 1009);
	CHECK_STR(site_of(s, 3)->type.name, "Node<int>");
	CHECK_INT(site_of(s, 3)->type.blocks, 2);
	CHECK_INT(site_of(s, 3)->type.of, 3);
	CHECK_INT(site_of(s, 3)->retained_bytes, 910);
	CHECK_INT(site_of(s, 4)->retained_bytes, 148);
	CHECK(site_of(s, 4)->type.name == NULL);
	changed = past(r, 0, s, S_NS);
	CHECK(!changed->has_retained && !changed->typed.known && !site_of(changed, 3)->type.name);
	snapshot_unref(changed);
	changed = past(r, 0, s, 3 * S_NS);
	CHECK(changed->has_retained && site_of(changed, 3)->retained_bytes == 910);
	snapshot_unref(changed);
	s->totals.has_at_peak = true;
	changed = moment_peak(s);
	CHECK(changed && !changed->has_retained && !changed->typed.known);
	snapshot_unref(changed);
	snapshot_unref(s);
	recording_free(r);
}

/* Scans that compute none of it, as of a core file, have no such block; and the next one's is its
 * own. */
TEST(each_scan_has_its_own)
{
	struct snap_leaks plain = { .how = "h", .at_ns = 4 * S_NS, .sites = rows + 1, .nsites = 1 };
	struct snap_leak_site bare = { .site = 4, .sum = { 1, 48 } };
	const struct snap_leaks *scans[] = { &whole, &plain };
	struct recording *r;
	struct snapshot *s, *early;

	plain.sites = &bare;
	CHECK(leak_details_any(&whole) && !leak_details_any(&plain));
	recording_make(scans, 2);
	r = reopen(path);
	CHECK(!recording_notice(r));
	s = recording_last(r, 0);
	CHECK(s->leaks->nsites == 1 && s->leaks->held.blocks == 0 && s->leaks->nholders == 0);
	CHECK(!s->has_retained);
	early = past(r, 0, s, 3 * S_NS);
	check_rows(early->leaks);
	check_holders(early->leaks);
	snapshot_unref(early);
	snapshot_unref(s);
	recording_free(r);
}

/* A row's blocks are written whole or not, and those of the first rows only. */
TEST(blocks_of_many_call_sites_are_cut)
{
	enum { ROWS = 200, EACH = 8 };
	struct snap_leak_site row[ROWS] = { { .site = 0 } };
	struct snap_leak_block block[EACH] = { { .addr = 1 } };
	struct snap_leaks l = { .how = "h", .at_ns = S_NS, .sites = row, .nsites = ROWS };
	const struct snap_leaks *scan = &l;
	struct recording *r;
	struct snapshot *s;

	for (unsigned i = 0; i < ROWS; i++)
		row[i] = (struct snap_leak_site){
			.site = i, .sum = { EACH, EACH }, .blocks = block, .nblocks = EACH
		};
	recording_make(&scan, 1);
	CHECK(file_size(path) < 16384);
	r = reopen(path);
	s = recording_last(r, 0);
	CHECK(s->leaks->blocks_cut && !s->leaks->held.blocks);
	for (unsigned i = 0; i < ROWS; i++)
		CHECK_INT(s->leaks->sites[i].nblocks, i < 64 ? EACH : 0);
	snapshot_unref(s);
	recording_free(r);
}

/* ---- what harms ---- */

static struct bytes payload(const struct snap_leaks *l)
{
	struct bytes raw = { 0 };

	leak_details_put(&raw, l);
	CHECK(!raw.failed && raw.len > 100);
	return raw;
}

/* A scan as its own block is read: rows that may be written to, and nothing beyond. */
static struct snap_leaks bare_scan(struct snap_leak_site *row)
{
	struct snap_leaks l = { .how = "h", .at_ns = 2 * S_NS, .sites = row, .nsites = 3 };

	for (unsigned i = 0; i < 3; i++)
		row[i] = (struct snap_leak_site){ .site = rows[i].site, .sum = rows[i].sum };
	return l;
}

static void check_nothing_added(const struct snap_leaks *l)
{
	CHECK(!l->held.blocks && !l->nholders && !l->ncycles && !l->no_holders && !l->blocks_cut);
	for (unsigned i = 0; i < 3; i++) {
		const struct snap_leak_site *s = &l->sites[i];

		CHECK(!s->retained.blocks && !s->cyclic.blocks && !s->cyclic_retained.blocks);
		CHECK(!s->type && !s->type_blocks && !s->blocks && !s->nblocks);
	}
}

/* What the screen relies on. */
static void check_shape(const struct snap_leaks *l)
{
	for (size_t i = 0; i < l->nholders; i++) {
		const struct snap_holder *h = &l->holders[i];

		CHECK((h->parent == NO_PARENT) == (h->root != NULL));
		CHECK(h->root || h->parent < i);
		CHECK_INT(h->depth, h->root ? 0 : l->holders[h->parent].depth + 1);
		CHECK(i == 0 || h->depth <= h[-1].depth + 1);
	}
	for (unsigned i = 0; i < 3; i++)
		for (uint32_t k = 0; k < l->sites[i].nblocks; k++)
			CHECK(l->sites[i].blocks[k].nsteps < 256);
}

static void check_read(const struct bytes *raw, bool may_be_good)
{
	struct snap_leak_site row[3];
	struct snap_leaks l = bare_scan(row);
	struct arena arena = { 0 };
	int rc = leak_details_read(raw, &arena, &l);

	CHECK(rc == -EBADMSG || (rc == 0 && may_be_good));
	if (rc)
		check_nothing_added(&l);
	else
		check_shape(&l);
	arena_free(&arena);
}

TEST(a_damaged_one_adds_nothing)
{
	struct bytes raw = payload(&whole), cut;

	check_read(&raw, true);
	for (size_t i = 0; i < raw.len; i++) {
		cut = raw;
		cut.len = i;
		check_read(&cut, false);
	}
	for (size_t i = 0; i < raw.len; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			raw.data[i] ^= (uint8_t)(1u << bit);
			check_read(&raw, true);
			raw.data[i] ^= (uint8_t)(1u << bit);
		}
	bytes_number(&raw, 0);
	check_read(&raw, false);
	bytes_free(&raw);
}

/* Of another scan, or of more rows than there are. */
TEST(it_belongs_to_one_scan)
{
	struct snap_leaks changed = whole;
	struct bytes raw;

	changed.at_ns++;
	raw = payload(&changed);
	check_read(&raw, false);
	bytes_free(&raw);
	changed = whole;
	changed.nsites--;
	raw = payload(&changed);
	check_read(&raw, false);
	bytes_free(&raw);
}

/* Holders that follow no order would have the screen's tree lie, or never end. */
TEST(holders_are_a_tree_depth_first)
{
	struct snap_holder h[4] = { holders[0], holders[1], holders[3], holders[2] };
	struct snap_leaks changed = whole;
	struct bytes raw;

	changed.holders = h;
	changed.nholders = 4;
	raw = payload(&changed); /* the last one is below one that is closed already */
	check_read(&raw, false);
	bytes_free(&raw);
	h[3] = holders[4];
	h[3].root = NULL; /* a root without a name */
	raw = payload(&changed);
	check_read(&raw, false);
	bytes_free(&raw);
	h[3] = holders[3];
	h[3].root = "a name"; /* of a call site */
	raw = payload(&changed);
	check_read(&raw, false);
	bytes_free(&raw);
}

/* Longer than a word can be: it is cut, and the rest is there. */
TEST(a_long_name_is_cut)
{
	struct snap_leak_site row[3] = { rows[0], rows[1], rows[2] }, read[3];
	struct snap_leaks changed = whole, l = bare_scan(read);
	struct arena arena = { 0 };
	struct bytes raw;
	char name[5000];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	row[0].type = name;
	changed.sites = row;
	raw = payload(&changed);
	CHECK_INT(leak_details_read(&raw, &arena, &l), 0);
	CHECK(l.sites[0].type && strlen(l.sites[0].type) == 1024);
	CHECK_INT(l.nholders, 5);
	bytes_free(&raw);
	arena_free(&arena);
}

int main(void)
{
	folder_make();
	RUN(leak_scans_come_back);
	RUN(what_holds_the_heap_comes_back);
	RUN(call_sites_have_what_the_scan_found);
	RUN(each_scan_has_its_own);
	RUN(blocks_of_many_call_sites_are_cut);
	RUN(a_damaged_one_adds_nothing);
	RUN(it_belongs_to_one_scan);
	RUN(holders_are_a_tree_depth_first);
	RUN(a_long_name_is_cut);
	folder_remove();
	return check_end();
}
