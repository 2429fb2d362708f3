// SPDX-License-Identifier: GPL-3.0-or-later
// Truth program: a new-handler, called inside operator new, that moves, frees and allocates blocks
// of its own, and one that leaves by longjmp, after which the program goes on deeper in the stack.
#include <sys/resource.h>

#include <csetjmp>
#include <new>

#include "tests/targets/truth.h"

enum { MOVED, OTHER, DEEP, THROWN };

#define MOST  (SIZE_MAX / 2 - 4096)
#define LARGE (64u << 20)

static char *moved;
static size_t moved_bytes;
static truth_block other;
static jmp_buf back;

static NOINLINE void *site_moved(void *p, size_t n)
{
	return truth_got(MOVED, realloc(p, n), n);
}

static NOINLINE void *site_other(size_t n)
{
	return truth_got(OTHER, malloc(n), n);
}

static NOINLINE void *site_deep(size_t n)
{
	return truth_got(DEEP, malloc(n), n);
}

// From one size to another, by the account too.
static void move(size_t n)
{
	if (moved) {
		truth_gone(MOVED, moved_bytes);
		truth_add(&truth_reallocs, 1);
	}
	moved = static_cast<char *>(site_moved(moved, n));
	moved_bytes = n;
}

static void moves_and_gives_up()
{
	move(moved_bytes + 100000);
	if (other.at)
		truth_block_free(&other);
	other = truth_block{ site_other(300), 300, OTHER };
	if (moved_bytes > 500000)
		throw std::bad_alloc();
}

static void leaves()
{
	longjmp(back, 1);
}

static void large_allowed(bool allowed)
{
	struct rlimit limit;

	getrlimit(RLIMIT_AS, &limit);
	limit.rlim_cur = allowed ? limit.rlim_max : LARGE / 2;
	setrlimit(RLIMIT_AS, &limit);
}

static NOINLINE void ask(size_t n)
{
	void *volatile never = ::operator new(n);

	::operator delete(never);
}

static NOINLINE void descend(int depth)
{
	volatile char frame[512];

	for (volatile char &c : frame)
		c = static_cast<char>(depth);
	if (depth > 0) {
		descend(depth - 1);
		KEEP_FRAME();
		return;
	}
	for (int i = 0; i < 50; i++) {
		truth_block b = { site_deep(LARGE), LARGE, DEEP };

		truth_block_free(&b);
	}
}

int main()
{
	truth_name(MOVED, "site_moved(void*, unsigned long)", "realloc");
	truth_name(OTHER, "site_other(unsigned long)", "malloc");
	truth_name(DEEP, "site_deep(unsigned long)", "malloc");
	truth_name(THROWN, "__cxa_allocate_exception", "malloc");
	truth_sites[THROWN].bytes_unknown = 1;
	move(1000);
	std::set_new_handler(moves_and_gives_up);
	try {
		ask(MOST);
	} catch (std::bad_alloc &) {
		truth_add(&truth_failed, 1);
		move(123);
	}
	truth_sites[THROWN].allocs = truth_sites[THROWN].frees = 1;
	std::set_new_handler(leaves);
	for (volatile int i = 0; i < 20; i++) {
		if (setjmp(back) == 0) {
			large_allowed(false);
			ask(LARGE);
		}
		large_allowed(true);
		descend(50);
	}
	return 0;
}
