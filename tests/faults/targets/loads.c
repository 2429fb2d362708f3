/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loads each library named, calls its plugin_run, frees the block that this returns, and prints for
 * each whether it could be loaded. Usage: loads FILE...
 */
#include <dlfcn.h>
#include "tests/faults/targets/witness.h"

int main(int argc, char **argv)
{
	int loaded = 0;

	for (int i = 1; i < argc; i++) {
		void *handle = dlopen(argv[i], RTLD_NOW), *symbol;
		void *(*plugin_run)(void) = NULL;

		if (!handle) {
			const char *why = strchr(dlerror(), ':');

			printf("not loaded%s\n", why ? why : "");
			continue;
		}
		symbol = dlsym(handle, "plugin_run");
		memcpy(&plugin_run, &symbol, sizeof(plugin_run));
		if (plugin_run)
			free(plugin_run());
		loaded++;
	}
	printf("%d of %d loaded\n", loaded, argc - 1);
	witness_print("end");
	return 0;
}
