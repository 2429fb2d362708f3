/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Attaching with the real library: programs that check themselves go on unaware, whatever is done
 * to them, and viewers may be killed. What is recorded is tested elsewhere. Arguments: cycles or
 * kills, for only these, then parts of the programs' names.
 */
#include <dirent.h>
#include <limits.h>

#include "src/target/prepare.h"
#include "tests/unit/attach_fixture.h"

#define STEPS  4000 /* a cycle has less, and ends before */
#define CYCLES 4 /* 1,000 if SOAK is set */
#define STRIDE 173 /* and each step */
#define DEPTH  32

static char library[PATH_MAX];
static bool is_long;
static char *const *words; /* parts of names */

static void library_find(void)
{
	char exe[PATH_MAX - 32], path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	exe[n > 0 ? n : 0] = '\0';
	if (strrchr(exe, '/'))
		*strrchr(exe, '/') = '\0';
	snprintf(path, sizeof(path), "%s/../../libheaptop.so", exe);
	if (!realpath(path, library))
		library[0] = '\0';
}

static int begin(pid_t pid)
{
	struct attach_options o = { .library = library, .timeout_ns = TIMEOUT_NS };
	struct prepared *segment = prepare_segment(DEPTH, message);
	struct attach_pauses p;
	int rc;

	if (!segment)
		return -ENOMEM;
	rc = prepare_bind(segment, pid);
	o.segment = prepare_path(segment);
	if (rc == 0)
		rc = attach_begin(pid, &o, &p, message);
	prepare_end(segment, true);
	return rc;
}

static int end(pid_t pid)
{
	struct attach_pauses p;
	uint64_t stays;

	return attach_end(pid, TIMEOUT_NS, &p, &stays, message);
}

static int cycle(pid_t pid)
{
	int rc = begin(pid);

	/* A viewer that was killed may have left it attached. */
	return rc != 0 && rc != -EALREADY ? rc : end(pid);
}

static bool is_asked(const struct program *p)
{
	for (char *const *word = words; *word; word++)
		if (strstr(p->name, *word))
			return true;
	return !*words;
}

TEST(programs_do_not_notice)
{
	for (size_t i = 0; i < ATTACHED && !check_failed_here; i++) {
		pid_t pid;

		if (!is_asked(&attached[i]))
			continue;
		pid = start(attached[i].what);
		CHECK(await_rounds(2));
		for (int n = 0; n < (is_long ? 1000 : CYCLES) && !check_failed_here; n++) {
			CHECK_INT(begin(pid), 0);
			CHECK(await_rounds(1));
			CHECK_INT(end(pid), 0);
			CHECK(await_rounds(1));
		}
		CHECK_INT(shared->wrong, 0);
		CHECK_INT(shared->cut, 0);
		CHECK(finish(pid));
		report(attached[i].name);
	}
}

/* Kills viewers at later and later steps, until they get to the end. One whose process was left
 * attached has only the steps of a detach: the next one has all. Returns how many were killed. */
static int viewers_kill(pid_t pid, int first)
{
	int kills = 0;
	unsigned whole = 0; /* in a row */

	for (int step = first; whole < 2 && step < STEPS; step += is_long ? 1 : STRIDE) {
		bool killed = viewer_until(pid, cycle, step);

		kills += killed;
		whole = killed ? 0 : whole + 1;
	}
	return kills;
}

TEST(nor_do_they_when_viewers_are_killed)
{
	for (size_t i = 0; i < ATTACHED && !check_failed_here; i++) {
		int kills;
		pid_t pid;

		if (!is_asked(&attached[i]))
			continue;
		pid = start(attached[i].what);
		shared->killed = true;
		CHECK(await_rounds(1));
		kills = viewers_kill(pid, (int)i);
		CHECK(kills > 1);
		if (is_long)
			printf("# %s: viewers killed at %d steps\n", attached[i].name, kills);
		CHECK(await_rounds(2));
		CHECK_INT(cycle(pid), 0);
		CHECK_INT(attach_state_of(pid), ATTACH_LEFTOVER);
		CHECK_INT(shared->wrong, 0);
		CHECK(attached[i].waits || shared->cut == 0);
		CHECK(finish(pid));
		report(attached[i].name);
	}
}

static char folder[PATH_MAX];

/* Viewers that are killed leave their segments. */
static void folder_make(void)
{
	snprintf(folder, sizeof(folder), "%s/heaptop-attached.XXXXXX", check_memory());
	if (mkdtemp(folder))
		setenv("HEAPTOP_DIR", folder, 1);
}

static void folder_remove(void)
{
	char path[PATH_MAX + NAME_MAX + 2];
	DIR *dir = opendir(folder);
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", folder, d->d_name);
		unlink(path);
	}
	if (dir)
		closedir(dir);
	rmdir(folder);
}

int main(int argc, char **argv)
{
	bool cycles = argc < 2 || strcmp(argv[1], "cycles") == 0;
	bool kills = argc < 2 || strcmp(argv[1], "kills") == 0;
	int rc;

	shared = mmap(NULL, sizeof(*shared), SHARED, -1, 0);
	is_long = getenv("SOAK") != NULL;
	words = argv + (argc > 1 ? 2 : 1);
	library_find();
	folder_make();
	if (cycles)
		RUN(programs_do_not_notice);
	if (kills)
		RUN(nor_do_they_when_viewers_are_killed);
	rc = check_end();
	folder_remove();
	return rc;
}
