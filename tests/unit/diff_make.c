/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Diffs (src/diff/diff.h): which sites of two builds are taken for the same, what is said of each,
 * and what several runs make of it.
 */
#include <stdio.h>
#include "src/diff/diff_snapshot.h"
#include "src/diff/function_name.h"
#include "tests/check.h"
#include "tests/unit/diff_fixture.h"

static struct fixture_run left, right;

static struct diff *between(struct snapshot *a, struct snapshot *b)
{
	static const struct snapshot *sides[2];

	sides[0] = a;
	sides[1] = b;
	return diff_make(&sides[0], 1, &sides[1], 1, VALUE_LIVE);
}

/* "grew prefix f 100 150" of one row. */
static const char *row_text(const struct diff *d, size_t i)
{
	static char text[128];
	const struct diff_row *r = &d->rows[i];
	const struct snap_site *site = r->b ? r->b : r->a;

	if (i >= d->nrows)
		return "none";
	snprintf(text, sizeof(text), "%s %s %s %llu %llu", diff_kind_word(r->kind),
		diff_match_word(r->match),
		snapshot_frame(site->stack, site->stack->title)->function,
		(unsigned long long)r->change[VALUE_LIVE].a,
		(unsigned long long)r->change[VALUE_LIVE].b);
	return text;
}

TEST(names_without_what_compilers_add)
{
	static const struct {
		const char *name, *plain;
	} names[] = { { "f", "f" }, { "f.isra.0", "f" }, { "f.part.12.isra.3", "f" },
		{ "f.cold", "f" }, { "f.constprop.0.cold", "f" }, { "f.lto_priv.7", "f" },
		{ "f(int) [clone .isra.0]", "f(int)" },
		{ "f(int) [clone .part.0] [clone .cold]", "f(int)" },
		{ "core::f::h0123456789abcdef", "core::f" }, { "f.0", "f.0" }, { "part", "part" },
		{ ".cold", ".cold" }, { "operator[]", "operator[]" }, { "f12", "f12" },
		{ "f(char [clone x])", "f(char [clone x])" }, { "", "" } };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char plain[64];

		snprintf(plain, sizeof(plain), "%.*s", (int)function_name_plain(names[i].name),
			names[i].name);
		CHECK_STR(plain, names[i].plain);
	}
	CHECK(function_name_starts("__libc_start_main@@GLIBC_2.34"));
	CHECK(!function_name_starts("main"));
}

TEST(other_addresses_and_lines_make_no_difference)
{
	struct diff *d =
		between(FIXTURE(&left, 1000, { "f g main _start", 100 }, { "?lib+10 main", 50 }),
			FIXTURE(&right, 7000, { "f g main __libc_start_main _start", 100 },
				{ "?lib+10 main", 50 }));

	CHECK_INT(d->nchanged, 0);
	CHECK_INT(d->nrows, 2);
	CHECK_STR(row_text(d, 0), "same stack f 100 100");
	CHECK_INT(d->unmatched_a[VALUE_LIVE], 0);
	diff_free(d);
}

/* Only what is outside of main or a thread's function starts it. */
TEST(a_function_of_the_program_has_the_name_of_a_start)
{
	struct diff *d =
		between(FIXTURE(&left, 0, { "clone main _start", 100000 }, { "main _start", 50000 },
				{ "work start_thread clone3", 70 }),
			FIXTURE(&right, 0, { "clone main _start", 60000 }, { "main _start", 70000 },
				{ "work start_thread clone", 70 }));

	CHECK_INT(d->nrows, 3);
	CHECK_INT(d->nchanged, 2);
	diff_free(d);
}

TEST(clones_and_parts_are_their_function)
{
	struct diff *d = between(FIXTURE(&left, 0, { "f g main", 100 }, { "r r r main", 60 }),
		FIXTURE(&right, 0, { "f.part.0 f g.isra.0 main", 70 },
			{ "f.constprop.1 g main", 30 },
			{ "r.isra.0 r.isra.0 r.isra.0 main.cold", 60 }));

	CHECK_INT(d->nchanged, 0);
	CHECK_INT(d->nrows, 2);
	CHECK_INT(d->rows[0].sites_b, 2);
	diff_free(d);
}

