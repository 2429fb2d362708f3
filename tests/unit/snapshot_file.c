/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A snapshot that is saved is whole, or there is no file, and one line says why. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "src/run/snapshot_file.h"
#include "tests/check.h"
#include "tests/unit/canned.h"

static char line[PATH_MAX + 128];

static int save(const char *format)
{
	struct snapshot s = canned;
	struct export_options e = { .top = 20, .whole = &s };

	line[0] = '\0';
	return snapshot_file_save(&s, &e, format, line, sizeof(line));
}

static const char *file_of(const char *suffix)
{
	static char name[64];

	snprintf(name, sizeof(name), "heaptop-snapshot-4211-1.%s", suffix);
	return name;
}

/* The line says where the file is, and what opens it, if anything of heaptop does. */
static void check_saved(const char *format, const char *suffix, const char *opens)
{
	char want[PATH_MAX + 128], folder[PATH_MAX];

	CHECK_INT(save(format), 0);
	CHECK(getcwd(folder, sizeof(folder)) != NULL);
	snprintf(want, sizeof(want), "saved %s%s in %s", file_of(suffix), opens, folder);
	CHECK_STR(line, want);
	CHECK_INT(unlink(file_of(suffix)), 0);
}

TEST(saved)
{
	check_saved(NULL, "txt", "");
	check_saved("folded", "folded", "");
	check_saved("json", "json", " (heaptop -r opens it)");
	check_saved("heaptop", "heaptop", " (heaptop -r opens it)");
}

/* Saves where no file may be larger than a few bytes. What goes to stderr, where the screen is,
 * goes to a pipe: *said is whether anything did. */
static int save_without_room(const char *format, bool *said)
{
	struct rlimit before, small;
	int ends[2], screen = dup(STDERR_FILENO), rc;
	char byte;

	CHECK_INT(pipe2(ends, O_NONBLOCK), 0);
	CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){ 16, before.rlim_max };
	dup2(ends[1], STDERR_FILENO);
	setrlimit(RLIMIT_FSIZE, &small);
	rc = save(format);
	setrlimit(RLIMIT_FSIZE, &before);
	dup2(screen, STDERR_FILENO);
	*said = read(ends[0], &byte, 1) > 0;
	close(screen);
	close(ends[0]);
	close(ends[1]);
	return rc;
}

static void check_no_room(const char *format, const char *suffix)
{
	char want[128];
	bool said;

	CHECK_INT(save_without_room(format, &said), -EFBIG);
	snprintf(want, sizeof(want), "%s: not saved: %s", file_of(suffix), strerror(EFBIG));
	CHECK_STR(line, want);
	CHECK(!said);
	CHECK(unlink(file_of(suffix)) != 0);
}

TEST(no_room)
{
	signal(SIGXFSZ, SIG_IGN);
	check_no_room(NULL, "txt");
	check_no_room("json", "json");
}

int main(void)
{
	char directory[] = "/tmp/heaptop-unit-XXXXXX";

	CHECK(mkdtemp(directory) != NULL);
	CHECK_INT(chdir(directory), 0);
	RUN(saved);
	RUN(no_room);
	CHECK_INT(rmdir(directory), 0);
	return check_end();
}
