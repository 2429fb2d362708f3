/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Room for a copy of a process, on machines that are made of files: /proc and cgroups. */
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "src/leak/access/headroom.h"
#include "tests/check.h"

#define PID 77
#define MB  (UINT64_C(1) << 20)

static char root[64];

static void put(const char *path, const char *text)
{
	char whole[512];
	FILE *f;

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	for (char *p = strchr(whole + strlen(root) + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(whole, 0700);
		*p = '/';
	}
	f = fopen(whole, "w");
	CHECK(f != NULL);
	if (!f)
		return;
	fputs(text, f);
	fclose(f);
}

static void put_number(const char *path, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu\n", (unsigned long long)number);
	put(path, text);
}

/* A machine with 4 GB to spare and a process of 100 MB in two cgroups without limits. */
static void machine_make(void)
{
	snprintf(root, sizeof(root), "/tmp/heaptop-room-XXXXXX");
	CHECK(mkdtemp(root) != NULL);
	put("proc/77/status", "Name:\tx\nVmData:\t  120000 kB\nRssAnon:\t  102400 kB\n"
			      "VmSwap:\t       0 kB\nCapEff:\t0000000000000000\n");
	put("proc/77/limits", "Limit                     Soft Limit           Hard Limit\n"
			      "Max processes             4096                 8192    processes\n");
	put("proc/77/cgroup", "0::/above/own\n");
	put("proc/loadavg", "0.10 0.20 0.30 3/400 12345\n");
	put("proc/meminfo", "MemTotal:  8000000 kB\nMemAvailable:  4194304 kB\n"
			    "CommitLimit:  1000000 kB\nCommitted_AS:  500000 kB\n");
	put("proc/sys/vm/overcommit_memory", "0\n");
	put("proc/self/mountinfo",
		"25 1 0:2 / /sys rw - sysfs sysfs rw\n"
		"30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
	put("sys/fs/cgroup/above/memory.max", "max\n");
	put("sys/fs/cgroup/above/own/memory.max", "max\n");
	put("sys/fs/cgroup/above/own/memory.stat", "anon 5\ninactive_file 0\n");
}

static void machine_end(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	CHECK_INT(system(command), 0);
}

static const char *look(void)
{
	static struct leak_headroom r;

	return leak_headroom_check(&r, root, PID);
}

#define CHECK_ROOM(expected)                                                                       \
	do {                                                                                       \
		const char *why = look();                                                          \
		CHECK_STR(why ? why : "room", expected);                                           \
	} while (0)

TEST(a_machine_without_limits_has_room)
{
	machine_make();
	CHECK_ROOM("room");
	put("proc/meminfo", "MemTotal: 1 kB\nMemAvailable:  168000 kB\n");
	CHECK_ROOM("room"); /* 64 MB and all of its 100 are needed */
	put("proc/meminfo", "MemTotal: 1 kB\nMemAvailable:  167000 kB\n");
	CHECK_ROOM("the machine has too little memory left");
	machine_end();
}

static void status_large(void)
{
	put("proc/77/status", "Name:\tx\nVmData:\t  12000000 kB\nRssAnon:\t  8388608 kB\n"
			      "VmSwap:\t       0 kB\nCapEff:\t0000000000000000\n");
}

TEST(a_large_program_is_not_written_at_once)
{
	machine_make();
	status_large(); /* 8 GB, of which a quarter must fit */
	put("proc/meminfo", "MemTotal: 1 kB\nMemAvailable:  2200000 kB\n");
	CHECK_ROOM("room");
	put("proc/meminfo", "MemTotal: 1 kB\nMemAvailable:  2100000 kB\n");
	CHECK_ROOM("the machine has too little memory left");
	put("proc/meminfo", "MemTotal: 1 kB\nMemAvailable:  2200000 kB\n");
	put("sys/fs/cgroup/above/own/memory.oom.group", "1\n"); /* all are killed together */
	CHECK_ROOM("the machine has too little memory left");
	put("proc/meminfo", "MemTotal: 1 kB\nMemAvailable:  8500000 kB\n");
	CHECK_ROOM("room");
	machine_end();
}

TEST(limits_of_a_cgroup_and_of_those_above_count)
{
	machine_make();
	put_number("sys/fs/cgroup/above/memory.max", 279 * MB);
	put_number("sys/fs/cgroup/above/memory.current", 102 * MB);
	CHECK_ROOM("room"); /* 64, all of its 100 and an eighth of them are needed */
	put_number("sys/fs/cgroup/above/memory.current", 103 * MB);
	CHECK_ROOM("its cgroup has too little memory left");
	put("sys/fs/cgroup/above/memory.stat", "anon 5\ninactive_file 20971520\n");
	CHECK_ROOM("room");
	put_number("sys/fs/cgroup/above/own/memory.high", 270 * MB);
	put_number("sys/fs/cgroup/above/own/memory.current", 100 * MB);
	CHECK_ROOM("its cgroup has too little memory left");
	machine_end();
}

TEST(cgroups_of_version_1)
{
	machine_make();
	put("proc/77/cgroup", "4:memory:/box/a\n3:cpu,pids:/p\n1:name=systemd:/\n");
	put("proc/self/mountinfo",
		"30 25 0:26 /box /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
		"31 25 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,cpu,pids\n");
	put_number("sys/fs/cgroup/memory/a/memory.limit_in_bytes", 9223372036854771712u);
	put_number("sys/fs/cgroup/memory/a/memory.usage_in_bytes", 100 * MB);
	put_number("sys/fs/cgroup/memory/memory.limit_in_bytes", 260 * MB);
	put_number("sys/fs/cgroup/memory/memory.usage_in_bytes", 100 * MB);
	put_number("sys/fs/cgroup/pids/p/pids.current", 100);
	put("sys/fs/cgroup/pids/p/pids.max", "max\n");
	CHECK_ROOM("its cgroup has too little memory left");
	put("sys/fs/cgroup/memory/memory.stat", "cache 9\ntotal_inactive_file 31457280\n");
	CHECK_ROOM("room");
	put("sys/fs/cgroup/pids/p/pids.max", "110\n");
	CHECK_ROOM("its cgroup allows few more processes (pids.max)");
	machine_end();
}

TEST(a_cgroup_that_cannot_be_seen_is_no_room)
{
	machine_make();
	put("proc/77/cgroup", "0::/../other\n");
	CHECK_ROOM("the limits of its cgroups are not visible");
	put("proc/77/cgroup", "0::/gone\n");
	CHECK_ROOM("the limits of its cgroups are not visible");
	put("proc/77/cgroup", "0::/\n");
	CHECK_ROOM("room");
	put("proc/self/mountinfo", "25 1 0:2 / /sys rw - sysfs sysfs rw\n");
	CHECK_ROOM("the limits of its cgroups are not visible"); /* not the machine's namespace */
	machine_end();
}

TEST(promised_memory)
{
	machine_make();
	put("proc/sys/vm/overcommit_memory", "2\n");
	CHECK_ROOM("room");
	put("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:  4194304 kB\nCommitLimit:  1000000 kB\n"
			    "Committed_AS:  800000 kB\n");
	CHECK_ROOM("memory overcommit is off (vm.overcommit_memory=2), and little is left");
	machine_end();
}

TEST(processes_of_a_user)
{
	machine_make();
	put("proc/loadavg", "0.10 0.20 0.30 3/4090 12345\n");
	CHECK_ROOM("it may create few more processes (RLIMIT_NPROC)");
	put("proc/77/limits", "Max processes             unlimited            unlimited\n");
	CHECK_ROOM("room");
	put("proc/77/limits", "Max processes             4096                 8192    processes\n");
	put("proc/77/status", "Name:\tx\nRssAnon:\t  102400 kB\nCapEff:\t000001ffffffffff\n");
	CHECK_ROOM("room"); /* there is no limit for it */
	machine_end();
}

/* A process in the copy's place, watched: how it ended, 0 if it had to be ended here. */
static int watched(struct leak_headroom *r)
{
	pid_t copy = fork();
	int status = 0;

	if (copy == 0) {
		pause();
		_exit(1);
	}
	CHECK(leak_headroom_watch(r, copy));
	if (leak_headroom_is_short(r))
		CHECK(waitpid(copy, &status, 0) == copy);
	CHECK(leak_headroom_unwatch(r) == (status != 0));
	if (status == 0)
		CHECK(kill(copy, SIGKILL) == 0 && waitpid(copy, NULL, 0) == copy);
	return status;
}

TEST(a_copy_goes_when_memory_gets_short)
{
	static struct leak_headroom r;

	machine_make();
	CHECK(leak_headroom_check(&r, root, PID) == NULL);
	CHECK_INT(watched(&r), 0);
	put_number("sys/fs/cgroup/above/memory.max", 200 * MB);
	put_number("sys/fs/cgroup/above/memory.current", 170 * MB);
	CHECK_INT(watched(&r), SIGKILL);
	put_number("sys/fs/cgroup/above/memory.current", 100 * MB);
	put("proc/meminfo", "MemTotal: 1 kB\nMemAvailable:  30000 kB\n");
	CHECK_INT(leak_headroom_is_short(&r), true);
	machine_end();
	CHECK(!leak_headroom_unwatch(&(struct leak_headroom){ 0 }));
}

int main(void)
{
	RUN(a_machine_without_limits_has_room);
	RUN(limits_of_a_cgroup_and_of_those_above_count);
	RUN(a_large_program_is_not_written_at_once);
	RUN(cgroups_of_version_1);
	RUN(a_cgroup_that_cannot_be_seen_is_no_room);
	RUN(promised_memory);
	RUN(processes_of_a_user);
	RUN(a_copy_goes_when_memory_gets_short);
	return check_end();
}