/* A compiler made a function of f's end, which a copy of f's beginning in g calls. */
TEST(a_part_and_the_inlined_rest_are_one_frame)
{
	struct diff *d = between(
		FIXTURE(&left, 0, { "f g main", 100 }), FIXTURE(&right, 0, { "f ^f g main", 100 }));

	CHECK_STR(row_text(d, 0), "same stack f 100 100");
	diff_free(d);
}

/* What is shown of a row is what differs. */
TEST(the_stacks_that_differ_are_shown)
{
	struct diff *d = between(FIXTURE(&left, 0, { "~x f main", 1000 }),
		FIXTURE(&right, 0, { "~x f main", 900 }, { "~x wrap f main", 100 }));

	CHECK_STR(row_text(d, 0), "moved part wrap 1000 1000");
	CHECK_INT(d->nchanged, 0);
	CHECK_INT(d->nmoved, 1);
	diff_free(d);
}

TEST(what_changed_comes_first)
{
	struct diff *d = between(FIXTURE(&left, 0, { "a main", 100 }, { "b main", 500 },
					 { "c main", 300 }, { "d main", 40 }),
		FIXTURE(&right, 0, { "a main", 150 }, { "b main", 500 }, { "c main", 100 },
			{ "e x main", 90 }));

	CHECK_INT(d->nchanged, 4);
	CHECK_STR(row_text(d, 0), "shrank stack c 300 100");
	CHECK_STR(row_text(d, 1), "appeared none e 0 90");
	CHECK_STR(row_text(d, 2), "grew stack a 100 150");
	CHECK_STR(row_text(d, 3), "vanished none d 40 0");
	CHECK_STR(row_text(d, 4), "same stack b 500 500");
	CHECK_INT(d->unmatched_a[VALUE_LIVE], 40);
	CHECK_INT(d->unmatched_b[VALUE_LIVE], 90);
	CHECK_INT(d->unmatched_b[VALUE_ALLOCS], 9);
	CHECK_INT(d->total[VALUE_LIVE].a, 940);
	CHECK_INT(d->total[VALUE_LIVE].b, 840);
	diff_free(d);
}

TEST(frames_of_standard_libraries_may_differ)
{
	struct diff *d = between(FIXTURE(&left, 0, { "~std::allocate ~std::push f main", 100 },
					 { "~std::x f main", 7 }),
		FIXTURE(&right, 0, { "~std::emplace f main", 130 }, { "~std::x f main", 7 }));

	CHECK_INT(d->nrows, 2);
	CHECK_STR(row_text(d, 0), "grew own-stack f 100 130");
	CHECK_STR(row_text(d, 1), "same stack f 7 7");
	diff_free(d);
}

/* The call of the library tells two sites of a function apart. */
TEST(a_call_of_the_library_stays_that_call)
{
	struct diff *d = between(FIXTURE(&left, 0, { "~std::a ~std::map f main", 100 },
					 { "f main", 100 }, { "~std::a ~std::vector f main", 50 }),
		FIXTURE(&right, 0, { "~std::b ~std::map f main", 100 },
			{ "~std::b ~std::vector f main", 55 }));

	CHECK_INT(d->nrows, 3);
	CHECK_STR(row_text(d, 0), "vanished none f 100 0");
	CHECK_STR(row_text(d, 1), "grew own-stack f 50 55");
	CHECK_STR(row_text(d, 2), "same own-stack f 100 100");
	diff_free(d);
}

TEST(callers_may_differ)
{
	struct diff *d =
		between(FIXTURE(&left, 0, { "f g old main", 100 }, { "f g k l old main", 30 }),
			FIXTURE(&right, 0, { "f g new main", 60 }, { "f g newer main", 40 },
				{ "f g k l new main", 30 }));

	CHECK_INT(d->nrows, 2);
	CHECK_STR(row_text(d, 0), "moved prefix f 100 100");
	CHECK_INT(d->rows[0].sites_a, 1);
	CHECK_INT(d->rows[0].sites_b, 2);
	CHECK_STR(row_text(d, 1), "moved prefix f 30 30");
	diff_free(d);
}

