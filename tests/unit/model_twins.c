/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tells call sites of the same name apart. */
#include <locale.h>
#include <string.h>
#include "src/model/groups.h"
#include "src/model/twins.h"
#include "tests/check.h"

#define SITES 6

static const struct snap_module app = { .path = "/srv/cache", .name = "cache", .build_id = "" };
static struct frame frames[SITES][4];
static struct stack stacks[SITES];
static struct snap_site sites[SITES];
static struct snapshot snap = { .sites = sites };
static const uint32_t order[SITES] = { 0, 1, 2, 3, 4, 5 };
static struct twins twins;

/* A site: the hidden frame below main, main, and its caller. */
static void site_set(unsigned i, const char *inner, uint32_t line, const char *caller,
	uint32_t caller_line, const char *alloc_function)
{
	frames[i][0] = (struct frame){
		.module = &app, .pc = 1, .function = "operator new(unsigned long)"
	};
	frames[i][1] = (struct frame){ .module = &app, .pc = 2, .function = inner };
	frames[i][2] = (struct frame){
		.module = &app, .pc = 3, .function = "main", .file = "/s/cache.cc", .line = line
	};
	frames[i][3] = (struct frame){ .module = &app,
		.pc = 4,
		.function = caller,
		.file = "/s/run.cc",
		.line = caller_line };
	stacks[i] = (struct stack){ .frames = frames[i], .nframes = 4, .title = 2 };
	sites[i] = (struct snap_site){
		.id = i + 1, .stack = &stacks[i], .alloc_function = alloc_function
	};
}

static const char *text(unsigned row, enum glyphs glyphs)
{
	static char out[TWINS_TEXT];

	twins_find(&twins, &snap, order, 0, snap.nsites, false);
	return twins_text(&twins, row, glyphs, out) ? out : "";
}

TEST(a_hidden_template_frame)
{
	snap.nsites = 5;
	site_set(0, "std::shared_ptr<Conn> std::make_shared<Conn, int&>(int&)", 38, "run", 1,
		"malloc");
	site_set(1, "std::shared_ptr<Session> std::make_shared<Session, int&>(int&)", 38, "run", 1,
		"malloc");
	site_set(2, "std::vector<Quote, std::allocator<Quote> >::push_back(Quote&&)", 38, "run", 1,
		"malloc");
	site_set(3, "plain(int)", 38, "run", 1, "malloc");
	site_set(4, "other(int)", 39, "run", 1, "malloc"); /* another line */
	CHECK_STR(text(0, GLYPHS_BLOCKS), "‹make_shared<Conn>›");
	CHECK_STR(text(1, GLYPHS_BLOCKS), "‹make_shared<Session>›");
	CHECK_STR(text(2, GLYPHS_BLOCKS), "‹vector<Quote>›");
	CHECK_STR(text(3, GLYPHS_BLOCKS), "‹plain›");
	CHECK_STR(text(4, GLYPHS_BLOCKS), "");
	CHECK_STR(text(0, GLYPHS_ASCII), "{make_shared<Conn>}");
	/* A row whose twins are further than the rows compared looks like itself. */
	twins_find(&twins, &snap, order, 0, 1, false);
	CHECK(!twins_text(&twins, 0, GLYPHS_BLOCKS, (char[TWINS_TEXT]){ 0 }));
}

TEST(all_arguments_where_the_first_is_the_same)
{
	snap.nsites = 2;
	site_set(0, "void put<Key, std::pair<int, long> >(Key)", 38, "run", 1, "malloc");
	site_set(1, "void put<Key, char>(Key)", 38, "run", 1, "malloc");
	CHECK_STR(text(0, GLYPHS_BLOCKS), "‹put<Key, pair<int, long>>›");
	CHECK_STR(text(1, GLYPHS_BLOCKS), "‹put<Key, char>›");
}

/* As the source has it, not as the library completes it. */
TEST(types_of_the_standard_library)
{
#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
	static const char *const inner[][2] = {
		{ "std::_MakeUniq<" STRING " >::__single_object std::make_unique<" STRING
		  ", int>(int&&)",
			"‹make_unique<string>›" },
		{ STRING "::basic_string<std::allocator<char> >(unsigned long, char, "
			 "std::allocator<char> const&)",
			"‹string›" },
		{ "std::vector<" STRING ", std::allocator<" STRING " > >::push_back(" STRING "&&)",
			"‹vector<string>›" },
		{ "std::map<int, Conn, std::less<int>, std::allocator<std::pair<int const, Conn> "
		  "> >::operator[](int&&)",
			"‹map<int>›" },
		{ "Pool<mystd::allocator<char>, hash<int> >::take()",
			"‹Pool<mystd::allocator<char>>›" },
		{ "Conn::open<std::allocator<char", "‹open<allocator<char›" },
	};

	snap.nsites = SITES;
	for (unsigned i = 0; i < SITES; i++)
		site_set(i, inner[i][0], 38, "run", 1, "malloc");
	for (unsigned i = 0; i < SITES; i++)
		CHECK_STR(text(i, GLYPHS_BLOCKS), inner[i][1]);
}

