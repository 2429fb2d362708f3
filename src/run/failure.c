/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages of failures (failure.h). */
#include "src/run/failure.h"

#include <stdio.h>

#include "src/target/target.h"
#include "src/util/error_hint.h"

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
	char line[TARGET_MESSAGE_MAX];

	return failure_print(error_hint_line(line, sizeof(line), what, error));
}