TEST(frames_may_be_left_out)
{
	struct diff *d = between(FIXTURE(&left, 0, { "f g h main", 100 }, { "xmalloc p main", 40 },
					 { "p main", 10 }),
		FIXTURE(&right, 0, { "f h main", 90 }, { "p main", 50 }));

	CHECK_INT(d->nrows, 2);
	CHECK_STR(row_text(d, 0), "shrank part f 100 90");
	CHECK_STR(row_text(d, 1), "moved part p 50 50");
	CHECK_INT(d->rows[1].sites_a, 2);
	diff_free(d);
}

/* It must not be summed up with a caller whose figure differs a little. */
TEST(an_added_site_stays_its_own)
{
	struct diff *d = between(FIXTURE(&left, 0, { "f main", 1000 }),
		FIXTURE(&right, 0, { "f main", 990 }, { "leak f main", 500 }));

	CHECK_STR(row_text(d, 0), "appeared none leak 0 500");
	CHECK_STR(row_text(d, 1), "shrank stack f 1000 990");
	diff_free(d);
}

/* A compiler made a function of f's end, and inlined that again where f is not inlined. */
TEST(a_part_that_is_inlined_again_is_one_frame)
{
	struct diff *d = between(
		FIXTURE(&left, 0, { "^f f g main", 100 }), FIXTURE(&right, 0, { "f g main", 100 }));

	CHECK_STR(row_text(d, 0), "same stack f 100 100");
	diff_free(d);
}

/* A calls n and b at a function's end, B calls h so: either leaves no frame. */
TEST(each_stack_may_lack_frames_of_the_other)
{
	struct diff *d = between(FIXTURE(&left, 0, { "m t h p q main", 300 }, { "m u main", 20 }),
		FIXTURE(&right, 0, { "n m t p b q main", 300 }, { "m u main", 20 }));

	CHECK_INT(d->nchanged, 0);
	CHECK_STR(row_text(d, 0), "moved part n 300 300");
	diff_free(d);
}

/* The same figures, but other functions: k and h in the place of m. */
TEST(equal_figures_alone_prove_nothing)
{
	struct diff *d = between(FIXTURE(&left, 0, { "f m p q main", 300 }),
		FIXTURE(&right, 0, { "g k h p q main", 300 }));

	CHECK_INT(d->nchanged, 2);
	CHECK_INT(d->unmatched_a[VALUE_LIVE], 300);
	diff_free(d);
}

/* The compiler took two equal ends of functions for one. */
TEST(two_stacks_may_become_one)
{
	struct diff *d = between(FIXTURE(&left, 0, { "n m ^check p q r main", 30 },
					 { "n m ^next p q r main", 50 }, { "k main", 70 }),
		FIXTURE(&right, 0, { "n m ^check p q r main", 80 }, { "k main", 70 }));

	CHECK_INT(d->nchanged, 0);
	CHECK_INT(d->nrows, 2);
	CHECK_STR(row_text(d, 0), "moved part n 80 80");
	CHECK_INT(d->rows[0].sites_a, 2);
	diff_free(d);
	/* Not if a byte more is there. */
	d = between(
		FIXTURE(&left, 0, { "n m ^check p q r main", 30 }, { "n m ^next p q r main", 50 }),
		FIXTURE(&right, 0, { "n m ^check p q r main", 81 }));
	CHECK_INT(d->nchanged, 2);
	diff_free(d);
}

/* Three parts of what one row lacks. */
TEST(several_rows_cancel_one_out)
{
	struct diff *d = between(FIXTURE(&left, 0, { "s n m p q main", 160 },
					 { "s n m p q r main", 20 }, { "s n m p q t main", 30 }),
		FIXTURE(&right, 0, { "s n m p q main", 100 }, { "s n m p q r main", 50 },
			{ "s n m p q t main", 60 }));

	CHECK_INT(d->nchanged, 0);
	CHECK_STR(row_text(d, 0), "moved part s 210 210");
	diff_free(d);
}

