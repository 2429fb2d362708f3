/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starting programs: what they see (environment, signals, descriptors, terminal), that they wait
 * for the word to go, and how their end and a failed exec come back.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include "src/target/target.h"
#include "tests/check.h"
#include "tests/unit/shm_fixture.h"

/* Any library that is always there: the test checks the list. */
#define LIBRARY	 "libm.so.6"
#define OTHER	 "libdl.so.2"
#define TEXT_MAX 4096
#define WAIT_MS	 20000 /* only a broken launch takes that long */

static char signals_at_start[256];

#define ARGV(...) ((char *const[]){ __VA_ARGS__, NULL })
#define WORD(s)	  ((char *)(uintptr_t)(s))

static void read_all(int fd, char out[TEXT_MAX])
{
	size_t len = 0;
	ssize_t n;

	while (len < TEXT_MAX - 1 && (n = read(fd, out + len, TEXT_MAX - 1 - len)) > 0)
		len += (size_t)n;
	out[len] = '\0';
}

/* Waits for the end without taking the status from target_poll. */
static int status_of(struct target_child *child)
{
	siginfo_t info;
	int status = -1;

	waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOWAIT);
	CHECK_INT(target_poll(child, &status), 1);
	return status;
}

/* Launches with stdout on `out`, which is closed here afterwards. */
static int launch_to(struct target_launch *l, int out, struct target_child *child)
{
	char message[TARGET_MESSAGE_MAX] = "";
	int saved = dup(STDOUT_FILENO), err;

	fcntl(saved, F_SETFD, FD_CLOEXEC);
	dup2(out, STDOUT_FILENO);
	close(out);
	err = target_launch(l, child, message);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	if (err)
		fprintf(stderr, "  %s\n", message);
	return err;
}

/* Runs to the end and gives what it wrote to stdout. */
static int run(struct target_launch *l, char text[TEXT_MAX])
{
	char message[TARGET_MESSAGE_MAX];
	struct target_child child;
	int ends[2];

	text[0] = '\0';
	if (pipe2(ends, O_CLOEXEC) || launch_to(l, ends[1], &child))
		return -1;
	CHECK_INT(target_go(&child, message), 0);
	read_all(ends[0], text);
	close(ends[0]);
	return status_of(&child);
}

static int run_shell(const char *script, const char *const *env, char text[TEXT_MAX])
{
	struct target_launch l = { .argv = ARGV(WORD("sh"), WORD("-c"), WORD(script)),
		.library = LIBRARY,
		.segment = "/dev/shm/heaptop-of-a-test",
		.env = env };

	return run(&l, text);
}

TEST(environment_is_set)
{
	static const char *const env[] = { "HEAPTOP_DEPTH=7", "KEPT=changed", NULL };
	char text[TEXT_MAX];

	unsetenv("LD_PRELOAD");
	setenv("KEPT", "original", 1);
	setenv("HEAPTOP_SEGMENT", "stale", 1);
	setenv("HEAPTOP_DEPTH_NOT", "untouched", 1);
	CHECK_INT(
		run_shell(
			"echo $LD_PRELOAD,$HEAPTOP_SEGMENT,$HEAPTOP_DEPTH,$KEPT,$HEAPTOP_DEPTH_NOT",
			env, text),
		0);
	CHECK_STR(text, LIBRARY ",/dev/shm/heaptop-of-a-test,7,changed,untouched\n");
	CHECK_INT(run_shell("env | grep -c ^HEAPTOP_SEGMENT=", NULL, text), 0);
	CHECK_STR(text, "1\n");
	CHECK_STR(getenv("KEPT"), "original");
}

TEST(preload_goes_before_another)
{
	char text[TEXT_MAX];

	setenv("LD_PRELOAD", OTHER, 1);
	CHECK_INT(run_shell("echo $LD_PRELOAD", NULL, text), 0);
	CHECK_STR(text, LIBRARY ":" OTHER "\n");
	setenv("LD_PRELOAD", "", 1);
	CHECK_INT(run_shell("echo $LD_PRELOAD", NULL, text), 0);
	CHECK_STR(text, LIBRARY "\n");
	unsetenv("LD_PRELOAD");
}

