/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starts a program with the library preloaded. Between fork and exec the child waits on a socket
 * for target_go, and reports on the same socket why exec failed; exec closes it. Called by src/run
 * on the viewer's main thread. The viewer has other threads, so the child uses only
 * async-signal-safe calls.
 */
#include "src/target/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "src/target/executable.h"
#include "src/util/error_hint.h"

#define FIRST_FREE_FD	3 /* 0-2 are the program's, even where they are closed */
#define EXIT_NOT_FOUND	127
#define EXIT_CANNOT_RUN 126

#define MADE 3 /* environment variables that we set for the child */

/* Everything the child needs, prepared before the fork. */
struct plan {
	char *const *argv;
	const char *path; /* to be executed as it is; NULL: as execvp does */
	char **env; /* owned, with the strings of `made` */
	char *made[MADE];
	bool terminal[3]; /* which of 0-2 become the pty */
	int slave; /* -1: no pty */
	int wait; /* the child's end of the socket */
	int go; /* the viewer's end, which the child must not keep open */
};

/*
 * The signal dispositions and limits with which heaptop itself was started, saved before anything
 * changes them. The program gets these, so that `nohup heaptop -- app` ignores SIGHUP as `nohup
 * app` would, and nothing that the screen sets up leaks into it.
 */
static sigset_t inherited_mask;
static bool inherited_ignored[NSIG];

__attribute__((constructor)) static void signals_keep(void)
{
	struct sigaction sa;

	sigprocmask(SIG_SETMASK, NULL, &inherited_mask);
	for (int s = 1; s < NSIG; s++)
		inherited_ignored[s] = !sigaction(s, NULL, &sa) && sa.sa_handler == SIG_IGN;
}

/* Child. All signals are blocked until the old mask comes back at the end. */
static void signals_restore(void)
{
	struct sigaction sa = { 0 };

	for (int s = 1; s < NSIG; s++) {
		sa.sa_handler = inherited_ignored[s] ? SIG_IGN : SIG_DFL;
		sigaction(s, &sa, NULL);
	}
	sigprocmask(SIG_SETMASK, &inherited_mask, NULL);
}

/* Moves `fd` out of the program's 0-2. Takes it over, also on failure. */
static int fd_above_standard(int fd)
{
	int moved, err;

	if (fd < 0 || fd >= FIRST_FREE_FD)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
	err = errno;
	close(fd);
	errno = err;
	return moved;
}

