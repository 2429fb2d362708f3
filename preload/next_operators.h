/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The definitions of operator new and delete that come after ours in the search order, usually
 * libstdc++'s. They are found when recording starts: finding one takes the loader's lock, and a
 * thread that waited for it in its first delete would hang a library's constructor that waits for
 * the thread.
 */
#ifndef PRELOAD_NEXT_OPERATORS_H
#define PRELOAD_NEXT_OPERATORS_H

#include "preload/next_allocator.h"

/*
 * The next definition of a hook; `missing` remembers that there is none. Pointers to all of them
 * are in one section, which the linker makes a table.
 */
struct next_cxx {
	const char *symbol;
	const void *hook; /* ours */
	void *function;
	bool missing;
};

#define NEXT_CXX_TABLE __attribute__((section("next_cxx"), used))

/* The function. NULL: there is none, or we are not relocated yet and cannot ask. */
void *next_cxx_find(struct next_cxx *n);

/* The allocator that a C++ runtime outside our scope calls: the program's own, where that precedes
 * us. Its blocks go to the program's own free. NULL: ours, so that the next allocator serves. */
struct next_cxx_front {
	void *(*malloc)(size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void (*free)(void *);
};
extern struct next_cxx_front next_cxx_front __attribute__((visibility("hidden")));

/* The next operators only call the next allocator, so the hooks call that directly. */
extern bool next_cxx_direct __attribute__((visibility("hidden")));

/*
 * Finds the next definition of every operator new and delete. At start, on the thread that starts;
 * may allocate.
 */
void next_cxx_find_all(void);
/* The same, and what was found before is not taken for granted: as next_find_again. */
void next_cxx_find_again(void);
/* Whether that is the path of a C++ runtime, whose operators call malloc and free. */
bool next_cxx_is_runtime(const char *path);
/* A C++ runtime has been loaded, and has `function` by that name of `bytes` bytes. True: it is the
 * next definition from now on, since there was none. */
bool next_cxx_take(const char *name, size_t bytes, void *function);
/* After all of them. */
void next_cxx_taken(void);
/* The definition whose original is called there is gone. */
void next_cxx_forget(const void *original);
/* As next_replace, for these. */
void next_cxx_replace(void *old, void *original);
/* After that: whether the program finds another malloc before ours, so that we see none of its
 * blocks. */
bool next_cxx_has_front(void);

#endif