TEST(a_site_moved_to_another_function)
{
	struct diff *d = between(FIXTURE(&left, 0, { "f x y main", 1000 }, { "g main", 5 }),
		FIXTURE(&right, 0, { "k z main", 1000 }, { "g main", 5 }));

	CHECK_INT(d->nchanged, 2);
	CHECK_STR(row_text(d, 2), "same stack g 5 5");
	CHECK_INT(d->unmatched_a[VALUE_LIVE], 1000);
	CHECK_INT(d->unmatched_b[VALUE_LIVE], 1000);
	diff_free(d);
}

TEST(the_last_way_is_by_function_and_file)
{
	struct diff *d = between(FIXTURE(&left, 0, { "f a b c main", 100 }),
		FIXTURE(&right, 0, { "f x y z main", 60 }, { "f u v w main", 50 }));

	CHECK_INT(d->nrows, 1);
	CHECK_STR(row_text(d, 0), "grew function f 100 110");
	diff_free(d);
}

TEST(nothing_on_a_side)
{
	struct diff *d =
		between(fixture_fill(&left, NULL, 0, 0), FIXTURE(&right, 0, { "f main", 60 }));

	CHECK_STR(row_text(d, 0), "appeared none f 0 60");
	diff_free(d);
	d = between(fixture_fill(&left, NULL, 0, 0), fixture_fill(&right, NULL, 0, 0));
	CHECK_INT(d->nrows, 0);
	diff_free(d);
}

TEST(as_a_snapshot)
{
	struct diff *d = between(FIXTURE(&left, 0, { "f main", 1000 }, { "g main", 600 }),
		FIXTURE(&right, 0, { "f main", 1500 }, { "h main", 80 }));
	struct snapshot *s;

	right.s.refs = 1;
	right.s.moment = SNAP_PAST;
	right.s.state = SNAP_RUNNING;
	s = diff_snapshot_make(d, "A (old)", "B (new)");
	CHECK(s && s->nsites == 3);
	CHECK(s->moment == SNAP_NOW && s->state == SNAP_COPY); /* so that SINCE is shown */
	CHECK_STR(s->since->name, "A (old)");
	CHECK_INT(s->since->live_bytes, 1600);
	CHECK_INT(s->totals.live_bytes, 1580);
	CHECK_INT(s->sites[0].since.bytes, -600); /* g, which B lacks */
	CHECK_INT(s->sites[0].live_bytes, 0);
	CHECK_STR(snapshot_frame(s->sites[0].stack, 0)->function, "g");
	CHECK(s->compared == &value_table[VALUE_LIVE]);
	CHECK_INT(snapshot_delta(&s->sites[0]), -600);
	CHECK(s->sites[0].compared[0] == 600 && s->sites[0].compared[1] == 0);
	CHECK_INT(s->sites[1].since.bytes, 500);
	CHECK_INT(s->sites[1].since.blocks, 50);
	CHECK_INT(s->sites[1].since.allocs, 50);
	CHECK(s->sites[0].id != s->sites[1].id && s->sites[1].id != s->sites[2].id);
	snapshot_unref(s);
	CHECK_INT(right.s.refs, 1);
	diff_free(d);
}

