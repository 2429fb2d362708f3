/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A source file as the site detail shows it: found, read whole, cut into lines and cleaned, or the
 * reason why there is none. Made by src/source/source_file.h; it never changes. Any thread.
 */
#ifndef SRC_MODEL_SOURCE_TEXT_H
#define SRC_MODEL_SOURCE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

struct source_text {
	char *path; /* where it was found, as the system knows it; NULL: there is none */
	char *note; /* why there is none, and what would help, clean; NULL: there is one */
	bool newer; /* it was changed after the object file was */
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
