/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leaks that are known and not to be reported: suppressions as LeakSanitizer and valgrind take
 * them, in one file or several. Pure, but for reading the file; main thread.
 *
 *	leak:PATTERN            a function, source file or object of any frame of the stack has
 *	                        PATTERN in its name; "*" stands for anything, "^" and "$" for its
 *	                        beginning and end
 *	{                       valgrind's: the stack begins with these frames, the allocating
 *	  NAME                  function first
 *	  Memcheck:Leak
 *	  match-leak-kinds: definite,possible
 *	  fun:malloc
 *	  ...
 *	  obj:*libfoo*
 *	  src:main.c:12
 *	}
 *
 * The first takes along what the blocks that it matches point to, however far, also where another
 * leak does so, too; the second does not. So do LeakSanitizer and memcheck (seen with gcc 12, clang
 * 14 and valgrind 3.19).
 */
#ifndef SRC_LEAK_ANALYSIS_SUPPRESSIONS_H
#define SRC_LEAK_ANALYSIS_SUPPRESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUPPRESS_MESSAGE_MAX 256

struct suppress;

struct suppress *suppress_new(void);
void suppress_free(struct suppress *s);
/* Adds what a text says; `name` is what messages call it. 0, or -EINVAL or -ENOMEM with one line in
 * `message`: which line is not understood. */
int suppress_parse(
	struct suppress *s, const char *text, size_t len, const char *name, char *message);
/* The same of a file. 0 or -errno with a message. */
int suppress_load(struct suppress *s, const char *path, char *message);
/* Whether it has rules, and all of LeakSanitizer's form: its tool reads no others. */
bool suppress_is_sanitizers(const struct suppress *s);

/* A frame, innermost first; the first is the allocating function. Names may be NULL. */
struct suppress_frame {
	const char *function, *symbol; /* as a reader and as the linker calls it: either matches */
	const char *object, *file;
	uint32_t line; /* 0: unknown */
};
enum suppress_how {
	SUPPRESS_NOT,
	SUPPRESS_IT, /* and nothing else */
	SUPPRESS_WITH_BEHIND, /* and all that it leads to */
};
/* `kind`: bit i for class i of leaks (graph.h). */
enum suppress_how suppress_matches(
	const struct suppress *s, unsigned kind, const struct suppress_frame *frames, size_t count);

#endif
