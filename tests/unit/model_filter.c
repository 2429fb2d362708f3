/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The filter's grammar, and what it lets pass. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/model/filter.h"
#include "tests/check.h"

static const struct snap_module ssl = {
	.path = "/lib/libssl.so.3", .name = "libssl.so.3", .build_id = ""
};
static const struct snap_module app = { .path = "/srv/server", .name = "server", .build_id = "" };
static const struct frame frames[] = {
	{ .module = &ssl, .function = "CRYPTO_malloc", .hidden = true },
	{ .module = &app,
		.function = "json::Parser<char>::object(Token const&)",
		.file = "/src/json.cc",
		.line = 5 },
	{ .module = &app, .function = "main", .file = "/src/main.cc" }
};
static const struct stack stack = { .frames = frames, .nframes = 3, .title = 1 };
static const struct snap_site site = { .id = 7,
	.stack = &stack,
	.live_bytes = 3 << 20,
	.live_blocks = 1500,
	.peak_live_bytes = 4 << 20,
	.at_peak_bytes = 2 << 20,
	.allocs = 9000,
	.temporary = 10,
	.rate_bytes_per_s = -2048,
	.growth = { .sure = 0.5, .bytes_per_s = 3000 },
	.since = { .bytes = -5000 } };
static struct snapshot snap = { .totals.live_bytes = 30 << 20, .sites = &site, .nsites = 1 };

/* 1: matches, 0: does not, -1: is not understood. */
static int matches_as(const char *text, bool show_hidden)
{
	char why[FILTER_WHY_MAX] = "";
	struct filter *f = filter_parse(text, why);
	int got = f ? filter_match(f, &snap, &site, show_hidden) : -1;

	CHECK_INT(!f, why[0] != 0);
	filter_free(f);
	return got;
}

static int matches(const char *text)
{
	return matches_as(text, false);
}

TEST(words_are_in_what_names_the_site)
{
	CHECK_INT(matches("json"), 1);
	CHECK_INT(matches("JSON"), 0); /* a capital is meant */
	CHECK_INT(matches("Parser"), 1);
	CHECK_INT(matches("parser"), 1);
	CHECK_INT(matches("server"), 1);
	CHECK_INT(matches("json.cc"), 1);
	CHECK_INT(matches("libssl"), 0);
	CHECK_INT(matches_as("libssl", true), 1);
	CHECK_INT(matches("main"), 0);
	CHECK_INT(matches("stack:main"), 1);
	CHECK_INT(matches("stack:libssl"), 1);
	CHECK_INT(matches("!stack:libssl"), 0);
	CHECK_INT(matches("\"Token const\""), 1);
	CHECK_INT(matches("function:cc"), 0);
	CHECK_INT(matches("file:.cc"), 1);
	CHECK_INT(matches("module:server"), 1);
	CHECK_INT(matches("module:\"/srv\""), 1);
}

TEST(terms_are_anded_and_negated)
{
	CHECK_INT(matches("json parser"), 1);
	CHECK_INT(matches("  json   nothere "), 0);
	CHECK_INT(matches("json !nothere"), 1);
	CHECK_INT(matches("!json"), 0);
	CHECK_INT(matches("json live>1M !blocks>2k"), 1);
}

TEST(expressions)
{
	CHECK_INT(matches("/^json.*object/"), 1);
	CHECK_INT(matches("/^object/"), 0);
	CHECK_INT(matches("/OBJECT/"), 0);
	CHECK_INT(matches("/object|array/"), 1);
	CHECK_INT(matches("file:/\\/src\\/j.*cc$/"), 1);
	CHECK_INT(matches("!/^object/ json"), 1);
}

TEST(at_peak)
{
	CHECK_INT(matches("atpeak>0"), 0); /* not known, so no comparison holds */
	CHECK_INT(matches("atpeak<1G"), 0);
	snap.totals.has_at_peak = true;
	CHECK_INT(matches("atpeak>1M atpeak<=2M"), 1);
	CHECK_INT(matches("atpeak>2M"), 0);
	snap.totals.has_at_peak = false;
}