TEST(a_caller_or_its_line)
{
	snap.nsites = 3;
	site_set(0, "grow", 38, "handle(int)", 41, "malloc");
	site_set(1, "grow", 38, "reply(int)", 7, "malloc");
	site_set(2, "grow", 38, "reply(int)", 9, "malloc");
	CHECK_STR(text(0, GLYPHS_BLOCKS), "← handle(…)");
	CHECK_STR(text(1, GLYPHS_BLOCKS), "← reply(…):7");
	CHECK_STR(text(2, GLYPHS_BLOCKS), "← reply(…):9");
	snap.sites = sites + 1;
	snap.nsites = 2;
	CHECK_STR(text(0, GLYPHS_BLOCKS), "← reply(…):7");
	CHECK_STR(text(1, GLYPHS_ASCII), "<- reply(...):9");
	snap.sites = sites;
}

/* Callers whose names are too long for the part in which they differ. */
TEST(a_caller_by_its_scope)
{
	snap.nsites = 4;
	site_set(
		0, "grow", 38, "v8::SharedHeapDeserializer::DeserializeIntoIsolate()", 0, "malloc");
	site_set(1, "grow", 38, "v8::StartupDeserializer::DeserializeIntoIsolate()", 0, "malloc");
	site_set(2, "grow", 38, "v8::Isolate::Init(bool)", 0, "malloc");
	site_set(3, "grow", 38, "v8::Heap::Init(bool)", 0, "malloc");
	CHECK_STR(text(0, GLYPHS_BLOCKS), "← v8::SharedHea…");
	CHECK_STR(text(1, GLYPHS_BLOCKS), "← v8::Startu…");
	CHECK_STR(text(2, GLYPHS_BLOCKS), "← v8::Isolate::Init(…)");
	CHECK_STR(text(3, GLYPHS_ASCII), "<- v8::Heap::Init(...)");
	/* Arguments of a template are folded; an address tells then. */
	snap.nsites = 2;
	site_set(0, "grow", 38, "Table<a::one_long_name_of_a_type>::with_a_name()", 0, "malloc");
	site_set(1, "grow", 38, "Table<b::one_long_name_of_a_type>::with_a_name()", 0, "malloc");
	for (unsigned i = 0; i < 2; i++)
		frames[i][2].pc = frames[i][2].offset = 0x2a40 + i;
	CHECK_STR(text(0, GLYPHS_BLOCKS), "← Table<…>::with_a_name() 0x2a40");
}

/* In the module of the row an offset is enough; in another one its name is needed. */
TEST(a_caller_without_a_name)
{
	static const struct snap_module lib = {
		.path = "/usr/lib/libpool.so.2", .name = "libpool.so.2", .build_id = ""
	};

	snap.nsites = 2;
	for (unsigned i = 0; i < 2; i++) {
		site_set(i, "grow", 38, NULL, 0, "malloc");
		frames[i][3].pc = frames[i][3].offset = 0x4f10 + i;
	}
	frames[1][3].module = &lib;
	CHECK_STR(text(0, GLYPHS_BLOCKS), "← +0x4f10");
	CHECK_STR(text(1, GLYPHS_BLOCKS), "← ?? libpool.so.2+0x4f11");
}

/* The frame that tells from all of them, though a nearer one tells from some. */
TEST(a_caller_further_out)
{
	static const char *const inner[] = { "grow", "grow", "shrink" };
	static const char *const outer[] = { "handle(int)", "reply(int)", "close(int)" };

	snap.nsites = 3;
	for (unsigned i = 0; i < 3; i++) {
		site_set(i, "f", 38, outer[i], 7, "malloc");
		/* The name is one frame further in: grow or shrink calls it, and that is called. */
		frames[i][1] = frames[i][2];
		frames[i][2].function = inner[i];
		stacks[i].title = 1;
	}
	CHECK_STR(text(0, GLYPHS_BLOCKS), "← handle(…)");
	CHECK_STR(text(1, GLYPHS_BLOCKS), "← reply(…)");
	CHECK_STR(text(2, GLYPHS_BLOCKS), "← shrink");
}