TEST(both_sides_threads_and_sizes)
{
	struct snap_thread old[] = { { .slot = 1, .name = "app", .allocs = 5, .alloc_bytes = 50 },
		{ .slot = 2, .name = "worker", .allocs = 7, .frees = 2 },
		{ .slot = 3, .name = "worker", .allocs = 8, .frees = 3 } };
	struct snap_thread new[] = { { .slot = 4, .name = "worker", .allocs = 9 },
		{ .slot = 0, .allocs = 1 }, { .slot = 2, .name = "app", .allocs = 6 } };
	struct diff *d = between(
		FIXTURE(&left, 0, { "f main", 1000 }), FIXTURE(&right, 0, { "f main", 1500 }));
	struct snapshot *s;
	const struct snap_thread *a;

	right.s.refs = 1;
	left.s.threads = old;
	left.s.nthreads = 3;
	left.s.sizes[3].live_blocks = 11;
	left.s.lifetimes[2] = 12;
	left.s.totals.allocs = 13;
	right.s.threads = new;
	right.s.nthreads = 3;
	s = diff_snapshot_make(d, "A", "B");
	CHECK(s && s->versus);
	CHECK_INT(s->versus->sizes[3].live_blocks, 11);
	CHECK_INT(s->versus->lifetimes[2], 12);
	CHECK_INT(s->versus->allocs, 13);
	CHECK_INT(s->nthreads, 3);
	a = s->versus->threads;
	CHECK_STR(s->threads[0].name, "worker");
	CHECK(s->threads[0].allocs == 9 && a[0].allocs == 15 && a[0].frees == 5);
	CHECK(s->threads[1].slot == 0 && s->threads[1].allocs == 1 && a[1].allocs == 0);
	CHECK(s->threads[2].allocs == 6 && a[2].allocs == 5 && a[2].alloc_bytes == 50);
	snapshot_unref(s);
	left.s.threads = right.s.threads = NULL;
	left.s.nthreads = right.s.nthreads = 0;
	diff_free(d);
}

/* A short run ends before the name of its first thread is read. */
TEST(first_threads_are_one_row_if_a_name_is_unknown)
{
	struct snap_thread old[] = {
		{ .slot = 1, .tid = 40, .owners = 1, .name = SNAP_FIRST_THREAD },
		{ .slot = 2, .tid = 41, .owners = 1, .name = "app", .allocs = 1 }
	};
	struct snap_thread new[] = { { .slot = 1, .tid = 70, .owners = 1, .name = "app" } };
	struct diff *d = between(
		FIXTURE(&left, 0, { "f main", 1000 }), FIXTURE(&right, 0, { "f main", 1500 }));

	for (int unseen = 0; unseen < 3; unseen++) {
		struct snapshot *s;

		strcpy(old[0].name, unseen == 1 ? "app" : SNAP_FIRST_THREAD);
		strcpy(new[0].name, unseen == 0 ? "app" : SNAP_FIRST_THREAD);
		old[0].allocs = 5;
		new[0].allocs = 6;
		left.s.pid = 40;
		right.s.pid = 70;
		left.s.threads = old;
		left.s.nthreads = 2;
		right.s.threads = new;
		right.s.nthreads = 1;
		right.s.refs = 1;
		s = diff_snapshot_make(d, "A", "B");
		CHECK_INT(s->nthreads, unseen < 2 ? 1 : 2);
		CHECK_STR(s->threads[0].name, unseen < 2 ? "app" : SNAP_FIRST_THREAD);
		CHECK_INT(s->threads[0].allocs, 6);
		CHECK_INT(s->versus->threads[0].allocs, unseen < 2 ? 6 : 5);
		snapshot_unref(s);
	}
	left.s.pid = right.s.pid = 0;
	left.s.threads = right.s.threads = NULL;
	left.s.nthreads = right.s.nthreads = 0;
	diff_free(d);
}

/* ---- several runs ---- */

#define RUNS 5
static struct fixture_run runs[2][RUNS];

/* f has figures[side][run], and g always the same. */
static struct diff *of_runs(const uint64_t figures[2][RUNS], uint64_t g)
{
	static const struct snapshot *sides[2][RUNS];

	for (int side = 0; side < 2; side++)
		for (int r = 0; r < RUNS; r++)
			sides[side][r] = FIXTURE(&runs[side][r], 0, { "f main", figures[side][r] },
				{ "g main", side ? g : 10000 });
	return diff_make(sides[0], RUNS, sides[1], RUNS, VALUE_LIVE);
}

