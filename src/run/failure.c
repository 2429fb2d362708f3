/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages of failures (failure.h). */
#include "src/run/failure.h"

#include <stdio.h>
#include <string.h>

#include "src/target/target.h"
#include "src/util/error_hint.h"
#include "src/util/text.h"

#define TEXT_MOST 3840u /* bytes of a text; a longer one is cut */

/* A message may name files of others: their names must not control the terminal. In buffers, as the
 * message may be that there is no memory; in one call, as others may write there, too. */
static int line_print(const char *what, const char *between, const char *why)
{
	char first[TEXT_MOST], second[TEXT_MOST];

	text_clean(first, sizeof(first), what, strlen(what));
	text_clean(second, sizeof(second), why, strlen(why));
	fprintf(stderr, "heaptop: %s%s%s\n", first, between, second);
	return FAILURE_EXIT;
}

int failure_print(const char *message)
{
	return line_print(message, "", "");
}

int failure_print_reason(const char *what, const char *why)
{
	return line_print(what, ": ", why);
}

int failure_print_errno(const char *what, int error)
{
	char line[TARGET_MESSAGE_MAX];

	return failure_print(error_hint_line(line, sizeof(line), what, error));
}