TEST(numbers)
{
	CHECK_INT(matches("live>3M"), 0);
	CHECK_INT(matches("live>=3M"), 1);
	CHECK_INT(matches("live=3145728"), 1);
	CHECK_INT(matches("live<3.5MB"), 1);
	CHECK_INT(matches("live>1k"), 1);
	CHECK_INT(matches("blocks<1.6k"), 1);
	CHECK_INT(matches("blocks<1.4k"), 0);
	CHECK_INT(matches("avg>2k avg<3k"), 1);
	CHECK_INT(matches("rate<0"), 1);
	CHECK_INT(matches("rate<-1k"), 1);
	CHECK_INT(matches("rate<-1k/s"), 1);
	CHECK_INT(matches("rate>0"), 0);
	CHECK_INT(matches("growth>2k/s"), 1);
	CHECK_INT(matches("growth>3k"), 0);
	CHECK_INT(matches("since<-4k"), 1);
	CHECK_INT(matches("since>0"), 0);
	CHECK_INT(matches("percent=10%"), 1);
	CHECK_INT(matches("allocs>8999 temp<=10 peak>3M"), 1);
}

TEST(ages)
{
	struct snap_site old = site;

	CHECK_INT(matches("age>1s"), 0); /* not known */
	CHECK_INT(matches("age<1s"), 0);
	old.has_ages = true;
	old.oldest_ns = 90000000000;
	old.youngest_ns = 2000000;
	for (int i = 0; i < 6; i++) {
		static const char *const terms[] = { "age>60s", "age<=1.5m", "youngest<5ms",
			"age>2m", "youngest>1s", "age<1" };
		char why[FILTER_WHY_MAX];
		struct filter *f = filter_parse(terms[i], why);

		CHECK(f && filter_wants_ages(f));
		CHECK_INT(filter_match(f, &snap, &old, false), i < 3);
		filter_free(f);
	}
}

/* 1: it is taken, and is the text that it says. */
static int is_text(const char *text)
{
	char why[FILTER_WHY_MAX], other[64];
	struct filter *f = filter_parse(text, why);
	int got;

	if (!f)
		return -1;
	snprintf(other, sizeof(other), "x::%s()", text);
	got = filter_match_text(f, other) && !filter_match_text(f, "x::y()");
	filter_free(f);
	return got;
}

TEST(names_of_cxx_are_text)
{
	static const char *const names[] = { "R<40>", "operator<<", "operator<", "operator>",
		"operator==", "operator<=", "operator<=>", "operator>>=", "a<b>", "vector<int>",
		"bitset<64", "bitset<64>", "array<3", "<int>", "avg<int>", "peak<64>", "age<8,int>",
		"rate<<", "S<1k>", "Bits<1M" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_text(names[i]) != 1)
			check_fail(__FILE__, __LINE__, names[i]);
	CHECK_INT(matches("Parser<char>"), 1);
	CHECK_INT(matches("!operator<<"), 1);
	CHECK_INT(matches("live>1M parser<char>"), 1);
}

TEST(a_mistyped_number_is_told_and_quotes_make_it_text)
{
	static const char *const typos[] = { "liev>1M", "size>3", "liev<1M", "oldest>60s",
		"blocs>=300", "liev=5%", "grwth<-1k/s" };

	for (size_t i = 0; i < sizeof(typos) / sizeof(typos[0]); i++) {
		char why[FILTER_WHY_MAX] = "", quoted[64];
		struct filter *f = filter_parse(typos[i], why);

		if (f || !strstr(why, "in quotes it is text"))
			check_fail(__FILE__, __LINE__, typos[i]);
		filter_free(f);
		snprintf(quoted, sizeof(quoted), "\"%s\"", typos[i]);
		CHECK_INT(matches(quoted), 0);
	}
}

