/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library whose names are not libc's to have (own_daemon.c). */

int daemon = 5;
int own_daemon(int set);
int own_forkpty(void);
int forkpty(int a, int b, int c, int d, int e, int f);

int own_daemon(int set)
{
	int was = daemon;

	daemon = set;
	return was;
}

int forkpty(int a, int b, int c, int d, int e, int f)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f;
}

int own_forkpty(void)
{
	return forkpty(1, 2, 3, 4, 5, 6);
}
