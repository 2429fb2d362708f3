/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The properties of an executable file that decide whether a preloaded library can work in it.
 * Reads the file and nothing else; trusts nothing in it. Any thread. Sources: System V ABI (ELF),
 * elf(5), ld.so(8).
 */
#ifndef SRC_TARGET_IMAGE_H
#define SRC_TARGET_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_INTERPRETER_MAX 256

enum image_kind {
	IMAGE_ELF,
	IMAGE_SCRIPT, /* begins with #! */
	IMAGE_TEXT, /* neither: the C library hands it to /bin/sh */
	IMAGE_OTHER, /* binary, or a broken ELF file: nothing can run it */
};

struct image {
	enum image_kind kind;
	bool native; /* ELF of our class, byte order and machine; the rest is unset if not */
	unsigned bits; /* 32 or 64 */
	unsigned machine; /* EM_* */
	bool loader; /* no interpreter, but a soname: the dynamic loader itself, or the like */
	char interpreter[IMAGE_INTERPRETER_MAX]; /* PT_INTERP, or after "#!"; "" when there is none
						  */
	const char
		*sanitizer; /* "AddressSanitizer", ...: brings its own malloc; NULL: none. Static */
};

/* Reads the file open at `fd`, from its start. 0 or -errno. */
int image_read(int fd, struct image *out);
/*
 * Why a library cannot be preloaded into a native or foreign ELF program, as the end of a sentence
 * that begins "it "; NULL when it can. Static. For a script, ask about its interpreter.
 */
const char *image_refusal(const struct image *image);
/* The same in a few words for a list, without advice: "statically linked". */
const char *image_refusal_brief(const struct image *image);

#endif
