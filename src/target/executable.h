/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The properties of an executable file that decide whether a preloaded library can work in it.
 * Reads the file and nothing else; trusts nothing in it. Any thread. Sources: System V ABI (ELF),
 * elf(5), ld.so(8).
 */
#ifndef SRC_TARGET_EXECUTABLE_H
#define SRC_TARGET_EXECUTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXECUTABLE_INTERPRETER_MAX 256

enum executable_kind {
	EXECUTABLE_ELF,
	EXECUTABLE_SCRIPT, /* begins with #! */
	EXECUTABLE_TEXT, /* neither: the C library hands it to /bin/sh */
	EXECUTABLE_OTHER, /* binary, or a broken ELF file: nothing can run it */
};

struct executable {
	enum executable_kind kind;
	bool native; /* ELF of our class, byte order and machine; */
	bool narrow; /* or of i386, where we are x86-64; the rest is unset if neither */
	unsigned bits; /* 32 or 64 */
	unsigned machine; /* EM_* */
	bool loader; /* no interpreter, but a soname: the dynamic loader itself, or the like */
	char interpreter[EXECUTABLE_INTERPRETER_MAX]; /* PT_INTERP, or after "#!"; "" when there is
						       * none
						       */
	const char
		*sanitizer; /* "AddressSanitizer", ...: brings its own malloc; NULL: none. Static */
};

/* Reads the file open at `fd`, from its start. 0 or -errno. */
int executable_read(int fd, struct executable *out);
/*
 * Why a library cannot be preloaded into a native or foreign ELF program, as the end of a sentence
 * that begins "it "; NULL when it can. `narrow`: there is a library for 32-bit programs, too.
 * Static. For a script, ask about its interpreter.
 */
const char *executable_refusal(const struct executable *image, bool narrow);
/* The same in a few words for a list, without advice: "statically linked". */
const char *executable_refusal_brief(const struct executable *image, bool narrow);

#endif
