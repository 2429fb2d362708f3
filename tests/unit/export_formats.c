/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The formats of other tools, from canned snapshots: what is easier to see here than in a real run.
 */
#include <locale.h>
#include <stdlib.h>
#include "src/export/formats.h"
#include "src/export/gzip.h"
#include "src/export/past.h"
#include "src/export/proto.h"
#include "src/export/stack_tree.h"
#include "tests/unit/canned.h"
#include "tests/check.h"

static struct strbuf out;

static const char *exported(
	enum export_format_number format, const struct snapshot *s, const struct export_options *o)
{
	strbuf_reset(&out);
	export_formats[format].write(&out, s, o);
	CHECK(!out.failed);
	return strbuf_text(&out);
}

TEST(table_is_complete)
{
	for (int i = 0; i < EXPORT_FORMATS; i++) {
		const struct export_format *f = &export_formats[i];

		CHECK(f->name && f->suffix && f->help && f->write);
		for (int j = 0; j < i; j++)
			CHECK(strcmp(f->name, export_formats[j].name) != 0);
	}
}

TEST(folded)
{
	const struct export_options o = { .names = NAMES_FULL };

	CHECK_STR(exported(EXPORT_FOLDED, &canned, &o),
		"main;cache::Shard::insert(int);std::allocator<int>::allocate(unsigned long) "
		"101048320\n"
		"(outer frames missing);arena_new 33554432\n"
		"libfoo.so.3+0x4f1c0 4096\n");
}

TEST(folded_by_value)
{
	const struct export_options temporary = { .value = VALUE_TEMPORARY };
	const struct export_options mangled = { .names = NAMES_MANGLED, .value = VALUE_BLOCKS };

	CHECK_STR(exported(EXPORT_FOLDED, &canned, &temporary),
		"main;cache::Shard::insert(int);std::allocator<int>::allocate(unsigned long) 12\n"
		"0x7f1122334455 5\n");
	CHECK(strstr(exported(EXPORT_FOLDED, &canned, &mangled), ";arena_new 8\n") != NULL);
}

/* Two sites with one stack are one line; a semicolon in a name separates no frames. */
TEST(folded_merges)
{
	static const struct frame frames[] = {
		{ .pc = 1, .module = &canned_app, .function = "a;b c" },
		{ .pc = 2, .module = &canned_app, .function = "main" },
	};
	static const struct stack stack = { .frames = frames, .nframes = 2, .ancestor = true };
	static const struct snap_site sites[] = {
		{ .id = 1, .alloc_function = "malloc", .stack = &stack, .live_bytes = 5 },
		{ .id = 2, .alloc_function = "calloc", .stack = &stack, .live_bytes = 6 },
	};
	const struct export_options o = { .names = NAMES_FULL };
	struct snapshot s = canned;

	s.sites = sites;
	s.nsites = 2;
	CHECK_STR(exported(EXPORT_FOLDED, &s, &o), "main;a:b c;(inner frames missing) 11\n");
}

/* A range weighs what happened in it; what shrank is no stack. */
TEST(range)
{
	const struct export_options live = { .names = NAMES_FULL };
	const struct export_options allocs = { .names = NAMES_FULL, .value = VALUE_ALLOCS };
	struct snap_site sites[2] = { canned_sites[1], canned_sites[2] };
	struct snapshot s = canned;

	s.moment = SNAP_RANGE;
	s.sites = sites;
	s.nsites = 2;
	sites[0].since = (struct snap_since){ .bytes = -7, .allocs = 3 };
	sites[1].since = (struct snap_since){ .bytes = 9, .allocs = 0 };
	CHECK_STR(exported(EXPORT_FOLDED, &s, &live), "libfoo.so.3+0x4f1c0 9\n");
	CHECK_STR(exported(EXPORT_FOLDED, &s, &allocs), "(outer frames missing);arena_new 3\n");
	CHECK(strstr(exported(EXPORT_CSV, &s, &live), ",-7,0,3,0,arena_new,") != NULL);
}

