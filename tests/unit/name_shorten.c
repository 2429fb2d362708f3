/* SPDX-License-Identifier: GPL-3.0-or-later */
/* name_shorten: what is folded in which order, and what only looks as if it could be. */
#include <locale.h>
#include "src/util/name_shorten.h"
#include "src/util/text.h"
#include "tests/check.h"

static const struct {
	const char *name, *folded;
} table[] = {
	{ "", "" },
	{ "main", "main" },
	{ "main()", "main()" },
	{ "f(int)", "f(…)" },
	{ "cache::Shard::insert(std::string const&, int)", "cache::Shard::insert(…)" },
	{ "Box<int>::get() const", "Box<…>::get()" },
	{ "Box<int>::set(int) const volatile &", "Box<…>::set(…)" },
	{ "Box<int>::take(int) &&", "Box<…>::take(…)" },
	{ "Box<int>::size(int) constant", "Box<…>::size(…) constant" },
	{ "std::map<int, std::vector<std::pair<int, long> > >::at(int const&)",
		"std::map<…>::at(…)" },
	{ "make<int>(int)", "make<…>(…)" },
	{ "void make<int>(int)", "make<…>(…)" },
	{ "unsigned long a::make<int>(int)", "a::make<…>(…)" },
	{ "std::vector<int> make<int>(int)", "make<…>(…)" },
	{ "name[abi:cxx11](int)", "name(…)" },
	{ "a::name[abi:cxx11]() const", "a::name()" },
	{ "parse(char*) [clone .cold]", "parse(…)" },
	/* operators */
	{ "Foo::operator()(int) const", "Foo::operator()(…)" },
	{ "Foo::operator()<int>(int) const", "Foo::operator()<…>(…)" },
	{ "Foo::operator()()", "Foo::operator()()" },
	{ "Foo::operator[](unsigned long)", "Foo::operator[](…)" },
	{ "Foo::operator->() const", "Foo::operator->()" },
	{ "Foo::operator->*(int)", "Foo::operator->*(…)" },
	{ "operator<(Foo const&, Foo const&)", "operator<(…)" },
	{ "operator<<(std::ostream&, Foo)", "operator<<(…)" },
	{ "operator<=>(Foo, Foo)", "operator<=>(…)" },
	{ "operator>>(std::istream&, Foo)", "operator>>(…)" },
	{ "operator>(A, A)", "operator>(…)" },
	{ "bool operator< <int>(A<int>, A<int>)", "operator< <…>(…)" },
	{ "std::ostream& operator<< <char>(std::ostream&)", "operator<< <…>(…)" },
	{ "A<&(B::operator<(B const&))>::f(int)", "A<…>::f(…)" },
	{ "operator new(unsigned long)", "operator new(…)" },
	{ "operator new[](unsigned long)", "operator new[](…)" },
	{ "Foo::operator bool() const", "Foo::operator bool()" },
	{ "Foo::operator std::vector<int>() const", "Foo::operator std::vector<…>()" },
	{ "Foo::operator unsigned long() const", "Foo::operator unsigned long()" },
	{ "operator\"\" _km(long double)", "operator\"\" _km(…)" },
	{ "my_operator<int>(int)", "my_operator<…>(…)" },
	{ "Foo::operators(int)", "Foo::operators(…)" },
	/* lambdas and other names with brackets in them */
	{ "main::{lambda(int)#1}::operator()(int) const", "main::{lambda(…)#1}::operator()(…)" },
	{ "f(int)::{lambda(std::vector<int>)#2}::operator()(std::vector<int>) const",
		"f(…)::{lambda(…)#2}::operator()(…)" },
	{ "f()::{lambda()#1}::operator()() const", "f()::{lambda()#1}::operator()()" },
	{ "main::{lambda}::operator()", "main::{lambda}::operator()" },
	{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f(…)" },
	{ "a::(anonymous namespace)::B<int>::f(int)", "a::(anonymous namespace)::B<…>::f(…)" },
	{ "int (anonymous namespace)::f<int>(int)", "(anonymous namespace)::f<…>(…)" },
	{ "A<(anonymous namespace)::B>::f()", "A<…>::f()" },
	/* functions in arguments */
	{ "apply(void (*)(int), int)", "apply(…)" },
	{ "std::function<void (int)>::operator()(int) const", "std::function<…>::operator()(…)" },
	{ "sort<int*, bool (*)(int, int)>(int*, int*, bool (*)(int, int))", "sort<…>(…)" },
	{ "A<(B)1>::f(int)", "A<…>::f(…)" },
	{ "A<((1)>(2))>::f(int)", "A<…>::f(…)" },
	{ "A<((1)<(2))>::f(int)", "A<…>::f(…)" },
	{ "A<((1)<<(2))>::f(int)", "A<…>::f(…)" },
	{ "A<decltype ((x)->y)>::f(int)", "A<…>::f(…)" },
	/* Rust */
	{ "alloc::vec::Vec<T,A>::push", "alloc::vec::Vec<…>::push" },
	{ "<alloc::vec::Vec<T> as core::ops::Drop>::drop", "alloc::vec::Vec<…>::drop" },
	{ "<alloc::vec::Vec<r::S>>::push", "alloc::vec::Vec<…>::push" },
	{ "<[T] as core::fmt::Debug>::fmt", "<[T]>::fmt" },
	{ "<&str as a::B<C>>::f", "<&str>::f" },
	{ "<dyn a::B>::f", "<dyn a::B>::f" },
	{ "core::num::<impl usize>::pow", "core::num::<…>::pow" },
	{ "foo::bar::<i32>", "foo::bar::<…>" },
	{ "foo::bar::{{closure}}", "foo::bar::{{closure}}" },
	{ "foo::bar::{closure#0}", "foo::bar::{closure#0}" },
	/* Go and others */
	{ "main.(*T).Method", "main.(*T).Method" },
	{ "vtable for Foo<int>", "vtable for Foo<…>" },
	/* not balanced: left as it is */
	{ "a<b", "a<b" },
	{ "a>b", "a>b" },
	{ "f(int", "f(int" },
	{ "f)int(", "f)int(" },
	{ "f<int)", "f<int)" },
	{ "<", "<" },
	{ "(", "(" },
	{ "{", "{" },
	{ "operator", "operator" },
	{ "operator<", "operator<" },
};

TEST(always)
{
	char out[512];

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		size_t used = name_shorten(out, sizeof(out), table[i].name, 500, true, false);

		CHECK_STR(out, table[i].folded);
		CHECK_INT(used, text_cells(table[i].folded));
	}
}

