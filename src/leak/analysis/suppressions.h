/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Suppressions: known leaks that are not to be reported, in the formats of LeakSanitizer and
 * valgrind, in one file or several. Pure, but for reading the file; main thread.
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
 * The first form also suppresses all blocks that the matching blocks lead to, even where another
 * leak leads to them, too; the second does not. LeakSanitizer and memcheck do the same (seen with
 * gcc 12, clang 14 and valgrind 3.19).
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
/* Adds the rules of a text; `name` is its name in messages. 0, or -EINVAL or -ENOMEM with one line
 * in `message`: which line is wrong. */
int suppressions_parse(
	struct suppressions *s, const char *text, size_t len, const char *name, char *message);
/* The same for a file. 0 or -errno with a message. */
int suppressions_load(struct suppressions *s, const char *path, char *message);
/* Whether it has rules, and all in LeakSanitizer's format: its tool can read them. */
bool suppressions_is_sanitizers(const struct suppressions *s);

/* A frame. The first one of a stack is the allocating function. Names may be NULL. */
struct suppressions_frame {
	const char *function, *symbol; /* the readable name and the linker's: either matches */
	const char *object, *file;
	uint32_t line; /* 0: unknown */
};
enum suppressions_how {
	SUPPRESSIONS_NONE,
	SUPPRESSIONS_MATCH, /* only the matching blocks */
	SUPPRESSIONS_WITH_INDIRECT, /* also all blocks that they lead to */
};
/* How the rules match a stack. `kind`: bit i for class i of leaks (classes.h). */
enum suppressions_how suppressions_matches(const struct suppressions *s, unsigned kind,
	const struct suppressions_frame *frames, size_t count);

#endif