static int pty_slave_open(int master, const struct target_launch *l)
{
	struct winsize size = { .ws_row = (unsigned short)l->rows,
		.ws_col = (unsigned short)l->cols };
	char name[64];
	int err = 0;

	if (grantpt(master) || unlockpt(master))
		return -1;
	err = ptsname_r(master, name, sizeof(name));
	if (err) {
		errno = err;
		return -1;
	}
	if (l->rows > 0 && l->cols > 0)
		ioctl(master, TIOCSWINSZ, &size);
	/* Opened here, not in the child: a master whose slave was never opened looks like one whose
	 * program has ended. */
	return fd_above_standard(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
}

/* The new terminal edits lines as UTF-8 if the user's terminal does. */
static void pty_utf8_copy(int slave, int terminal)
{
	struct termios theirs, ours;

	if (tcgetattr(terminal, &theirs) || tcgetattr(slave, &ours))
		return;
	ours.c_iflag = (ours.c_iflag & ~(tcflag_t)IUTF8) | (theirs.c_iflag & IUTF8);
	tcsetattr(slave, TCSANOW, &ours);
}

/* Opens a pty if any of 0-2 is a terminal. 0 or -errno. */
static int pty_open(const struct target_launch *l, struct plan *plan, int *master)
{
	int any = -1, err;

	for (int fd = 0; fd < FIRST_FREE_FD; fd++) {
		plan->terminal[fd] = isatty(fd);
		if (plan->terminal[fd])
			any = fd;
	}
	if (any < 0)
		return 0;
	*master = fd_above_standard(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
	if (*master < 0)
		return -errno;
	plan->slave = pty_slave_open(*master, l);
	if (plan->slave < 0) {
		err = errno;
		close(*master);
		*master = -1;
		return -err;
	}
	pty_utf8_copy(plan->slave, any);
	return 0;
}

/* Child: the pty becomes the terminal of a new session, so that ^C and ^Z stay with the viewer. */
static int pty_enter(const struct plan *plan)
{
	if (plan->slave < 0)
		return 0;
	if (setsid() < 0 || ioctl(plan->slave, TIOCSCTTY, 0))
		return -1;
	for (int fd = 0; fd < FIRST_FREE_FD; fd++)
		if (plan->terminal[fd] && dup2(plan->slave, fd) < 0)
			return -1;
	return 0;
}

static size_t list_length(const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

/* Same variable: equal up to and with the '='. */
static bool variable_same(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return !strncmp(a, b, n) && b[n] == '=';
}

/* Sets NAME=VALUE in an array with one free entry. */
static void variable_put(char **env, size_t *count, char *assignment)
{
	for (size_t i = 0; i < *count; i++) {
		if (variable_same(assignment, env[i])) {
			env[i] = assignment;
			return;
		}
	}
	env[(*count)++] = assignment;
	env[*count] = NULL;
}

static char *preload_make(const char *library)
{
	const char *old = getenv("LD_PRELOAD");
	char *made = NULL, path[PATH_MAX];

	target_library_preload(library, path, sizeof(path));
	if (old && *old)
		return asprintf(&made, "LD_PRELOAD=%s:%s", path, old) < 0 ? NULL : made;
	return asprintf(&made, "LD_PRELOAD=%s", path) < 0 ? NULL : made;
}

static char *segment_make(const char *segment)
{
	char *made = NULL;

	return asprintf(&made, "HEAPTOP_SEGMENT=%s", segment) < 0 ? NULL : made;
}

/* gcc's AddressSanitizer aborts a program in which another library was preloaded before it. Some
 * children of a launch may use it, and their results must not change; it also works when loaded
 * after us. The user's own options come later in the string, so they win. */
static char *sanitizer_make(void)
{
	const char *old = getenv("ASAN_OPTIONS");
	char *made = NULL;

	return asprintf(&made, "ASAN_OPTIONS=verify_asan_link_order=0%s%s", old && *old ? ":" : "",
		       old ? old : "") < 0
		       ? NULL
		       : made;
}

/* The child's environment: ours, then the caller's variables, then those that make it work. */
static int environment_make(const struct target_launch *l, struct plan *plan)
{
	size_t ours = list_length((const char *const *)environ), count = ours;
	size_t theirs = list_length(l->env);

	plan->env = calloc(ours + theirs + MADE + 1, sizeof(*plan->env));
	plan->made[0] = preload_make(l->library);
	plan->made[1] = sanitizer_make();
	plan->made[2] = l->segment ? segment_make(l->segment) : NULL;
	if (!plan->env || !plan->made[0] || !plan->made[1] || (l->segment && !plan->made[2]))
		return -ENOMEM;
	if (ours)
		memcpy(plan->env, environ, ours * sizeof(*plan->env));
	for (size_t i = 0; i < theirs; i++)
		variable_put(plan->env, &count, (char *)(uintptr_t)l->env[i]);
	for (size_t i = 0; i < MADE; i++)
		if (plan->made[i])
			variable_put(plan->env, &count, plan->made[i]);
	return 0;
}

/*
 * execvp hands every file that the kernel does not take to the shell, as it must a script without
 * #!. An ELF file may be one of a kind that this kernel does not run (of 32 bits), and the shell
 * would execute whatever lines are in it. NULL: execvp is right.
 */
static const char *program_path(const char *path)
{
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	struct executable image;
	bool known;

	if (fd < 0)
		return NULL;
	known = executable_read(fd, &image) == 0 &&
		(image.kind == EXECUTABLE_ELF || image.kind == EXECUTABLE_SCRIPT);
	close(fd);
	return known ? path : NULL;
}

static void plan_free(struct plan *plan)
{
	free(plan->env);
	for (size_t i = 0; i < MADE; i++)
		free(plan->made[i]);
	if (plan->slave >= 0)
		close(plan->slave);
}

/* Child: reports the error to the parent, if it still listens, and ends. */
static _Noreturn void child_fail(const struct plan *plan)
{
	int err = errno;

	send(plan->wait, &err, sizeof(err), MSG_NOSIGNAL);
	_exit(err == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
}

static _Noreturn void child_run(const struct plan *plan)
{
	char go;
	ssize_t n;

	close(plan->go);
	signals_restore();
	if (pty_enter(plan))
		child_fail(plan);
	do {
		n = recv(plan->wait, &go, 1, 0);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(EXIT_CANNOT_RUN); /* the viewer is gone */
	if (plan->path)
		execve(plan->path, plan->argv, plan->env);
	else
		execvpe(plan->argv[0], plan->argv, plan->env);
	child_fail(plan);
}

/* Forks with every signal blocked, so that none of the viewer's handlers runs in the child. */
static pid_t child_fork(const struct plan *plan)
{
	sigset_t all, old;
	pid_t pid;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pid = fork();
	if (pid == 0)
		child_run(plan);
	err = errno;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = err;
	return pid;
}

/* Both ends of the socket; the first stays with the viewer. 0 or -errno. */
static int socket_make(int ends[2])
{
	int err;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	for (int i = 0; i < 2; i++) {
		ends[i] = fd_above_standard(ends[i]);
		if (ends[i] < 0) {
			err = errno;
			close(ends[!i]);
			return -err;
		}
	}
	return 0;
}

static void child_forget(struct target_child *child)
{
	if (child->pty >= 0)
		close(child->pty);
	if (child->go >= 0)
		close(child->go);
	*child = (struct target_child){ .pty = -1, .go = -1 };
}

int target_launch(const struct target_launch *l, struct target_child *child, char *message)
{
	struct plan plan = {
		.argv = l->argv, .path = program_path(l->path), .slave = -1, .wait = -1, .go = -1
	};
	const char *what = "cannot prepare the program's environment";
	int ends[2], err;

	*child = (struct target_child){ .pty = -1, .go = -1 };
	err = environment_make(l, &plan);
	if (err)
		goto out;
	what = "cannot open a terminal for the program";
	err = l->own_pty ? pty_open(l, &plan, &child->pty) : 0;
	if (err)
		goto out;
	what = "cannot start a process";
	/* If heaptop was started with SIGCHLD ignored, there would be no status to wait for. */
	signal(SIGCHLD, SIG_DFL);
	err = socket_make(ends);
	if (err)
		goto out;
	child->go = plan.go = ends[0];
	plan.wait = ends[1];
	child->pid = child_fork(&plan);
	if (child->pid < 0) {
		err = -errno;
		child->pid = 0;
	}
	close(ends[1]);
out:
	plan_free(&plan);
	if (!err)
		return 0;
	error_hint_line(message, TARGET_MESSAGE_MAX, what, err);
	child_forget(child);
	return err;
}

void target_cancel(struct target_child *child)
{
	if (child->pid <= 0)
		return;
	close(child->go); /* the child waits there, and ends when it is closed */
	child->go = -1;
	while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
		;
	child_forget(child);
}

/* Reads the child's report. 0: exec closed the socket, so it succeeded; else the errno. */
static int complaint_read(int fd)
{
	int err = 0;
	ssize_t n;

	do {
		n = recv(fd, &err, sizeof(err), MSG_WAITALL);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(err) ? err : 0;
}

int target_go(struct target_child *child, char *message)
{
	int err;

	/* This fails if the child was killed while it waited; target_poll reports that. */
	(void)!send(child->go, "g", 1, MSG_NOSIGNAL);
	err = complaint_read(child->go);
	close(child->go);
	child->go = -1;
	if (!err)
		return 0;
	while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
		;
	child_forget(child);
	if (err == ENOEXEC)
		snprintf(message, TARGET_MESSAGE_MAX,
			"cannot run the command: %s (this kernel runs no programs of its kind)",
			strerror(err));
	else
		error_hint_line(message, TARGET_MESSAGE_MAX, "cannot run the command", err);
	return err == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* Reads the status without consuming it: while another thread of ours traces the child, a waitpid
 * here would take that thread's stops away. */
static bool has_ended(pid_t pid, int *err)
{
	siginfo_t info = { 0 };

	*err = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ? errno : 0;
	return info.si_pid == pid && (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
					     info.si_code == CLD_DUMPED);
}

int target_poll(const struct target_child *child, int *wait_status)
{
	pid_t pid;
	int err;

	if (!has_ended(child->pid, &err))
		return -err;
	do {
		pid = waitpid(child->pid, wait_status, WNOHANG);
	} while (pid < 0 && errno == EINTR);
	if (pid < 0)
		return -errno;
	return pid > 0;
}
