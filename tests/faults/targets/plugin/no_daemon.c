/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For preloading: a daemon that stays in the foreground, and a forkpty that forks by the fork that
 * all see, as that of a library of its own did before glibc 2.34.
 */
#include <pty.h>
#include <unistd.h>
#include <utmp.h>

int daemon(int nochdir, int noclose)
{
	return nochdir == 1 && noclose == 1 ? 0 : -1;
}

int forkpty(int *out, char *name, const struct termios *t, const struct winsize *size)
{
	int slave;
	pid_t pid;

	if (openpty(out, &slave, name, t, size) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		close(*out);
		return login_tty(slave) == 0 ? 0 : -1;
	}
	close(slave);
	return pid;
}
