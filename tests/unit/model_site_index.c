/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sites by id (src/model/site_index.h), and those who look up a site for each of many leaks. With a
 * search of all sites for each, the tests of MANY take minutes together.
 */
#include "src/model/site_index.h"

#include <stdlib.h>
#include "src/export/export.h"
#include "src/model/ignored.h"
#include "src/scan/leak_summary.h"
#include "src/scan/scan_outcome.h"
#include "tests/unit/canned.h"
#include "tests/check.h"

#define FEW  6u
#define MANY 100000u

static const struct export_options options = {
	.names = NAMES_FULL, .version = "0.1.0", .failures = 1u << SNAP_LEAK_DEFINITE
};
static struct snap_site *sites;
static struct snap_leak_site *lost;
static struct snap_leaks leaks;
static struct snapshot many;
static struct strbuf out;

static bool as_snapshot_site(const struct snapshot *s, uint32_t to)
{
	struct site_index x;
	bool same = true;

	site_index_make(&x, s);
	for (uint32_t id = 0; id < to; id++) {
		same &= site_index_find(&x, id) == snapshot_site(s, id);
		same &= site_index_find(&x, SNAP_INHERITED_FIRST + id) ==
			snapshot_site(s, SNAP_INHERITED_FIRST + id);
	}
	same &= site_index_find(&x, UINT32_MAX) == snapshot_site(s, UINT32_MAX);
	site_index_free(&x);
	return same;
}

TEST(in_any_order)
{
	static const uint32_t orders[][FEW] = { { 1, 2, 5, 6, 7, 9 }, { 9, 7, 6, 5, 2, 1 },
		{ 6, 2, 9, 1, 7, 5 }, { 1, 2, 2, 2, 5, 5 }, { 5, 2, 2, 5, 1, 1 },
		{ 3, 3, 3, 3, 3, 3 } };
	struct snap_site heap[FEW], mapped[FEW], parents[FEW];
	struct snapshot s = { .sites = heap, .mapped = mapped, .inherited = parents };

	CHECK(as_snapshot_site(&s, 3));
	for (size_t o = 0; o < sizeof(orders) / sizeof(orders[0]); o++) {
		for (size_t i = 0; i < FEW; i++) {
			heap[i] = (struct snap_site){ .id = orders[o][i] };
			mapped[i] = (struct snap_site){ .id = orders[o][i] + 4 };
			parents[i] =
				(struct snap_site){ .id = SNAP_INHERITED_FIRST + orders[o][i] };
		}
		for (size_t n = 0; n <= FEW; n++) {
			s.nsites = n;
			s.nmapped = FEW - n;
			s.ninherited = n;
			CHECK(as_snapshot_site(&s, 20));
		}
	}
}

TEST(of_the_heap_alone)
{
	const struct snap_site heap = { .id = 3 }, mapped = { .id = 4 };
	const struct snapshot s = { .sites = &heap, .nsites = 1, .mapped = &mapped, .nmapped = 1 };
	struct site_index x;

	site_index_make(&x, &s);
	CHECK(site_index_find_heap(&x, 3) == &heap && !site_index_find_heap(&x, 4));
	CHECK(site_index_find(&x, 4) == &mapped);
	site_index_free(&x);
}

/* ---- many ---- */

/* A leak at each site. `rise`: the ids of the sites do. */
static void many_make(bool rise)
{
	for (uint32_t i = 0; i < MANY; i++) {
		sites[i] = canned_sites[i % 2];
		sites[i].id = rise ? i + 1 : MANY - i;
		lost[i] = (struct snap_leak_site){
			.class = SNAP_LEAK_DEFINITE, .site = i + 1, .sum = { 1, 16 }
		};
	}
	leaks = (struct snap_leaks){ .how = "stop and read", .sites = lost, .nsites = MANY };
	for (unsigned i = 0; i < SNAP_LEAK_HEURISTICS; i++)
		leaks.heuristic_name[i] = "";
	many = canned;
	many.owner = &many;
	many.refs = 1;
	many.sites = sites;
	many.nsites = MANY;
	many.leaks = &leaks;
}

/* Counts `text` in what was written, and empties it. */
static size_t count(const char *text)
{
	size_t n = 0;

	for (const char *p = strbuf_text(&out); (p = strstr(p, text)); p += strlen(text))
		n++;
	CHECK(!out.failed);
	strbuf_reset(&out);
	return n;
}

static void each_found(void)
{
	struct site_index x;
	size_t found = 0;

	site_index_make(&x, &many);
	for (uint32_t id = 1; id <= MANY; id++) {
		const struct snap_site *site = site_index_find(&x, id);

		found += site && site->id == id;
	}
	CHECK_INT(found, MANY);
	CHECK(!site_index_find(&x, 0) && !site_index_find(&x, MANY + 1));
	site_index_free(&x);
}

