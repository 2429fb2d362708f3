/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the kernel says of a process: its files as they are, as they may be, and as nobody writes
 * them. */
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "src/proc/proc.h"
#include "tests/check.h"

static int stat_of(const char *text, struct proc_reading *r)
{
	return proc_parse_stat(text, strlen(text), r);
}

#define STAT_TAIL                                                                                  \
	" S 77 4211 4211 34816 -1 4194304 1001 11 42 12 150 30 1 2 20 0 14 0 987654 1000000 250 "  \
	"18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0\n"

TEST(stat_fields)
{
	struct proc_reading r = { 0 };

	CHECK_INT(stat_of("4211 (server)" STAT_TAIL, &r), 0);
	CHECK_STR(r.comm, "server");
	CHECK_INT(r.state, 'S');
	CHECK_INT(r.ppid, 77);
	CHECK_INT(r.flags, 4194304);
	CHECK_INT(r.minor_faults, 1001);
	CHECK_INT(r.major_faults, 42);
	CHECK_INT(r.cpu_ticks, 180);
	CHECK_INT(r.threads, 14);
	CHECK_INT(r.start_ticks, 987654);
	CHECK(!r.ends_unsaid);
	CHECK_INT(
		stat_of("4211 (copy) t 77 4211 4211 34816 -1 4194304 1001 11 42 12 150 30 1 2 20 0 "
			"14 0 987654 1000000 250 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 0 3",
			&r),
		0);
	CHECK(r.ends_unsaid);
}

TEST(stat_names)
{
	struct proc_reading r = { 0 };
	char longest[256];

	CHECK_INT(stat_of("1 (a b) R 2 (c))" STAT_TAIL, &r), 0);
	CHECK_STR(r.comm, "a b) R 2 (c)");
	CHECK_INT(r.ppid, 77);
	CHECK_INT(stat_of("1 ()" STAT_TAIL, &r), 0);
	CHECK_STR(r.comm, "");
	CHECK_INT(stat_of("1 (x\n\x1b[2J)" STAT_TAIL, &r), 0);
	CHECK_STR(r.comm, "x\n\x1b[2J");
	snprintf(longest, sizeof(longest), "1 (%0100d)" STAT_TAIL, 0);
	CHECK_INT(stat_of(longest, &r), 0);
	CHECK_INT(strlen(r.comm), sizeof(r.comm) - 1);
}

TEST(stat_bad)
{
	static const char *const bad[] = {
		"",
		"1",
		"1 (x",
		"1 x)",
		"1 )x(" STAT_TAIL,
		"1 (x)",
		"1 (x) ",
		"1 (x) S",
		"1 (x) S 1 2 3\n",
		"1 (x) ? 77 4211 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n",
		"1 (x) S 77 abc 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n",
		"1 (x) S 77 99999999999999999999 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct proc_reading r = { .ppid = 5, .start_ticks = 6 };

		CHECK_INT(stat_of(bad[i], &r), -EINVAL);
		CHECK(r.ppid == 5 && r.start_ticks == 6 && r.state == 0);
	}
}

TEST(status_fields)
{
	static const char text[] = "Name:\tVmRSS:\nPPid:\t12\nUid:\t1000\t1001\t1002\t1003\n"
				   "VmPeak:\t  9 kB\nVmHWM:\t  701 kB\nVmRSS:\t     538 kB\n"
				   "VmSwap:\t       4 kB\nThreads:\t14\n";
	struct proc_reading r = { 0 };

	CHECK_INT(proc_parse_status(text, strlen(text), &r), 0);
	CHECK_INT(r.ppid, 12);
	CHECK_INT(r.uid, 1000);
	CHECK_INT(r.hwm_bytes, 701 * 1024);
	CHECK_INT(r.rss_bytes, 538 * 1024);
	CHECK_INT(r.swap_bytes, 4096);
	CHECK_INT(r.threads, 14);
}

TEST(status_missing_stays)
{
	static const char text[] = "Name:\tkthread\nThreads:\t1\nVmRSS:\t12";
	struct proc_reading r = { .rss_bytes = 99, .hwm_bytes = 98 };

	CHECK_INT(proc_parse_status(text, strlen(text), &r), 0);
	CHECK_INT(r.threads, 1);
	CHECK_INT(r.rss_bytes, 99); /* the line was cut off: 12 may be 1200 */
	CHECK_INT(r.hwm_bytes, 98);
	CHECK_INT(proc_parse_status("nothing here\n", 13, &r), -EINVAL);
	CHECK_INT(proc_parse_status("VmRSS: 18446744073709551615 kB\n", 31, &r), -EINVAL);
	CHECK_INT(proc_parse_status("VmRSS:\t12x kB\n", 14, &r), -EINVAL);
	CHECK_INT(r.rss_bytes, 99);
}

static uint64_t pending(const char *text)
{
	return proc_parse_pending(text, strlen(text));
}

