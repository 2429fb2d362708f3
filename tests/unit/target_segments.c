/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Listing, finding and cleaning segments, over real ones made in a directory of the test's own.
 * Long because each case is short, and all make segments in the same way.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "shm/segment.h"
#include "src/proc/proc.h"
#include "src/read/read.h"
#include "src/target/places.h"
#include "src/target/target.h"
#include "src/util/clock.h"
#include "tests/check.h"
#include "tests/unit/exec_fixture.h"

#define NOBODY	  65534
#define LIST_MAX  32
#define START_OLD 7u /* ticks at which no process of this test started */

static char dir[] = "/tmp/heaptop-segments.XXXXXX";

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void boot_id_now(uint8_t id[16])
{
	char text[64] = "";
	unsigned byte[16];

	proc_file_read("/proc/sys/kernel/random/boot_id", text, sizeof(text));
	CHECK_INT(sscanf(text, "%2x%2x%2x%2x-%2x%2x-%2x%2x-%2x%2x-%2x%2x%2x%2x%2x%2x", &byte[0],
			  &byte[1], &byte[2], &byte[3], &byte[4], &byte[5], &byte[6], &byte[7],
			  &byte[8], &byte[9], &byte[10], &byte[11], &byte[12], &byte[13], &byte[14],
			  &byte[15]),
		16);
	for (int i = 0; i < 16; i++)
		id[i] = (uint8_t)byte[i];
}

static uint64_t ticks_of(pid_t pid)
{
	uint64_t ticks = 0;

	proc_start_ticks(pid, &ticks);
	return ticks;
}

/* What differs between the segments made here; the rest is right for a process of this boot. */
struct made {
	const char *name;
	pid_t pid;
	uint64_t start_ticks, pid_namespace;
	uint32_t exec_gen, state, version;
	bool other_boot, made_long_ago, other_format;
	const char *command, *why;
	size_t command_bytes;
};

static void header_adjust(struct ht_header *h, const struct made *m)
{
	h->state = m->state;
	if (m->version)
		h->version = m->version;
	h->signature += m->other_format;
	strcpy(h->why, m->why ? m->why : "");
	if (m->command) {
		memcpy(h->command, m->command, m->command_bytes);
		h->command_bytes = (uint32_t)m->command_bytes;
	}
}

