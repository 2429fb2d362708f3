/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Making a segment ahead of a launch: its name, its rights, what is in it, and where it cannot be.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "src/proc/proc.h"
#include "src/read/read.h"
#include "src/target/prepare.h"
#include "tests/unit/launch_fixture.h"
#include "tests/unit/shm_fixture.h"

static struct prepared *prepare(void)
{
	char message[TARGET_MESSAGE_MAX] = "";
	struct prepared *p = prepare_segment(77, message);

	if (!p) {
		printf("not ok - fixture: %s\n", message);
		exit(1);
	}
	return p;
}

TEST(a_file_of_our_own)
{
	struct prepared *p = prepare();
	struct stat st;

	CHECK(strncmp(prepare_path(p), launch_dir, strlen(launch_dir)) == 0);
	CHECK_INT(lstat(prepare_path(p), &st), 0);
	CHECK_INT(st.st_mode, S_IFREG | 0600);
	CHECK_INT(st.st_uid, geteuid());
	CHECK_INT(launch_dir_files(false), 1);
	prepare_end(p, true);
	CHECK_INT(launch_dir_files(false), 0);
	prepare_end(NULL, true);
}

TEST(names_differ)
{
	struct prepared *a = prepare(), *b = prepare();

	CHECK(strcmp(prepare_path(a), prepare_path(b)) != 0);
	CHECK(prepare_family(a) != prepare_family(b));
	CHECK(prepare_family(a) != 0 && prepare_family(b) != 0);
	prepare_end(a, true);
	prepare_end(b, true);
}

static uint32_t viewer_of(const char *path)
{
	int fd = open(path, O_RDONLY);
	uint32_t word = 0;

	CHECK(pread(fd, &word, sizeof(word), offsetof(struct ht_header, viewer)) == sizeof(word));
	close(fd);
	return word;
}

