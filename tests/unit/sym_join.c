/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several programs that share one symboliser: what is one file, what is not, and who leaves when.
 */
#include "tests/unit/sym_fixture.h"

#define ID 5u

static char path[512];
static uint64_t vaddr;

/* Makes the file anew, with one function of that name. */
static void file_make(const char *function)
{
	char source[512];
	uint32_t line;

	snprintf(source, sizeof(source),
		"#include \"where.h\"\n"
		"__attribute__((noinline)) void %s(void) { WHERE(\"here\"); }\n"
		"int main(void) { %s(); }\n",
		function, function);
	CHECK(fixture_shell("rm -f joined"));
	CHECK(fixture_program("joined", "c", "gcc -g -O1 -Wl,--build-id=none", source));
	CHECK(fixture_place("joined", "here", &vaddr, &line));
	snprintf(path, sizeof(path), "%s/joined", fixture_dir);
}

static void add(struct sym *s)
{
	const struct sym_module m = { .id = ID, .path = path };

	CHECK(s != NULL);
	CHECK_INT(sym_module_add(s, &m), 0);
}

static struct sym_result ask(struct sym *s, uint64_t cookie)
{
	struct sym_result r = { 0 };

	CHECK_INT(sym_request(s, ID, vaddr, true, cookie), 0);
	CHECK_INT(sym_drain(s, FIXTURE_FOREVER_NS), 0);
	CHECK_INT(sym_collect(s, &r), 1);
	CHECK_INT(r.cookie, cookie);
	return r;
}

TEST(the_same_file_is_read_once)
{
	struct sym *s = sym_new(NULL), *t;
	struct sym_result first, second;

	file_make("shared");
	add(s);
	first = ask(s, 1);
	t = sym_join(s);
	add(t);
	CHECK_INT(sym_module_quality(t, ID), SYM_PENDING);
	second = ask(t, 2);
	CHECK_STR(first.frames[0].function, "shared");
	CHECK(first.frames == second.frames);
	CHECK_INT(sym_module_quality(t, ID), SYM_DWARF);
	sym_free(s);
	/* What the first learnt is the second's, too. */
	CHECK_STR(first.frames[0].function, "shared");
	CHECK(ask(t, 3).frames == first.frames);
	sym_free(t);
}

TEST(another_file_at_the_path_is_another)
{
	struct sym *s = sym_new(NULL), *t = sym_join(s);
	struct sym_result r;

	file_make("before");
	add(s);
	CHECK_STR(ask(s, 1).frames[0].function, "before");
	file_make("afterwards");
	add(t);
	r = ask(t, 1);
	CHECK_STR(r.frames[0].function, "afterwards");
	CHECK_STR(ask(s, 2).frames[0].function, "before");
	sym_free(s);
	sym_free(t);
}

TEST(each_has_its_own_answers)
{
	struct sym *s = sym_new(NULL), *t = sym_join(s);
	struct sym_result r;

	file_make("mine");
	add(s);
	add(t);
	for (uint64_t i = 0; i < 100; i++)
		CHECK_INT(sym_request(i % 4 ? s : t, ID, vaddr + i, true, i), 0);
	CHECK_INT(sym_pending(s), 75);
	CHECK_INT(sym_pending(t), 25);
	CHECK_INT(sym_drain(t, FIXTURE_FOREVER_NS), 0);
	for (uint64_t i = 0; i < 100; i += 4) {
		CHECK_INT(sym_collect(t, &r), 1);
		CHECK_INT(r.cookie, i);
	}
	CHECK_INT(sym_collect(t, &r), 0);
	CHECK_INT(sym_drain(s, FIXTURE_FOREVER_NS), 0);
	for (uint64_t i = 1; i < 100; i += 1 + (i % 4 == 3)) {
		CHECK_INT(sym_collect(s, &r), 1);
		CHECK_INT(r.cookie, i);
	}
	CHECK_INT(sym_collect(s, &r), 0);
	sym_free(s);
	sym_free(t);
}

/* The one that leaves takes its questions along, asked or in work; the others' are answered. */
TEST(one_leaves_while_busy)
{
	struct sym *s = sym_new(NULL), *t = sym_join(s), *u = sym_join(t);
	struct sym_result r;

	file_make("busy");
	add(s);
	add(t);
	add(u);
	for (uint64_t i = 0; i < 3000; i++)
		CHECK_INT(sym_request(i % 3 == 0   ? s
				      : i % 3 == 1 ? t
						   : u,
				  ID, 0x1000 + i, true, i),
			0);
	sym_free(s);
	CHECK_INT(sym_drain(t, FIXTURE_FOREVER_NS), 0);
	for (uint64_t i = 1; i < 3000; i += 3) {
		CHECK_INT(sym_collect(t, &r), 1);
		CHECK_INT(r.cookie, i);
	}
	sym_free(u);
	CHECK_STR(ask(t, 9).frames[0].function, "busy");
	sym_free(t);
}

int main(void)
{
	CHECK(fixture_begin());
	RUN(the_same_file_is_read_once);
	RUN(another_file_at_the_path_is_another);
	RUN(each_has_its_own_answers);
	RUN(one_leaves_while_busy);
	fixture_end();
	return check_end();
}