TEST(what_makes_no_sense_is_refused)
{
	static const char *const wrong[] = { "", "   ", "!", "live>", "live>x", "size>3", "/(/",
		"/abc", "\"abc", "age>", "age>soon", "function:", "live>1X", "live>1M1" };
	char many[FILTER_TEXT_MAX] = "", longest[FILTER_TEXT_MAX + 8];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (matches(wrong[i]) != -1)
			check_fail(__FILE__, __LINE__, wrong[i]);
	for (int i = 0; i < 17; i++)
		strcat(many, "a ");
	CHECK_INT(matches(many), -1);
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	CHECK_INT(matches(longest), -1);
}

TEST(lines_of_text)
{
	char why[FILTER_WHY_MAX];
	struct filter *f = filter_parse("get !css live>1M", why);

	CHECK(filter_match_text(f, "GET /index.html"));
	CHECK(!filter_match_text(f, "GET /a.css"));
	CHECK(!filter_match_text(f, "POST"));
	CHECK_STR(filter_text(f), "get !css live>1M");
	filter_free(f);
}

TEST(a_snapshot_of_what_matches)
{
	struct snapshot out, with;
	struct snap_site *sites = NULL;
	size_t room = 0;
	char why[FILTER_WHY_MAX];
	struct filter *f = filter_parse("json", why), *none = filter_parse("nothere", why);

	CHECK_INT(filter_apply(f, &snap, false, &out, &sites, &room), 0);
	CHECK_INT(out.nsites, 1);
	CHECK_INT(out.sites[0].id, 7);
	CHECK_INT(out.nmapped, 0);
	with = snap;
	with.mapped = snap.sites; /* of both arrays what matches, and no more */
	with.nmapped = snap.nsites;
	CHECK_INT(filter_apply(f, &with, false, &out, &sites, &room), 0);
	CHECK_INT(out.nsites, 1);
	CHECK_INT(out.nmapped, 1);
	CHECK_INT(out.mapped[0].id, 7);
	CHECK_INT(filter_apply(none, &with, false, &out, &sites, &room), 0);
	CHECK_INT(out.nsites + out.nmapped, 0);
	CHECK_INT(filter_apply(f, &snap, false, &out, &sites, &room), 0);
	CHECK_INT(out.totals.live_bytes, 30 << 20);
	CHECK_INT(filter_apply(none, &snap, false, &out, &sites, &room), 0);
	CHECK_INT(out.nsites, 0);
	filter_free(f);
	filter_free(none);
	free(sites);
}

/* Whatever is typed: an answer, and no harm. */
TEST(any_text)
{
	static const char pieces[][9] = { "live", ">", "<", "=", "1", "M", "!", "/", "\"", " ", "a",
		"stack:", "(", "[", "\\", "rate", "-", "*", "{", "\xc3" };
	uint32_t seed = 3;

	for (int i = 0; i < 20000; i++) {
		char text[FILTER_TEXT_MAX] = "", why[FILTER_WHY_MAX];
		struct filter *f;

		for (int k = 0; k < 12; k++) {
			seed = seed * 1664525u + 1013904223u;
			strcat(text, pieces[(seed >> 16) % (sizeof(pieces) / sizeof(pieces[0]))]);
		}
		f = filter_parse(text, why);
		if (f)
			filter_match(f, &snap, &site, i % 2);
		filter_free(f);
	}
}

int main(void)
{
	RUN(words_are_in_what_names_the_site);
	RUN(terms_are_anded_and_negated);
	RUN(expressions);
	RUN(at_peak);
	RUN(numbers);
	RUN(ages);
	RUN(names_of_cxx_are_text);
	RUN(a_mistyped_number_is_told_and_quotes_make_it_text);
	RUN(what_makes_no_sense_is_refused);
	RUN(lines_of_text);
	RUN(a_snapshot_of_what_matches);
	RUN(any_text);
	return check_end();
}