static void shorten(const char *name, size_t cells, bool ascii, const char *want)
{
	char out[256];
	size_t used = name_shorten(out, sizeof(out), name, cells, false, ascii);

	CHECK_STR(out, want);
	CHECK_INT(used, text_cells(out));
	CHECK(used <= cells);
}

TEST(in_order)
{
	const char *name = "shop::Box<int>::insert(std::string const&)";

	shorten(name, 42, false, name);
	shorten(name, 41, false, "shop::Box<int>::insert(…)");
	shorten(name, 25, false, "shop::Box<int>::insert(…)");
	shorten(name, 24, false, "shop::Box<…>::insert(…)");
	shorten(name, 23, false, "shop::Box<…>::insert(…)");
	shorten(name, 22, false, "…::Box<…>::insert(…)");
	shorten(name, 19, false, "…::insert(…)");
	shorten(name, 12, false, "…::insert(…)");
	shorten(name, 11, false, "…insert(…)");
	shorten(name, 10, false, "…insert(…)");
	shorten(name, 9, false, "…nsert(…)");
	shorten(name, 5, false, "…t(…)");
	shorten(name, 1, false, "…");
	shorten(name, 0, false, "");
	shorten(name, 27, true, "shop::Box<int>::insert(...)");
	shorten(name, 26, true, "...::Box<...>::insert(...)");
	shorten(name, 16, true, "...::insert(...)");
	shorten("a_long_c_function_name", 10, false, "…tion_name");
}

/* A group is never opened by the elision: "::" inside of one is no place to cut. */
TEST(cut_between_parts)
{
	shorten("aaaa::bbbb::operator()(a::b)", 17, false, "…::operator()(…)");
	shorten("aaaa::(anonymous namespace)::f", 9, false, "…::f");
	shorten("aaaa::{lambda(x::y)#1}::f", 9, false, "…::f");
}