TEST(the_function_that_allocates)
{
	snap.nsites = 2;
	site_set(0, "grow", 38, "run", 1, "malloc");
	site_set(1, "grow", 38, "run", 1, "calloc");
	CHECK_STR(text(0, GLYPHS_BLOCKS), "‹malloc›");
	CHECK_STR(text(1, GLYPHS_BLOCKS), "‹calloc›");
	site_set(1, "grow", 38, "run", 1, "malloc");
	CHECK_STR(text(0, GLYPHS_BLOCKS), ""); /* nothing does */
}

/* Two calls in one line; and those of one template, besides another. */
TEST(an_address_where_nothing_else_tells)
{
	const struct snap_site *listed[] = { &sites[0], NULL, &sites[1] };

	snap.nsites = 3;
	for (unsigned i = 0; i < 3; i++) {
		site_set(i, i < 2 ? "make<Conn>" : "make<Session>", 38, "run", 1, "malloc");
		frames[i][2].pc = frames[i][2].offset = 0x2a40 + i;
	}
	CHECK_STR(text(0, GLYPHS_BLOCKS), "‹make<Conn>› ‹0x2a40›");
	CHECK_STR(text(1, GLYPHS_ASCII), "{make<Conn>} {0x2a41}");
	CHECK_STR(text(2, GLYPHS_BLOCKS), "‹make<Session>›");
	snap.nsites = 2;
	CHECK_STR(text(0, GLYPHS_BLOCKS), "‹0x2a40›");
	CHECK_STR(text(1, GLYPHS_ASCII), "{0x2a41}");
	/* A frame further out has it, if the nearer ones are the same. */
	frames[1][2].pc = frames[0][2].pc;
	frames[1][3].pc = frames[1][3].offset = 0x77;
	CHECK_STR(text(1, GLYPHS_BLOCKS), "‹0x77›");
	/* The same of sites that something else lists. */
	twins_find_sites(&twins, listed, 3, false);
	CHECK_STR(twins_text(&twins, 2, GLYPHS_BLOCKS, (char[TWINS_TEXT]){ 0 }), "‹0x77›");
	CHECK(!twins_text(&twins, 1, GLYPHS_BLOCKS, (char[TWINS_TEXT]){ 0 }));
}

/* Constructors of one class, and functions of one scope, that are cut to the same text. */
TEST(an_address_where_texts_are_the_same)
{
	snap.nsites = 3;
	site_set(0, STRING "::basic_string(" STRING " const&)", 38, "run", 1, "malloc");
	site_set(1, STRING "::basic_string(unsigned long, char)", 38, "run", 1, "malloc");
	site_set(2, "std::vector<int, std::allocator<int> >::push_back(int&&)", 38, "run", 1,
		"malloc");
	for (unsigned i = 0; i < 3; i++)
		frames[i][2].pc = frames[i][2].offset = 0x2a40 + i;
	CHECK_STR(text(0, GLYPHS_BLOCKS), "‹string› ‹0x2a40›");
	CHECK_STR(text(1, GLYPHS_BLOCKS), "‹string› ‹0x2a41›");
	CHECK_STR(text(2, GLYPHS_BLOCKS), "‹vector<int>›");
}

TEST(an_address_after_a_caller_that_is_not_enough)
{
	snap.nsites = 3;
	for (unsigned i = 0; i < 3; i++) {
		site_set(i, "grow", 38, i < 2 ? "run" : "other", 1, "malloc");
		frames[i][2].pc = frames[i][2].offset = 0x2a40 + i;
	}
	CHECK_STR(text(0, GLYPHS_BLOCKS), "← run 0x2a40");
	CHECK_STR(text(1, GLYPHS_ASCII), "<- run 0x2a41");
	CHECK_STR(text(2, GLYPHS_BLOCKS), "← other");
}

/* A narrow column may show the address alone, so it is one that no twin has. */
TEST(an_address_of_its_own)
{
	static const uint64_t near[] = { 0x10, 0x20, 0x20 }, far[] = { 0x77, 0x77, 0x88 };

	snap.nsites = 3;
	for (unsigned i = 0; i < 3; i++) {
		site_set(i, i < 2 ? "make<Conn>" : "make<Session>", 38, "run", 1, "malloc");
		frames[i][2].pc = frames[i][2].offset = near[i];
		frames[i][3].pc = frames[i][3].offset = far[i];
	}
	CHECK_STR(text(0, GLYPHS_BLOCKS), "‹make<Conn>› ‹0x10›");
	CHECK_STR(text(1, GLYPHS_BLOCKS), "‹make<Conn>› ‹0x20›"); /* it has none */
	frames[1][3].pc = frames[1][3].offset = 0x99;
	CHECK_STR(text(1, GLYPHS_BLOCKS), "‹make<Conn>› ‹0x99›");
	CHECK_STR(text(2, GLYPHS_BLOCKS), "‹make<Session>›");
}