TEST(csv)
{
	const struct export_options o = { .names = NAMES_FULL };
	struct snap_site sites[2] = { canned.sites[0] };
	struct snapshot s = canned;

	CHECK(strstr(exported(EXPORT_CSV, &s, &o),
		      "\r\n4211,./server --port 80,17,operator new,101048320,101233,197600,96367,"
		      "197342003,101711872,,,12,1153434,,,,,cache::Shard::insert(int),"
		      "/src/cache.cc,214,/opt/app/server,"
		      "main;cache::Shard::insert(int);"
		      "std::allocator<int>::allocate(unsigned long)\r\n") != NULL);
	sites[1] = s.sites[1];
	sites[1].rate_bytes_per_s = -1e300; /* of a file */
	s.sites = sites;
	s.nsites = 2;
	CHECK(strstr(exported(EXPORT_CSV, &s, &o), ",-9000000000000000000,") != NULL);
	s = canned;
	s.command = "sh -c \"a, b\"";
	s.totals.has_at_peak = true;
	CHECK(strstr(exported(EXPORT_CSV, &s, &o),
		      "\r\n4211,\"sh -c \"\"a, b\"\"\",4,calloc,4096,1,2,1,8192,8192,0,0,0,") !=
		NULL);
}

TEST(speedscope_of_nothing)
{
	const struct export_options o = { .names = NAMES_FULL };
	struct snapshot s = canned;

	s.nsites = 0;
	CHECK(strstr(exported(EXPORT_SPEEDSCOPE, &s, &o), "\"frames\": []") != NULL);
	CHECK(strstr(strbuf_text(&out), "\"weights\": []") != NULL);
}

/* A peak with a tree of its own, between the points of the timeline; '#' begins a comment there.
 */
TEST(massif)
{
	static const struct timeline_point points[] = {
		{ .ns = 1000000000, .live_bytes = 10, .low_bytes = 10, .high_bytes = 10 },
		{ .ns = 600000000000, .live_bytes = 20, .low_bytes = 10, .high_bytes = 90 },
	};
	const struct timeline t = { .points = points, .npoints = 2 };
	struct export_options o = { .names = NAMES_FULL, .timeline = &t };
	struct snap_site site = canned_sites[0];
	struct snapshot s = canned;

	site.at_peak_bytes = 140000000;
	s.command = "run #1";
	s.sites = &site;
	s.nsites = 1;
	s.totals.has_at_peak = true;
	exported(EXPORT_MASSIF, &s, &o);
	CHECK(strstr(out.data, "cmd: run .1\ntime_unit: ms\n") != NULL);
	CHECK(strstr(out.data,
		      "snapshot=1\n#-----------\ntime=552000\nmem_heap_B=141000000\n"
		      "mem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=peak\n"
		      "n2: 141000000 (heap allocation functions) malloc/new/new[], --alloc-fns, "
		      "etc.\n"
		      " n0: 1000000 of no recorded call site\n"
		      " n1: 140000000 0x555500001234: std::allocator<int>::allocate(unsigned long) "
		      "(new_allocator.h:137)\n"
		      "  n1: 140000000 0x555500001234: cache::Shard::insert(int) (cache.cc:214)\n"
		      "   n0: 140000000 0x555500002000: main (main.cc:12)\n"
		      "#-----------\nsnapshot=2\n") != NULL);
	CHECK(strstr(out.data, "time=600000\nmem_heap_B=20\n") != NULL);
	o.filter = "insert";
	exported(EXPORT_MASSIF, &s, &o);
	CHECK(strstr(out.data, " n0: 1000000 of call sites that the filter leaves out\n") != NULL);
	CHECK(strstr(out.data, "no recorded") == NULL);
	o.filter = NULL;
	exported(EXPORT_MASSIF, &s, &o);
	CHECK(strstr(out.data, "time=761000\nmem_heap_B=134606848\n") != NULL);
	s.moment = SNAP_PEAK;
	exported(EXPORT_MASSIF, &s, &o);
	CHECK(strstr(out.data, "heap_tree=peak") && !strstr(out.data, "heap_tree=detailed"));
}

