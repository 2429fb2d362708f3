/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzing of demangle_name, under libFuzzer: any name, and a result that is clean and ends. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/sym/demangle.h"

#define NAME_MAX_BYTES 4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static char out[DEMANGLE_MAX];
	char name[NAME_MAX_BYTES];
	size_t len = bytes < sizeof(name) ? bytes : sizeof(name) - 1, got;

	memcpy(name, data, len);
	name[len] = '\0';
	got = demangle_name(out, name);
	if (got >= sizeof(out) || strlen(out) != got)
		abort();
	for (size_t i = 0; i < got; i++)
		if ((unsigned char)out[i] < ' ' || out[i] == 0x7f)
			abort();
	return 0;
}