TEST(many_sites)
{
	many_make(true);
	each_found();
	many_make(false);
	each_found();
}

TEST(many_leaks_in_json)
{
	struct export_options o = options;
	struct snapshot none = many; /* a filter leaves none of the sites */

	none.nsites = 0;
	o.whole = &many;
	export_json(&out, &none, &o);
	CHECK_INT(count("\"arena_new\""), MANY / 2);
}

TEST(many_leaks_in_text)
{
	struct snapshot none = many;
	struct export_options o = options;

	none.nsites = 0;
	o.whole = &many;
	export_text(&out, &none, &o);
	CHECK_INT(count(". definite: 16 bytes in 1 block\n"), MANY);
}

TEST(many_leaks_in_junit)
{
	export_junit(&out, &many, &options);
	CHECK_INT(count("\"definite leak: arena_new arena.c:118\""), MANY / 2);
}

TEST(many_changes)
{
	const struct snap_leak_round round = { .number = 1 };

	leaks.rounds = &round;
	leaks.nrounds = 1;
	export_leak_round(&out, &many, &options, false);
	CHECK_INT(count(": definite, new: arena_new  arena.c:118\n"), MANY / 2);
	leaks.rounds = NULL;
	leaks.nrounds = 0;
}

TEST(many_leaks_beside_ignored_ones)
{
	const struct ignored_rules rules = { .ignore = { "arena_new" }, .nignore = 1 };
	struct ignored *g = ignored_new(&rules);
	struct snapshot *s = ignored_take(g, &many);
	const struct snap_leak_site *row = &s->leaks->sites[0];

	CHECK_INT(s->leaks->nsites, MANY / 2 + 1);
	CHECK_INT(row->site, 1);
	CHECK_INT(row->sum.blocks, MANY / 2);
	many.refs++; /* it is not on the heap */
	snapshot_unref(s);
	ignored_free(g);
}

/* The first half is kept: the rows for the others come behind all of these. */
TEST(many_ignored_ones)
{
	const struct ignored_rules rules = { .ignore = { "arena_new" }, .nignore = 1 };
	struct ignored *g = ignored_new(&rules);
	struct snapshot *s;

	for (uint32_t i = 0; i < MANY; i++) {
		sites[i].stack = canned_sites[sites[i].id > MANY / 2].stack;
		lost[i].suppressed = i % 2;
	}
	s = ignored_take(g, &many);
	CHECK_INT(s->leaks->nsites, MANY / 2 + 2);
	for (size_t i = 0; i < 2; i++) {
		CHECK_INT(s->leaks->sites[MANY / 2 + i].site, MANY / 2 + 1);
		CHECK_INT(s->leaks->sites[MANY / 2 + i].sum.blocks, MANY / 4);
		CHECK_INT(s->leaks->sites[MANY / 2 + i].suppressed, i);
	}
	many.refs++;
	snapshot_unref(s);
	ignored_free(g);
}

static struct leak_summary *scanned(void)
{
	struct scan_outcome o = { .result.rows = MANY };

	o.result.row = calloc(MANY, sizeof(*o.result.row));
	o.result.text = calloc(1, 1);
	CHECK(o.result.row && o.result.text);
	for (uint32_t i = 0; o.result.row && i < MANY; i++)
		o.result.row[i] = (struct leak_row){ .site = i + 1, .sum = { 1, 16 } };
	return leak_summary_of(&o, false);
}

TEST(many_suppressed)
{
	static const char text[] = "leak:arena_new\n";
	char message[SUPPRESSIONS_MESSAGE_MAX];
	struct suppressions *rules = suppressions_new();
	struct leak_summary *c = scanned();
	struct leak_summary_matched matched;

	many_make(false);
	CHECK_INT(suppressions_parse(rules, text, strlen(text), "t", message), 0);
	leak_summary_match(c, &many, rules, 1, &matched);
	CHECK_INT(matched.own + matched.others, MANY / 2);
	CHECK(leak_summary_suppress(c, &many, rules));
	CHECK_INT(leak_summary_result(c)->suppressed.blocks, MANY / 2);
	leak_summary_match(c, &many, rules, 1, &matched);
	CHECK_INT(matched.own + matched.others, 0);
	leak_summary_free(c);
	suppressions_free(rules);
}

int main(void)
{
	RUN(in_any_order);
	RUN(of_the_heap_alone);
	sites = calloc(MANY, sizeof(*sites));
	lost = calloc(MANY, sizeof(*lost));
	if (!sites || !lost)
		return 1;
	RUN(many_sites);
	RUN(many_leaks_in_json);
	RUN(many_leaks_in_text);
	RUN(many_leaks_in_junit);
	RUN(many_changes);
	RUN(many_leaks_beside_ignored_ones);
	RUN(many_ignored_ones);
	RUN(many_suppressed);
	strbuf_free(&out);
	free(sites);
	free(lost);
	return check_end();
}
