/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages of failures (failure.h). */
#include "src/run/failure.h"

#include <stdio.h>

#include "src/util/remedy.h"

#define LINE_MAX_BYTES 512 /* as long as the messages of src/target */

int failure_print(const char *message)
{
	fprintf(stderr, "heaptop: %s\n", message);
	return FAILURE_EXIT;
}

int failure_print_reason(const char *what, const char *why)
{
	fprintf(stderr, "heaptop: %s: %s\n", what, why);
	return FAILURE_EXIT;
}

int failure_print_errno(const char *what, int error)
{
	char line[LINE_MAX_BYTES];

	return failure_print(remedy_line(line, sizeof(line), what, error));
}