/* Thinning keeps extremes and the last point; the present is always one of the points. */
TEST(past)
{
	struct timeline_point points[1000];
	const struct timeline t = { .points = points, .npoints = 1000 };
	struct snapshot s = canned;
	struct timeline_point *p;
	uint64_t high = 0;
	size_t n, found = 0;

	for (uint64_t i = 0; i < 1000; i++)
		points[i] = (struct timeline_point){ .ns = i, .high_bytes = i == 333 ? 77 : 0 };
	p = past_points(&s, &t, 50, &n);
	CHECK(n <= 50 && n > 40);
	for (size_t i = 0; i < n; i++)
		high = p[i].high_bytes > high && p[i].ns < 1000 ? p[i].high_bytes : high;
	CHECK_INT(high, 77);
	CHECK(p[n - 1].ns == s.uptime_ns && p[n - 1].live_bytes == s.totals.live_bytes);
	free(p);
	/* A moment of the past is one, too. */
	for (s.uptime_ns = 0; s.uptime_ns < 1000; s.uptime_ns++) {
		p = past_points(&s, &t, 50, &n);
		for (size_t i = 0; i < n && n <= 50; i++)
			found += p[i].ns == s.uptime_ns;
		free(p);
	}
	CHECK_INT(found, 1000);
	s = canned;
	s.history_points = 3;
	s.history_step_ns = 1000000000;
	s.history[1] = 55;
	p = past_points(&s, NULL, 50, &n);
	CHECK_INT(n, 4);
	CHECK(p[1].ns == 1000000000 && p[1].live_bytes == 55);
	free(p);
	points[0].ns = 1500000000;
	p = past_points(&s, &(struct timeline){ .points = points, .npoints = 1 }, 50, &n);
	CHECK_INT(n, 4);
	CHECK(p[1].live_bytes == 55 && p[2].ns == 1500000000);
	free(p);
	/* A recording's history is made of its timeline: nothing is known of the time before. */
	p = past_points(&s,
		&(struct timeline){ .points = points, .npoints = 1, .replay = true, .file = "x" },
		50, &n);
	CHECK_INT(n, 2);
	CHECK(p[0].ns == 1500000000);
	free(p);
}

TEST(dot_escapes)
{
	static const struct frame frames[] = {
		{ .pc = 1, .module = &canned_app, .function = "a\"b\\N&lt;" },
		{ .pc = 2, .module = &canned_app, .function = "main" },
	};
	static const struct stack stack = { .frames = frames, .nframes = 2 };
	const struct snap_site site = { .stack = &stack, .live_bytes = 2048 };
	const struct export_options o = { .names = NAMES_FULL };
	struct snapshot s = canned;

	s.sites = &site;
	s.nsites = 1;
	exported(EXPORT_DOT, &s, &o);
	CHECK(strstr(out.data,
		      "[label=\"a\\\"b\\\\N&amp;lt;\\n2.0k (100%)\" self=2048 total=2048 ") !=
		NULL);
	CHECK(strstr(out.data, "\tn0 -> n1 [label=\" 2.0k\" total=2048 weight=101 ") != NULL);
}

/* What a tag could begin with is escaped, in the title and in the data; the page itself is there.
 */
TEST(html_escapes)
{
	const struct export_options o = { .names = NAMES_FULL };
	struct snapshot s = canned, child = canned;
	const struct snapshot *const children[] = { &child };

	s.command = "</title><script>alert('1')&\"";
	s.children = children;
	s.nchildren = 1;
	exported(EXPORT_HTML, &s, &o);
	CHECK(strstr(out.data, "<title>heap of &#60;/title&#62;&#60;script&#62;alert('1')&#38;&#34;"
			       "</title>") != NULL);
	CHECK(strstr(out.data, "\"command\": \"\\u003c/title\\u003e\\u003cscript\\u003ealert('1')"
			       "\\u0026\\\"\"") != NULL);
	CHECK(strstr(out.data, "alert('1')&\"") == NULL);
	CHECK(strstr(out.data, "[\"live bytes\", 269213696, true]") != NULL);
	CHECK(strstr(out.data, "[\"processes\", 2, false]") != NULL);
	CHECK(strstr(out.data, "\"server (4211)\", \"main\",") != NULL);
	CHECK(strstr(out.data, "</script>\n</body>\n</html>\n") != NULL);
}

/* The sites' sum is not the total then. */
TEST(html_names_the_filter)
{
	struct export_options o = { .names = NAMES_FULL };

	exported(EXPORT_HTML, &canned, &o);
	CHECK(strstr(out.data, "\"notes\": []") != NULL);
	o.filter = "fn=\"insert\"";
	exported(EXPORT_HTML, &canned, &o);
	CHECK(strstr(out.data, "\"notes\": [\"Call stacks and call sites are those that match the "
			       "filter fn=\\\"insert\\\"; ") != NULL);
}

/* Same input, same file; a gzip header without a time. */
TEST(pprof_is_reproducible)
{
	const struct export_options o = { .names = NAMES_FULL };
	struct strbuf first = STRBUF_INIT;

	exported(EXPORT_PPROF, &canned, &o);
	strbuf_add(&first, strbuf_text(&out), out.len);
	CHECK(out.len > 100 && !memcmp(out.data, "\x1f\x8b\x08\0\0\0\0\0", 8));
	exported(EXPORT_PPROF, &canned, &o);
	CHECK(first.len == out.len && !memcmp(first.data, out.data, out.len));
	strbuf_free(&first);
}