TEST(pending_signals)
{
	CHECK_INT(
		pending("Name:\tx\nSigPnd:\t0000000000000100\nShdPnd:\t00000000000000ff\n"), 0x100);
	CHECK_INT(pending("Name:\tx\nSigPnd:\tffffffff7fFaB1e7\n"), 0xffffffff7ffab1e7);
	CHECK_INT(pending("Name:\tx\nSigPnd:\t0000000000000100"), 0);
	CHECK_INT(pending("SigPnd:\t1\n"), 0); /* a name may say so, in the first line */
	CHECK_INT(pending("Name:\tx\nSigPnd:\t"), 0);
	CHECK_INT(pending(""), 0);
}

/* From the moment at which the signal was sent, whether or not it has come that far. */
TEST(ending_process)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		for (;;)
			pause();
	CHECK(child > 0);
	CHECK(!proc_is_ending(child));
	CHECK_INT(kill(child, SIGHUP), 0);
	CHECK(proc_is_ending(child));
	CHECK_INT(waitpid(child, &status, 0), child);
	CHECK(proc_is_ending(child));
}

TEST(rollup)
{
	static const char text[] = "55d0-7ffe ---p 00000000 00:00 0    [rollup]\nRss:\t 900 kB\n"
				   "Pss:                 530 kB\nPss_Anon:            1 kB\n";
	struct proc_reading r = { 0 };

	CHECK_INT(proc_parse_smaps_rollup(text, strlen(text), &r), 0);
	CHECK(r.have_pss);
	CHECK_INT(r.pss_bytes, 530 * 1024);
	r.have_pss = false;
	CHECK_INT(proc_parse_smaps_rollup("Rss: 1 kB\n", 10, &r), -EINVAL);
	CHECK(!r.have_pss);
}

static pid_t inner(const char *text)
{
	return proc_parse_inner_pid(text, strlen(text));
}

TEST(inner_pid)
{
	CHECK_INT(inner("Pid:\t77\nNSpid:\t77\nVmRSS:\n"), 77);
	CHECK_INT(inner("Pid:\t77\nNSpid:\t77\t12\t1\nVmRSS:\n"), 1);
	CHECK_INT(inner("NSpid:\t77\n"), 0); /* a name may say so, in the first line */
	CHECK_INT(inner("Pid:\t77\nNSpid:\n12\n"), 0);
	CHECK_INT(inner("Pid:\t77\nNSpid:\t77"), 0);
	CHECK_INT(inner("Pid:\t77\nNSpid:\t99999999999999999999\n"), 0);
	CHECK_INT(inner(""), 0);
}

TEST(resolve_ourselves)
{
	struct proc_claim c = {
		.pid = getpid(), .pid_namespace = proc_pid_namespace(), .maps = "nothing"
	};
	pid_t pid = 0;

	CHECK_INT(proc_start_ticks(getpid(), &c.start_ticks), 0);
	CHECK_INT(proc_resolve(&c, &pid), 0);
	CHECK_INT(pid, getpid());
	c.start_ticks++;
	CHECK_INT(proc_resolve(&c, &pid), -ESRCH);
	c.pid = 0;
	CHECK_INT(proc_resolve(&c, &pid), -ESRCH);
	CHECK_INT(proc_maps_name(getpid(), "proc_parse"), 1);
	CHECK_INT(proc_maps_name(getpid(), "proc_pars"), 0);
	CHECK_INT(proc_maps_name(getpid(), "unit"), 0);
}

/* Whose memory the kernel is freeing maps nothing, which is no answer. */
TEST(the_dead_map_nothing)
{
	pid_t child = fork();
	siginfo_t end;

	if (child == 0)
		_exit(0);
	CHECK_INT(waitid(P_PID, (id_t)child, &end, WEXITED | WNOWAIT), 0);
	CHECK_INT(proc_maps_name(child, "proc_parse"), -ESRCH);
	CHECK_INT(proc_maps_other(child, "heaptop-", "other"), -ESRCH);
	CHECK_INT(proc_maps_missing(child, "proc_parse", 1), 1);
	CHECK_INT(proc_maps_missing(getpid(), "proc_parse", 1), 0);
	CHECK_INT(proc_maps_missing(getpid(), "unit", 1), 2);
	CHECK_INT(waitpid(child, NULL, 0), child);
}

static void child_note(void *ctx, pid_t child)
{
	pid_t *last = ctx;

	last[0]++;
	last[1] = child;
}

