/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that execs itself until it was so many images, each of which allocates as many bytes as
 * images are to come, and leaves them. The last one ends with status 7, or with arguments after the
 * number execs those. Usage: exec_self IMAGES [COMMAND ...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __attribute__((noinline)) void *site_image(size_t bytes)
{
	void *volatile p = malloc(bytes);

	return p;
}

int main(int argc, char **argv)
{
	int images = argc > 1 ? atoi(argv[1]) : 1;
	char number[16];

	if (!site_image(1000 + (size_t)images))
		return 3;
	if (images <= 1 && argc > 2) {
		execvp(argv[2], argv + 2);
		return 4;
	}
	if (images <= 1)
		return 7;
	snprintf(number, sizeof(number), "%d", images - 1);
	argv[1] = number;
	execv("/proc/self/exe", argv);
	return 4;
}