TEST(sanitizer_options_of_the_user_count)
{
	char text[TEXT_MAX];

	unsetenv("ASAN_OPTIONS");
	CHECK_INT(run_shell("echo $ASAN_OPTIONS", NULL, text), 0);
	CHECK_STR(text, "verify_asan_link_order=0\n");
	setenv("ASAN_OPTIONS", "verbosity=1", 1);
	CHECK_INT(run_shell("echo $ASAN_OPTIONS", NULL, text), 0);
	CHECK_STR(text, "verify_asan_link_order=0:verbosity=1\n");
	unsetenv("ASAN_OPTIONS");
}

TEST(signals_are_the_inherited_ones)
{
	struct target_launch l = { .argv = ARGV(WORD("grep"), WORD("-E"), WORD("^Sig(Blk|Ign)"),
					   WORD("/proc/self/status")),
		.library = LIBRARY };
	char text[TEXT_MAX];
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &old);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	CHECK_INT(run(&l, text), 0);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGUSR2, SIG_DFL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	CHECK_STR(text, signals_at_start);
}

/* The same program, started by the C library. */
TEST(no_descriptor_of_ours_is_inherited)
{
	struct target_launch l = { .argv = ARGV(WORD("ls"), WORD("/proc/self/fd")),
		.library = LIBRARY };
	char with[TEXT_MAX], without[TEXT_MAX];
	FILE *plain = popen("exec ls /proc/self/fd", "re");

	without[fread(without, 1, sizeof(without) - 1, plain)] = '\0';
	pclose(plain);
	CHECK_INT(run(&l, with), 0);
	CHECK_STR(with, without);
}

static void link_of(pid_t pid, const char *name, char out[TEXT_MAX])
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	n = readlink(path, out, TEXT_MAX - 1);
	out[n > 0 ? n : 0] = '\0';
}

TEST(child_waits_for_go)
{
	struct target_launch l = { .argv = ARGV(WORD("cat")), .library = LIBRARY };
	char ours[TEXT_MAX], theirs[TEXT_MAX], message[TARGET_MESSAGE_MAX];
	int in[2], saved = dup(STDIN_FILENO), status;
	struct target_child child;

	CHECK_INT(pipe2(in, O_CLOEXEC), 0);
	fcntl(saved, F_SETFD, FD_CLOEXEC);
	dup2(in[0], STDIN_FILENO);
	CHECK_INT(target_launch(&l, &child, message), 0);
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(in[0]);

	link_of(getpid(), "exe", ours);
	link_of(child.pid, "exe", theirs);
	CHECK_STR(theirs, ours);
	CHECK_INT(child.pty, -1);
	CHECK_INT(target_go(&child, message), 0);
	link_of(child.pid, "exe", theirs);
	CHECK(strstr(theirs, "/cat") != NULL);
	CHECK_INT(target_poll(&child, &status), 0);
	close(in[1]); /* cat sees the end of its input */
	CHECK_INT(status_of(&child), 0);
}

TEST(child_ends_if_never_told_to_go)
{
	char text[TEXT_MAX];
	struct target_launch l = { .argv = ARGV(WORD("echo"), WORD("ran")), .library = LIBRARY };
	struct target_child child;
	int ends[2];

	CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
	CHECK_INT(launch_to(&l, ends[1], &child), 0);
	close(child.go);
	read_all(ends[0], text);
	close(ends[0]);
	CHECK_STR(text, "");
	CHECK_INT(WEXITSTATUS(status_of(&child)), 126);
}

TEST(child_that_is_given_up)
{
	struct target_launch l = { .argv = ARGV(WORD("true")), .library = LIBRARY };
	char message[TARGET_MESSAGE_MAX];
	struct target_child child;

	CHECK_INT(target_launch(&l, &child, message), 0);
	target_cancel(&child);
	CHECK_INT(child.pid, 0);
	CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
	target_cancel(&child);
}

