/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What tells a command line from others of the same program, where there is no room for all of it.
 * Pure; any thread.
 */
#ifndef TUI_COMMAND_WORDS_H
#define TUI_COMMAND_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The program of `command`, without its directory, and the words that some of `other` (other
 * command lines of the same program) lack, each once; `gap` stands for what was left out: "cc1plus
 * … a.cc". False: no word is its own.
 */
bool command_words_own(const char *command, const char *const *other, size_t others,
	const char *gap, char *out, size_t cap);
/* Are these of the same program, in whatever directory? */
bool command_words_alike(const char *a, const char *b);

#endif