TEST(proto)
{
	struct strbuf b = STRBUF_INIT, inner = STRBUF_INIT;

	proto_uint(&b, 1, 150);
	proto_text(&b, 2, "testing");
	proto_int(&b, 16, -1);
	proto_varint(&inner, 300);
	proto_message(&b, 3, &inner);
	CHECK_INT(inner.len, 0);
	CHECK_INT(b.len, 28);
	CHECK(!memcmp(b.data,
		"\x08\x96\x01\x12\x07testing\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
		"\x1a\x02\xac\x02",
		28));
	strbuf_free(&b);
	strbuf_free(&inner);
}

/* Whether the first site has these figures: bytes allocated and freed, and blocks. */
static bool has_sample(const struct snapshot *s, uint64_t allocated, uint64_t freed,
	uint64_t allocs, uint64_t frees)
{
	const struct export_options o = { .names = NAMES_FULL };
	struct strbuf sample = STRBUF_INIT;
	bool found;

	exported(EXPORT_PERFETTO, s, &o);
	proto_uint(&sample, 1, 1);
	proto_uint(&sample, 2, allocated);
	proto_uint(&sample, 3, freed);
	proto_uint(&sample, 5, allocs);
	proto_uint(&sample, 6, frees);
	found = memmem(out.data, out.len, sample.data, sample.len) != NULL;
	strbuf_free(&sample);
	return found;
}

/* A sanitizer sees a difference that is none of signed numbers. */
TEST(perfetto_of_any_figures)
{
	struct snap_site site = canned_sites[0];
	struct snapshot s = canned;

	s.sites = &site;
	s.nsites = 1;
	site.alloc_bytes = 300;
	site.live_bytes = 100;
	site.allocs = 30;
	site.live_blocks = 31;
	CHECK(has_sample(&s, 300, 200, 30, 0));
	site.alloc_bytes = (1ull << 63) + 10;
	site.allocs = 5;
	site.live_blocks = 1ull << 63;
	CHECK(has_sample(&s, (1ull << 63) + 10, (1ull << 63) - 90, 5, 0));
	site.live_bytes = (1ull << 63) + 3;
	CHECK(has_sample(&s, (1ull << 63) + 10, 7, 5, 0));
}

TEST(incomplete_text_is_not_compressed)
{
	const struct strbuf text = { .failed = true };
	struct strbuf b = STRBUF_INIT;

	gzip_put(&b, &text);
	CHECK(b.failed);
	strbuf_free(&b);
}

/* Siblings are sorted, sums are right, and a walk visits each node once. */
TEST(tree)
{
	const struct export_options o = { .names = NAMES_FULL };
	struct stack_tree t;
	struct profile p;
	unsigned visited = 0, skipped = 0;

	profile_open(&p, &canned, &o, PROFILE_MODULE, NAMES_FULL);
	CHECK_INT(stack_tree_make(&t, &p, VALUE_LIVE, true), 0);
	CHECK_INT(t.node[STACK_TREE_ROOT].total, 101048320 + 33554432 + 4096);
	CHECK_STR(p.frames[t.node[t.node[STACK_TREE_ROOT].child].frame].name,
		"std::allocator<int>::allocate(unsigned long)");
	for (uint32_t n = STACK_TREE_ROOT; (n = stack_tree_after(&t, n, false)) != 0;)
		visited++;
	for (uint32_t n = t.node[STACK_TREE_ROOT].child; n; n = stack_tree_after(&t, n, true))
		skipped++;
	CHECK_INT(visited, t.count - 1);
	CHECK_INT(visited, 6);
	CHECK_INT(skipped, 3);
	stack_tree_free(&t);
	profile_free(&p);
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	RUN(table_is_complete);
	RUN(folded);
	RUN(folded_by_value);
	RUN(folded_merges);
	RUN(range);
	RUN(csv);
	RUN(speedscope_of_nothing);
	RUN(massif);
	RUN(past);
	RUN(dot_escapes);
	RUN(html_escapes);
	RUN(html_names_the_filter);
	RUN(pprof_is_reproducible);
	RUN(proto);
	RUN(perfetto_of_any_figures);
	RUN(incomplete_text_is_not_compressed);
	RUN(tree);
	strbuf_free(&out);
	return check_end();
}
