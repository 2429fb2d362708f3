/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process that is long in coming to its exec, as on a machine that has no processor for it: it
 * waits in the kernel, uninterruptible, and takes no processor time, until a line comes on its
 * standard input. Usage: slow_start COMMAND [ARG...]
 */
#include <unistd.h>

int main(int argc, char **argv)
{
	pid_t pid;
	char byte;

	if (argc < 2)
		return 2;
	pid = vfork(); /* the parent waits in it for its child's end */
	if (pid == 0) {
		while (read(0, &byte, 1) == 1 && byte != '\n')
			;
		_exit(0);
	}
	if (pid < 0)
		return 2;
	execvp(argv[1], argv + 1);
	return 127;
}
