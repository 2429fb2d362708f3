/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Modules and symbols of a process, which is this one. */
#include <gnu/libc-version.h>
#include <unistd.h>

#include "src/trace/image.h"
#include "src/trace/memory.h"
#include "tests/check.h"
#include "tests/unit/mapped_file.h"

static struct trace_memory memory;

/* Where the first module that has the function has it; 0: none has. */
static uint64_t symbol_at(const struct trace_image *i, const char *name)
{
	struct trace_symbol s;

	for (size_t n = 0; n < i->modules; n++)
		if (trace_image_symbol(i, &i->module[n], name, &s))
			return s.at;
	return 0;
}

TEST(symbols)
{
	struct trace_image i;

	CHECK_INT(trace_image_read(&i, getpid(), &memory), 0);
	CHECK(symbol_at(&i, "gnu_get_libc_version") == (uint64_t)(uintptr_t)gnu_get_libc_version);
	CHECK_INT(symbol_at(&i, "no_such_function"), 0);
	trace_image_free(&i);
}

/* A file that is only read is no module, wherever it is. */
TEST(file_that_is_read)
{
	struct mapped_file file = mapped_file_of((void *)gnu_get_libc_version);
	struct trace_image i;

	CHECK(file.at != NULL);
	CHECK_INT(trace_image_read(&i, getpid(), &memory), 0);
	CHECK(trace_image_map(&i, (uint64_t)(uintptr_t)file.at) != NULL);
	CHECK(trace_image_module(&i, (uint64_t)(uintptr_t)file.at) == NULL);
	CHECK(symbol_at(&i, "gnu_get_libc_version") == (uint64_t)(uintptr_t)gnu_get_libc_version);
	trace_image_free(&i);
	mapped_file_drop(&file);
}

int main(void)
{
	CHECK_INT(trace_memory_open(&memory, getpid()), 0);
	RUN(symbols);
	RUN(file_that_is_read);
	trace_memory_close(&memory);
	return check_end();
}
