/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One use of heaptop from its start to its end, without a screen: small programs under the library
 * that was built, what comes back of them, and what is left behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include "src/run/failure.h"
#include "src/run/run.h"
#include "src/target/target.h"
#include "tests/unit/exec_fixture.h"
#include "tests/unit/launch_fixture.h"
#include "tests/unit/segment_fixture.h"

#define WAIT_MS 60000 /* only a broken run takes that long */

static char library[512], said[2048];
static struct options options;
static struct run *run;

#define ARGV(...) ((char *const[]){ __VA_ARGS__, NULL })
#define WORD(s)	  ((char *)(uintptr_t)(s))
#define SHELL(s)  ARGV(WORD("/bin/sh"), WORD("-c"), WORD(s))

/* Runs `body` with stderr into `said`. */
static int with_stderr(int (*body)(void *), void *ctx)
{
	int saved = dup(STDERR_FILENO), fd = memfd_create("stderr", MFD_CLOEXEC), rc;
	ssize_t n;

	fflush(stderr);
	dup2(fd, STDERR_FILENO);
	rc = body(ctx);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	n = pread(fd, said, sizeof(said) - 1, 0);
	said[n > 0 ? n : 0] = '\0';
	close(fd);
	return rc;
}

static int open_body(void *ctx)
{
	return run_open(&run, &options, ctx);
}

static int close_body(void *ctx)
{
	return run_close(run);
}

static int open_run(void)
{
	return with_stderr(open_body, NULL);
}

/* The rest of a test means nothing without. */
static void must_open(void)
{
	if (open_run() == 0)
		return;
	printf("not ok - fixture: no run: %s\n", said);
	launch_dir_drop();
	exit(1);
}

static int close_run(void)
{
	return with_stderr(close_body, NULL);
}

static void launch(char *const *argv)
{
	options = (struct options){
		.mode = OPTIONS_RUN, .command = argv, .library = library, .depth = 32
	};
}

/* Serves the run as screen and batch do, until the program has ended. */
static void wait_for_end(void)
{
	while (run_alive(run)) {
		struct pollfd fds[4];
		int n = run_fds(run, run_session(run), fds, 4);

		CHECK(n >= 2 && n <= 4);
		if (poll(fds, (nfds_t)n, WAIT_MS) <= 0) {
			CHECK(!"the program ends");
			kill(run_child(run), SIGKILL);
			return;
		}
		run_ready(run, run_session(run));
	}
}

TEST(exit_status)
{
	struct snapshot *s;

	launch(SHELL("exit 3"));
	must_open();
	CHECK(run_alive(run));
	wait_for_end();
	s = run_final(run);
	CHECK_INT(s->state, SNAP_EXITED);
	CHECK_INT(s->exit_status, 3);
	CHECK(s->totals.allocs > 0 && s->nsites > 0);
	CHECK_STR(s->command, "/bin/sh -c exit 3");
	CHECK_INT(s->proc.valid, true);
	for (size_t i = 0; i < s->nsites; i++)
		CHECK(s->sites[i].stack->resolved);
	snapshot_unref(s);
	CHECK_INT(close_run(), 3);
	CHECK_STR(said, "");
	CHECK_INT(launch_dir_files(true), 0);
}

/* The last image is the one that counts. */
TEST(exec)
{
	struct snapshot *s;

	launch(SHELL("exec /bin/sh -c 'exit 4'"));
	must_open();
	wait_for_end();
	s = run_final(run);
	CHECK_STR(s->command, "/bin/sh -c exit 4");
	CHECK_INT(s->exit_status, 4);
	snapshot_unref(s);
	CHECK_INT(close_run(), 4);
	CHECK_INT(launch_dir_files(true), 0);
}

/* A crash leaves its segment, and says how to look at it. */
TEST(crash)
{
	struct snapshot *s;
	char path[256];

	launch(SHELL("kill -SEGV $$"));
	must_open();
	snprintf(path, sizeof(path), "%s", session_path(run_session(run)));
	wait_for_end();
	s = run_final(run);
	CHECK_INT(s->state, SNAP_KILLED);
	CHECK_INT(s->signal, SIGSEGV);
	snapshot_unref(s);
	CHECK_INT(close_run(), 128 + SIGSEGV);
	CHECK(strstr(said, "killed by SIGSEGV") && strstr(said, path));
	CHECK_INT(launch_dir_files(false), 1);

	options = (struct options){ .mode = OPTIONS_READ, .file = path };
	must_open();
	s = run_final(run);
	CHECK(s && s->state == SNAP_GONE && s->totals.allocs > 0);
	snapshot_unref(s);
	CHECK(!run_alive(run));
	CHECK_INT(close_run(), 0);
	CHECK_INT(launch_dir_files(true), 1); /* looking does not remove it */
}

/* Ended by a signal that is no crash: nothing to look at. */
TEST(terminated)
{
	launch(SHELL("kill -TERM $$"));
	must_open();
	wait_for_end();
	snapshot_unref(run_tick(run));
	CHECK_INT(close_run(), 128 + SIGTERM);
	CHECK_STR(said, "");
	CHECK_INT(launch_dir_files(true), 0);
}

