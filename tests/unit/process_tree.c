/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process through its life: newer images, children of the launch, and what is cleared away. The
 * segments are made by hand, and say that they are this process's or some dead one's. Long because
 * all of its cases share these segments.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <signal.h>
#include <sys/wait.h>
#include "src/proc/proc.h"
#include "src/target/prepare.h"
#include "src/run/process_tree.h"
#include "tests/unit/launch_fixture.h"

#define FAMILY	 0xfa311e5ull
#define PID_GONE 0x3fffff0 /* above what Linux gives out; this and those after it */

static struct process_tree *watch;
static unsigned threads_made;

/* Takes the place of libc's: a session has a thread. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	threads_made++;
	return real(thread, attr, start, arg);
}

/* What differs between segments. */
struct image {
	uint32_t pid; /* 0: this process */
	uint32_t exec_gen, state;
	uint64_t family;
};

/* Makes a segment; its path lasts until the next but three. */
static const char *image_make(const struct image *i)
{
	static char paths[4][256];
	static unsigned next;
	char *path = paths[next++ % 4], message[TARGET_MESSAGE_MAX] = "";
	struct prepared *p = prepare_segment(16, message);
	struct segment s;

	if (!p) {
		printf("not ok - fixture: %s\n", message);
		exit(1);
	}
	snprintf(path, sizeof(paths[0]), "%s", prepare_path(p));
	prepare_bind(p, i->pid ? (pid_t)i->pid : getpid());
	prepare_end(p, false);
	if (!launch_map(&s, path))
		exit(1);
	if (i->pid)
		s.header->pid = i->pid;
	s.header->exec_gen = i->exec_gen;
	s.header->state = i->state;
	s.header->family = i->family;
	memcpy(s.header->command, "image", 6);
	s.header->command[5] = (char)('0' + i->exec_gen);
	s.header->command_bytes = 7;
	segment_unmap(&s);
	return path;
}

static const struct image first_image = { 0, 0, HT_STATE_RUNNING, FAMILY };

static void begin_as(const struct image *i, bool keep, pid_t pid)
{
	const struct process_tree_options o = {
		.family = FAMILY, .keep_children = keep, .session.pid = pid
	};
	char message[READ_MESSAGE_MAX] = "";
	struct session *s = session_open(image_make(i), &o.session, message);

	watch = s ? process_tree_new(s, &o) : NULL;
	if (!watch) {
		printf("not ok - fixture: %s\n", message);
		exit(1);
	}
}

static void begin_with(const struct image *i, bool keep)
{
	begin_as(i, keep, 0);
}

static void end(void)
{
	process_tree_free(watch);
	launch_dir_files(true);
}

static uint32_t generation(void)
{
	return session_identity(process_tree_session(watch))->exec_gen;
}

TEST(nothing_new)
{
	begin_with(&first_image, false);
	CHECK(!process_tree_poll(watch));
	CHECK(!process_tree_poll(watch));
	CHECK_INT(generation(), 0);
	end();
	process_tree_free(NULL);
}

TEST(exec)
{
	const struct image second = { 0, 1, HT_STATE_RUNNING, FAMILY };

	begin_with(&first_image, false);
	CHECK(!process_tree_poll(watch));
	image_make(&second);
	CHECK(process_tree_poll(watch));
	CHECK_INT(generation(), 1);
	CHECK(!process_tree_poll(watch));
	end();
}

#define PF_EXITING 4u /* <linux/sched.h> */

/* A thread that was joined is listed until it has gone. */
static bool is_thread(const char *id)
{
	char path[64], line[512] = "";
	const char *rest;
	unsigned flags = PF_EXITING;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/stat", id);
	f = fopen(path, "r");
	if (f && fgets(line, sizeof(line), f) && (rest = strrchr(line, ')')) != NULL)
		(void)sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %u", &flags);
	if (f)
		fclose(f);
	return !(flags & PF_EXITING);
}

