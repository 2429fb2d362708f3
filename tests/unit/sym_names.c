/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/sym/sym.h: names, lines and inlined calls of freshly compiled C and C++; the queue. */
#include <errno.h>
#include <poll.h>
#include "tests/unit/sym_fixture.h"

static const char c_source[] = "#include \"where.h\"\n"
			       "static inline __attribute__((always_inline)) void inner(void)\n"
			       "{\n"
			       "	WHERE(\"inlined\");\n"
			       "}\n"
			       "static inline __attribute__((always_inline)) void middle(void)\n"
			       "{\n"
			       "	inner();\n"
			       "}\n"
			       "__attribute__((noinline)) void plain_function(void)\n"
			       "{\n"
			       "	WHERE(\"plain\");\n"
			       "}\n"
			       "__attribute__((noinline)) void outer_function(void)\n"
			       "{\n"
			       "	{ int x = where_sink;\n"
			       "	if (x >= 0) {\n"
			       "	middle();\n"
			       "	} }\n"
			       "}\n"
			       "int main(void)\n"
			       "{\n"
			       "	plain_function();\n"
			       "	outer_function();\n"
			       "	return 0;\n"
			       "}\n";

static const char cc_source[] =
	"#include \"where.h\"\n"
	"#include <functional>\n"
	"#include <vector>\n"
	"namespace shop { template <class T> struct Box {\n"
	"	std::vector<T> items;\n"
	"	__attribute__((noinline)) void insert(const T &t) const { WHERE(\"method\"); }\n"
	"	__attribute__((noinline)) void operator()(int) { WHERE(\"call\"); }\n"
	"}; }\n"
	"namespace { __attribute__((noinline)) void hidden_one() { WHERE(\"anonymous\"); } }\n"
	"template <class F> __attribute__((noinline)) void apply(F f) { f(3); where_sink++; }\n"
	"struct Thing { Thing() { WHERE(\"constructor\"); } };\n"
	"int main()\n"
	"{\n"
	"	shop::Box<int> b; b.insert(1); b(2); hidden_one();\n"
	"	auto l = [&](int x) __attribute__((noinline)) { WHERE(\"lambda\"); };\n"
	"	apply(l);\n"
	"	Thing *t = new Thing; delete t;\n"
	"	return 0;\n"
	"}\n";

static void check_c(const char *name)
{
	uint32_t line;
	enum sym_quality q;
	struct sym_result r = fixture_ask_in(name, name, "plain", NULL, &q, &line);

	CHECK_INT(q, SYM_DWARF);
	CHECK_INT(r.cookie, 42);
	CHECK_INT(r.nframes, 1);
	CHECK_STR(r.frames[0].function, "plain_function");
	CHECK_STR(r.frames[0].function_raw, "plain_function");
	CHECK(r.frames[0].file && r.frames[0].file[0] == '/');
	CHECK_INT(r.frames[0].line, line);
	CHECK(!r.frames[0].inlined);

	r = fixture_ask_in(name, name, "inlined", NULL, &q, &line);
	CHECK_INT(r.nframes, 3);
	if (r.nframes != 3)
		return;
	CHECK_STR(r.frames[0].function, "inner");
	CHECK_STR(r.frames[1].function, "middle");
	CHECK_STR(r.frames[2].function, "outer_function");
	CHECK_INT(r.frames[0].line, line);
	CHECK_INT(r.frames[1].line, 8);
	CHECK_INT(r.frames[2].line, 18);
	CHECK(r.frames[0].inlined && r.frames[1].inlined && !r.frames[2].inlined);
}

TEST(c_pie)
{
	CHECK(fixture_program("pie", "c", "gcc -g -O2 -fPIE -pie", c_source));
	check_c("pie");
}

TEST(c_no_pie)
{
	CHECK(fixture_program("nopie", "c", "gcc -g -O2 -fno-pie -no-pie", c_source));
	check_c("nopie");
}

TEST(c_dwarf_4)
{
	CHECK(fixture_program("dwarf4", "c", "gcc -gdwarf-4 -O2", c_source));
	check_c("dwarf4");
}

