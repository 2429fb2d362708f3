/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The JSON report: well-formed by a strict reader of RFC 8259 that shares no code with the writer,
 * every promised field there and in order, and nothing that a string or number can do breaks it.
 */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <wchar.h>
#include "src/export/export.h"
#include "src/export/writer.h"
#include "tests/unit/canned.h"
#include "tests/check.h"

/* ---- the reader: steps over one value, or returns NULL ---- */

static const char *value_end(const char *p, int depth);

static const char *blanks(const char *p)
{
	while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')
		p++;
	return p;
}

/* One well-formed UTF-8 character that needs no escape. */
static const char *char_end(const char *p)
{
	wchar_t c;
	mbstate_t state = { 0 };
	size_t n = mbrtowc(&c, p, strlen(p), &state);

	if (n == 0 || n > 4 || c < 0x20)
		return NULL;
	return p + n;
}

static const char *string_end(const char *p)
{
	if (*p++ != '"')
		return NULL;
	while (p && *p != '"') {
		if (*p != '\\') {
			p = char_end(p);
		} else if (p[1] == 'u') {
			if (strspn(p + 2, "0123456789abcdefABCDEF") < 4)
				return NULL;
			p += 6;
		} else if (p[1] && strchr("\"\\/bfnrt", p[1])) {
			p += 2;
		} else {
			return NULL;
		}
	}
	return p ? p + 1 : NULL;
}

static const char *digits_end(const char *p)
{
	size_t n = strspn(p, "0123456789");

	return n ? p + n : NULL;
}

static const char *number_end(const char *p)
{
	p += *p == '-';
	if (*p == '0')
		p++;
	else if (!(p = digits_end(p)))
		return NULL;
	if (*p == '.' && !(p = digits_end(p + 1)))
		return NULL;
	return *p && strchr("eE0123456789", *p) ? NULL : p;
}

static const char *members_end(const char *p, char close, int depth)
{
	p = blanks(p + 1);
	if (*p == close)
		return p + 1;
	for (;;) {
		if (close == '}') {
			p = string_end(p);
			if (!p || *(p = blanks(p)) != ':')
				return NULL;
			p = blanks(p + 1);
		}
		p = value_end(p, depth + 1);
		if (!p)
			return NULL;
		p = blanks(p);
		if (*p == close)
			return p + 1;
		if (*p != ',')
			return NULL;
		p = blanks(p + 1);
	}
}

static const char *value_end(const char *p, int depth)
{
	static const char *const words[] = { "true", "false", "null" };

	if (depth > 3000)
		return NULL;
	if (*p == '{')
		return members_end(p, '}', depth);
	if (*p == '[')
		return members_end(p, ']', depth);
	if (*p == '"')
		return string_end(p);
	for (int i = 0; i < 3; i++) {
		if (strncmp(p, words[i], strlen(words[i])) == 0)
			return p + strlen(words[i]);
	}
	return number_end(p);
}

static int valid(const char *text)
{
	const char *end = value_end(text, 0);

	return end && strcmp(end, "\n") == 0;
}

/* The value at `path` ("totals.allocs", "sites.1.stack.0.pc") as it is written, or "(none)". */
static const char *at(const char *p, const char *path)
{
	static char out[4096];
	const char *end;

	while (*path) {
		size_t key = strcspn(path, ".");
		long index = *p == '[' ? atol(path) : -1;

		if (*p != '{' && *p != '[')
			return "(none)";
		for (p = blanks(p + 1);; p = blanks(p + 1)) {
			const char *name = p;

			if (*p == '}' || *p == ']')
				return "(none)";
			if (index < 0)
				p = blanks(blanks(string_end(p)) + 1);
			if (index == 0 || (index < 0 && strncmp(name + 1, path, key) == 0 &&
						  name[key + 1] == '"'))
				break;
			index -= index > 0;
			p = blanks(value_end(p, 0));
			if (*p != ',')
				return "(none)";
		}
		path += key + (path[key] == '.');
	}
	end = value_end(p, 0);
	snprintf(out, sizeof(out), "%.*s", (int)(end - p), p);
	return out;
}

