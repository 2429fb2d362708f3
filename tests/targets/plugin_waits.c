/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A C program that loads a C++ plugin whose constructor waits for a thread, and asks dlerror
 * before it had an error of its own. Usage: plugin_waits PLUGIN
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	const char *error = dlerror();
	void *handle = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void *symbol = handle ? dlsym(handle, "plugin_blocks") : NULL;
	int (*blocks)(void);

	if (!symbol)
		return 2;
	memcpy(&blocks, &symbol, sizeof(blocks));
	printf("error %s, blocks %d\n", error ? error : "none", blocks());
	return 0;
}