/* Asked to end, and waited for. */
TEST(asked_to_end)
{
	launch(ARGV(WORD("sleep"), WORD("1000")));
	must_open();
	run_end(run);
	CHECK_INT(close_run(), 128 + SIGTERM);
	CHECK_STR(said, "");
	CHECK_INT(launch_dir_files(true), 0);
}

/* A pipe whose other end only we have, under a high number. */
static int pipe_high(int *high)
{
	struct rlimit most;
	int ends[2];

	CHECK_INT(getrlimit(RLIMIT_NOFILE, &most), 0);
	most.rlim_cur = most.rlim_max;
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &most), 0);
	CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
	*high = fcntl(ends[1], F_DUPFD_CLOEXEC, 2000);
	CHECK(*high >= 2000);
	close(ends[1]);
	return ends[0];
}

/* What a screen would be on: without, the program gets no terminal of its own. */
static int terminal_open(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;

	CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	CHECK_INT(dup2(slave, STDIN_FILENO), STDIN_FILENO);
	close(slave);
	return master;
}

/* Who goes on holding the program's terminal holds nothing else of ours. */
TEST(left_running)
{
	struct pollfd end = { .events = POLLIN };
	struct winsize screen = { .ws_row = 24, .ws_col = 80 };
	int high, status, terminal = terminal_open();
	pid_t child;

	launch(SHELL("exec sleep 1000"));
	end.fd = pipe_high(&high);
	CHECK_INT(with_stderr(open_body, &screen), 0);
	CHECK(run_output(run) != NULL);
	child = run_child(run);
	CHECK_INT(close_run(), 0);
	CHECK(strstr(said, "is still running"));
	close(terminal);
	close(high);
	CHECK_INT(poll(&end, 1, WAIT_MS), 1);
	CHECK(end.revents & POLLHUP);
	close(end.fd);
	CHECK_INT(kill(child, SIGKILL), 0);
	CHECK_INT(waitpid(child, &status, 0), child);
	launch_dir_files(true);
}

static void cannot(int status, const char *why)
{
	int got = open_run();

	CHECK_INT(got, status);
	CHECK(strncmp(said, "heaptop: ", 9) == 0);
	CHECK(strstr(said, why) != NULL);
	CHECK(strchr(said, '\n') == said + strlen(said) - 1);
	CHECK_INT(launch_dir_files(true), 0);
	if (got == 0)
		close_run();
}

TEST(cannot_start)
{
	launch(ARGV(WORD("/no/such/program")));
	cannot(127, "/no/such/program");
	launch(ARGV(WORD("heaptop-no-such-program")));
	cannot(127, "heaptop-no-such-program");
	launch(ARGV(WORD("/etc/passwd")));
	cannot(126, "/etc/passwd");
	launch(SHELL("exit 0"));
	options.library = "/no/such/library.so";
	cannot(FAILURE_EXIT, "/no/such/library.so");
}

TEST(cannot_attach)
{
	options = (struct options){ .mode = OPTIONS_ATTACH, .pid = 0x3ffffff };
	cannot(FAILURE_EXIT, "67108863");
	options.pid = getpid();
	cannot(FAILURE_EXIT, "heaptop");
	options = (struct options){ .mode = OPTIONS_NONE };
	CHECK_INT(open_run(), FAILURE_EXIT);
}

/* ---- a program that calls exec just after its segment was found ---- */

static const struct timespec soon = { .tv_nsec = 1000000 };
static int moves_by = -1; /* it does when this is written to; -1: it does not */

int __real_target_find_within(pid_t pid, uint64_t ns, struct target_segment *out, char *message);
int __wrap_target_find_within(pid_t pid, uint64_t ns, struct target_segment *out, char *message);

int __wrap_target_find_within(pid_t pid, uint64_t ns, struct target_segment *out, char *message)
{
	int rc = __real_target_find_within(pid, ns, out, message);

	if (rc != 0 || moves_by < 0)
		return rc;
	CHECK_INT(write(moves_by, "\n", 1), 1);
	moves_by = -1;
	for (int i = 0; i < WAIT_MS && access(out->path, F_OK) == 0; i++)
		nanosleep(&soon, NULL);
	CHECK(access(out->path, F_OK) != 0);
	return rc;
}

static bool is_running(const char *command)
{
	struct snapshot *s = run_tick(run);
	bool is = s && s->state == SNAP_RUNNING && strcmp(s->command, command) == 0;

	snapshot_unref(s);
	return is;
}