TEST(c_clang)
{
	if (!fixture_shell("clang --version"))
		SKIP("no clang");
	CHECK(fixture_program("clang", "c", "clang -g -O2", c_source));
	check_c("clang");
}

TEST(c_without_aranges)
{
	CHECK(fixture_program("noaranges", "c", "gcc -g -O2", c_source));
	CHECK(fixture_shell("objcopy --remove-section .debug_aranges noaranges"));
	check_c("noaranges");
}

TEST(c_compressed)
{
	CHECK(fixture_program("compressed", "c", "gcc -g -O2 -gz", c_source));
	check_c("compressed");
}

TEST(c_split_dwarf)
{
	CHECK(fixture_program("split", "c", "gcc -g -O2 -gsplit-dwarf", c_source));
	check_c("split");
}

TEST(c_line_table_only)
{
	uint32_t line;
	struct sym_result r;

	CHECK(fixture_program("g1", "c", "gcc -g1 -O2", c_source));
	r = fixture_ask_in("g1", "g1", "plain", NULL, NULL, &line);
	CHECK_STR(r.frames[0].function, "plain_function");
	CHECK_INT(r.frames[0].line, line);
}

static void check_cc(const char *tag, const char *function)
{
	uint32_t line;
	struct sym_result r = fixture_ask_in("cc", "cc", tag, NULL, NULL, &line);

	CHECK_STR(r.frames[0].function, function);
	CHECK_STR(fixture_base(r.frames[0].file), "cc.cc");
	CHECK_INT(r.frames[0].line, line);
}

TEST(cplusplus)
{
	CHECK(fixture_program("cc", "cc", "g++ -g -O1", cc_source));
	check_cc("method", "shop::Box<int>::insert(int const&) const");
	check_cc("call", "shop::Box<int>::operator()(int)");
	check_cc("anonymous", "(anonymous namespace)::hidden_one()");
	check_cc("lambda", "main::{lambda(int)#1}::operator()(int) const");
	check_cc("constructor", "Thing::Thing()");
}

TEST(symtab_only)
{
	uint32_t line;
	enum sym_quality q;
	struct sym_result r;

	CHECK(fixture_program("cc", "cc", "g++ -g -O1", cc_source));
	CHECK(fixture_shell("strip -g -o stripped cc"));
	r = fixture_ask_in("stripped", "cc", "method", NULL, &q, &line);
	CHECK_INT(q, SYM_SYMTAB);
	CHECK_INT(r.nframes, 1);
	CHECK_STR(r.frames[0].function, "shop::Box<int>::insert(int const&) const");
	CHECK_STR(r.frames[0].function_raw, "_ZNK4shop3BoxIiE6insertERKi");
	CHECK(!r.frames[0].file);
	CHECK_INT(r.frames[0].line, 0);
}

TEST(dynsym_only)
{
	uint32_t line;
	enum sym_quality q;
	struct sym_result r;

	CHECK(fixture_program("dyn", "c", "gcc -O2 -rdynamic", c_source));
	CHECK(fixture_shell("strip -s dyn"));
	r = fixture_ask_in("dyn", "dyn", "plain", NULL, &q, &line);
	CHECK_INT(q, SYM_DYNSYM);
	CHECK_STR(r.frames[0].function, "plain_function");
}

TEST(nothing_left)
{
	uint32_t line;
	enum sym_quality q;
	struct sym_result r;

	CHECK(fixture_program("bare", "c", "gcc -O2", c_source));
	CHECK(fixture_shell("strip -s bare"));
	r = fixture_ask_in("bare", "bare", "plain", NULL, &q, &line);
	CHECK_INT(r.nframes, 1);
	CHECK(!r.frames[0].function && !r.frames[0].file);
	CHECK(q == SYM_NONE || q == SYM_DYNSYM);
}

TEST(no_such_file)
{
	static const char *const paths[] = { "", "[vdso]", "[heap]", "relative", "/dev/zero", "/",
		"/nowhere/at/all", "/proc/self/mem" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		enum sym_quality q;
		struct sym_result r = fixture_ask(paths[i], NULL, 0x1234, &q);

		CHECK_INT(q, SYM_NONE);
		CHECK_INT(r.nframes, 1);
		CHECK(!r.frames[0].function);
	}
}