static bool is_entry(const char *name)
{
	return name[0] != '.';
}

static unsigned entries(const char *folder, bool (*counts)(const char *name))
{
	DIR *d = opendir(folder);
	struct dirent *e;
	unsigned count = 0;

	while (d && (e = readdir(d)))
		count += is_entry(e->d_name) && counts(e->d_name);
	if (d)
		closedir(d);
	return count;
}

/* What this process holds: its descriptors and threads. */
static unsigned held(void)
{
	return entries("/proc/self/fd", is_entry) + entries("/proc/self/task", is_thread);
}

#define IMAGES 80u /* more than a watch keeps */

static void images_pass(unsigned first)
{
	for (uint32_t i = first; i < first + IMAGES; i++) {
		const struct image next = { 0, i, HT_STATE_RUNNING, FAMILY };

		image_make(&next);
		CHECK(process_tree_poll(watch));
		CHECK_INT(generation(), i);
	}
}

/* On the screen: nothing is left of the images in between, and of the first only what new
 * processes look for; a snapshot that is still shown stays whole. */
TEST(many_execs_hold_nothing)
{
	struct snapshot *frozen;
	unsigned before;

	begin_with(&first_image, false);
	images_pass(1);
	before = held();
	CHECK_INT(launch_dir_files(false), 2);
	frozen = session_tick(process_tree_session(watch));
	images_pass(1 + IMAGES);
	CHECK(frozen->command[0] == 'i' && frozen->nsites == 0);
	CHECK(held() > before);
	snapshot_unref(frozen);
	CHECK_INT(held(), before);
	CHECK_INT(launch_dir_files(false), 2);
	process_tree_remove(watch, false);
	CHECK_INT(launch_dir_files(false), 1); /* the one that runs */
	end();
}

/* For a report: the first ones are kept, and the report says how many are not. */
TEST(many_execs_are_counted)
{
	struct snapshot *s;
	unsigned before = held();

	begin_with(&first_image, true);
	images_pass(1);
	process_tree_poll_last(watch);
	s = process_tree_final(watch, (uint64_t)120 * 1000000000, true);
	CHECK_INT(s->nchildren, 64);
	CHECK_STR(
		s->notice, "this report leaves out 16 more children and earlier images that ended");
	snapshot_unref(s);
	process_tree_remove(watch, false);
	CHECK_INT(launch_dir_files(false), 1);
	end();
	CHECK_INT(held(), before);
}

static bool is_any(void *ctx, struct session *s)
{
	(*(unsigned *)ctx)++;
	return true;
}

/* For a recording: those that are written make room for others, and leave nothing. */
TEST(released)
{
	const struct process_tree_options o = {
		.family = FAMILY, .keep_children = true, .release_ended = true
	};
	char message[READ_MESSAGE_MAX] = "";
	unsigned asked = 0, before;

	watch = process_tree_new(session_open(image_make(&first_image), &o.session, message), &o);
	before = held();
	images_pass(1);
	process_tree_release(watch, is_any, &asked);
	CHECK_INT(asked, 64);
	CHECK_INT(process_tree_left_out(watch), 16);
	images_pass(1 + IMAGES);
	CHECK_INT(process_tree_left_out(watch), 32);
	process_tree_release(watch, is_any, &asked);
	CHECK_INT(asked, 128);
	CHECK(held() > before); /* the first one's segment, for new processes, */
	CHECK_INT(launch_dir_files(false), 2); /* which stays, and the one that runs */
	end();
}

/* A report keeps them to its end. */
TEST(not_released)
{
	unsigned asked = 0;

	begin_with(&first_image, true);
	images_pass(1);
	process_tree_release(watch, is_any, &asked);
	CHECK_INT(asked, 0);
	end();
}