/* Whatever fails, it is named, with what may be done; and there is no child. */
static void short_of_files(void)
{
	struct target_launch l = { .argv = ARGV(WORD("true")), .library = LIBRARY };
	char message[TARGET_MESSAGE_MAX];
	struct target_child child;
	struct rlimit few = { 4, 4 };

	for (; few.rlim_cur > 0; few.rlim_cur--) {
		CHECK_INT(setrlimit(RLIMIT_NOFILE, &few), 0);
		CHECK_INT(target_launch(&l, &child, message), -EMFILE);
		CHECK_STR(message, "cannot start a process: Too many open files (raise the limit: "
				   "ulimit -n)");
		CHECK_INT(child.pid, 0);
	}
	CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
}

TEST(no_descriptors)
{
	fixture_in_child(short_of_files);
}

TEST(child_killed_while_it_waits)
{
	struct target_launch l = { .argv = ARGV(WORD("true")), .library = LIBRARY };
	char message[TARGET_MESSAGE_MAX];
	struct target_child child;
	siginfo_t info;

	CHECK_INT(target_launch(&l, &child, message), 0);
	kill(child.pid, SIGKILL);
	waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT);
	CHECK_INT(target_go(&child, message), 0);
	CHECK_INT(WTERMSIG(status_of(&child)), SIGKILL);
}

TEST(exit_and_signal_come_back)
{
	char text[TEXT_MAX];
	int status = run_shell("exit 42", NULL, text);

	CHECK(WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 42);
	status = run_shell("kill -SEGV $$", NULL, text);
	CHECK(WIFSIGNALED(status));
	CHECK_INT(WTERMSIG(status), SIGSEGV);
}

static void exec_fails(const char *command, int want, const char *why)
{
	struct target_launch l = { .argv = ARGV(WORD(command)), .library = LIBRARY };
	char message[TARGET_MESSAGE_MAX] = "";
	struct target_child child;

	CHECK_INT(target_launch(&l, &child, message), 0);
	CHECK_INT(target_go(&child, message), want);
	CHECK(strstr(message, why) != NULL);
	CHECK_INT(child.pid, 0);
	CHECK_INT(waitpid(-1, NULL, WNOHANG), -1); /* and it is reaped */
}

/* A thread of ours that traces the child, as a leak scan does. */
struct tracer {
	pid_t pid;
	pthread_barrier_t stopped, polled;
	bool took;
};

static void *trace(void *ctx)
{
	struct tracer *t = ctx;
	siginfo_t info = { 0 };
	int status = 0;

	CHECK_INT(ptrace(PTRACE_SEIZE, t->pid, NULL, NULL), 0);
	CHECK_INT(ptrace(PTRACE_INTERRUPT, t->pid, NULL, NULL), 0);
	waitid(P_PID, (id_t)t->pid, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL);
	pthread_barrier_wait(&t->stopped);
	pthread_barrier_wait(&t->polled);
	t->took = waitpid(t->pid, &status, __WALL | WNOHANG) == t->pid && WIFSTOPPED(status);
	ptrace(PTRACE_DETACH, t->pid, NULL, NULL);
	return NULL;
}

TEST(stops_of_a_traced_child_are_the_tracers)
{
	struct target_launch l = { .argv = ARGV(WORD("sleep"), WORD("100")),
		.library = LIBRARY,
		.segment = "/dev/shm/heaptop-of-a-test" };
	char message[TARGET_MESSAGE_MAX];
	struct target_child child;
	struct tracer t = { 0 };
	pthread_t thread;
	int status = 0;

	CHECK_INT(target_launch(&l, &child, message), 0);
	CHECK_INT(target_go(&child, message), 0);
	t.pid = child.pid;
	pthread_barrier_init(&t.stopped, NULL, 2);
	pthread_barrier_init(&t.polled, NULL, 2);
	pthread_create(&thread, NULL, trace, &t);
	pthread_barrier_wait(&t.stopped);
	CHECK_INT(target_poll(&child, &status), 0);
	pthread_barrier_wait(&t.polled);
	pthread_join(thread, NULL);
	CHECK(t.took);
	kill(child.pid, SIGKILL);
	CHECK_INT(WTERMSIG(status_of(&child)), SIGKILL);
}