TEST(fifo_is_not_opened)
{
	char path[512];
	enum sym_quality q;

	CHECK(fixture_shell("mkfifo fifo"));
	snprintf(path, sizeof(path), "%s/fifo", fixture_dir);
	fixture_ask(path, NULL, 0x1234, &q);
	CHECK_INT(q, SYM_NONE);
}

TEST(deleted_file)
{
	uint32_t line;
	enum sym_quality q;

	CHECK(fixture_program("pie", "c", "gcc -g -O2", c_source));
	CHECK(fixture_shell("cp pie 'pie (deleted)'"));
	fixture_ask_in("pie (deleted)", "pie", "plain", NULL, &q, &line);
	CHECK_INT(q, SYM_NONE);
}

TEST(root_prefix)
{
	char root[512];
	uint64_t vaddr = 0;
	uint32_t line;
	enum sym_quality q;
	struct sym_options o = { .root = root };
	struct sym_result r;

	CHECK(fixture_program("pie", "c", "gcc -g -O2", c_source));
	CHECK(fixture_shell("mkdir -p box/opt && cp pie box/opt/app"));
	CHECK(fixture_place("pie", "plain", &vaddr, &line));
	snprintf(root, sizeof(root), "%s/box", fixture_dir);
	r = fixture_ask("/opt/app", &o, vaddr, &q);
	CHECK_STR(r.frames[0].function, "plain_function");
	CHECK_INT(q, SYM_DWARF);
}

/* The build-id of a file, from its note, by readelf. */
static size_t build_id_of(const char *name, uint8_t id[64])
{
	char cmd[640], hex[160];
	size_t n = 0;
	FILE *p;

	snprintf(cmd, sizeof(cmd), "readelf -n '%s/%s' 2>&1 | sed -n 's/.*Build ID: //p'",
		fixture_dir, name);
	p = popen(cmd, "r");
	if (p && fscanf(p, "%159s", hex) == 1) {
		unsigned byte;

		while (n < 64 && sscanf(hex + 2 * n, "%2x", &byte) == 1)
			id[n++] = (uint8_t)byte;
	}
	if (p)
		pclose(p);
	return n;
}

static enum sym_quality quality_with_id(const uint8_t *id, size_t len)
{
	char path[512];
	struct sym_module m = { .id = 1, .path = path, .build_id = id, .build_id_len = len };
	struct sym *s = sym_new(NULL);
	struct sym_result r;
	enum sym_quality q;

	snprintf(path, sizeof(path), "%s/withid", fixture_dir);
	CHECK_INT(sym_module_add(s, &m), 0);
	CHECK_INT(sym_request(s, 1, 0x1200, true, 0), 0);
	CHECK_INT(sym_drain(s, FIXTURE_FOREVER_NS), 0);
	CHECK_INT(sym_collect(s, &r), 1);
	q = sym_module_quality(s, 1);
	sym_free(s);
	return q;
}

TEST(build_id_must_match)
{
	uint8_t id[64];
	size_t len;

	CHECK(fixture_program("withid", "c", "gcc -g -O2 -Wl,--build-id=sha1", c_source));
	len = build_id_of("withid", id);
	CHECK_INT(len, 20);
	CHECK_INT(quality_with_id(id, len), SYM_DWARF);
	CHECK_INT(quality_with_id(NULL, 0), SYM_DWARF);
	CHECK_INT(quality_with_id(id, len - 1), SYM_NONE);
	id[7] ^= 1;
	CHECK_INT(quality_with_id(id, len), SYM_NONE);
	CHECK(fixture_program("withid", "c", "gcc -g -O2 -Wl,--build-id=none", c_source));
	CHECK_INT(quality_with_id(id, len), SYM_NONE);
}

static bool readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

