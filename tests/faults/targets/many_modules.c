/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loads a library COUNT times, each time under another name, has it allocate, and unloads it: to
 * the library, COUNT objects. Usage: many_modules PLUGIN FOLDER COUNT. Says how many blocks its
 * calls gave it, and ends with 5.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *block_of(const char *path)
{
	void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *(*make)(size_t) = plugin ? (void *(*)(size_t))dlsym(plugin, "many_block") : NULL;
	void *p = make ? make(100) : NULL;

	if (!p)
		fprintf(stderr, "%s\n", dlerror());
	if (plugin)
		dlclose(plugin);
	return p;
}

int main(int argc, char **argv)
{
	unsigned count = argc > 3 ? (unsigned)atoi(argv[3]) : 1, got = 0;
	char path[4096];

	for (unsigned i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/plugin-%u.so", argv[2], i);
		if (link(argv[1], path) != 0)
			return 1;
		got += block_of(path) != NULL;
		unlink(path);
	}
	printf("%u\n", got);
	return 5;
}
