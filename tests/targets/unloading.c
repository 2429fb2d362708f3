/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two plugins of the same code, each loaded where the other one was, by turns, and called to
 * allocate. By dlopen and dlclose: `unloading FILE FILE`. By those inside libc, which nobody can
 * interpose: `unloading iconv` with the character sets HEAPTOP-A, -B and -C; libc keeps what it
 * loaded until others have been let go of a few times, and -C is there for that.
 */
#include <dlfcn.h>
#include <iconv.h>
#include <stdio.h>
#include <string.h>

#define LOADS	 20
#define CALLS	 20
#define LETTINGS 5

static int by_dlopen(const char *file)
{
	void *plugin = dlopen(file, RTLD_NOW);
	void *(*allocate)(size_t) = NULL;

	if (!plugin)
		return -1;
	*(void **)&allocate = dlsym(plugin, "plugin_allocate");
	for (int i = 0; allocate && i < CALLS; i++)
		allocate(24);
	return allocate ? dlclose(plugin) : -1;
}

static void let_go(void)
{
	for (int i = 0; i < LETTINGS; i++)
		iconv_close(iconv_open("UTF-8", "HEAPTOP-C"));
}

static int by_iconv(const char *set)
{
	iconv_t convert = iconv_open("UTF-8", set);

	if (convert == (iconv_t)-1)
		return -1;
	for (int i = 0; i < CALLS; i++) {
		char in[] = "x", out[8], *from = in, *to = out;
		size_t left = 1, room = sizeof(out);

		iconv(convert, &from, &left, &to, &room);
	}
	iconv_close(convert);
	let_go();
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const sets[] = { "HEAPTOP-A", "HEAPTOP-B" };
	int iconv_too = argc == 2 && strcmp(argv[1], "iconv") == 0;

	if (argc != 3 && !iconv_too)
		return 2;
	if (iconv_too)
		let_go(); /* it gets a place of its own first */
	for (int i = 0; i < LOADS; i++)
		if (iconv_too ? by_iconv(sets[i % 2]) : by_dlopen(argv[1 + i % 2]))
			return 1;
	puts("done");
	return 0;
}
