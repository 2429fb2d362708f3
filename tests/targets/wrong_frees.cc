/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Frees that are wrong, one function each, and some that are right but look odd. Each argument is
 * the name of one, "fits" for those that the program survives, or "all".
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <malloc.h>
#include <new>

namespace
{

constexpr std::align_val_t line{ 64 };
char in_data[256];

/* What the compiler does not know, it neither warns of nor leaves out. */
template <typename T> T *hidden(T *p)
{
	asm volatile("" : "+r"(p));
	return p;
}

#define WRONG(name) __attribute__((noinline)) void name()

WRONG(malloc_delete)
{
	char *p = (char *)hidden(malloc(11));

	::operator delete(p);
}

WRONG(malloc_delete_array)
{
	void *p = hidden(malloc(12));

	::operator delete[](p);
}

WRONG(calloc_delete)
{
	void *p = hidden(calloc(1, 13));

	::operator delete(p);
}

WRONG(new_free)
{
	void *p = hidden(::operator new(14));

	free(p);
}

WRONG(new_array_free)
{
	char *p = hidden(new char[15]);

	free(p);
}

WRONG(new_array_delete)
{
	char *p = hidden(new char[16]);

	::operator delete(p);
}

WRONG(new_delete_array)
{
	void *p = hidden(::operator new(17));

	::operator delete[](p);
}

WRONG(memalign_delete)
{
	void *p = hidden(memalign(64, 18));

	::operator delete(p);
}

WRONG(posix_memalign_delete_array)
{
	void *p = nullptr;

	if (posix_memalign(&p, 64, 19) == 0)
		::operator delete[](hidden(p));
}

WRONG(new_realloc)
{
	void *p = hidden(::operator new(20));

	free(realloc(p, 2000));
}

WRONG(new_nothrow_free)
{
	void *p = hidden(::operator new(21, std::nothrow));

	free(p);
}

WRONG(strdup_delete)
{
	char *p = hidden(strdup("a string of 26 bytes, it is"));

	::operator delete(p);
}

WRONG(new_aligned_free)
{
	void *p = hidden(::operator new(128, line));

	free(p);
}

/* memcheck before 3.22 does not report the next four. */
WRONG(new_aligned_delete)
{
	void *p = hidden(::operator new(192, line));

	::operator delete(p);
}

WRONG(new_delete_aligned)
{
	void *p = hidden(::operator new(256));

	::operator delete(p, line);
}

WRONG(sized_small)
{
	void *p = hidden(::operator new(24));

	::operator delete (p, std::size_t{ 32 });
}

WRONG(sized_large)
{
	char *p = hidden(new char[5000]);

	::operator delete[](p, std::size_t{ 500 });
}

/* The program may not survive the rest. */
WRONG(double_small)
{
	void *p = hidden(malloc(40)), *again = hidden(p);

	free(p);
	free(again);
}

WRONG(double_large)
{
	void *p = hidden(malloc(3000)), *again = hidden(p), *next = hidden(malloc(80));

	free(p);
	free(again);
	free(next);
}

WRONG(double_huge)
{
	void *p = hidden(malloc(100000)), *again = hidden(p), *next = hidden(malloc(80));

	free(p);
	free(again);
	free(next);
}

WRONG(double_mapped)
{
	void *p = hidden(malloc(1000000)), *again = hidden(p);

	free(p);
	free(again);
}

WRONG(double_delete)
{
	void *p = hidden(::operator new(60)), *again = hidden(p);

	::operator delete(p);
	::operator delete(again);
}

WRONG(inside_small)
{
	char *p = (char *)hidden(malloc(100));

	free(hidden(p) + 32);
}

WRONG(inside_large)
{
	char *p = (char *)hidden(malloc(200000));

	free(hidden(p) + 100000);
}

WRONG(inside_misaligned)
{
	char *p = (char *)hidden(malloc(70));

	free(hidden(p) + 20);
}

WRONG(unknown_data)
{
	free(hidden(in_data) + 64);
}

WRONG(unknown_stack)
{
	char here[128];

	free(hidden(here) + 64);
}

/* Right ones. */
WRONG(right)
{
	for (std::size_t size : { 0, 1, 24, 126, 127, 128, 129, 4000, 200000 }) {
		::operator delete(hidden(::operator new(size)), size);
		::operator delete[](hidden(::operator new[](size)), size);
		::operator delete(hidden(::operator new(size, std::nothrow)));
		::operator delete(hidden(::operator new(size, line)), size, line);
		::operator delete[](hidden(::operator new[](size, line)), line);
		::operator delete(hidden(::operator new(size)), std::nothrow);
		free(realloc(hidden(malloc(size)), size + 10));
		free(hidden(memalign(64, size)));
		free(hidden(aligned_alloc(64, size)));
		free(hidden(calloc(size, 1)));
	}
}

struct named {
	const char *name;
	void (*run)();
	bool fits;
};

#define CASE(name, fits)                                                                           \
	{                                                                                          \
#name, name, fits                                                                  \
	}
const named cases[] = { CASE(right, true), CASE(malloc_delete, true),
	CASE(malloc_delete_array, true), CASE(calloc_delete, true), CASE(new_free, true),
	CASE(new_array_free, true), CASE(new_array_delete, true), CASE(new_delete_array, true),
	CASE(memalign_delete, true), CASE(posix_memalign_delete_array, true),
	CASE(new_realloc, true), CASE(new_nothrow_free, true), CASE(strdup_delete, true),
	CASE(new_aligned_free, true), CASE(new_aligned_delete, true),
	CASE(new_delete_aligned, true), CASE(sized_small, true), CASE(sized_large, true),
	CASE(double_small, false), CASE(double_large, false), CASE(double_delete, false),
	CASE(double_huge, false), CASE(double_mapped, false), CASE(inside_small, false),
	CASE(inside_large, false), CASE(inside_misaligned, false), CASE(unknown_data, false),
	CASE(unknown_stack, false) };

} // namespace

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		for (const named &c : cases)
			if (strcmp(argv[i], c.name) == 0 || strcmp(argv[i], "all") == 0 ||
				(c.fits && strcmp(argv[i], "fits") == 0))
				c.run();
	return 0;
}