TEST(children)
{
	pid_t seen[2] = { 0, 0 }, pid;

	proc_children(getpid(), child_note, seen);
	CHECK_INT(seen[0], 0);
	pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	proc_children(getpid(), child_note, seen);
	CHECK_INT(seen[0], 1);
	CHECK_INT(seen[1], pid);
	CHECK_INT(proc_maps_other(pid, "proc_p", "proc_parse"), 0);
	CHECK_INT(proc_maps_other(pid, "proc_p", "proc_pars"), 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK_INT(proc_maps_other(pid, "proc_p", "other"), -ESRCH);
	proc_children(pid, child_note, seen);
	CHECK_INT(seen[0], 1);
}

/* Files of the kernel with bytes changed, cut at any place: no crash (a sanitizer looks), no lie.
 */
TEST(parse_anything)
{
	static const char seed[] = "4211 (se)rver)" STAT_TAIL "VmRSS:\t 538 kB\nPss: 1 kB\n"
				   "NSpid:\t77 1\n7f00-7f01 r-xp 00001000 08:01 99   /lib/x.so\n";
	unsigned state = 1;

	for (int i = 0; i < 50000; i++) {
		size_t len = (state = state * 1664525u + 1013904223u) % sizeof(seed), pos = 0;
		char *copy = malloc(len + 1);
		struct proc_reading r = { 0 };
		struct proc_map m;

		memcpy(copy, seed, len);
		for (int k = 0; k < 3 && len; k++) {
			state = state * 1664525u + 1013904223u;
			copy[(state >> 8) % len] = (char)(state >> 24);
		}
		copy = realloc(copy, len + !len);
		proc_parse_stat(copy, len, &r);
		CHECK(memchr(r.comm, '\0', sizeof(r.comm)) != NULL);
		proc_parse_status(copy, len, &r);
		proc_parse_smaps_rollup(copy, len, &r);
		proc_parse_inner_pid(copy, len);
		while (proc_parse_map(copy, len, &pos, &m))
			CHECK(pos <= len);
		free(copy);
	}
}

TEST(read_ourselves)
{
	struct proc_reading r;
	uint64_t ticks = 0;

	CHECK_INT(proc_read(getpid(), true, &r), 0);
	CHECK_INT(r.ppid, getppid());
	CHECK_INT(r.uid, getuid());
	CHECK(r.threads >= 1); /* a sanitizer has one of its own */
	CHECK(r.rss_bytes > 0 && r.hwm_bytes >= r.rss_bytes / 2);
	CHECK(r.state == 'R' || r.state == 'S' || r.state == 'D');
	CHECK_INT(proc_start_ticks(getpid(), &ticks), 0);
	CHECK_INT(ticks, r.start_ticks);
	CHECK_INT(proc_cpu_ns(getpid(), &ticks), 0);
	CHECK_INT(proc_cpu_ns(0, &ticks), -ESRCH);
	CHECK_INT(proc_read(getpid(), false, &r), 0);
	CHECK(!r.have_pss);
}

#define GROUPS 1500 /* their numbers take 16 KB of status, in front of all that is read there */

/* A child of a user with that many groups. 0: we may not. */
static pid_t grouped_start(void)
{
	static gid_t groups[GROUPS];
	int ready[2];
	char done = 0;
	pid_t pid;

	for (int i = 0; i < GROUPS; i++)
		groups[i] = 4000000000u + (gid_t)i;
	CHECK_INT(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		done = setgroups(GROUPS, groups) == 0 ? 'y' : 'n';
		if (write(ready[1], &done, 1) == 1)
			pause();
		_exit(1);
	}
	CHECK_INT(read(ready[0], &done, 1), 1);
	close(ready[0]);
	close(ready[1]);
	if (done == 'y')
		return pid;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}

TEST(a_user_of_many_groups)
{
	pid_t pid = grouped_start();
	struct proc_reading r;
	char path[40];
	long n = 0;

	if (pid == 0)
		SKIP("setgroups is not permitted");
	CHECK_INT(proc_read(pid, false, &r), 0);
	CHECK(r.hwm_bytes > 0 && r.threads == 1);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	CHECK(proc_status_number(path, "\nNSpid:", true, &n) && n == pid);
	CHECK(proc_status_number(path, "\nSeccomp:", false, &n));
	CHECK(!proc_is_ending(pid));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(read_the_dead)
{
	struct proc_reading r;
	uint64_t ticks = 0;
	siginfo_t info;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	CHECK_INT(proc_read(pid, false, &r), -ESRCH);
	CHECK_INT(proc_start_ticks(pid, &ticks), -ESRCH);
	waitpid(pid, NULL, 0);
	CHECK_INT(proc_read(pid, false, &r), -ESRCH);
	CHECK_INT(proc_start_ticks(pid, &ticks), -ESRCH);
	CHECK_INT(ticks, 0);
}

TEST(slurp)
{
	char buf[6];

	CHECK_INT(proc_file_read("/proc/self/stat", buf, sizeof(buf)), 5);
	CHECK_INT(buf[5], 0);
	CHECK_INT(proc_file_read("/nonexistent/file", buf, sizeof(buf)), -ENOENT);
	CHECK_STR(buf, "");
	CHECK_INT(proc_file_read("/proc/self", buf, sizeof(buf)), -EISDIR);
	CHECK_INT(proc_file_read("/dev/null", buf, sizeof(buf)), 0);
	CHECK_INT(proc_file_read("/proc/self/stat", buf, 0), -EINVAL);
}

int main(void)
{
	RUN(stat_fields);
	RUN(stat_names);
	RUN(stat_bad);
	RUN(status_fields);
	RUN(status_missing_stays);
	RUN(pending_signals);
	RUN(ending_process);
	RUN(rollup);
	RUN(inner_pid);
	RUN(resolve_ourselves);
	RUN(the_dead_map_nothing);
	RUN(children);
	RUN(parse_anything);
	RUN(read_ourselves);
	RUN(a_user_of_many_groups);
	RUN(read_the_dead);
	RUN(slurp);
	return check_end();
}
