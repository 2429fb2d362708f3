/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A source file for the site detail: found, read, split into lines and cleaned; or the reason why
 * it is not available. Made by src/source/source_file.c; it never changes. Any thread.
 */
#ifndef SRC_MODEL_SOURCE_TEXT_H
#define SRC_MODEL_SOURCE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

struct source_text {
	char *path; /* absolute path of the file; NULL: not found */
	char *note; /* why it is missing, and what would help, clean; NULL: it is there */
	bool newer; /* modified after the object file */
	uint32_t lines;
	const uint32_t *start; /* lines + 1 offsets in `text` */
	const char *text; /* each line ends with a NUL; no tabs, no control bytes */
};

/* Line `number`, from 1; "" beyond the end. */
static inline const char *source_text_line(const struct source_text *t, uint32_t number)
{
	return number >= 1 && number <= t->lines ? t->text + t->start[number - 1] : "";
}

#endif
