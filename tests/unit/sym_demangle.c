/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/sym/demangle.h: C++, Rust and D names; suffixes; hostile input. */
#include <stdlib.h>
#include <pthread.h>
#include "src/sym/demangle.h"
#include "tests/check.h"

static const struct {
	const char *raw, *name;
} table[] = {
	{ "main", "main" },
	{ "_start", "_start" },
	{ "_", "_" },
	{ "", "" },
	{ "_Z", "_Z" },
	{ "_R", "_R" },
	{ "_Zoo_keeper", "_Zoo_keeper" },
	{ "_ZN5cache5Shard6insertERKSs", "cache::Shard::insert(std::string const&)" },
	{ "_ZNK4shop3BoxIiE6insertERKi", "shop::Box<int>::insert(int const&) const" },
	{ "_Znwm", "operator new(unsigned long)" },
	{ "_ZdaPvm", "operator delete[](void*, unsigned long)" },
	{ "_ZlsRSo3Foo", "operator<<(std::ostream&, Foo)" },
	{ "_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo()" },
	/* no return type, though the name of a template carries it */
	{ "_Z4makeIiET_S0_", "make<int>(int)" },
	/* Rust, before 2018 and v0 */
	{ "_ZN5alloc5alloc8exchange17h0123456789abcdefE", "alloc::alloc::exchange" },
	{ "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
	  "3bar17h930b740aa9"
	  "4f1d3aE",
		"<Test + 'static as foo::Bar<Test>>::bar" },
	{ "_RNvC6_123foo3bar", "123foo::bar" },
	{ "_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function" },
	{ "_RINvNtC1r2aa2mkNtB2_1SE", "r::aa::mk::<r::aa::S>" },
	/* D */
	{ "_D3foo3barFiZv", "foo.bar(int)" },
	/* versions and copies */
	{ "malloc@@GLIBC_2.2.5", "malloc" },
	{ "memcpy@GLIBC_2.14", "memcpy" },
	{ "parse.constprop.0", "parse" },
	{ "parse.part.0.cold", "parse" },
	{ "parse.isra.0", "parse" },
	{ "_ZN3fooC2Ev.cold", "foo::foo()" },
	{ "_ZN3fooC2Ev.llvm.1234567890", "foo::foo()" },
	{ "main.main", "main.main" },
	{ "main.coldStart", "main.coldStart" },
	{ "camlApp.hot_path_271", "camlApp.hot_path_271" },
	{ "parse.cold.12", "parse" },
	/* what a terminal must not get */
	{ "evil\033[2Jname", "evil?[2Jname" },
	{ "a\nb\tc\177", "a?b?c?" },
	{ "_ZN3\033\n\tEv", "?\?\?()" },
};

TEST(names)
{
	char out[DEMANGLE_MAX];

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		size_t len = demangle_name(out, table[i].raw);

		CHECK_STR(out, table[i].name);
		CHECK_INT(len, strlen(out));
	}
}

static void *run(void *arg)
{
	void (*f)(void) = *(void (**)(void))arg;

	f();
	return NULL;
}

/* With the stack that the header asks for. */
static void on_worker_stack(void (*f)(void))
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, DEMANGLE_STACK_BYTES);
	CHECK_INT(pthread_create(&t, &attr, run, &f), 0);
	pthread_join(t, NULL);
	pthread_attr_destroy(&attr);
}

/* "prefix" + n times "each" + "suffix", demangled. */
static void repeat(const char *prefix, const char *each, size_t n, const char *suffix)
{
	static char raw[200000], out[DEMANGLE_MAX];
	size_t len = strlen(prefix), step = strlen(each);

	memcpy(raw, prefix, len);
	for (size_t i = 0; i < n && len + step + strlen(suffix) < sizeof(raw); i++, len += step)
		memcpy(raw + len, each, step);
	strcpy(raw + len, suffix);
	CHECK(demangle_name(out, raw) < DEMANGLE_MAX);
	CHECK(strlen(out) > 0);
}

static void deep_names(void)
{
	static const size_t sizes[] = { 50, 400, 1100, 4000, 8100, 100000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		repeat("_Z1f", "P", sizes[i], "i");
		repeat("_Z1fI", "1AI", sizes[i], "E");
		repeat("_Z1fIX", "ng", sizes[i], "E");
		repeat("_ZN", "1a", sizes[i], "Ev");
		repeat("_Z1f", "F", sizes[i], "v");
		repeat("_R", "NvC1a", sizes[i], "1b");
		repeat("_RINvC1a1b", "R", sizes[i], "yE");
		repeat("_D", "1a", sizes[i], "FZv");
		repeat("", "x", sizes[i], "");
	}
}

TEST(deep_names_end)
{
	on_worker_stack(deep_names);
}

/* Each argument doubles the one before: the whole would have 2^30 parts. */
static void exploding_name(void)
{
	char raw[4096] = "_Z1fP1AIiiE", out[DEMANGLE_MAX];
	size_t len = strlen(raw);

	for (unsigned i = 1; i < 30; i++)
		len += (size_t)snprintf(raw + len, sizeof(raw) - len, "1AIS%c_S%c_E",
			i < 11 ? '0' + (int)i - 1 : 'A' + (int)i - 11,
			i < 11 ? '0' + (int)i - 1 : 'A' + (int)i - 11);
	CHECK(demangle_name(out, raw) < DEMANGLE_MAX);
	/* the same idea in Rust's v0 */
	len = (size_t)snprintf(raw, sizeof(raw), "_RINvC1a1bTuuE");
	for (unsigned i = 0; i < 30; i++)
		len += (size_t)snprintf(raw + len, sizeof(raw) - len, "TB%c_B%c_E",
			'a' + (int)(i % 26), 'a' + (int)(i % 26));
	snprintf(raw + len, sizeof(raw) - len, "E");
	CHECK(demangle_name(out, raw) < DEMANGLE_MAX);
}

TEST(exploding_name_ends)
{
	on_worker_stack(exploding_name);
}

static uint32_t dice(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static void mutated_names(void)
{
	char raw[256], out[DEMANGLE_MAX];
	uint32_t seed = 12345;

	for (unsigned i = 0; i < 30000; i++) {
		const char *from = table[dice(&seed) % (sizeof(table) / sizeof(table[0]))].raw;
		size_t len = (size_t)snprintf(raw, sizeof(raw), "%s", from);

		for (unsigned j = 0; j < 3 && len > 0; j++) {
			uint32_t c =
				dice(&seed) % 4
					? (uint32_t) "_ZRNISTEKPFCDvi0123456789"[dice(&seed) % 25]
					: dice(&seed) % 255 + 1;

			raw[dice(&seed) % len] = (char)c;
		}
		CHECK(demangle_name(out, raw) == strlen(out));
		for (const char *p = out; *p; p++)
			CHECK((unsigned char)*p >= 0x20 && *p != 0x7f);
	}
}

TEST(mutated_names_are_clean)
{
	on_worker_stack(mutated_names);
}

int main(void)
{
	RUN(names);
	RUN(deep_names_end);
	RUN(exploding_name_ends);
	RUN(mutated_names_are_clean);
	return check_end();
}