/* Where there is no room for it, a child that runs is left alone. */
TEST(a_running_child_too_many)
{
	const struct image child = { (uint32_t)getppid(), 0, HT_STATE_RUNNING, FAMILY };
	const char *path;

	begin_with(&first_image, true);
	images_pass(1);
	path = image_make(&child);
	CHECK(!process_tree_poll(watch));
	CHECK_INT(access(path, F_OK), 0);
	end();
}

/* Two of them between two looks: the newest is shown. */
TEST(exec_twice)
{
	const struct image second = { 0, 1, HT_STATE_RUNNING, FAMILY },
			   third = { 0, 2, HT_STATE_RUNNING, FAMILY };

	begin_with(&first_image, false);
	image_make(&third);
	image_make(&second);
	CHECK(process_tree_poll(watch));
	CHECK_INT(generation(), 2);
	CHECK(!process_tree_poll(watch));
	CHECK_INT(generation(), 2);
	end();
}

TEST(exec_is_seen_without_a_family)
{
	const struct image attached = { 0, 3, HT_STATE_RUNNING, 0 },
			   next = { 0, 4, HT_STATE_RUNNING, 0 },
			   older = { 0, 2, HT_STATE_RUNNING, 0 };
	const struct process_tree_options o = { .family = 0 };
	char message[READ_MESSAGE_MAX] = "";

	watch = process_tree_new(session_open(image_make(&attached), &o.session, message), &o);
	image_make(&older);
	CHECK(!process_tree_poll(watch));
	image_make(&next);
	CHECK(process_tree_poll(watch));
	CHECK_INT(generation(), 4);
	end();
}

/* A segment that comes right after a look, within the same tick of the file system's clock. */
TEST(two_changes_at_one_time)
{
	const struct image attached = { 0, 0, HT_STATE_RUNNING, 0 },
			   next = { 0, 1, HT_STATE_RUNNING, 0 };
	const struct process_tree_options o = { .family = 0 };
	char message[READ_MESSAGE_MAX] = "";
	/* In the future: it is not over, however long we are kept from a processor. */
	const struct timespec times[2] = { { 0, UTIME_OMIT }, { time(NULL) + 60, 0 } };

	watch = process_tree_new(session_open(image_make(&attached), &o.session, message), &o);
	CHECK_INT(utimensat(AT_FDCWD, launch_dir, times, 0), 0);
	CHECK(!process_tree_poll(watch));
	image_make(&next);
	CHECK_INT(utimensat(AT_FDCWD, launch_dir, times, 0), 0);
	CHECK(process_tree_poll(watch));
	end();
}

static void magic_set(const char *path, uint64_t magic)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	CHECK(pwrite(fd, &magic, sizeof(magic), offsetof(struct ht_header, magic)) ==
		sizeof(magic));
	close(fd);
}

/* A child's segment that is seen while it is made: that it becomes whole changes no directory. */
TEST(a_segment_that_is_being_made)
{
	const struct image second = { 0, 1, HT_STATE_RUNNING, FAMILY };
	struct timespec old[2] = { { 1000, 0 }, { 1000, 0 } };
	char path[300], message[READ_MESSAGE_MAX] = "";
	struct read_identity id;
	const char *made;

	begin_as(&first_image, true, 0);
	made = image_make(&second);
	CHECK_INT(read_identity_of_file(made, &id, message), 0);
	snprintf(path, sizeof(path), "%s/heaptop-%d.%" PRIu64 "-%" PRIu64, launch_dir, getpid(),
		proc_pid_namespace(), id.start_ticks);
	CHECK_INT(rename(made, path), 0);
	magic_set(path, 0);
	CHECK_INT(utimensat(AT_FDCWD, launch_dir, old, 0), 0);
	CHECK(!process_tree_poll(watch));
	CHECK_INT(generation(), 0);
	magic_set(path, HT_MAGIC);
	CHECK(process_tree_poll(watch));
	CHECK_INT(generation(), 1);
	end();
}

