/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that becomes a daemon, or forks behind a terminal, by the functions that fork inside
 * libc. It says what came of it: the result, errno, session, directory, descriptors, and which
 * handlers of pthread_atfork have run how often; and it loses seven blocks. What must be the same
 * with and without heaptop goes to the stdout it began with.
 *
 * daemons daemon NOCHDIR NOCLOSE [CALL ERRNO]	CALL fails, by a filter of system calls; "closed":
 *						0 to 2 are closed before
 * daemons forkpty [CALL ERRNO]
 * daemons wait					a daemon that says its pid and waits for its input
 * daemons clone				so it does, but by clone(2) itself
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUT	 10 /* where a daemon can still write to */
#define NOINLINE __attribute__((noinline))

static struct {
	unsigned before, parent, child;
} * ran; /* shared by both */
static void *kept, *volatile lost;
static pid_t parent;

static const struct {
	const char *name;
	unsigned number[2];
} calls[] = { { "clone", { SYS_clone, SYS_clone3 } }, { "setsid", { SYS_setsid, SYS_setsid } },
	{ "openat", { SYS_openat, SYS_openat } }, { "fstat", { SYS_newfstatat, SYS_fstat } },
	{ "chdir", { SYS_chdir, SYS_chdir } }, { "dup2", { SYS_dup2, SYS_dup2 } } };

static _Noreturn void die(const char *why)
{
	dprintf(2, "%s: %s\n", why, strerror(errno));
	_exit(3);
}

static void fails(const char *name, unsigned error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(calls[i].name, name)) {
			filter[1].k = calls[i].number[0];
			filter[2].k = calls[i].number[1];
		}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		die("no filter");
}

/* The handlers allocate, each what the next one frees. */
static void before(void)
{
	free(kept);
	kept = malloc(1001);
	ran->before++;
}

static void in_parent(void)
{
	free(kept);
	kept = malloc(1002);
	__atomic_add_fetch(&ran->parent, 1, __ATOMIC_SEQ_CST);
}

static void in_child(void)
{
	free(kept);
	kept = malloc(1003);
	ran->child++;
}

static NOINLINE void lose(void)
{
	for (int i = 0; i < 7; i++) {
		lost = malloc(321);
		memset(lost, 0, 321);
	}
	lost = NULL;
}

/* Numbers, not names: those of terminals are other ones each time. */
static void say_files(void)
{
	for (int fd = 0; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			dprintf(OUT, " %d%s", fd, fcntl(fd, F_GETFD) ? "x" : "");
	dprintf(OUT, "\n");
}

static void say(const char *who, int result, int error)
{
	char directory[4096];

	dprintf(OUT, "%s: %d, %s; handlers %u %u %u; in %s; files", who, result,
		error == 77 ? "as before" : strerror(error), ran->before, ran->parent, ran->child,
		getcwd(directory, sizeof(directory)));
	say_files();
	dprintf(OUT, "leads its session: %d, its group: %d\n", getsid(0) == getpid(),
		getpgid(0) == getpid());
}

static void parent_await(void)
{
	while (getppid() == parent)
		usleep(1000);
}

/* The handler in the parent may be on its way yet. */
static void handlers_await(void)
{
	while (__atomic_load_n(&ran->parent, __ATOMIC_SEQ_CST) == 0)
		usleep(1000);
}

static int be_daemon(int nochdir, int noclose)
{
	int result, error;

	printf("in a buffer\n");
	errno = 77;
	result = daemon(nochdir, noclose);
	error = errno;
	if (getpid() == parent) { /* it failed, or it is another one */
		say("not forked", result, error);
		return 9;
	}
	parent_await();
	say("daemon", result, error);
	for (int fd = 0; fd <= 2; fd++)
		dprintf(OUT, "%d: %d\n", fd, (int)write(fd, "x\n", 2));
	lose();
	return 0;
}

static int be_terminal(void)
{
	char name[64], line[4096];
	int master = -1, result, error, status, at_end = 0;
	ssize_t n;

	errno = 77;
	result = forkpty(&master, name, NULL, NULL);
	error = errno;
	if (result == 0) {
		handlers_await();
		say("child", result, error);
		lose();
		printf("terminal: %d, of this name: %d\n", isatty(0),
			isatty(0) && !strcmp(ttyname(0), name));
		return 5;
	}
	if (result < 0) {
		say("not forked", result, error);
		return 9;
	}
	while ((n = read(master, line, sizeof(line))) > 0)
		at_end = write(1, line, (size_t)n) == n;
	if (!at_end || waitpid(result, &status, 0) != result)
		die("the child");
	say("parent", status, error);
	lose();
	return 0;
}

static int wait_for_end(void)
{
	char byte;

	parent_await();
	lose();
	dprintf(1, "%d\n", (int)getpid());
	while (read(0, &byte, 1) > 0)
		;
	return 0;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	int at = strcmp(way, "daemon") == 0 ? 4 : 2;

	parent = getpid();
	ran = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ran == MAP_FAILED || dup2(1, OUT) != OUT)
		die("no memory");
	kept = malloc(1000);
	pthread_atfork(before, in_parent, in_child);
	if (!strcmp(way, "wait"))
		return daemon(1, 1) == 0 ? wait_for_end() : 9;
	if (!strcmp(way, "clone")) {
		if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) != 0)
			_exit(0);
		return wait_for_end();
	}
	if (argc > at && !strcmp(argv[at], "closed"))
		for (int fd = 0; fd <= 2; fd++)
			close(fd);
	else if (argc > at + 1)
		fails(argv[at], (unsigned)atoi(argv[at + 1]));
	return at == 4 ? be_daemon(atoi(argv[2]), atoi(argv[3])) : be_terminal();
}
