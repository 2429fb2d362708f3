/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls vfork, and its child waits for the end of standard input: meanwhile this process is in
 * uninterruptible sleep. The child says when it is there.
 */
#include <unistd.h>

int main(void)
{
	char byte;

	if (vfork() == 0) {
		ssize_t said = write(1, "waits\n", 6);

		_exit(said != 6 || read(0, &byte, 1) != 0);
	}
	return 7;
}
