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

#define SUPPRESSIONS_MESSAGE_MAX 256

struct suppressions;

struct suppressions *suppressions_new(void);
void suppressions_free(struct suppressions *s);
/* Adds what a text says; `name` is what messages call it. 0, or -EINVAL or -ENOMEM with one line in
 * `message`: which line is not understood. */
int suppressions_parse(
	struct suppressions *s, const char *text, size_t len, const char *name, char *message);
/* The same of a file. 0 or -errno with a message. */
int suppressions_load(struct suppressions *s, const char *path, char *message);
/* Whether it has rules, and all of LeakSanitizer's form: its tool reads no others. */
bool suppressions_is_sanitizers(const struct suppressions *s);

/* A frame, innermost first; the first is the allocating function. Names may be NULL. */
struct suppressions_frame {
	const char *function, *symbol; /* as a reader and as the linker calls it: either matches */
	const char *object, *file;
	uint32_t line; /* 0: unknown */
};
enum suppressions_how {
	SUPPRESSIONS_NONE,
	SUPPRESSIONS_MATCH, /* and nothing else */
	SUPPRESSIONS_WITH_INDIRECT, /* and all that it leads to */
};
/* `kind`: bit i for class i of leaks (graph.h). */
enum suppressions_how suppressions_matches(const struct suppressions *s, unsigned kind,
	const struct suppressions_frame *frames, size_t count);

#endif
