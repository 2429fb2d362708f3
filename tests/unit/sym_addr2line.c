/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The same answers as binutils' addr2line, address by address, on a C++ program full of inlined
 * library code. Addresses are taken inside of functions (nm -S); addr2line also names the padding
 * between them.
 */
#include <limits.h>
#include "tests/unit/sym_fixture.h"

#define ADDRESSES    600
#define PLACES	     24 /* in one function */
#define SOURCE_LINES 14

static const char source[] =
	"#include <algorithm>\n#include <functional>\n#include <map>\n#include <memory>\n"
	"#include <string>\n#include <vector>\n"
	"namespace { struct A { std::vector<int> v; void add(int x) { v.push_back(x); } }; }\n"
	"int main(int c, char **v) {\n"
	"	A a; std::map<std::string, std::vector<std::string>> m;\n"
	"	for (int i = 0; i < c; i++) { a.add(i); m[v[i]].push_back(v[i]); }\n"
	"	std::function<int(int)> g = [&](int x) { return x + (int)m.size(); };\n"
	"	std::vector<std::string> q(v, v + c); std::stable_sort(q.begin(), q.end());\n"
	"	auto p = std::make_shared<A>(a);\n"
	"	return !(p->v.size() + g(1) > 0); }\n";

struct place {
	char function[4096], file[4096];
	unsigned long line;
};

static uint64_t addresses[ADDRESSES];
static size_t naddresses;

/* Some places in each function, spread over all of them. */
static bool addresses_take(void)
{
	char path[512];
	unsigned long start, size;
	static uint64_t all[20000];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/functions", fixture_dir);
	f = fopen(path, "r");
	while (f && n + PLACES < sizeof(all) / sizeof(all[0]) &&
		fscanf(f, "%lx %lx", &start, &size) == 2) {
		for (unsigned i = 0; i < PLACES; i++)
			all[n++] = start + (size - 1) * i / (PLACES - 1);
	}
	if (f)
		fclose(f);
	for (size_t i = 0; i < ADDRESSES && n > 0; i++)
		addresses[naddresses++] = all[i * n / ADDRESSES];
	snprintf(path, sizeof(path), "%s/addresses", fixture_dir);
	f = fopen(path, "w");
	for (size_t i = 0; f && i < naddresses; i++)
		fprintf(f, "%lx\n", (unsigned long)addresses[i]);
	return f && fclose(f) == 0 && naddresses == ADDRESSES;
}

/* The next line of addr2line's output, without its end. */
static bool line_read(FILE *f, char *line, size_t cap)
{
	if (!fgets(line, (int)cap, f))
		return false;
	line[strcspn(line, "\n")] = '\0';
	return true;
}

static void place_parse(struct place *p, char *text)
{
	char *colon = strrchr(text, ':');

	p->line = colon ? strtoul(colon + 1, NULL, 10) : 0; /* 0 for "?" */
	if (colon)
		*colon = '\0';
	snprintf(p->file, sizeof(p->file), "%s", text);
}

/* Reads one frame; false at the "0x..." of the next address, which stays in `ahead`. */
static bool place_read(FILE *f, struct place *p, char *ahead, size_t cap)
{
	char text[4096];

	if (!line_read(f, ahead, cap) || !strncmp(ahead, "0x", 2) ||
		!line_read(f, text, sizeof(text)))
		return false;
	snprintf(p->function, sizeof(p->function), "%s", ahead);
	place_parse(p, text);
	return true;
}

static bool same_file(const char *a, const char *b)
{
	char ra[PATH_MAX], rb[PATH_MAX];

	return a && realpath(a, ra) && realpath(b, rb) && !strcmp(ra, rb);
}

/*
 * Two habits of addr2line are not ours: it gives the symbol's name to the innermost inlined
 * function when that has no mangled one, and it may say "prog.cc:1092" for a line of a library's
 * header.
 */
static bool same_place(const struct sym_result *r, uint32_t i, const struct place *p)
{
	const struct sym_frame *f = &r->frames[i], *last = &r->frames[r->nframes - 1];
	bool symbol = i == 0 && !strcmp(p->function, last->function_raw);
	bool past = !strcmp(fixture_base(p->file), "prog.cc") && p->line > SOURCE_LINES;

	if (!f->function)
		return false;
	if (!strncmp(p->function, "_Z", 2) && strcmp(f->function_raw, p->function) != 0 && !symbol)
		return false;
	return p->line == 0 || (f->line == p->line && (past || same_file(f->file, p->file)));
}

static void compare(FILE *f, struct sym *s, size_t *same)
{
	char ahead[4096];
	struct place p;
	struct sym_result r;

	line_read(f, ahead, sizeof(ahead));
	while (sym_collect(s, &r)) {
		uint32_t n = 0;
		bool equal = true;

		for (; place_read(f, &p, ahead, sizeof(ahead)); n++)
			equal = equal && n < r.nframes && same_place(&r, n, &p);
		if (equal && n == r.nframes)
			++*same;
		else
			fprintf(stderr, "differs: %lx (%u frames, addr2line %u)\n",
				(unsigned long)addresses[r.cookie], r.nframes, n);
	}
}

static void compare_program(const char *compiler)
{
	char path[512];
	struct sym_module m = { .id = 1, .path = path };
	struct sym *s = sym_new(NULL);
	size_t same = 0;
	FILE *f;

	naddresses = 0;
	CHECK(fixture_program("prog", "cc", compiler, source));
	CHECK(fixture_shell(
		"nm -S prog | awk '$3 ~ /[tTwW]/ && NF == 4 { print $1, $2 }' | sort -u "
		">functions"));
	CHECK(addresses_take());
	CHECK(fixture_shell("addr2line -a -i -f -e prog <addresses | "
			    "sed 's/ (discriminator [0-9]*)$//' >reference"));
	snprintf(path, sizeof(path), "%s/prog", fixture_dir);
	CHECK_INT(sym_module_add(s, &m), 0);
	for (size_t i = 0; i < naddresses; i++)
		CHECK_INT(sym_request(s, 1, addresses[i], false, i), 0);
	CHECK_INT(sym_drain(s, FIXTURE_FOREVER_NS), 0);
	snprintf(path, sizeof(path), "%s/reference", fixture_dir);
	f = fopen(path, "r");
	if (f) {
		compare(f, s, &same);
		fclose(f);
	}
	CHECK_INT(same, naddresses);
	sym_free(s);
}

TEST(optimised)
{
	compare_program("g++ -g -O2");
}

TEST(dwarf_4)
{
	compare_program("g++ -gdwarf-4 -O1 -no-pie");
}

int main(void)
{
	CHECK(fixture_begin());
	if (!fixture_shell("addr2line --version")) {
		printf("skip - addr2line: not installed\n");
	} else {
		RUN(optimised);
		RUN(dwarf_4);
	}
	fixture_end();
	return check_end();
}