TEST(odd_names)
{
	static const char *const names[] = { "", "operator()", "a<b", "a>b", "f(", "<<<>>>",
		"::", "operator<<", "(anonymous namespace)::f(int)", "x<y(*)(int)>::z()",
		"operator", "(anonymous", "a::b<c,d>", ",,,", "T<,>" };
	const unsigned n = sizeof(names) / sizeof(names[0]);

	snap.nsites = 2;
	for (unsigned i = 0; i < n * n; i++) {
		site_set(0, names[i / n], 38, names[i % n], 1, "malloc");
		site_set(1, names[i % n], 38, names[i / n], 2, "malloc");
		CHECK(strlen(text(0, GLYPHS_BLOCKS)) < TWINS_TEXT);
	}
	site_set(0, "(anonymous namespace)::Pool::operator()(int)", 38, "run", 1, "malloc");
	site_set(1, "Pool<int>::operator new(unsigned long)", 38, "run", 1, "malloc");
	CHECK_STR(text(0, GLYPHS_BLOCKS), "‹operator()›");
	CHECK_STR(text(1, GLYPHS_BLOCKS), "‹Pool<int>›");
	frames[1][1].function = NULL;
	CHECK(strstr(text(1, GLYPHS_BLOCKS), "cache+0x0") != NULL);
	sites[1].group = &(struct snap_group){ .sites = 2 };
	CHECK_STR(text(0, GLYPHS_BLOCKS), "");
}

/* Site 0's name beside `twin`, in so many cells. */
static void check_name(struct row_style *style, const char *twin, unsigned cells, const char *want)
{
	char out[COLUMN_TEXT_MAX];

	style->twin = twin;
	style->site_cells = cells;
	site_name(&sites[0], style, out, sizeof(out));
	CHECK_STR(out, want);
}

/* The name gives way to what tells it apart, and both fit. */
TEST(names_with_their_twins_fit)
{
	struct row_style style = { .names = NAMES_FULL };

	site_set(0, "grow", 38, "run", 1, "malloc");
	check_name(&style, "‹vector<Quote>›", 24, "main ‹vector<Quote>›");
	frames[0][2].function = "handle_the_request";
	check_name(&style, "‹vector<Quote>›", 24, "handle_the_r… ‹…<Quote>›");
	check_name(&style, "‹vector<Quote>›", 31, "handle_the_request ‹…or<Quote>›");
	check_name(&style, "‹vector<Quote>›", 0, "handle_the_request ‹vector<Quote>›");
	check_name(&style, "← caller_of_all:41", 24, "handle_the_… ←…of_all:41");
	style.glyphs = GLYPHS_ASCII;
	check_name(&style, "<- caller_of_all:41", 24, "handle_the_~ <-.f_all:41");
}

/* "(…)" goes first, then a template's name. */
TEST(arguments_of_a_template_stay)
{
	struct row_style style = { .names = NAMES_SHORT };

	site_set(0, "grow", 38, "run", 1, "malloc");
	frames[0][2].function = "make_session(int)";
	check_name(&style, "‹make_shared<Conn>›", 0, "make_session(…) ‹make_shared<Conn>›");
	check_name(&style, "‹make_shared<Conn>›", 32, "make_session ‹make_shared<Conn>›");
	check_name(&style, "‹make_shared<Conn>›", 24, "make_session ‹…ed<Conn>›");
	check_name(&style, "‹make_shared<Conn>›", 21, "…ke_session ‹…<Conn>›");
	style.glyphs = GLYPHS_ASCII;
	check_name(&style, "{make_shared<Conn>}", 24, "make_session {.ed<Conn>}");
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	RUN(a_hidden_template_frame);
	RUN(all_arguments_where_the_first_is_the_same);
	RUN(types_of_the_standard_library);
	RUN(a_caller_or_its_line);
	RUN(a_caller_by_its_scope);
	RUN(a_caller_without_a_name);
	RUN(a_caller_further_out);
	RUN(the_function_that_allocates);
	RUN(an_address_where_nothing_else_tells);
	RUN(an_address_where_texts_are_the_same);
	RUN(an_address_after_a_caller_that_is_not_enough);
	RUN(an_address_of_its_own);
	RUN(odd_names);
	RUN(names_with_their_twins_fit);
	RUN(arguments_of_a_template_stay);
	return check_end();
}