/* The processes of the launch see it, whether the viewer lets go of the segment or is killed. */
TEST(the_end_is_noted)
{
	struct prepared *p = prepare();
	char path[300];
	const char *shared;
	int to[2];
	pid_t child;

	snprintf(path, sizeof(path), "%s", prepare_path(p));
	CHECK_INT(viewer_of(path), (uint32_t)getpid());
	prepare_end(p, false);
	CHECK_INT(viewer_of(path), FUTEX_OWNER_DIED);
	unlink(path);

	CHECK_INT(pipe(to), 0);
	child = fork();
	if (child == 0) {
		shared = prepare_path(prepare());
		if (write(to[1], shared, strlen(shared) + 1) > 0)
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	CHECK(read(to[0], path, sizeof(path)) > 0);
	waitpid(child, NULL, 0);
	CHECK_INT(viewer_of(path), FUTEX_OWNER_DIED);
	unlink(path);
	close(to[0]);
	close(to[1]);
}

TEST(contents)
{
	struct prepared *p = prepare();
	char message[READ_MESSAGE_MAX], text[64] = "", *dash;
	struct read_identity id;

	CHECK_INT(read_identity_of_file(prepare_path(p), &id, message), 0);
	CHECK_INT(id.state, HT_STATE_PREPARED);
	CHECK_INT(id.depth, 77);
	CHECK_INT(id.uid, geteuid());
	CHECK_INT(id.pid, 0);
	CHECK_INT(id.family, prepare_family(p));
	CHECK(id.created_ns > 0 && id.created_realtime_ns > id.created_ns);
	proc_file_read("/proc/sys/kernel/random/boot_id", text, sizeof(text));
	while ((dash = strchr(text, '-')))
		memmove(dash, dash + 1, strlen(dash));
	for (int i = 0; i < 16 && text[0]; i++) {
		char byte[3];

		snprintf(byte, sizeof(byte), "%02x", id.boot_id[i]);
		CHECK(strncmp(byte, text + 2 * i, 2) == 0);
	}
	prepare_end(p, true);
}

TEST(bind)
{
	struct prepared *p = prepare();
	char message[READ_MESSAGE_MAX];
	struct read_identity id;
	uint64_t ticks = 0;

	CHECK_INT(prepare_bind(p, getpid()), 0);
	CHECK_INT(proc_start_ticks(getpid(), &ticks), 0);
	CHECK_INT(read_identity_of_file(prepare_path(p), &id, message), 0);
	CHECK_INT(id.pid, getpid());
	CHECK_INT(id.ppid, getpid());
	CHECK_INT(id.start_ticks, ticks);
	CHECK_INT(prepare_bind(p, 0x3ffffff), -ESRCH);
	prepare_end(p, true);
}

TEST(disown)
{
	struct prepared *p = prepare();
	char message[READ_MESSAGE_MAX], path[256];
	struct read_identity id;

	snprintf(path, sizeof(path), "%s", prepare_path(p));
	CHECK_INT(prepare_disown(path), 0);
	prepare_end(p, false);
	CHECK_INT(read_identity_of_file(path, &id, message), 0);
	CHECK_INT(id.family, 0);
	CHECK_INT(unlink(path), 0);
	CHECK_INT(prepare_disown(path), -ENOENT);
	CHECK_INT(symlink("/dev/null", path), 0);
	CHECK_INT(prepare_disown(path), -ELOOP);
	CHECK_INT(unlink(path), 0);
}

static void refused(const char *dir, const char *why)
{
	char message[TARGET_MESSAGE_MAX] = "";

	setenv("HEAPTOP_DIR", dir, 1);
	CHECK(prepare_segment(1, message) == NULL);
	CHECK(strncmp(message, "no shared memory for the recording: ", 36) == 0);
	CHECK(strstr(message, why) != NULL);
	CHECK(!strchr(message, '\n'));
	if (!strstr(message, why))
		fprintf(stderr, "  %s\n", message);
	setenv("HEAPTOP_DIR", launch_dir, 1);
}

TEST(no_place)
{
	char longer[400];

	refused("/no/such/place", "No such file or directory");
	refused("/dev/null", "Not a directory");
	/* A path that is cut off would be another one, and no random name in it. */
	memset(longer, '/', sizeof(longer));
	memcpy(longer, launch_dir, strlen(launch_dir));
	longer[sizeof(longer) - 1] = '\0';
	refused(longer, "File name too long");
	longer[256 - 10] = '\0';
	refused(longer, "File name too long");
	CHECK_INT(launch_dir_files(false), 0);
}

static void limited(void)
{
	const struct rlimit few = { 1 << 20, 1 << 20 };

	CHECK_INT(setrlimit(RLIMIT_FSIZE, &few), 0);
	refused(launch_dir, "File too large");
	CHECK_INT(launch_dir_files(false), 0);
}

/* A file size limit is an answer, not a signal; nothing is left behind. */
TEST(file_size_limit)
{
	fixture_in_child(limited);
}

static void limited_to_small(void)
{
	const struct rlimit some = { 1 << 28, 1 << 28 };
	struct prepared *p;
	struct stat st;

	CHECK_INT(setrlimit(RLIMIT_FSIZE, &some), 0);
	p = prepare();
	CHECK_INT(stat(prepare_path(p), &st), 0);
	CHECK(st.st_size > 0 && st.st_size <= 1 << 28);
	prepare_end(p, true);
}

TEST(smaller_where_large_is_not_allowed)
{
	fixture_in_child(limited_to_small);
}

int main(void)
{
	launch_dir_make();
	RUN(a_file_of_our_own);
	RUN(names_differ);
	RUN(the_end_is_noted);
	RUN(contents);
	RUN(bind);
	RUN(disown);
	RUN(no_place);
	RUN(file_size_limit);
	RUN(smaller_where_large_is_not_allowed);
	launch_dir_drop();
	return check_end();
}
