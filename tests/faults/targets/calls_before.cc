// SPDX-License-Identifier: GPL-3.0-or-later
// Prints how often a preloaded plugin/calls.so was called before main, if it is there, and what
// dlerror says first. A C++ program: its runtime, and an object of its own, allocate before main.
#include <cstdio>
#include <dlfcn.h>
#include <string>

extern "C" unsigned long calls_begun() __attribute__((weak));

static std::string early(100, 'x');

int main()
{
	unsigned long before = calls_begun ? calls_begun() : 0;
	const char *error = dlerror();

	std::printf("%lu calls before main, %s\n", before, error ? error : "no error");
	std::printf("%s\n", std::string(early + "y").c_str());
	return 0;
}