static void segment_make(const struct made *m)
{
	struct segment_identity id = { .pid = (uint32_t)m->pid,
		.uid = geteuid(),
		.depth = HT_DEPTH_DEFAULT,
		.exec_gen = m->exec_gen,
		.start_ticks = m->start_ticks,
		.pid_namespace = m->pid_namespace,
		.created_realtime_ns = m->made_long_ago ? 1 : clock_realtime_ns(),
		.created_ns = clock_monotonic_ns() };
	int fd = open(path_of(m->name), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	struct segment s;

	boot_id_now(id.boot_id);
	id.boot_id[0] ^= m->other_boot;
	CHECK(fd >= 0);
	CHECK_INT(segment_create(&s, fd, SEGMENT_FULL, &id), 0);
	close(fd);
	header_adjust(s.header, m);
	segment_unmap(&s);
}

#define MAKE(...) segment_make(&(struct made){ __VA_ARGS__ })

static void bytes_make(const char *name, const char *bytes, size_t len)
{
	int fd = open(path_of(name), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

	CHECK(write(fd, bytes, len) == (ssize_t)len);
	close(fd);
}

struct list {
	struct target_segment items[LIST_MAX];
	unsigned count;
};

static int list_visit(void *ctx, const struct target_segment *s)
{
	struct list *l = ctx;

	if (l->count < LIST_MAX)
		l->items[l->count++] = *s;
	return 0;
}

static struct list *list_now(void)
{
	static struct list l;

	l.count = 0;
	CHECK_INT(target_list(list_visit, &l), l.count);
	return &l;
}

static const struct target_segment *listed(const struct list *l, const char *name)
{
	static const struct target_segment none = { .state = (enum target_state) - 1 };

	for (unsigned i = 0; i < l->count; i++)
		if (!strcmp(l->items[i].path, path_of(name)))
			return &l->items[i];
	fprintf(stderr, "  not listed: %s\n", name);
	return &none;
}

static void empty_directory(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -f %s/*", dir);
	CHECK_INT(system(command), 0);
}

static bool there(const char *name)
{
	return access(path_of(name), F_OK) == 0;
}

/* A process that has ended and been waited for. */
static pid_t dead_pid(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

TEST(states)
{
	pid_t me = getpid(), dead = dead_pid();
	uint64_t ticks = ticks_of(me);
	const struct list *l;

	MAKE(.name = "heaptop-running", .pid = me, .start_ticks = ticks, .state = HT_STATE_RUNNING);
	MAKE(.name = "heaptop-stopped", .pid = me, .start_ticks = ticks, .state = HT_STATE_STOPPED);
	MAKE(.name = "heaptop-exited", .pid = me, .start_ticks = ticks, .state = HT_STATE_EXITED);
	MAKE(.name = "heaptop-crashed", .pid = dead, .start_ticks = ticks,
		.state = HT_STATE_RUNNING);
	MAKE(.name = "heaptop-pid-reused", .pid = me, .start_ticks = START_OLD,
		.state = HT_STATE_RUNNING);
	MAKE(.name = "heaptop-other-boot", .pid = me, .start_ticks = ticks,
		.state = HT_STATE_RUNNING, .other_boot = true);
	MAKE(.name = "heaptop-prepared", .state = HT_STATE_PREPARED);
	MAKE(.name = "heaptop-abandoned", .state = HT_STATE_PREPARED, .made_long_ago = true);
	MAKE(.name = "other-name", .pid = me, .start_ticks = ticks, .state = HT_STATE_RUNNING);
	l = list_now();
	CHECK_INT(l->count, 8);
	CHECK_INT(listed(l, "heaptop-running")->state, TARGET_RUNNING);
	CHECK_INT(listed(l, "heaptop-stopped")->state, TARGET_RUNNING);
	CHECK_INT(listed(l, "heaptop-exited")->state, TARGET_EXITED);
	CHECK_INT(listed(l, "heaptop-crashed")->state, TARGET_DEAD);
	CHECK_INT(listed(l, "heaptop-pid-reused")->state, TARGET_DEAD);
	CHECK_INT(listed(l, "heaptop-other-boot")->state, TARGET_DEAD);
	CHECK_INT(listed(l, "heaptop-prepared")->state, TARGET_RUNNING);
	CHECK_INT(listed(l, "heaptop-abandoned")->state, TARGET_DEAD);
	CHECK_INT(listed(l, "heaptop-running")->pid, me);
	CHECK(listed(l, "heaptop-running")->memory_bytes >= HT_HEADER_BYTES);
	empty_directory();
}

/* Where its own pid namespace hides a process, it is not taken for dead. */
TEST(other_pid_namespaces)
{
	bool sees_all = proc_pid_namespace() == PROC_PID_NAMESPACE_FIRST;
	pid_t me = getpid();
	uint64_t ticks = ticks_of(me);
	const struct list *l;

	MAKE(.name = "heaptop-ours", .pid = me, .start_ticks = ticks, .state = HT_STATE_RUNNING,
		.pid_namespace = proc_pid_namespace());
	MAKE(.name = "heaptop-gone", .pid = me, .start_ticks = ticks, .state = HT_STATE_RUNNING,
		.pid_namespace = 1);
	l = list_now();
	CHECK_INT(listed(l, "heaptop-ours")->state, TARGET_RUNNING);
	CHECK_INT(listed(l, "heaptop-ours")->process, me);
	CHECK_INT(listed(l, "heaptop-gone")->state, sees_all ? TARGET_DEAD : TARGET_ELSEWHERE);
	CHECK_INT(target_clean(), sees_all);
	CHECK(there("heaptop-ours"));
	CHECK_INT(there("heaptop-gone"), !sees_all);
	empty_directory();
}

TEST(images_of_one_process)
{
	pid_t me = getpid();
	uint64_t ticks = ticks_of(me);
	struct target_segment found;
	char message[TARGET_MESSAGE_MAX];
	const struct list *l;

	/* A long run of execs, made out of order. */
	for (unsigned i = 0; i < 12; i++) {
		char name[32];

		snprintf(name, sizeof(name), "heaptop-image-%u", (i * 5) % 12);
		MAKE(.name = name, .pid = me, .start_ticks = ticks, .exec_gen = (i * 5) % 12,
			.state = HT_STATE_RUNNING);
	}
	l = list_now();
	CHECK_INT(l->count, 12);
	for (unsigned i = 0; i < l->count; i++)
		CHECK_INT(l->items[i].state,
			l->items[i].exec_gen == 11 ? TARGET_RUNNING : TARGET_EXITED);
	CHECK_INT(target_find(me, &found, message), 0);
	CHECK_STR(found.path, path_of("heaptop-image-11"));
	empty_directory();
}

/* The process is gone without a word: its last image crashed, those before it had ended by exec. */
TEST(images_of_one_crash)
{
	const struct list *l;

	for (unsigned i = 0; i < 3; i++) {
		char name[32];

		snprintf(name, sizeof(name), "heaptop-image-%u", i);
		MAKE(.name = name, .pid = getpid(), .start_ticks = START_OLD, .exec_gen = i,
			.state = HT_STATE_RUNNING);
	}
	l = list_now();
	CHECK_INT(l->count, 3);
	CHECK_INT(listed(l, "heaptop-image-0")->state, TARGET_EXITED);
	CHECK_INT(listed(l, "heaptop-image-1")->state, TARGET_EXITED);
	CHECK_INT(listed(l, "heaptop-image-2")->state, TARGET_DEAD);
	empty_directory();
}

TEST(command_is_one_clean_line)
{
	static const char argv[] = "./app\0--flag\0a\033[31mb\nc";

	MAKE(.name = "heaptop-argv", .pid = getpid(), .state = HT_STATE_RUNNING, .command = argv,
		.command_bytes = sizeof(argv));
	CHECK_STR(listed(list_now(), "heaptop-argv")->command, "./app --flag a?[31mb c");
	empty_directory();
}

TEST(unreadable_ones_are_listed_with_the_reason)
{
	const struct list *l;

	MAKE(.name = "heaptop-version", .pid = getpid(), .state = HT_STATE_RUNNING,
		.version = HT_VERSION + 1);
	MAKE(.name = "heaptop-cut", .pid = getpid(), .start_ticks = ticks_of(getpid()),
		.state = HT_STATE_RUNNING);
	CHECK_INT(truncate(path_of("heaptop-cut"), HT_HEADER_BYTES), 0);
	bytes_make("heaptop-garbage", "\1\2\3 no segment", 12);
	bytes_make("heaptop-empty", "", 0);
	CHECK_INT(symlink("/etc/passwd", path_of("heaptop-link")), 0);
	CHECK_INT(mkdir(path_of("heaptop-directory"), 0700), 0);
	l = list_now();
	CHECK_INT(l->count, 4); /* foreign files are ignored */
	for (unsigned i = 0; i < l->count; i++) {
		CHECK_INT(l->items[i].state, TARGET_UNREADABLE);
		CHECK(l->items[i].why[0] != '\0');
	}
	CHECK(strstr(listed(l, "heaptop-version")->why, "format") != NULL);
	/* Who made them may still run: they are not cleaned away. */
	CHECK_INT(target_clean(), 0);
	CHECK(there("heaptop-version") && there("heaptop-cut") && there("heaptop-garbage"));
	rmdir(path_of("heaptop-directory"));
	empty_directory();
}

/* A crash, and then another heaptop was installed: it cannot read what is left, but remove it. */
TEST(another_format_is_cleaned_once_its_process_has_ended)
{
	MAKE(.name = "heaptop-old", .pid = getpid(), .start_ticks = ticks_of(getpid()) + 1,
		.state = HT_STATE_RUNNING, .other_format = true);
	MAKE(.name = "heaptop-in-use", .pid = getpid(), .start_ticks = ticks_of(getpid()),
		.state = HT_STATE_RUNNING, .other_format = true);
	MAKE(.name = "heaptop-viewed", .pid = getpid(), .start_ticks = ticks_of(getpid()) + 1,
		.state = HT_STATE_RUNNING, .other_format = true);
	int viewer = open(path_of("heaptop-viewed"), O_RDONLY);

	CHECK_INT(flock(viewer, LOCK_SH), 0);
	CHECK(strstr(listed(list_now(), "heaptop-old")->why, "its process has ended") != NULL);
	CHECK(strstr(listed(list_now(), "heaptop-in-use")->why, "has ended") == NULL);
	CHECK_INT(target_clean(), 1);
	CHECK(!there("heaptop-old") && there("heaptop-in-use") && there("heaptop-viewed"));
	close(viewer);
	empty_directory();
}

/* As the library names it (preload/attach.c): the first namespace goes without saying. */
static void name_as_made(char out[96], uint64_t pid_namespace, uint64_t ticks)
{
	char inside[32] = "";

	if (pid_namespace != PROC_PID_NAMESPACE_FIRST)
		snprintf(inside, sizeof(inside), ".%" PRIu64, pid_namespace);
	snprintf(out, 96, "heaptop-%d%s-%" PRIu64 "-0", getpid(), inside, ticks);
}

TEST(one_in_the_making_is_told_from_what_is_left_of_one)
{
	const struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	char making[96], gone[96], elsewhere[96];
	const struct list *l;

	name_as_made(making, proc_pid_namespace(), ticks_of(getpid()));
	name_as_made(gone, proc_pid_namespace(), ticks_of(getpid()) + 1);
	name_as_made(elsewhere, 7, ticks_of(getpid()) + 1);
	bytes_make(making, "", 0);
	bytes_make(gone, "\0\0\0\0\0\0\0\0", 8);
	bytes_make(elsewhere, "", 0);
	bytes_make("heaptop-0123456789abcdef", "", 0);
	l = list_now();
	CHECK_INT(l->count, 4);
	CHECK_INT(listed(l, making)->process, getpid());
	CHECK(!listed(l, making)->rest && listed(l, gone)->rest);
	CHECK_STR(listed(l, making)->why, "still being created");
	CHECK(strstr(listed(l, gone)->why, "--clean") != NULL);
	CHECK(!listed(l, elsewhere)->rest && !listed(l, "heaptop-0123456789abcdef")->rest);
	/* To make one takes no time. */
	CHECK_INT(utimensat(AT_FDCWD, path_of(elsewhere), old, 0), 0);
	CHECK_INT(target_clean(), 2);
	CHECK(there(making) && there("heaptop-0123456789abcdef"));
	empty_directory();
}

static int stop_visit(void *ctx, const struct target_segment *s)
{
	return ++*(int *)ctx;
}

TEST(a_visitor_can_stop)
{
	int visited = 0;

	MAKE(.name = "heaptop-1", .pid = getpid(), .state = HT_STATE_RUNNING);
	MAKE(.name = "heaptop-2", .pid = getpid(), .state = HT_STATE_RUNNING);
	CHECK_INT(target_list(stop_visit, &visited), 2);
	CHECK_INT(visited, 1);
	empty_directory();
}

TEST(no_directory)
{
	struct list l = { .count = 0 };

	setenv("HEAPTOP_DIR", "/no/such/directory", 1);
	CHECK_INT(target_list(list_visit, &l), 0);
	CHECK_INT(target_clean(), 0);
	setenv("HEAPTOP_DIR", "/etc/passwd", 1);
	CHECK_INT(target_list(list_visit, &l), -ENOTDIR);
	CHECK_INT(target_clean(), -ENOTDIR);
	setenv("HEAPTOP_DIR", dir, 1);
	CHECK_INT(target_list(list_visit, &l), 0);
}

TEST(clean_keeps_what_is_used)
{
	pid_t me = getpid(), dead = dead_pid();
	uint64_t ticks = ticks_of(me);
	char message[READ_MESSAGE_MAX];
	struct read_segment *held;

	MAKE(.name = "heaptop-running", .pid = me, .start_ticks = ticks, .state = HT_STATE_RUNNING);
	MAKE(.name = "heaptop-exited", .pid = dead, .start_ticks = ticks, .state = HT_STATE_EXITED);
	MAKE(.name = "heaptop-crashed", .pid = dead, .start_ticks = ticks,
		.state = HT_STATE_RUNNING);
	MAKE(.name = "heaptop-watched", .pid = dead, .start_ticks = ticks,
		.state = HT_STATE_RUNNING);
	held = read_open(path_of("heaptop-watched"), message);
	CHECK(held != NULL);
	CHECK_INT(read_viewer_lock(held), 0);
	CHECK_INT(target_clean(), 2);
	CHECK(there("heaptop-running") && there("heaptop-watched"));
	CHECK(!there("heaptop-exited") && !there("heaptop-crashed"));
	read_close(held);
	CHECK_INT(target_clean(), 1);
	CHECK(!there("heaptop-watched") && there("heaptop-running"));
	empty_directory();
}

static pid_t child_start(void)
{
	return exec_start("/bin/sleep", (char *[]){ (char[]){ "sleep" }, (char[]){ "300" }, NULL });
}

static void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* target_find fails with `want` and a one-line message that says `part`. */
static bool not_found(pid_t pid, int want, const char *part)
{
	char message[TARGET_MESSAGE_MAX] = "";
	struct target_segment found;
	int err = target_find(pid, &found, message);
	bool good = err == want && strstr(message, part) && !strchr(message, '\n');

	if (!good)
		fprintf(stderr, "  error %d, want %d \"%s\" in: %s\n", err, want, part, message);
	return good;
}

TEST(find_the_running_one)
{
	pid_t me = getpid();
	char message[TARGET_MESSAGE_MAX];
	struct target_segment found;

	MAKE(.name = "heaptop-1", .pid = me, .start_ticks = START_OLD, .state = HT_STATE_RUNNING);
	MAKE(.name = "heaptop-2", .pid = me, .start_ticks = ticks_of(me),
		.state = HT_STATE_RUNNING);
	MAKE(.name = "heaptop-3", .pid = me, .start_ticks = START_OLD, .state = HT_STATE_EXITED);
	CHECK_INT(target_find(me, &found, message), 0);
	CHECK_STR(found.path, path_of("heaptop-2"));
	CHECK_INT(found.start_ticks, ticks_of(me));
	empty_directory();
}

/* Another viewer watches the process from outside: that is no recording of it. */
TEST(what_is_watched_from_outside_is_not_recorded)
{
	pid_t me = getpid();
	char message[READ_MESSAGE_MAX];
	struct read_segment *held;

	MAKE(.name = "heaptop-outside", .pid = me, .start_ticks = ticks_of(me),
		.state = HT_STATE_PREPARED, .why = HT_WHY_OUTSIDE);
	CHECK_INT(listed(list_now(), "heaptop-outside")->state, TARGET_OUTSIDE);
	CHECK(not_found(me, -ENOENT, "it was not started under heaptop"));
	held = read_open(path_of("heaptop-outside"), message);
	CHECK(held != NULL);
	CHECK_INT(read_viewer_lock(held), 0);
	CHECK_INT(target_clean(), 0);
	read_close(held); /* the viewer was killed */
	CHECK_INT(target_clean(), 1);
	empty_directory();
}

TEST(find_says_why_not)
{
	pid_t pid = child_start();

	CHECK(not_found(
		pid, -ENOENT, "was not started under heaptop; start it with: heaptop -- CMD"));
	CHECK(not_found(pid, -ENOENT, "LD_PRELOAD="));
	child_end(pid);
	CHECK(not_found(pid, -ESRCH, "no such process"));
	MAKE(.name = "heaptop-left", .pid = pid, .start_ticks = START_OLD,
		.state = HT_STATE_RUNNING);
	CHECK(not_found(pid, -ESRCH, "has ended; see what it left with: heaptop -r "));
	CHECK(not_found(pid, -ESRCH, path_of("heaptop-left")));
	empty_directory();
}

TEST(find_says_when_it_cannot_look)
{
	pid_t pid = child_start();

	setenv("HEAPTOP_DIR", "/etc/passwd", 1);
	CHECK(not_found(pid, -ENOTDIR, "cannot read the directory of segments: Not a directory"));
	setenv("HEAPTOP_DIR", dir, 1);
	child_end(pid);
}

TEST(find_says_zombies_have_ended)
{
	pid_t pid = child_start();
	siginfo_t info;

	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	CHECK(not_found(pid, -ESRCH, "no such process"));
	waitpid(pid, NULL, 0);
}

TEST(find_names_the_other_user)
{
	pid_t parent = getpid(), pid;
	int status = -1;

	if (geteuid())
		SKIP("needs root, to become another user");
	pid = fork();
	if (pid == 0) {
		bool good =
			!setgroups(0, NULL) && !setgid(NOBODY) && !setuid(NOBODY) &&
			!setenv("HEAPTOP_DIR", "/no/such/directory", 1) &&
			not_found(parent, -EPERM, "belongs to user root; run heaptop as that user");

		_exit(!good);
	}
	waitpid(pid, &status, 0);
	CHECK_INT(status, 0);
}

/* It has mounts of its own, which are ours all the same. */
static pid_t stranger(int *held)
{
	char ready;
	int up[2], down[2];
	pid_t pid;

	CHECK_INT(pipe2(up, O_CLOEXEC), 0);
	CHECK_INT(pipe2(down, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		close(down[1]);
		ready = unshare(CLONE_NEWNS) == 0;
		if (write(up[1], &ready, 1) != 1 || read(down[0], &ready, 1) != 0)
			_exit(1);
		_exit(0);
	}
	close(down[0]);
	close(up[1]);
	if (read(up[0], &ready, 1) != 1)
		ready = 0;
	close(up[0]);
	*held = down[1];
	return ready ? pid : 0;
}

struct search {
	const char *name;
	unsigned found;
};

static int search_visit(void *ctx, const struct target_segment *s)
{
	struct search *search = ctx;

	search->found += strcmp(strrchr(s->path, '/') + 1, search->name) == 0;
	return 0;
}

TEST(a_directory_that_is_ours_and_anothers_is_read_once)
{
	char path[64];
	struct search search = { .name = path + strlen("/tmp/") };
	int held;
	pid_t pid = stranger(&held);

	if (pid == 0)
		SKIP("no mount namespace can be made");
	snprintf(path, sizeof(path), "/tmp/heaptop-%d-twice", (int)getpid());
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	setenv("HEAPTOP_DIR", "/tmp", 1);
	places_add(pid);
	target_list(search_visit, &search); /* others may have left files there */
	CHECK_INT(search.found, 1);
	unlink(path);
	setenv("HEAPTOP_DIR", dir, 1);
	close(held);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	if (!mkdtemp(dir) || setenv("HEAPTOP_DIR", dir, 1))
		return 1;
	RUN(states);
	RUN(other_pid_namespaces);
	RUN(images_of_one_process);
	RUN(images_of_one_crash);
	RUN(command_is_one_clean_line);
	RUN(unreadable_ones_are_listed_with_the_reason);
	RUN(another_format_is_cleaned_once_its_process_has_ended);
	RUN(one_in_the_making_is_told_from_what_is_left_of_one);
	RUN(a_visitor_can_stop);
	RUN(no_directory);
	RUN(clean_keeps_what_is_used);
	RUN(find_the_running_one);
	RUN(what_is_watched_from_outside_is_not_recorded);
	RUN(find_says_why_not);
	RUN(find_says_when_it_cannot_look);
	RUN(find_says_zombies_have_ended);
	RUN(find_names_the_other_user);
	RUN(a_directory_that_is_ours_and_anothers_is_read_once);
	rmdir(dir);
	return check_end();
}
