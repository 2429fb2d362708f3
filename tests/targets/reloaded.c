/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A plugin that is rebuilt and loaded again, under the same name and at the same address: loads two
 * files by turns through one link, and allocates in them. Usage: reloaded LINK FILE FILE
 */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#define LOADS 20
#define CALLS 20

static int load(const char *name, const char *file)
{
	void *plugin;
	void (*frame)(void);

	unlink(name);
	if (link(file, name) != 0 || !(plugin = dlopen(name, RTLD_NOW)))
		return -1;
	frame = (void (*)(void))dlsym(plugin, "plugin_frame");
	for (int i = 0; frame && i < CALLS; i++)
		frame();
	return dlclose(plugin);
}

int main(int argc, char **argv)
{
	for (int i = 0; argc > 3 && i < LOADS; i++)
		if (load(argv[1], argv[2 + i % 2]) != 0)
			return 1;
	puts("done");
	return argc > 3 ? 0 : 2;
}
