// SPDX-License-Identifier: GPL-3.0-or-later
// Truth program in C++ that replaces operator new and delete: blocks of a few sizes from chunks of
// malloc, which are not the program's; others each from malloc. Throws from there, too.
#include <new>
#include <string>
#include <vector>
#include "tests/targets/truth.h"

enum { NEW, ARRAY, STRINGS, THROWN, AROUND };

struct slot {
	slot *next;
};

static slot *free_slots;
static size_t header_of(void *p)
{
	size_t n;

	memcpy(&n, static_cast<char *>(p) - 16, sizeof(n));
	return n;
}

/* Blocks up to 48 bytes come 100 at a time. */
static void *take(size_t n)
{
	slot *s;

	if (!free_slots) {
		char *chunk = static_cast<char *>(malloc(100 * 64));

		for (unsigned i = 0; i < 100; i++) {
			s = reinterpret_cast<slot *>(chunk + i * 64);
			s->next = free_slots;
			free_slots = s;
		}
	}
	s = free_slots;
	free_slots = s->next;
	memcpy(static_cast<void *>(s), &n, sizeof(n));
	return reinterpret_cast<char *>(s) + 16;
}

void *operator new(size_t n)
{
	char *p;

	if (n <= 48)
		return take(n);
	p = n > (1ul << 40) ? nullptr : static_cast<char *>(malloc(n + 16));
	if (!p)
		throw std::bad_alloc();
	memcpy(p, &n, sizeof(n));
	return p + 16;
}

void operator delete(void *p) noexcept
{
	if (!p)
		return;
	if (header_of(p) <= 48) {
		slot *s = reinterpret_cast<slot *>(static_cast<char *>(p) - 16);

		s->next = free_slots;
		free_slots = s;
		return;
	}
	free(static_cast<char *>(p) - 16);
}

void operator delete(void *p, size_t) noexcept
{
	operator delete(p);
}

extern "C" {
NOINLINE void *site_new(size_t n)
{
	return truth_got(NEW, ::operator new(n), n);
}

/* The runtime's new[] calls new. */
NOINLINE void *site_array(size_t n)
{
	return truth_got(ARRAY, ::operator new[](n), n);
}

NOINLINE void site_thrown()
{
	try {
		truth_got(THROWN, ::operator new(1ul << 50), 1);
	} catch (const std::bad_alloc &) {
		truth_add(&truth_failed, 1);
	}
}

NOINLINE void *site_around(size_t n)
{
	return truth_got(AROUND, malloc(n), n);
}
}

int main()
{
	truth_name(NEW, "site_new", "operator new");
	truth_name(ARRAY, "site_array", "operator new[]");
	truth_name(AROUND, "site_around", "malloc");
	for (unsigned i = 0; i < 1000; i++) {
		size_t n = 1 + i % 200;
		void *p = site_new(n), *q = site_array(n), *r = site_around(n);

		if (i % 10 == 0)
			site_thrown();
		if (i % 3) {
			truth_gone(NEW, n);
			::operator delete(p);
		}
		if (i % 4) {
			truth_gone(ARRAY, n);
			::operator delete[](q);
		}
		truth_gone(AROUND, n);
		free(r);
	}
	return 0;
}