/* Not of this launch: left alone, whatever its state. */
TEST(strangers)
{
	const struct image ended = { PID_GONE, 0, HT_STATE_EXITED, FAMILY + 1 },
			   crashed = { PID_GONE + 1, 0, HT_STATE_RUNNING, 0 };

	begin_with(&first_image, false);
	image_make(&ended);
	image_make(&crashed);
	CHECK(!process_tree_poll(watch));
	CHECK_INT(launch_dir_files(false), 3);
	CHECK(process_tree_remove(watch, false) == NULL);
	CHECK_INT(launch_dir_files(false), 3);
	end();
}

/* On the screen: children that ended are cleared away, those that run or crashed are not. */
TEST(children_not_kept)
{
	const struct image ended = { PID_GONE, 0, HT_STATE_EXITED, FAMILY },
			   crashed = { PID_GONE + 1, 0, HT_STATE_RUNNING, FAMILY };
	char ended_path[256], crashed_path[256];

	begin_with(&first_image, false);
	snprintf(ended_path, sizeof(ended_path), "%s", image_make(&ended));
	snprintf(crashed_path, sizeof(crashed_path), "%s", image_make(&crashed));
	CHECK(!process_tree_poll(watch));
	CHECK(access(ended_path, F_OK) != 0);
	CHECK_INT(access(crashed_path, F_OK), 0);
	CHECK_INT(launch_dir_files(false), 2);
	end();
}

/* They may come by the hundred a second, each with a megabyte: a session is too slow for them. */
TEST(children_not_kept_are_not_opened)
{
	unsigned before;

	begin_with(&first_image, false);
	before = threads_made;
	CHECK(before > 0);
	for (uint32_t i = 0; i < IMAGES; i++) {
		const struct image ended = { PID_GONE + i, 0, HT_STATE_EXITED, FAMILY };

		image_make(&ended);
	}
	CHECK(!process_tree_poll(watch));
	CHECK_INT(launch_dir_files(false), 1);
	CHECK_INT(threads_made, before);
	end();
}

/* On the screen: of those that were killed, the newest stay. They may have gone on by exec without
 * the library, and a screen runs for long. */
TEST(killed_children_do_not_pile_up)
{
	char newest[256], oldest[256];

	begin_with(&first_image, false);
	for (uint32_t i = 0; i < IMAGES; i++) {
		/* The list is by pid: what is new is not what comes last there. */
		const struct image killed = { PID_GONE + IMAGES - i, 0, HT_STATE_RUNNING, FAMILY };
		const char *path = image_make(&killed);

		snprintf(i == 0 ? oldest : newest, sizeof(newest), "%s", path);
		if (i % 30 == 0)
			CHECK(!process_tree_poll(watch));
	}
	CHECK(!process_tree_poll(watch));
	CHECK_INT(launch_dir_files(false), 1 + 16);
	CHECK_INT(access(newest, F_OK), 0);
	CHECK(access(oldest, F_OK) != 0);
	end();
}

/* A child, stopped: with the segment mapped or not. */
static pid_t child_stopped(const char *path, bool mapped)
{
	struct segment s;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (mapped && !launch_map(&s, path))
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	CHECK_INT(waitpid(pid, &status, WUNTRACED), pid);
	return pid;
}

static void segment_is_of(const char *path, pid_t pid, const char *exe)
{
	struct segment s;

	CHECK(launch_map(&s, path));
	s.header->pid = (uint32_t)pid;
	CHECK_INT(proc_start_ticks(pid, &s.header->start_ticks), 0);
	snprintf(s.header->exe, sizeof(s.header->exe), "%s", exe);
	segment_unmap(&s);
}

/* A child that goes on by exec without the library needs its segment no more; one that has it, one
 * that is what it was, and one that was killed and still has its pid keep theirs. */
