/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hide_rules_match: what gives no site its name, and what must never be passed over. */
#include "src/sym/sym.h"
#include "src/util/text.h"
#include "tests/check.h"

static const char *const hidden[] = {
	"heaptop_block_alloc",
	"malloc",
	"xmalloc",
	"jv_mem_alloc",
	"xstrdup",
	"do_xmalloc",
	"strdup",
	"operator new(unsigned long)",
	"operator new[](unsigned long, std::nothrow_t const&)",
	"Pool::operator new(unsigned long)",
	"std::vector<int, std::allocator<int> >::_M_realloc_insert<int const&>(int const&)",
	"void std::vector<Foo>::push_back(Foo const&)",
	"std::__cxx11::basic_string<char>::_M_create(unsigned long&, unsigned long)",
	"std::operator+<char>(char const*, std::string const&)",
	"__gnu_cxx::new_allocator<int>::allocate(unsigned long, void const*)",
	"__cxa_allocate_exception",
	"g_malloc0",
	"g_strdup_vprintf",
	"PyObject_Malloc",
	"_PyObject_GC_NewVar",
	"PyMem_RawMalloc",
	"Perl_safesysmalloc",
	"ruby_xmalloc2",
	"sqlite3MemMalloc",
	"sqlite3DbMallocRawNN",
	"ggc_internal_alloc(unsigned long, void (*)(void*), unsigned long, unsigned long)",
	"va_heap::reserve<tree_node*>(vec<tree_node*>*&, unsigned int, bool)",
	"zmalloc_usable",
	"os::malloc(unsigned long, MEMFLAGS)",
	"os::strdup_check_oom(char const*, MEMFLAGS)",
	"AllocateHeap(unsigned long, MEMFLAGS, AllocFailStrategy::AllocFailEnum)",
	"Arena::grow(unsigned long, AllocFailStrategy::AllocFailEnum)",
	"__rust_alloc",
	"alloc::alloc::exchange_malloc",
	"alloc::raw_vec::RawVec<T,A>::reserve_for_push",
	"core::ops::function::FnOnce::call_once",
	"std::rt::lang_start::{{closure}}",
	"<alloc::vec::Vec<T> as core::clone::Clone>::clone",
	"<alloc::vec::Vec<r::S>>::push",
	"<T as alloc::slice::hack::ConvertVec>::to_vec",
	"<[T]>::to_vec",
	"<&str as alloc::string::SpecToString>::spec_to_string",
	"<hashbrown::raw::RawTable<(K, V)>>::reserve_rehash",
	"_IO_file_doallocate",
};

static const char *const shown[] = {
	"main",
	"xmalloc_user_of_it",
	"mem_alloc_user",
	"cache::Shard::insert(std::vector<int>&)",
	"void parse<std::string>(std::string const&)",
	"(anonymous namespace)::load(std::istream&)",
	"mystd::vector<int>::grow()",
	"Foo::operator()(std::string)",
	"Foo::operator=(Foo const&)",
	"main::{lambda(std::string)#1}::operator()(std::string) const",
	"std_like",
	"Unsafe_AllocateMemory0",
	"mos::malloc_stats()",
	"operators_make()",
	"PyList_New",
	"PyDict_New",
	"Perl_sv_setpv",
	"sqlite3BtreeOpen",
	"allocate_buffers",
	"g_hash_table_new",
	"app::core::run",
	"core::Engine::load(int)",
	"void core::Pool<int>::fill<char>(char const*)",
	"alloc::Table::Table()",
	"alloc_site",
	"<app::Thing as core::fmt::Display>::fmt",
	"<alloc::vec::Vec<T> as app::Extend2>::extend2",
	"<app::Thing as core::clone::Clone>::clone",
	"<app::Thing>::new",
	"<>",
	"<",
	"(",
	"",
	"operator",
	"a<b",
	"x ",
	"std:",
};

TEST(functions)
{
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
		if (!hide_rules_match(hidden[i], "/usr/bin/app"))
			check_fail(__FILE__, __LINE__, hidden[i]);
	}
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		if (hide_rules_match(shown[i], "/usr/bin/app"))
			check_fail(__FILE__, __LINE__, shown[i]);
	}
	CHECK(!hide_rules_match(NULL, NULL));
	CHECK(!hide_rules_match(NULL, "/usr/bin/app"));
	CHECK(hide_rules_match("malloc", NULL));
}

TEST(modules)
{
	static const char *const in[] = { "/lib/x86_64-linux-gnu/libc.so.6",
		"/usr/lib/libstdc++.so.6.0.30", "/lib64/ld-linux-x86-64.so.2", "libc.so.6",
		"/lib/ld-musl-x86_64.so.1", "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2" };
	static const char *const out[] = { "/usr/bin/libc.so/app", "/usr/lib/libcrypto.so.3",
		"/usr/lib/libcurl.so.4", "/usr/bin/ld", "", "[vdso]", "/usr/lib/libc++abi-app" };

	for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++) {
		if (!hide_rules_match("anything", in[i]) || !hide_rules_match(NULL, in[i]))
			check_fail(__FILE__, __LINE__, in[i]);
	}
	for (size_t i = 0; i < sizeof(out) / sizeof(out[0]); i++) {
		if (hide_rules_match("anything", out[i]))
			check_fail(__FILE__, __LINE__, out[i]);
	}
}

/* The rules fit a screen of 80 columns and say what is matched. */
TEST(rules_are_printable)
{
	size_t n = 0;
	const char *const *lines = hide_rules_lines(&n);
	bool seen_new = false;

	CHECK(n > 10);
	for (size_t i = 0; i < n; i++) {
		char clean[256];

		CHECK(text_cells(lines[i]) <= 80);
		CHECK(text_clean(clean, sizeof(clean), lines[i], strlen(lines[i])) ==
			strlen(lines[i]));
		CHECK_STR(clean, lines[i]);
		CHECK(lines[i][0] == ' ' || strstr(lines[i], ": "));
		seen_new = seen_new || strstr(lines[i], "operator new");
	}
	CHECK(seen_new);
}

TEST(more_rules)
{
	static const char *const mine[] = { "pool_get*", "ns::make*" };

	CHECK(!hide_rules_match("pool_get_7", "/srv/server"));
	CHECK_INT(hide_rules_set(mine, 2), 0);
	CHECK(hide_rules_match("pool_get_7", "/srv/server"));
	CHECK(hide_rules_match("int ns::make<char>(int)", "/srv/server"));
	CHECK(!hide_rules_match("my_pool_get", "/srv/server"));
	CHECK(hide_rules_match("operator new(unsigned long)", "/srv/server"));
	CHECK_INT(hide_rules_set(mine, 0), 0);
	CHECK(!hide_rules_match("pool_get_7", "/srv/server"));
}

int main(void)
{
	RUN(functions);
	RUN(modules);
	RUN(rules_are_printable);
	RUN(more_rules);
	return check_end();
}
