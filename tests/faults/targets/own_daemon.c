/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is linked with a library that has its own daemon, a number, and its own forkpty, of other
 * arguments, and says what they are.
 */
#include <stdio.h>

int own_daemon(int set);
int own_forkpty(void);

int main(void)
{
	printf("%d", own_daemon(6));
	printf(" %d %d\n", own_daemon(7), own_forkpty());
	return 0;
}