TEST(children_that_went_on)
{
	static const struct {
		const char *exe;
		bool mapped, killed, stays;
	} cases[] = { { "/gone/by/exec", false, false, false }, { "/renamed", true, false, true },
		{ NULL, false, false, true }, { "/killed", false, true, true } };
	const struct image child = { PID_GONE, 0, HT_STATE_RUNNING, FAMILY };
	char self[256] = "";

	CHECK(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *path;
		pid_t pid;

		begin_with(&first_image, false);
		path = image_make(&child);
		pid = child_stopped(path, cases[i].mapped);
		segment_is_of(path, pid, cases[i].exe ? cases[i].exe : self);
		if (cases[i].killed) {
			siginfo_t ended; /* it stays a zombie */

			kill(pid, SIGKILL);
			CHECK_INT(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
		}
		CHECK(!process_tree_poll(watch));
		CHECK_INT(access(path, F_OK), cases[i].stays ? 0 : -1);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		end();
	}
}

/* ---- segments that running processes need for names ---- */

static const struct image over = { PID_GONE, 0, HT_STATE_EXITED, FAMILY };

/* A family of forks: the path of each, and a process that is stopped. */
struct forks {
	char grand[256], parent[256], child[256];
	pid_t pid;
};

static void forked_by(const char *path, const char *parent)
{
	struct segment s;

	CHECK(launch_map(&s, path));
	s.header->forked = 1;
	snprintf(s.header->parent, sizeof(s.header->parent), "%s", strrchr(parent, '/') + 1);
	segment_unmap(&s);
}

static void state_set(const char *path, uint32_t state)
{
	struct segment s;

	CHECK(launch_map(&s, path));
	s.header->state = state;
	segment_unmap(&s);
}

static void forks_make(struct forks *f)
{
	const struct image parent = { PID_GONE + 1, 0, HT_STATE_EXITED, FAMILY },
			   child = { PID_GONE + 2, 0, HT_STATE_RUNNING, FAMILY };

	snprintf(f->grand, sizeof(f->grand), "%s", image_make(&over));
	snprintf(f->parent, sizeof(f->parent), "%s", image_make(&parent));
	snprintf(f->child, sizeof(f->child), "%s", image_make(&child));
	forked_by(f->parent, f->grand);
	forked_by(f->child, f->parent);
	f->pid = child_stopped(f->child, true);
	segment_is_of(f->child, f->pid, "");
}

static void forks_end(struct forks *f)
{
	kill(f->pid, SIGKILL);
	waitpid(f->pid, NULL, 0);
	end();
}

static unsigned there(const struct forks *f)
{
	return (access(f->grand, F_OK) == 0) + 2u * (access(f->parent, F_OK) == 0) +
	       4u * (access(f->child, F_OK) == 0);
}

/* The segments of what forked a running process, as far as that goes. Others of the launch go at
 * once. */
TEST(ended_parents_stay)
{
	const struct image other = { PID_GONE + 3, 0, HT_STATE_EXITED, FAMILY };
	struct forks f;

	begin_with(&first_image, false);
	forks_make(&f);
	image_make(&other);
	for (unsigned i = 0; i < 3; i++) {
		CHECK(!process_tree_poll(watch));
		CHECK_INT(there(&f), 7);
		CHECK_INT(launch_dir_files(false), 4);
		CHECK_INT(process_tree_left_out(watch), 3);
	}
	state_set(f.child, HT_STATE_EXITED);
	CHECK(!process_tree_poll(watch));
	CHECK_INT(launch_dir_files(false), 1);
	CHECK_INT(process_tree_left_out(watch), 4);
	forks_end(&f);
}

/* Those that were forked, too, and went on by exec; and what a hostile child names. */
TEST(parents_that_called_exec_stay)
{
	const struct image next = { PID_GONE + 1, 1, HT_STATE_EXITED, FAMILY };
	struct forks f;
	struct segment s, newer;
	const char *path;

	begin_with(&first_image, true);
	forks_make(&f);
	path = image_make(&next);
	CHECK(launch_map(&s, f.parent) && launch_map(&newer, path));
	newer.header->start_ticks = s.header->start_ticks;
	segment_unmap(&newer);
	segment_unmap(&s);
	CHECK(!process_tree_poll(watch));
	CHECK_INT(there(&f), 7);
	forked_by(f.grand, f.child);
	process_tree_poll_last(watch);
	CHECK_INT(there(&f), 7);
	forked_by(f.child, "/..");
	process_tree_poll_last(watch);
	CHECK_INT(there(&f) & 2u, 0);
	forks_end(&f);
}

static void snapshot_take(void *ctx, struct session *s)
{
	*(struct snapshot **)ctx = session_tick(s);
}

/* One that nothing was forked from goes at once, even while a snapshot of it is in use. */
TEST(a_fork_that_called_exec_goes)
{
	const struct image forked = { PID_GONE + 1, 0, HT_STATE_RUNNING, FAMILY },
			   next = { PID_GONE + 1, 1, HT_STATE_RUNNING, FAMILY };
	struct snapshot *kept = NULL;
	struct segment s, newer;
	char path[256];

	begin_with(&first_image, true);
	snprintf(path, sizeof(path), "%s", image_make(&forked));
	forked_by(path, session_path(process_tree_session(watch)));
	CHECK(!process_tree_poll(watch));
	process_tree_members(watch, snapshot_take, &kept);
	CHECK(kept != NULL);
	CHECK(launch_map(&s, path) && launch_map(&newer, image_make(&next)));
	newer.header->start_ticks = s.header->start_ticks;
	segment_unmap(&newer);
	segment_unmap(&s);
	CHECK(!process_tree_poll(watch));
	CHECK(access(path, F_OK) != 0);
	CHECK_INT(launch_dir_files(false), 2);
	snapshot_unref(kept);
	end();
}

/* The watched process forked, and called exec itself. */
TEST(a_replaced_image_stays)
{
	const struct image second = { 0, 1, HT_STATE_RUNNING, FAMILY },
			   third = { 0, 2, HT_STATE_RUNNING, FAMILY };
	struct forks f;

	begin_with(&first_image, false);
	image_make(&second);
	CHECK(process_tree_poll(watch));
	forks_make(&f);
	forked_by(f.grand, session_path(process_tree_session(watch)));
	image_make(&third);
	CHECK(process_tree_poll(watch));
	CHECK_INT(launch_dir_files(false), 6);
	state_set(f.child, HT_STATE_EXITED);
	kill(f.pid, SIGKILL); /* its copies of our descriptors are locks, too */
	waitpid(f.pid, NULL, 0);
	CHECK(!process_tree_poll(watch));
	CHECK_INT(launch_dir_files(false), 2);
	end();
}

/* For a recording: they are written and make room, but are there. */
TEST(released_parents_stay)
{
	const struct process_tree_options o = {
		.family = FAMILY, .keep_children = true, .release_ended = true
	};
	char message[READ_MESSAGE_MAX] = "";
	unsigned asked = 0;
	struct forks f;

	watch = process_tree_new(session_open(image_make(&first_image), &o.session, message), &o);
	forks_make(&f);
	CHECK(!process_tree_poll(watch));
	process_tree_release(watch, is_any, &asked);
	CHECK_INT(asked, 3);
	CHECK_INT(there(&f), 3); /* is_any takes the child for ended, too */
	asked = 0;
	process_tree_poll_last(watch);
	process_tree_release(watch, is_any, &asked);
	CHECK_INT(asked, 0); /* none of them comes twice */
	CHECK_INT(process_tree_left_out(watch), 0);
	CHECK_INT(there(&f), 0);
	forks_end(&f);
}

/* A launch that is left to itself leaves none. */
TEST(parents_go_with_the_viewer)
{
	struct forks f;

	begin_with(&first_image, false);
	forks_make(&f);
	CHECK(!process_tree_poll(watch));
	CHECK_INT(there(&f), 7);
	process_tree_disown(watch);
	CHECK_INT(there(&f), 4);
	forks_end(&f);
}

/* A megabyte each: of very many, some stay. */
TEST(ended_parents_do_not_pile_up)
{
	pid_t pids[IMAGES];

	begin_with(&first_image, false);
	for (uint32_t i = 0; i < IMAGES; i++) {
		const struct image parent = { PID_GONE + i, 0, HT_STATE_EXITED, FAMILY },
				   child = { PID_GONE + IMAGES + i, 0, HT_STATE_RUNNING, FAMILY };
		const char *above = image_make(&parent), *path = image_make(&child);

		forked_by(path, above);
		pids[i] = child_stopped(path, true);
		segment_is_of(path, pids[i], "");
	}
	CHECK(!process_tree_poll(watch));
	CHECK_INT(launch_dir_files(false), 1 + IMAGES + 64);
	for (uint32_t i = 0; i < IMAGES; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	end();
}

/* The segments of some killed children stay for inspection, and all are counted. */
TEST(killed_children)
{
	struct snapshot *s;

	begin_as(&first_image, true, getpid());
	for (uint32_t i = 0; i < 2 * IMAGES; i++) {
		const struct image killed = { PID_GONE + i, 0, HT_STATE_RUNNING, FAMILY };

		image_make(&killed);
		if (i % 30 == 0)
			CHECK(!process_tree_poll(watch));
	}
	process_tree_poll_last(watch);
	s = process_tree_final(watch, (uint64_t)120 * 1000000000, true);
	CHECK_INT(s->nchildren, 64);
	CHECK_STR(
		s->notice, "this report leaves out 96 more children and earlier images that ended");
	CHECK_INT(launch_dir_files(false), 1 + 64 + 64);
	snapshot_unref(s);
	end();
}

/* For a report: ended children and earlier images come with the last snapshot. */
TEST(children_kept)
{
	const struct image child = { PID_GONE, 0, HT_STATE_EXITED, FAMILY },
			   second = { 0, 1, HT_STATE_RUNNING, FAMILY };
	struct snapshot *s;
	unsigned seen = 0;

	begin_as(&first_image, true, getpid()); /* as a launch does: only ours has that pid */
	image_make(&child);
	image_make(&second);
	CHECK(process_tree_poll(watch));
	process_tree_poll_last(watch);
	s = process_tree_final(watch, (uint64_t)120 * 1000000000, true);
	CHECK(s && s->nchildren == 2);
	CHECK_STR(s->command, "image1");
	for (size_t i = 0; i < s->nchildren; i++) {
		CHECK_STR(s->children[i]->command, "image0");
		seen += s->children[i]->pid == PID_GONE	  ? 1
			: s->children[i]->pid == getpid() ? 2
							  : 4;
	}
	CHECK_INT(seen, 3);
	snapshot_unref(s);
	end();
}

TEST(removed_at_the_end)
{
	const struct image gone = { PID_GONE, 0, HT_STATE_EXITED, FAMILY };

	begin_with(&gone, false);
	snapshot_unref(session_tick(process_tree_session(watch)));
	CHECK(process_tree_remove(watch, false) == NULL);
	CHECK_INT(launch_dir_files(false), 0);
	end();
}

TEST(kept_after_a_crash)
{
	const struct image gone = { PID_GONE, 0, HT_STATE_RUNNING, FAMILY };
	const char *kept;

	begin_with(&gone, false);
	session_ended(process_tree_session(watch), SIGSEGV);
	kept = process_tree_remove(watch, true);
	CHECK_STR(kept, session_path(process_tree_session(watch)));
	CHECK_INT(launch_dir_files(false), 1);
	end();
}

TEST(not_removed_while_it_runs)
{
	begin_with(&first_image, false);
	CHECK(process_tree_remove(watch, false) == NULL);
	CHECK_INT(launch_dir_files(false), 1);
	end();
}

static uint64_t family_of(const char *path)
{
	char message[READ_MESSAGE_MAX];
	struct read_identity id = { .family = 1 };

	CHECK_INT(read_identity_of_file(path, &id, message), 0);
	return id.family;
}

/* Whoever of the launch still runs removes its segment itself from then on. */
TEST(disown)
{
	const struct image other = { (uint32_t)getppid(), 7, HT_STATE_RUNNING, FAMILY + 1 };
	const char *path;
	char first[256];

	begin_with(&first_image, false);
	snprintf(first, sizeof(first), "%s", session_path(process_tree_session(watch)));
	path = image_make(&other);
	process_tree_disown(watch);
	CHECK_INT(family_of(first), 0);
	CHECK_INT(family_of(path), FAMILY + 1);
	end();
}

/* Even one that ends at that moment finds nobody who has its segment open. */
TEST(disown_holds_nothing)
{
	char first[256];
	int fd;

	begin_with(&first_image, true);
	snprintf(first, sizeof(first), "%s", session_path(process_tree_session(watch)));
	process_tree_disown(watch);
	fd = open(first, O_RDONLY);
	CHECK_INT(flock(fd, LOCK_EX | LOCK_NB), 0);
	close(fd);
	end();
}

/* They saw that the launch's viewer was there, and left their segments to it. */
TEST(disown_removes_what_has_ended)
{
	const struct image ended = { (uint32_t)getppid(), 7, HT_STATE_EXITED, FAMILY };
	const struct image other = { (uint32_t)getppid(), 8, HT_STATE_EXITED, FAMILY + 1 };
	char path[2][256];

	begin_with(&first_image, false);
	snprintf(path[0], sizeof(path[0]), "%s", image_make(&ended));
	snprintf(path[1], sizeof(path[1]), "%s", image_make(&other));
	process_tree_disown(watch);
	CHECK_INT(access(path[0], F_OK), -1);
	CHECK_INT(access(path[1], F_OK), 0);
	end();
}

/* What is kept of a crash tells later processes of the launch nothing of a viewer. */
TEST(disown_of_a_crash)
{
	const struct image crashed = { PID_GONE, 7, HT_STATE_RUNNING, FAMILY };
	const char *path;

	begin_with(&first_image, false);
	path = image_make(&crashed);
	process_tree_disown(watch);
	CHECK_INT(family_of(path), 0);
	end();
}

int main(void)
{
	launch_dir_make();
	RUN(nothing_new);
	RUN(exec);
	RUN(many_execs_hold_nothing);
	RUN(many_execs_are_counted);
	RUN(released);
	RUN(not_released);
	RUN(a_running_child_too_many);
	RUN(exec_twice);
	RUN(exec_is_seen_without_a_family);
	RUN(two_changes_at_one_time);
	RUN(a_segment_that_is_being_made);
	RUN(strangers);
	RUN(children_not_kept);
	RUN(children_not_kept_are_not_opened);
	RUN(killed_children);
	RUN(killed_children_do_not_pile_up);
	RUN(children_that_went_on);
	RUN(ended_parents_stay);
	RUN(parents_that_called_exec_stay);
	RUN(a_fork_that_called_exec_goes);
	RUN(a_replaced_image_stays);
	RUN(released_parents_stay);
	RUN(parents_go_with_the_viewer);
	RUN(ended_parents_do_not_pile_up);
	RUN(children_kept);
	RUN(removed_at_the_end);
	RUN(kept_after_a_crash);
	RUN(not_removed_while_it_runs);
	RUN(disown);
	RUN(disown_removes_what_has_ended);
	RUN(disown_holds_nothing);
	RUN(disown_of_a_crash);
	launch_dir_drop();
	return check_end();
}
