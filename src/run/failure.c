/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages of failures (failure.h). */
#include "src/run/failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/target/target.h"
#include "src/util/error_hint.h"
#include "src/util/text.h"

/* A message may name files of others: their names must not control the terminal. */
static int line_print(const char *what, const char *between, const char *why)
{
	char *first = text_clean_copy(what, strlen(what)),
	     *second = text_clean_copy(why, strlen(why));

	fprintf(stderr, "heaptop: %s%s%s\n", first ? first : "?", between, second ? second : "?");
	free(first);
	free(second);
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
