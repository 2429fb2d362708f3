// SPDX-License-Identifier: GPL-3.0-or-later
// Truth program in C++ that replaces operator new and delete. At first each block is one of malloc;
// later ones are 16 bytes apart in chunks, the first of which begins where malloc's block does.
#include <new>
#include "tests/targets/truth.h"

enum { OVER_MALLOC, IN_CHUNKS };

static const size_t chunk_bytes = 65536;
static bool has_chunks;
static char *chunk, *chunk_end;

static void *chunk_take(size_t n)
{
	char *p = chunk;

	n = (n + 15) & ~15ul;
	if (p == chunk_end) {
		p = static_cast<char *>(malloc(chunk_bytes));
		chunk_end = p + chunk_bytes;
	}
	chunk = p + n;
	return p;
}

void *operator new(size_t n)
{
	return has_chunks ? chunk_take(n) : malloc(n ? n : 1);
}

/* Chunks stay. */
void operator delete(void *p) noexcept
{
	if (!has_chunks)
		free(p);
}

void operator delete(void *p, size_t) noexcept
{
	operator delete(p);
}

extern "C" {
NOINLINE void *site_over_malloc(size_t n)
{
	return truth_got(OVER_MALLOC, ::operator new(n), n);
}

NOINLINE void *site_in_chunks(size_t n)
{
	return truth_got(IN_CHUNKS, ::operator new(n), n);
}
}

static void give_back(unsigned site, void *p, size_t n)
{
	truth_gone(site, n);
	::operator delete(p);
}

int main()
{
	static void *live[1000];

	truth_name(OVER_MALLOC, "site_over_malloc", "operator new");
	truth_name(IN_CHUNKS, "site_in_chunks", "operator new");
	for (unsigned i = 0; i < 1000; i++)
		live[i] = site_over_malloc(i % 40);
	for (unsigned i = 0; i < 1000; i += 2)
		give_back(OVER_MALLOC, live[i], i % 40);
	has_chunks = true;
	for (unsigned i = 0; i < 4096; i++) {
		void *p = site_in_chunks(1 + i % 16);

		if (i % 3 == 0)
			give_back(IN_CHUNKS, p, 1 + i % 16);
	}
	return 0;
}