TEST(attached_to_the_next_image)
{
	char *argv[] = { WORD("/bin/sh"), WORD("-c"),
		WORD("read a; exec /bin/sh -c 'read b; exit 0'"), NULL };
	int in[2], saved = dup(STDIN_FILENO);
	pid_t pid;

	CHECK_INT(pipe2(in, O_CLOEXEC), 0);
	dup2(in[0], STDIN_FILENO);
	setenv("LD_PRELOAD", library, 1);
	pid = exec_start(argv[0], argv);
	unsetenv("LD_PRELOAD");
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(in[0]);
	moves_by = in[1];
	options = (struct options){ .mode = OPTIONS_ATTACH,
		.pid = pid,
		.depth = 32,
		.attach.timeout_ns = WAIT_MS * UINT64_C(1000000) };
	must_open();
	CHECK_INT(moves_by, -1);
	/* The new image may still be about to describe itself. */
	for (int i = 0; i < WAIT_MS && !is_running("/bin/sh -c read b; exit 0"); i++)
		nanosleep(&soon, NULL);
	CHECK(is_running("/bin/sh -c read b; exit 0"));
	CHECK_INT(close_run(), 0);
	close(in[1]);
	CHECK_INT(waitpid(pid, NULL, 0), pid);
	launch_dir_files(true);
}

/* A child that waits; nothing of it is recorded. */
static pid_t child_start(void)
{
	return exec_start("/bin/sleep", (char *[]){ (char[]){ "sleep" }, (char[]){ "300" }, NULL });
}

/* What /proc has is shown of a process that is not attached to, and nothing of ours stays. */
TEST(watched_from_outside)
{
	pid_t pid = child_start();
	struct snapshot *s;

	options = (struct options){
		.mode = OPTIONS_ATTACH, .pid = pid, .readonly = true, .depth = 32
	};
	must_open();
	CHECK_STR(said, "");
	CHECK(run_alive(run) && !run_attached(run));
	CHECK_INT(launch_dir_files(false), 1);
	for (int i = 0; i < 2; i++) {
		s = run_tick(run);
		CHECK(s && s->state == SNAP_RUNNING && s->attach.how == SNAP_ATTACH_OUTSIDE);
		CHECK(s->pid == pid && s->proc.valid && s->proc.rss > 0);
		CHECK_STR(s->command, "sleep 300");
		CHECK(s->exe && strstr(s->exe, "/sleep"));
		CHECK_STR(s->notice, "watching from outside: --readonly changes nothing in a "
				     "program; to record it: heaptop -- sleep 300");
		snapshot_unref(s);
	}
	CHECK(run_detach(run, 0, said, sizeof(said)) < 0);
	CHECK_STR(said, "the process is not recorded");
	CHECK_INT(close_run(), 0);
	CHECK(strstr(said, "to record it: heaptop -- sleep 300\n"));
	CHECK_INT(launch_dir_files(true), 0);
	/* Its end is seen, too. */
	must_open();
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	s = run_tick(run);
	CHECK(s && s->state == SNAP_GONE && !run_alive(run));
	snapshot_unref(s);
	CHECK_INT(close_run(), 0);
	CHECK_INT(launch_dir_files(true), 0);
}

/* What only a recording has is not promised. */
TEST(a_report_needs_a_recording)
{
	pid_t pid = child_start();

	options = (struct options){
		.mode = OPTIONS_ATTACH, .pid = pid, .readonly = true, .report = true, .depth = 32
	};
	cannot(FAILURE_EXIT, "to record it: heaptop -- sleep 300");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(cannot_read)
{
	options = (struct options){ .mode = OPTIONS_READ, .file = "/dev/null" };
	cannot(FAILURE_EXIT, "/dev/null: not a regular file");
	options.file = "/no/such/file";
	cannot(FAILURE_EXIT, "/no/such/file: No such file");
}

/* The user's file, whatever state it is of. */
TEST(reading_removes_nothing)
{
	static const uint32_t states[] = { HT_STATE_EXITED, HT_STATE_RUNNING, HT_STATE_STOPPED };

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		struct snapshot *s;
		struct made made;

		made_open(&made, &fixture_identity);
		made_fill(&made);
		made.s.header->state = states[i];
		options = (struct options){ .mode = OPTIONS_READ, .file = made.path };
		must_open();
		s = run_tick(run);
		CHECK(s && s->totals.allocs == 3 * MADE_BLOCKS);
		snapshot_unref(s);
		CHECK_INT(close_run(), 0);
		CHECK_INT(access(made.path, F_OK), 0);
		made_close(&made);
	}
}

int main(void)
{
	const struct rlimit none = { 0, 0 };
	const char *build = getenv("B");

	/* The library is not built with a sanitizer's runtime, and what it runs in is not either.
	 */
	unsetenv("LD_PRELOAD");
	setrlimit(RLIMIT_CORE, &none);
	snprintf(library, sizeof(library), "%s/libheaptop.so", build ? build : "build");
	launch_dir_make();
	RUN(exit_status);
	RUN(exec);
	RUN(crash);
	RUN(terminated);
	RUN(asked_to_end);
	RUN(left_running);
	RUN(cannot_start);
	RUN(cannot_attach);
	RUN(attached_to_the_next_image);
	RUN(watched_from_outside);
	RUN(a_report_needs_a_recording);
	RUN(cannot_read);
	RUN(reading_removes_nothing);
	launch_dir_drop();
	return check_end();
}