TEST(the_reader_is_strict)
{
	static const char *const bad[] = {
		"",
		"{",
		"[1,]\n",
		"{\"a\":1,}\n",
		"{a:1}\n",
		"[01]\n",
		"[1.]\n",
		"[.5]\n",
		"[nan]\n",
		"[inf]\n",
		"[\"\t\"]\n",
		"[\"\\x\"]\n",
		"[\"\xff\"]\n",
		"[1] \n2",
		"[1]",
		"[+1]\n",
		"[\"\\u12\"]\n",
		"[1,5 2]\n",
		"[\"\xed\xa0\x80\"]\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!valid(bad[i]));
	CHECK(valid("{ \"a\": [ 1, -2.5, \"\\u00e9\", null ], \"b\": {} }\n"));
	CHECK_STR(at("{ \"aa\": 1, \"a\": [ 5, {\"b\": 7} ] }", "a.1.b"), "7");
	CHECK_STR(at("{ \"aa\": 1 }", "a"), "(none)");
}

/* ---- the report ---- */

static const struct export_options options = { .sort = COL_LIVE, .top = 1, .version = "0.1.0" };
static struct strbuf report;

static const char *json(const struct snapshot *s)
{
	strbuf_reset(&report);
	export_json(&report, s, &options);
	CHECK(!report.failed);
	CHECK(valid(strbuf_text(&report)));
	return strbuf_text(&report);
}

/* A figure that sampling estimated has its error beside it; one that was counted has null there. */
TEST(sampling)
{
	struct snap_site site = canned_sites[0];
	struct snapshot s = canned;
	const char *text = json(&s);

	CHECK_STR(at(text, "sampling"),
		"{ \"bytes\": 0, \"marks\": [], \"measured_overhead\": null, "
		"\"measured_pass_through\": null }");
	CHECK_STR(at(text, "totals.error_bytes"), "null");
	CHECK_STR(at(text, "totals.error_allocs"), "null");
	CHECK_STR(at(text, "sites.0.error_bytes"), "null");
	s.sampling = (struct snap_sampling){ .bytes = 65536,
		.most = 1 << 20,
		.mark = { { 1000, 1 << 20 }, { 5000, 65536 } },
		.marks = 2,
		.measured = true,
		.overhead = 0.0321,
		.passing = 0.0123 };
	s.totals.error = (struct snap_error){ 11, 22, 33, 44 };
	site.error = (struct snap_error){ 1, 2, 3, 4 };
	s.sites = &site;
	s.nsites = 1;
	text = json(&s);
	CHECK_STR(at(text, "sampling.bytes"), "65536");
	CHECK_STR(at(text, "sampling.marks.1"), "{ \"ns\": 5000, \"bytes\": 65536 }");
	CHECK_STR(at(text, "sampling.marks.2"), "(none)");
	CHECK_STR(at(text, "sampling.measured_overhead"), "0.032");
	CHECK_STR(at(text, "sampling.measured_pass_through"), "0.012");
	CHECK_STR(at(text, "totals.error_bytes"), "11");
	CHECK_STR(at(text, "totals.error_blocks"), "22");
	CHECK_STR(at(text, "totals.error_allocs"), "33");
	CHECK_STR(at(text, "totals.error_alloc_bytes"), "44");
	CHECK_STR(at(text, "sites.0.error_bytes"), "1");
	CHECK_STR(at(text, "sites.0.error_alloc_bytes"), "4");
	/* Exact again: what was estimated before is still in the sums. */
	s.sampling.bytes = 0;
	CHECK_STR(at(json(&s), "totals.error_bytes"), "11");
}

/* The keys as the design page has them: present, in this order, of these values. */
TEST(fields)
{
	static const struct {
		const char *path, *value;
	} want[] = {
		{ "heaptop", "\"0.1.0\"" },
		{ "format", "1" },
		{ "process.pid", "4211" },
		{ "process.command", "[\"./server\", \"--port\", \"80\"]" },
		{ "process.exe", "\"/opt/app/server\"" },
		{ "process.state", "\"exited\"" },
		{ "process.exit_status", "null" },
		{ "process.signal", "\"SIGSEGV\"" },
		{ "time.start", "\"2023-11-14T22:13:20Z\"" },
		{ "time.now", "\"2023-11-14T22:26:01Z\"" },
		{ "time.uptime_ns", "761000000000" },
		{ "totals.allocs", "197615" },
		{ "totals.frees", "96373" },
		{ "totals.reallocs", "5" },
		{ "totals.alloc_bytes", "230904677" },
		{ "totals.free_bytes", "96297829" },
		{ "totals.live_blocks", "101242" },
		{ "totals.live_bytes", "134606848" },
		{ "totals.peak_live_bytes", "141000000" },
		{ "totals.at_peak_bytes", "null" },
		{ "sites.0.at_peak_blocks", "null" },
		{ "totals.temporary", "17" },
		{ "totals.failed", "0" },
		{ "totals.unknown_frees", "0" },
		{ "totals.missed_frees", "0" },
		{ "totals.lost_events", "0" },
		{ "totals.untracked_blocks", "0" },
		{ "totals.untracked_bytes", "0" },
		{ "proc.rss", "564343603" },
		{ "proc.hwm", "735470387" },
		{ "proc.pss", "555745280" },
		{ "proc.swap", "0" },
		{ "proc.minor_faults", "137801" },
		{ "proc.major_faults", "2" },
		{ "proc.threads", "14" },
		{ "self.segment_bytes", "8388608" },
		{ "self.stack_memory_bytes", "155648" },
		{ "self.stacks_forgotten", "3" },
		{ "self.viewer_cpu_ns", "2000000" },
		{ "size_histogram.3", "{ \"le\": 64, \"live_blocks\": 101233, \"live_bytes\": "
				      "101048320, \"allocs\": 197600 }" },
		{ "size_histogram.23.le", "null" },
		{ "size_histogram.24", "(none)" },
		{ "lifetime_histogram.2", "{ \"le_ns\": 1048576, \"frees\": 6000 }" },
		{ "lifetime_histogram.15.le_ns", "null" },
		{ "sites.0.id", "17" },
		{ "sites.0.function", "\"operator new\"" },
		{ "sites.0.live_bytes", "101048320" },
		{ "sites.0.live_blocks", "101233" },
		{ "sites.0.allocs", "197600" },
		{ "sites.0.frees", "96367" },
		{ "sites.0.alloc_bytes", "197342003" },
		{ "sites.0.peak_live_bytes", "101711872" },
		{ "sites.0.temporary", "12" },
		{ "sites.0.rate_bytes_per_s", "1153434.000" },
		{ "sites.0.growth",
			"{ \"word\": \"sure\", \"sure\": 0.875, \"bytes_per_s\": 1153434.000, "
			"\"over_ns\": 576000000000, \"kept\": 0.984 }" },
		{ "sites.1.growth", "null" },
		{ "sites.0.stack.0.pc",
			"\"0x555500001234\"" }, /* that of the frame it is inlined in */
		{ "sites.0.stack.0.inlined", "true" },
		{ "sites.0.stack.0.hidden", "true" },
		{ "sites.0.stack.1.pc", "\"0x555500001234\"" },
		{ "sites.0.stack.1.module", "\"/opt/app/server\"" },
		{ "sites.0.stack.1.offset", "\"0x1234\"" },
		{ "sites.0.stack.1.build_id", "\"aabb01\"" },
		{ "sites.0.stack.1.function", "\"cache::Shard::insert(int)\"" },
		{ "sites.0.stack.1.file", "\"/src/cache.cc\"" },
		{ "sites.0.stack.1.line", "214" },
		{ "sites.0.stack.1.inlined", "false" },
		{ "sites.0.stack.3", "(none)" },
		{ "sites.1.truncated", "true" },
		{ "sites.1.ancestor", "false" },
		{ "sites.2.stack.0.function", "null" },
		{ "sites.2.stack.0.file", "null" },
		{ "sites.2.stack.0.line", "null" },
		{ "sites.3.id", "9" }, /* all sites, whatever --top says */
		{ "sites.4", "(none)" },
		{ "leaks", "(none)" },
		{ "children", "[]" },
	};
	static const char *const top[] = { "  \"heaptop\":", "  \"format\":", "  \"process\":",
		"  \"time\":", "  \"totals\":", "  \"proc\":", "  \"self\":",
		"  \"size_histogram\":", "  \"lifetime_histogram\":", "  \"sites\":",
		"  \"children\":" };
	const char *text = json(&canned), *last = text;

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		CHECK_STR(at(text, want[i].path), want[i].value);
	/* Top-level keys stand at the beginning of their line. */
	for (size_t i = 0; i < sizeof(top) / sizeof(top[0]); i++) {
		const char *found = strstr(last, top[i]);

		CHECK(found && found[-1] == '\n');
		last = found ? found : last;
	}
}

TEST(states)
{
	struct snapshot s = canned;

	s.state = SNAP_EXITED;
	s.exit_status = 3;
	CHECK_STR(at(json(&s), "process.state"), "\"exited\"");
	CHECK_STR(at(json(&s), "process.exit_status"), "3");
	CHECK_STR(at(json(&s), "process.signal"), "null");
	s.exit_status = -1; /* nobody could tell */
	CHECK_STR(at(json(&s), "process.exit_status"), "null");
	s.state = SNAP_RUNNING;
	CHECK_STR(at(json(&s), "process.state"), "\"running\"");
	CHECK_STR(at(json(&s), "process.exit_status"), "null");
	s.state = SNAP_GONE;
	CHECK_STR(at(json(&s), "process.state"), "\"gone\"");
	s.state = SNAP_KILLED;
	s.signal = 40;
	s.signal_name = NULL;
	CHECK_STR(at(json(&s), "process.signal"), "\"SIG40\"");
}

TEST(ancestors)
{
	struct stack stack = canned_stacks[0];
	struct snap_site site = canned_sites[0];
	struct snapshot s = canned;

	stack.ancestor = true;
	site.stack = &stack;
	s.sites = &site;
	s.nsites = 1;
	s.totals.ancestor_allocs = 7;
	s.totals.ancestor_live_bytes = 800;
	CHECK_STR(at(json(&s), "sites.0.ancestor"), "true");
	CHECK_STR(at(json(&s), "totals.ancestor_allocs"), "7");
	CHECK_STR(at(json(&s), "totals.ancestor_live_bytes"), "800");
}

TEST(at_the_peak)
{
	struct snap_site site = canned_sites[1];
	struct snapshot s = canned;
	const char *t;

	site.at_peak_bytes = 1234;
	site.at_peak_blocks = 5;
	s.sites = &site;
	s.nsites = 1;
	s.totals.has_at_peak = true;
	s.totals.at_peak_bytes = 2000;
	s.totals.at_peak_blocks = 7;
	t = json(&s);
	CHECK_STR(at(t, "totals.at_peak_bytes"), "2000");
	CHECK_STR(at(t, "totals.at_peak_blocks"), "7");
	CHECK_STR(at(t, "sites.0.at_peak_bytes"), "1234");
	CHECK_STR(at(t, "sites.0.at_peak_blocks"), "5");
}

/* After the heap's; in no total of the heap. */
TEST(mapped)
{
	struct snapshot s = canned;
	const char *t;

	CHECK_STR(at(json(&s), "totals.mapped_bytes"), "null");
	canned_mapped_add(&s);
	t = json(&s);
	CHECK_STR(at(t, "totals.mapped_bytes"), "24576");
	CHECK_STR(at(t, "totals.mapped_blocks"), "3");
	CHECK_STR(at(t, "totals.unmap_bytes"), "1048576");
	CHECK_STR(at(t, "totals.live_bytes"), "134606848");
	CHECK_STR(at(t, "sites.3.kind"), "\"heap\"");
	CHECK_STR(at(t, "sites.4.kind"), "\"shm\""); /* sorted, as the heap's are */
	CHECK_STR(at(t, "sites.4.function"), "\"shmat\"");
	CHECK_STR(at(t, "sites.5.kind"), "\"mmap\"");
	CHECK_STR(at(t, "sites.5.live_blocks"), "2");
	CHECK_STR(at(t, "sites.5.peak_live_bytes"), "1052672");
}

TEST(what_is_not_known_is_null)
{
	struct snapshot s = canned;

	s.proc.have_pss = false;
	CHECK_STR(at(json(&s), "proc.pss"), "null");
	CHECK_STR(at(json(&s), "proc.rss"), "564343603");
	s.proc.valid = false;
	CHECK_STR(at(json(&s), "proc.rss"), "null");
	s.exe = NULL;
	CHECK_STR(at(json(&s), "process.exe"), "null");
	s.notice = "tracking ended: table full";
	CHECK_STR(at(json(&s), "notice"), "\"tracking ended: table full\"");
}

TEST(empty)
{
	static const struct snapshot nothing = { .command = "", .exe = "" };

	CHECK_STR(at(json(&nothing), "sites"), "[]");
	CHECK_STR(at(json(&nothing), "process.command"), "[]");
}

TEST(strings)
{
	struct writer w = { .out = &report };

	strbuf_reset(&report);
	writer_object(&w, NULL);
	writer_string(&w, "a\"b",
		"q\" b\\ n\n t\t nul\x01 del\x7f c1\xc2\x9b bad\xff\xe2\x82 ok\xe2\x82\xac");
	writer_string(&w, "empty", "");
	writer_end(&w);
	strbuf_putc(&report, '\n');
	CHECK(valid(report.data));
	CHECK_STR(report.data,
		"{ \"a\\\"b\": \"q\\\" b\\\\ n\\u000a t\\u0009 nul\\u0001 del\\u007f c1\\u009b "
		"bad\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd ok\xe2\x82\xac\", \"empty\": \"\" }\n");
}

TEST(any_bytes_stay_valid)
{
	struct snapshot s = canned;
	unsigned state = 7;

	for (int i = 0; i < 3000; i++) {
		char noise[40];

		for (size_t k = 0; k < sizeof(noise); k++)
			noise[k] = (char)((state = state * 1664525u + 1013904223u) >> 24);
		noise[sizeof(noise) - 1] = '\0';
		s.exe = s.notice = noise;
		s.nsites = 0;
		json(&s);
	}
}

static const char *number(double value)
{
	struct writer w = { .out = &report };

	strbuf_reset(&report);
	writer_array(&w, NULL);
	writer_double(&w, NULL, value);
	writer_end(&w);
	strbuf_putc(&report, '\n');
	CHECK(valid(report.data));
	return report.data;
}

TEST(numbers)
{
	CHECK_STR(number(0), "[0.000]\n");
	CHECK_STR(number(-1.5), "[-1.500]\n");
	CHECK_STR(number(0.0004), "[0.000]\n");
	CHECK_STR(number(-0.0004), "[0.000]\n");
	CHECK_STR(number(1153434.0625), "[1153434.063]\n");
	CHECK_STR(number(1e15), "[1000000000000000.000]\n");
	CHECK_STR(number(1e16), "[10000000000000000]\n");
	CHECK_STR(number((double)NAN), "[0.000]\n");
	CHECK_STR(number((double)INFINITY), "[0.000]\n");
	CHECK_STR(number(-(double)INFINITY), "[0.000]\n");
	CHECK(strlen(number(-DBL_MAX)) > 300);
}

TEST(children)
{
	struct snapshot child = canned, grandchild = canned, s = canned;
	const struct snapshot *const inner[] = { &grandchild };
	const struct snapshot *const outer[] = { &child, &grandchild };

	child.pid = 4212;
	child.children = inner;
	child.nchildren = 1;
	grandchild.pid = 4213;
	s.children = outer;
	s.nchildren = 2;
	CHECK_STR(at(json(&s), "children.0.process.pid"), "4212");
	CHECK_STR(at(json(&s), "children.0.children.0.process.pid"), "4213");
	CHECK_STR(at(json(&s), "children.0.sites.1.id"), "3");
	CHECK_STR(at(json(&s), "children.1.children"), "[]");
}

/* Deeper than the writer can follow is an error that is seen, not a crash. */
TEST(too_deep)
{
	struct writer w = { .out = &report };

	strbuf_reset(&report);
	for (int i = 0; i < 3 * WRITER_DEPTH_MAX; i++)
		writer_array(&w, NULL);
	for (int i = 0; i < 3 * WRITER_DEPTH_MAX; i++)
		writer_end(&w);
	CHECK(report.failed);
	CHECK_INT(w.depth, 0);
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	RUN(the_reader_is_strict);
	RUN(fields);
	RUN(sampling);
	RUN(states);
	RUN(ancestors);
	RUN(at_the_peak);
	RUN(mapped);
	RUN(what_is_not_known_is_null);
	RUN(empty);
	RUN(strings);
	RUN(any_bytes_stay_valid);
	RUN(numbers);
	RUN(children);
	RUN(too_deep);
	strbuf_free(&report);
	return check_end();
}
