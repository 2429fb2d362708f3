/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes by name and by descent, and the command line that starts one again. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "src/proc/proc.h"
#include "src/target/processes.h"
#include "src/target/start_command.h"
#include "src/target/target.h"
#include "tests/check.h"
#include "tests/unit/exec_fixture.h"
#include "tests/unit/second_thread.h"

static struct target_process found[PROCESSES_LIST_MAX];

/* A child that waits under the name `comm`. */
static pid_t named_start(const char *comm)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe2(ready, O_CLOEXEC) != 0)
		exit(1);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, comm);
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	CHECK_INT(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static pid_t sleep_start(char *const *argv)
{
	return exec_start("/bin/sleep", argv);
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#define ARGV(...) ((char *const[]){ __VA_ARGS__, NULL })
#define WORD(s)	  ((char *)(uintptr_t)(s))

static const struct target_process *by_name(const char *name, pid_t pid)
{
	ssize_t n = target_processes(name, found, PROCESSES_LIST_MAX);

	for (ssize_t i = 0; i < n; i++)
		if (found[i].pid == pid)
			return &found[i];
	return NULL;
}

TEST(names)
{
	pid_t pid = sleep_start(ARGV(WORD("nightjar: worker"), WORD("300")));
	char exe[4096];

	CHECK(by_name("nightjar", pid) && by_name("nightjar: worker", pid));
	CHECK(!by_name("nightja", pid) && !by_name("worker", pid) && !by_name("300", pid));
	CHECK(by_name("sleep", pid)); /* its file, and what the kernel calls it */
	CHECK(realpath("/bin/sleep", exe) && by_name(exe, pid));
	CHECK(!by_name("/nowhere/sleep", pid));
	stop(pid);
	CHECK(!by_name("nightjar", pid));
}

/* The kernel keeps 15 bytes. */
TEST(a_long_name)
{
	pid_t pid = named_start("a-name-of-many-bytes");
	const struct target_process *p = by_name("a-name-of-many-bytes", pid);

	CHECK(p && p->ppid == getpid() && p->uid == getuid() && p->rss_bytes > 0 && !p->recorded);
	CHECK(by_name("a-name-of-many-", pid));
	CHECK(!by_name("a-name-of-many", pid));
	stop(pid);
}

/* Without a name: all, by pid, but ourselves. */
TEST(all)
{
	pid_t pid = named_start("one-of-many");
	ssize_t n = target_processes(NULL, found, PROCESSES_LIST_MAX);
	bool has = false;

	CHECK(n > 0);
	for (ssize_t i = 0; i < n; i++) {
		has |= found[i].pid == pid;
		CHECK(found[i].pid != getpid());
		CHECK(i == 0 || found[i].pid > found[i - 1].pid);
		CHECK(geteuid() == 0 || found[i].uid == geteuid());
	}
	CHECK(has);
	CHECK_INT(target_processes("one-of-many", found, 0), 0);
	stop(pid);
}

/* We are no process that a person wants to watch, but our children are. */
TEST(descendants)
{
	char script[] = "sleep 300 & sleep 301 & echo; wait";
	pid_t pids[8];
	int out[2];
	char byte;
	pid_t pid;

	CHECK_INT(pipe(out), 0);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		dup2(out[1], STDOUT_FILENO);
		execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(1);
	}
	CHECK_INT(read(out[0], &byte, 1), 1); /* both were forked by then */
	CHECK_INT(target_descendants(pid, pids, 8), 3);
	CHECK_INT(pids[0], pid);
	CHECK(pids[1] != pid && pids[2] != pid && pids[1] != pids[2]);
	pids[2] = 0;
	CHECK_INT(target_descendants(pid, pids, 2), 3); /* others are counted */
	CHECK_INT(pids[2], 0);
	CHECK_INT(target_descendants(pids[1], pids, 8), 1);
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK_INT(target_descendants(pid, pids, 8), 0);
	close(out[0]);
	close(out[1]);
}

static const char *quote(const char *word)
{
	static char out[64];

	return start_command_quote(out, sizeof(out), word, strlen(word)) ? out : "(no room)";
}

TEST(words_of_a_shell)
{
	CHECK_STR(quote("/usr/bin/app-1.2_x@y:z,%+="), "/usr/bin/app-1.2_x@y:z,%+=");
	CHECK_STR(quote(""), "''");
	CHECK_STR(quote("daemon off;"), "'daemon off;'");
	CHECK_STR(quote("it's"), "'it'\\''s'");
	CHECK_STR(quote("$HOME `x` \"y\" \\"), "'$HOME `x` \"y\" \\'");
	CHECK_STR(quote("gr\xc3\xbc\xc3\x9f"), "'gr\xc3\xbc\xc3\x9f'");
	CHECK_STR(quote("a\x1b[2Jb'\\"), "$'a\\033[2Jb\\047\\134'");
	CHECK_STR(quote("\xff"), "$'\\377'");
	CHECK_STR(quote("~"), "'~'");
	CHECK_STR(quote("a long word that does not fit in what there is for it, not at all"),
		"(no room)");
}

static const char *command_of(pid_t pid)
{
	static char out[256];
	int rc = start_command(pid, out, sizeof(out));

	return rc ? strerror(-rc) : out;
}

TEST(how_to_start_it)
{
	char exe[4096], want[4200];
	pid_t pid = exec_start(
		"/bin/sh", ARGV(WORD("/bin/sh"), WORD("-c"), WORD("kill -STOP $$"), WORD("")));

	CHECK(realpath("/bin/sleep", exe));
	CHECK_STR(command_of(pid), "heaptop -- /bin/sh -c 'kill -STOP $$' ''");
	stop(pid);
	pid = sleep_start(ARGV(WORD("sleep"), WORD("300")));
	CHECK_STR(command_of(pid), "heaptop -- sleep 300");
	stop(pid);
	pid = sleep_start(ARGV(WORD("/bin/sleep"), WORD("300")));
	CHECK_STR(command_of(pid), "heaptop -- /bin/sleep 300");
	stop(pid);
	/* A name that leads nowhere; one that is no command line any more. */
	pid = sleep_start(ARGV(WORD("-sl"), WORD("300")));
	snprintf(want, sizeof(want), "heaptop -- %s 300", exe);
	CHECK_STR(command_of(pid), want);
	stop(pid);
	CHECK_STR(command_of(pid), strerror(ENOENT));
}

/* As servers show their state: one argument, of which the path in front is a part. */
TEST(a_rewritten_command_line)
{
	char exe[4096], want[4200];
	int out[2];
	char byte;
	pid_t pid;

	CHECK_INT(pipe(out), 0);
	pid = fork();
	if (pid == 0) {
		dup2(out[1], STDOUT_FILENO);
		execlp("perl", "perl", "-e", "$| = 1; $0 = \"worker: idle\"; print 1; sleep 300",
			(char *)NULL);
		_exit(1);
	}
	close(out[1]);
	if (read(out[0], &byte, 1) != 1) {
		stop(pid);
		SKIP("no perl");
	}
	snprintf(want, sizeof(want), "/proc/%d/exe", (int)pid);
	CHECK(realpath(want, exe));
	snprintf(want, sizeof(want), "heaptop -- %s", exe);
	CHECK_STR(command_of(pid), want);
	CHECK(by_name("worker", pid));
	close(out[0]);
	stop(pid);
}

/* One file that does different things by different names. */
TEST(a_program_of_several_names)
{
	char folder[] = "/tmp/heaptop-names-XXXXXX", make[256], server[64], want[128];
	pid_t pid;

	CHECK(mkdtemp(folder));
	snprintf(make, sizeof(make), "cp /bin/sleep %s/tool && ln -s tool %s/server", folder,
		folder);
	CHECK_INT(system(make), 0);
	snprintf(server, sizeof(server), "%s/server", folder);
	pid = exec_start(server, ARGV(WORD("server"), WORD("300")));
	CHECK_STR(command_of(pid), "heaptop -- server 300");
	stop(pid);
	pid = exec_start(server, ARGV(WORD("server of 300"), WORD("300")));
	snprintf(want, sizeof(want), "heaptop -- %s 300", server);
	CHECK_STR(command_of(pid), want);
	stop(pid);
	snprintf(make, sizeof(make), "rm -r %s", folder);
	CHECK_INT(system(make), 0);
}

/* The kernel has its executable and its command line, but not for the thread that has ended. */
TEST(a_process_without_its_first_thread)
{
	char own[256], message[TARGET_MESSAGE_MAX];
	pid_t pid = second_thread_start();
	struct target_segment none;

	snprintf(own, sizeof(own), "%s", command_of(getpid()));
	CHECK_STR(command_of(pid), own);
	CHECK(by_name("target_processes", pid));
	CHECK(target_same_executable(pid, getpid()));
	CHECK_INT(target_find_within(pid, 0, &none, message), -ENOENT);
	CHECK(strstr(message, "it was not started under heaptop"));
	stop(pid);
}

/* As by an upgrade, while it runs. */
TEST(a_program_that_was_replaced)
{
	char folder[] = "/tmp/heaptop-names-XXXXXX", run[256], tool[64], want[128];
	pid_t pid, other;

	CHECK(mkdtemp(folder));
	snprintf(tool, sizeof(tool), "%s/tool", folder);
	snprintf(run, sizeof(run), "cp /bin/sleep %s", tool);
	CHECK_INT(system(run), 0);
	pid = exec_start(tool, ARGV(WORD("tool"), WORD("300")));
	other = exec_start(tool, ARGV(WORD("./tool"), WORD("300")));
	CHECK_INT(unlink(tool), 0);
	CHECK_STR(command_of(pid), "heaptop -- tool 300");
	snprintf(want, sizeof(want), "heaptop -- %s 300", tool);
	CHECK_STR(command_of(other), want);
	stop(pid);
	stop(other);
	CHECK_INT(rmdir(folder), 0);
}

TEST(a_command_that_does_not_fit)
{
	char small[20];
	pid_t pid = sleep_start(ARGV(WORD("sleep"), WORD("300"), WORD("0000000000000000000")));

	CHECK_INT(start_command(pid, small, sizeof(small)), -E2BIG);
	stop(pid);
}

int main(void)
{
	RUN(names);
	RUN(a_long_name);
	RUN(all);
	RUN(descendants);
	RUN(words_of_a_shell);
	RUN(how_to_start_it);
	RUN(a_rewritten_command_line);
	RUN(a_program_of_several_names);
	RUN(a_process_without_its_first_thread);
	RUN(a_program_that_was_replaced);
	RUN(a_command_that_does_not_fit);
	return check_end();
}