TEST(runs_that_repeat_are_compared_exactly)
{
	static const uint64_t figures[2][RUNS] = { { 10, 10, 10, 10, 10 }, { 11, 11, 11, 11, 11 } };
	struct diff *d = of_runs(figures, 10000);

	CHECK_INT(d->total[VALUE_LIVE].sure, DIFF_EXACT);
	CHECK(d->total[VALUE_LIVE].real);
	CHECK_INT(d->nchanged, 1);
	CHECK_INT(d->nscattered, 0);
	CHECK_STR(row_text(d, 0), "grew stack f 10 11");
	diff_free(d);
}

TEST(scatter_is_no_change)
{
	static const uint64_t figures[2][RUNS] = { { 50000, 52000, 49000, 51000, 53000 },
		{ 51500, 49500, 52500, 50500, 53500 } };
	struct diff *d = of_runs(figures, 10000);

	CHECK_INT(d->total[VALUE_LIVE].sure, DIFF_TESTED);
	CHECK(!d->total[VALUE_LIVE].real);
	CHECK(d->total[VALUE_LIVE].p > 0.05);
	CHECK(d->has_interval && d->low < 0 && d->high > 0);
	CHECK_INT(d->nchanged, 0);
	CHECK_INT(d->nscattered, 1);
	diff_free(d);
}

TEST(a_change_beyond_scatter)
{
	static const uint64_t figures[2][RUNS] = { { 50000, 52000, 49000, 51000, 53000 },
		{ 61500, 59500, 62500, 60500, 63500 } };
	struct diff *d = of_runs(figures, 9000);

	CHECK(d->total[VALUE_LIVE].real);
	CHECK(d->total[VALUE_LIVE].p < 0.01);
	CHECK(d->has_interval && d->low > 0);
	CHECK_INT(d->total[VALUE_LIVE].a, 61000);
	CHECK_STR(row_text(d, 0), "grew stack f 51000 61500");
	CHECK_STR(row_text(d, 1), "shrank stack g 10000 9000");
	CHECK_INT(d->rows[1].change[VALUE_LIVE].sure, DIFF_EXACT);
	CHECK_INT(d->nchanged, 2);
	diff_free(d);
}

/* Sure, but too small to matter. */
TEST(a_change_below_the_floor)
{
	static const uint64_t figures[2][RUNS] = { { 50000, 50001, 50002, 50003, 50004 },
		{ 50010, 50011, 50012, 50013, 50014 } };
	struct diff *d = of_runs(figures, 10000);

	CHECK(d->total[VALUE_LIVE].p < 0.01);
	CHECK(!d->total[VALUE_LIVE].real);
	CHECK_INT(d->nchanged, 0);
	diff_free(d);
}

int main(void)
{
	RUN(names_without_what_compilers_add);
	RUN(other_addresses_and_lines_make_no_difference);
	RUN(a_function_of_the_program_has_the_name_of_a_start);
	RUN(clones_and_parts_are_their_function);
	RUN(a_part_and_the_inlined_rest_are_one_frame);
	RUN(the_stacks_that_differ_are_shown);
	RUN(what_changed_comes_first);
	RUN(frames_of_standard_libraries_may_differ);
	RUN(a_call_of_the_library_stays_that_call);
	RUN(callers_may_differ);
	RUN(frames_may_be_left_out);
	RUN(an_added_site_stays_its_own);
	RUN(a_part_that_is_inlined_again_is_one_frame);
	RUN(each_stack_may_lack_frames_of_the_other);
	RUN(equal_figures_alone_prove_nothing);
	RUN(two_stacks_may_become_one);
	RUN(several_rows_cancel_one_out);
	RUN(a_site_moved_to_another_function);
	RUN(the_last_way_is_by_function_and_file);
	RUN(nothing_on_a_side);
	RUN(as_a_snapshot);
	RUN(both_sides_threads_and_sizes);
	RUN(first_threads_are_one_row_if_a_name_is_unknown);
	RUN(runs_that_repeat_are_compared_exactly);
	RUN(scatter_is_no_change);
	RUN(a_change_beyond_scatter);
	RUN(a_change_below_the_floor);
	return check_end();
}