/* Where whole parts leave room, the end of the next one's name is there, too. */
TEST(the_end_of_a_part)
{
	const char *name = "node::NodeArrayBufferAllocator::Allocate(unsigned long)";

	shorten(name, 43, false, "node::NodeArrayBufferAllocator::Allocate(…)");
	shorten(name, 42, false, "…::NodeArrayBufferAllocator::Allocate(…)");
	shorten(name, 39, false, "…NodeArrayBufferAllocator::Allocate(…)");
	shorten(name, 37, false, "…odeArrayBufferAllocator::Allocate(…)");
	shorten(name, 29, false, "…BufferAllocator::Allocate(…)");
	shorten(name, 18, false, "…ator::Allocate(…)");
	shorten(name, 17, false, "…::Allocate(…)"); /* too little of it */
	shorten(name, 33, true, "...BufferAllocator::Allocate(...)");
	shorten("aa::Box<int>::get", 14, false, "…::Box<…>::get");
	shorten("aa::Box<int>::get", 12, false, "…::get"); /* not a plain word */
	if (setlocale(LC_CTYPE, "C.UTF-8"))
		shorten("aa::日本日本日本::f()", 12, false, "…本日本::f()");
}

TEST(wide_characters)
{
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		SKIP("no C.UTF-8 locale");
	shorten("日本::関数(int)", 13, false, "日本::関数(…)");
	shorten("日本::関数(int)", 8, false, "…関数(…)");
}

/* Whatever the input and the room: never more cells, never more bytes, never a broken character. */
TEST(bounds)
{
	char out[64], clean[64];

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		for (size_t cells = 0; cells < 40; cells++) {
			for (size_t cap = 1; cap < sizeof(out); cap += 5) {
				size_t used, len;

				memset(out, 'X', sizeof(out));
				used = name_shorten(
					out, cap, table[i].name, cells, cells % 2, false);
				len = strlen(out);
				CHECK(len < cap);
				CHECK(used <= cells && used == text_cells(out));
				CHECK(text_clean(clean, sizeof(clean), out, len) == len);
				CHECK(!memcmp(clean, out, len));
			}
		}
	}
	CHECK_INT(name_shorten(NULL, 0, "abc", 5, false, false), 0);
}

/* Folded into a buffer that ends within a character, at each of its bytes: all of it goes. */
TEST(long_characters)
{
	char name[6100], out[4096];

	for (size_t lead = 0; lead < 3; lead++) {
		size_t n = 0;

		memset(name, 'x', lead);
		for (n = lead; n + 4 < sizeof(name); n += 3)
			memcpy(name + n, "日", 4);
		name_shorten(out, sizeof(out), name, 4000, true, false);
		n = strlen(out);
		CHECK(n > lead + 3 && (n - lead) % 3 == 0);
		CHECK(strcmp(out + n - 3, "日") == 0);
	}
}

/* Longer than any buffer, and nested deeper than any name. */
TEST(monsters)
{
	static char name[200000];
	char out[256];
	static const char *const units[] = { "a", "a<", "a(", "{", "<a as ", "::", "operator<",
		"(*", " ", "日" };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t step = strlen(units[i]);

		for (size_t n = 0; n + step < sizeof(name); n += step)
			memcpy(name + n, units[i], step + 1);
		CHECK(name_shorten(out, sizeof(out), name, 20, true, false) <= 20);
		name[6000 / step * step] = '\0';
		CHECK(name_shorten(out, sizeof(out), name, 20, true, false) <= 20);
		CHECK(name_shorten(out, sizeof(out), name, 20, false, true) <= 20);
	}
	strcpy(name, "a::b<");
	memset(name + 5, 'x', 5000);
	strcpy(name + 5005, ">::last(int)");
	shorten(name, 20, false, "a::b<…>::last(…)");
}

int main(void)
{
	RUN(always);
	RUN(in_order);
	RUN(cut_between_parts);
	RUN(the_end_of_a_part);
	RUN(wide_characters);
	RUN(bounds);
	RUN(long_characters);
	RUN(monsters);
	return check_end();
}
