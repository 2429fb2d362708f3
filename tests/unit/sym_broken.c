/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Broken object files: cut off, with bytes and whole words changed, headers and debug information
 * above all. Nothing is asked of the answers but that they come. The dice are fixed;
 * SYM_BROKEN_SEED and SYM_BROKEN_RUNS look further.
 */
#include "tests/unit/sym_fixture.h"

static const char source[] = "#include \"where.h\"\n"
			     "#include <vector>\n"
			     "namespace n { template <class T> struct B { std::vector<T> v;\n"
			     "	void add(T t) { v.push_back(t); WHERE(\"add\"); } }; }\n"
			     "int main(int c, char **) { n::B<int> b; b.add(c);\n"
			     "	auto f = [&](int x) { b.add(x); }; f(3); return 0; }\n";

static char *image;
static size_t image_len;
static uint32_t seed = 1;

static uint32_t dice(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

static bool image_load(const char *name)
{
	char path[512];
	struct stat st;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", fixture_dir, name);
	f = fopen(path, "r");
	if (!f || fstat(fileno(f), &st) != 0)
		return false;
	image_len = (size_t)st.st_size;
	free(image);
	image = malloc(image_len);
	return image && fread(image, 1, image_len, f) == image_len && fclose(f) == 0;
}

/* Some hundred addresses all over the file's text, so that every table is walked. */
static void ask_all(size_t len, const char *data)
{
	char path[512];
	struct sym_module m = { .id = 1, .path = path };
	struct sym *s = sym_new(NULL);
	struct sym_result r;
	size_t n = 0;

	CHECK(fixture_write("broken", data, len));
	snprintf(path, sizeof(path), "%s/broken", fixture_dir);
	CHECK_INT(sym_module_add(s, &m), 0);
	for (uint64_t a = 0x1000; a < 0x4000; a += 37, n++)
		CHECK_INT(sym_request(s, 1, a, true, n), 0);
	CHECK_INT(sym_drain(s, FIXTURE_FOREVER_NS), 0);
	for (; n > 0; n--) {
		CHECK_INT(sym_collect(s, &r), 1);
		CHECK(r.nframes >= 1 && r.frames);
	}
	sym_free(s);
}

TEST(cut_off)
{
	for (size_t i = 0; i < 60; i++)
		ask_all(i < 20 ? i * 7 : dice((uint32_t)image_len), image);
}

TEST(garbage)
{
	char junk[4096];

	for (int i = 0; i < 20; i++) {
		for (size_t k = 0; k < sizeof(junk); k++)
			junk[k] = (char)dice(256);
		memcpy(junk, "\177ELF\2\1\1", i < 10 ? 7 : 4);
		ask_all(sizeof(junk), junk);
	}
}

/* Where the sections named .debug_* and the tables at both ends of the file are. */
struct span {
	size_t at, len;
};
static struct span spans[64];
static size_t nspans;

static void spans_find(const char *name)
{
	char cmd[640];
	unsigned long at, len;
	FILE *p;

	nspans = 0;
	spans[nspans++] = (struct span){ 0, 64 + 13 * 56 };
	spans[nspans++] = (struct span){ image_len - 64 * 30, 64 * 30 };
	snprintf(cmd, sizeof(cmd),
		"readelf -SW '%s/%s' | sed -n "
		"'s/.*\\.\\(debug_[a-z_]*\\|symtab\\|strtab\\|note[a-z.-]*\\|gnu_debug[a-z]*\\) "
		"*[A-Z]* *[0-9a-f]* \\([0-9a-f]*\\) \\([0-9a-f]*\\).*/\\2 \\3/p'",
		fixture_dir, name);
	p = popen(cmd, "r");
	while (p && nspans < 64 && fscanf(p, "%lx %lx", &at, &len) == 2) {
		if (len > 0 && at + len <= image_len)
			spans[nspans++] = (struct span){ at, len };
	}
	if (p)
		pclose(p);
}

static void mutate(char *copy)
{
	static const uint64_t words[] = { 0, 1, UINT64_MAX, 0x7fffffff, 0x80000000u, 0xffffffff,
		0x7fffffffffffffff, 0x1000 };
	const struct span *s = &spans[dice((uint32_t)nspans)];
	size_t at = s->at + dice((uint32_t)s->len);
	uint64_t word = words[dice(sizeof(words) / sizeof(words[0]))];
	size_t bytes = (size_t)1 << dice(4);

	if (dice(3) == 0)
		copy[at] = (char)dice(256);
	else if (at + bytes <= image_len)
		memcpy(copy + at, &word, bytes);
}

static void mutations(const char *name, unsigned runs)
{
	char *copy;

	CHECK(image_load(name));
	spans_find(name);
	CHECK(nspans > 6);
	copy = malloc(image_len);
	for (unsigned i = 0; i < runs && copy; i++) {
		unsigned n = 1 + dice(i % 3 == 0 ? 200 : 8);

		memcpy(copy, image, image_len);
		while (n-- > 0)
			mutate(copy);
		ask_all(image_len, copy);
	}
	free(copy);
}

static unsigned runs(void)
{
	const char *n = getenv("SYM_BROKEN_RUNS");

	return n ? (unsigned)atoi(n) : 100;
}

TEST(changed_gcc)
{
	CHECK(fixture_program("app", "cc", "g++ -g -O1", source));
	mutations("app", runs());
}

TEST(changed_dwarf_4)
{
	CHECK(fixture_program("app4", "cc", "g++ -gdwarf-4 -O1", source));
	mutations("app4", runs());
}

TEST(changed_clang)
{
	if (!fixture_shell("clang++ --version"))
		SKIP("no clang");
	CHECK(fixture_program("appc", "cc", "clang++ -g -O1", source));
	mutations("appc", runs());
}

TEST(changed_compressed)
{
	CHECK(fixture_program("appz", "cc", "g++ -g -O1 -gz", source));
	mutations("appz", runs() / 2);
}

int main(void)
{
	if (getenv("SYM_BROKEN_SEED"))
		seed = (uint32_t)atoi(getenv("SYM_BROKEN_SEED"));
	CHECK(fixture_begin());
	CHECK(fixture_program("app", "cc", "g++ -g -O1", source));
	CHECK(image_load("app"));
	RUN(cut_off);
	RUN(garbage);
	RUN(changed_gcc);
	RUN(changed_dwarf_4);
	RUN(changed_clang);
	RUN(changed_compressed);
	free(image);
	fixture_end();
	return check_end();
}