TEST(exec_failure_comes_back)
{
	exec_fails("/no/such/program", 127, strerror(ENOENT));
	exec_fails("no-such-program-anywhere", 127, strerror(ENOENT));
	exec_fails("/etc/passwd", 126, strerror(EACCES));
	exec_fails("/", 126, strerror(EACCES));
}

/* Reads the pty's master until the program's side is closed. */
static void read_pty(int master, char out[TEXT_MAX])
{
	struct pollfd p = { .fd = master, .events = POLLIN };
	size_t len = 0;
	ssize_t n = 1;

	while (len < TEXT_MAX - 1 && n > 0 && poll(&p, 1, WAIT_MS) == 1) {
		n = read(master, out + len, TEXT_MAX - 1 - len);
		len += n > 0 ? (size_t)n : 0;
	}
	out[len] = '\0';
}

/* A terminal of the test's own, as the user's would be. Its slave. */
static int terminal_open(int *master)
{
	*master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*master < 0 || grantpt(*master) || unlockpt(*master))
		return -1;
	return open(ptsname(*master), O_RDWR | O_NOCTTY | O_CLOEXEC);
}

/* As /proc/PID/stat gives a controlling terminal (proc(5), tty_nr). */
static int terminal_number(const char *name)
{
	struct stat st;
	unsigned low;

	if (stat(name, &st))
		return 0;
	low = minor(st.st_rdev);
	return (int)((low & 0xff) | major(st.st_rdev) << 8 | (low & ~0xffu) << 12);
}

static const char *const where_script = "tty <&1; stty size <&1; cut -d' ' -f7 /proc/self/stat;"
					"tty -s && echo in; tty -s <&2 && echo err; exit 5";

TEST(terminal_is_its_own)
{
	struct target_launch l = {
		.argv = ARGV(WORD("sh"), WORD("-c"), WORD(where_script)),
		.library = LIBRARY,
		.own_pty = true,
		.rows = 17,
		.cols = 61,
	};
	char text[TEXT_MAX], message[TARGET_MESSAGE_MAX], name[64], want[256];
	struct target_child child;
	int master, slave = terminal_open(&master), saved = dup(STDERR_FILENO);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), in = dup(STDIN_FILENO);

	CHECK(slave >= 0);
	fcntl(saved, F_SETFD, FD_CLOEXEC);
	fcntl(in, F_SETFD, FD_CLOEXEC);
	dup2(null, STDERR_FILENO); /* redirected: left alone */
	dup2(null, STDIN_FILENO);
	CHECK_INT(launch_to(&l, slave, &child), 0);
	dup2(saved, STDERR_FILENO);
	dup2(in, STDIN_FILENO);
	close(saved);
	close(in);
	close(null);
	CHECK(child.pty > 2);
	CHECK(fcntl(child.pty, F_GETFL) & O_NONBLOCK);
	CHECK(fcntl(child.pty, F_GETFD) & FD_CLOEXEC);
	ptsname_r(child.pty, name, sizeof(name));
	CHECK_INT(target_go(&child, message), 0);
	read_pty(child.pty, text);
	snprintf(want, sizeof(want), "%s\r\n17 61\r\n%d\r\n", name, terminal_number(name));
	CHECK_STR(text, want);
	CHECK_INT(WEXITSTATUS(status_of(&child)), 5);
	close(child.pty);
	close(master);
}