TEST(queue)
{
	char path[512];
	struct sym_module m = { .id = 3, .path = path }, other = { .id = 3, .path = "/nowhere" };
	struct sym *s = sym_new(NULL);
	struct sym_result r, first = { 0 };
	uint64_t vaddr = 0;
	uint32_t line;

	CHECK(fixture_program("pie", "c", "gcc -g -O2", c_source));
	CHECK(fixture_place("pie", "plain", &vaddr, &line));
	snprintf(path, sizeof(path), "%s/pie", fixture_dir);
	CHECK_INT(sym_request(s, 3, vaddr, true, 0), -ENOENT);
	CHECK_INT(sym_module_quality(s, 3), SYM_NONE);
	CHECK_INT(sym_module_add(s, &m), 0);
	CHECK_INT(sym_module_add(s, &other), 0);
	CHECK_INT(sym_module_quality(s, 3), SYM_PENDING);
	CHECK_INT(sym_collect(s, &r), 0);
	CHECK(!readable(sym_fd(s)));

	for (uint64_t i = 0; i < 1000; i++)
		CHECK_INT(sym_request(s, 3, vaddr - i % 2, true, i), 0);
	CHECK_INT(sym_pending(s), 1000);
	CHECK_INT(sym_drain(s, FIXTURE_FOREVER_NS), 0);
	CHECK_INT(sym_pending(s), 1000);
	for (uint64_t i = 0; i < 1000; i++) {
		CHECK(readable(sym_fd(s)));
		CHECK_INT(sym_collect(s, &r), 1);
		CHECK_INT(r.cookie, i);
		CHECK_STR(r.frames[0].function, "plain_function");
		if (i == 0)
			first = r;
		else if (i % 2 == 0)
			CHECK(r.frames == first.frames);
	}
	CHECK_INT(sym_collect(s, &r), 0);
	CHECK(!readable(sym_fd(s)));
	CHECK_INT(sym_pending(s), 0);
	CHECK_INT(sym_drain(s, 0), 0);
	sym_free(s);
}

/* A call that never returns may be the last instruction: its return address is the next function's.
 */
TEST(return_address_behind_the_function)
{
	static const char source[] =
		"#include \"where.h\"\n"
		"#include <stdlib.h>\n"
		"__attribute__((noinline, noreturn)) static void leave(int line)\n"
		"{ unsigned long bias = 0; dl_iterate_phdr(where_bias, &bias);\n"
		"  printf(\"last %lx %d\\n\", (unsigned long)__builtin_return_address(0) - bias, "
		"line);\n"
		"  exit(0); }\n"
		"__attribute__((noinline)) void caller(void) { leave(__LINE__); }\n"
		"__attribute__((noinline, aligned(1))) void next_function(void) { where_sink++; }\n"
		"int main(void) { if (where_sink) WHERE(\"never\"); caller(); }\n";
	uint32_t line;
	struct sym_result r;

	CHECK(fixture_program(
		"ret", "c", "gcc -g -O1 -fno-toplevel-reorder -falign-functions=1", source));
	r = fixture_ask_in("ret", "ret", "last", NULL, NULL, &line);
	CHECK_STR(r.frames[0].function, "caller");
	CHECK_INT(r.frames[0].line, 7);
}

TEST(free_while_busy)
{
	char path[512];
	struct sym_module m = { .id = 1, .path = path };
	struct sym *s = sym_new(NULL);

	snprintf(path, sizeof(path), "%s/pie", fixture_dir);
	CHECK_INT(sym_module_add(s, &m), 0);
	for (uint64_t i = 0; i < 10000; i++)
		CHECK_INT(sym_request(s, 1, 0x1000 + i, true, i), 0);
	sym_free(s);
	sym_free(NULL);
}

int main(void)
{
	CHECK(fixture_begin());
	RUN(c_pie);
	RUN(c_no_pie);
	RUN(c_dwarf_4);
	RUN(c_clang);
	RUN(c_without_aranges);
	RUN(c_compressed);
	RUN(c_split_dwarf);
	RUN(c_line_table_only);
	RUN(cplusplus);
	RUN(symtab_only);
	RUN(dynsym_only);
	RUN(nothing_left);
	RUN(no_such_file);
	RUN(fifo_is_not_opened);
	RUN(deleted_file);
	RUN(root_prefix);
	RUN(build_id_must_match);
	RUN(queue);
	RUN(return_address_behind_the_function);
	RUN(free_while_busy);
	sym_free(fixture_sym);
	fixture_end();
	return check_end();
}