TEST(no_terminal_no_pty)
{
	struct target_launch l = {
		.argv = ARGV(WORD("true")), .library = LIBRARY, .own_pty = true
	};
	char message[TARGET_MESSAGE_MAX];
	struct target_child child;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), saved[3];

	fflush(NULL);
	for (int fd = 0; fd < 3; fd++) {
		saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 10);
		dup2(null, fd);
	}
	CHECK_INT(target_launch(&l, &child, message), 0);
	for (int fd = 0; fd < 3; fd++) {
		dup2(saved[fd], fd);
		close(saved[fd]);
	}
	close(null);
	CHECK_INT(child.pty, -1);
	CHECK_INT(target_go(&child, message), 0);
	CHECK_INT(status_of(&child), 0);
}

static void library_is(const char *given, int want_err, const char *part)
{
	char path[1024] = "", message[TARGET_MESSAGE_MAX] = "";
	int err;

	setenv("HEAPTOP_LIBRARY", given, 1);
	err = target_library_find(path, sizeof(path), message);
	unsetenv("HEAPTOP_LIBRARY");
	CHECK_INT(err, want_err);
	CHECK(strstr(err ? message : path, part) != NULL);
}

TEST(library_is_found_and_judged)
{
	char dir[] = "/tmp/heaptop test.XXXXXX", path[64], message[TARGET_MESSAGE_MAX], found[1024];
	int fd;

	CHECK(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/lib.so", dir);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(fd);
	library_is(path, -EINVAL, "LD_PRELOAD cannot hold");
	unlink(path);
	rmdir(dir);
	library_is("/no/such\033lib.so", -ENOENT, "/no/such?lib.so");
	library_is("/proc/self/exe", 0, "/target_launch"); /* made absolute */
	/* Too long for the caller's buffer is an error, not a wrong path. */
	setenv("HEAPTOP_LIBRARY", "/bin/sh", 1);
	CHECK_INT(target_library_find(found, 4, message), -ENAMETOOLONG);
	unsetenv("HEAPTOP_LIBRARY");
}

/* A path that the loader completes, where there are links by its names. */
TEST(preload_names_both_libraries)
{
	char dir[] = "/tmp/heaptop-test.XXXXXX", library[64], links[64], made[256], wanted[128];

	CHECK(mkdtemp(dir) != NULL);
	snprintf(library, sizeof(library), "%s/libheaptop.so", dir);
	snprintf(links, sizeof(links), "%s/by-class", dir);
	snprintf(wanted, sizeof(wanted), "%s/by-class/$LIB/libheaptop.so", dir);
	target_library_preload(library, made, sizeof(made));
	CHECK_STR(made, library);
	CHECK_INT(mkdir(links, 0700), 0);
	target_library_preload(library, made, sizeof(made));
	CHECK_STR(made, wanted);
	rmdir(links);
	rmdir(dir);
}

static void signals_read(void)
{
	char line[128];
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "SigBlk", 6) || !strncmp(line, "SigIgn", 6))
			strcat(signals_at_start, line);
	fclose(f);
}

/* Once more, started with SIGHUP ignored and SIGUSR2 blocked, as nohup and odd parents do. */
static int again(const char *self)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGHUP, SIG_IGN);
	execl(self, self, "again", (char *)NULL);
	return 1;
}

int main(int argc, char **argv)
{
	signals_read();
	if (argc > 1) {
		RUN(signals_are_the_inherited_ones);
		return check_end();
	}
	RUN(environment_is_set);
	RUN(preload_goes_before_another);
	RUN(sanitizer_options_of_the_user_count);
	RUN(signals_are_the_inherited_ones);
	RUN(no_descriptor_of_ours_is_inherited);
	RUN(child_waits_for_go);
	RUN(child_ends_if_never_told_to_go);
	RUN(child_that_is_given_up);
	RUN(no_descriptors);
	RUN(child_killed_while_it_waits);
	RUN(exit_and_signal_come_back);
	RUN(stops_of_a_traced_child_are_the_tracers);
	RUN(exec_failure_comes_back);
	RUN(terminal_is_its_own);
	RUN(no_terminal_no_pty);
	RUN(library_is_found_and_judged);
	RUN(preload_names_both_libraries);
	return check_end() ? 1 : again("/proc/self/exe");
}
