/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program whose file has several names goes by the one that it was started by. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "src/session/program_path.h"
#include "tests/check.h"

static char folder[] = "/tmp/heaptop-program-XXXXXX";

static const char *in(const char *name)
{
	static char path[8][128];
	static unsigned n;

	snprintf(path[++n % 8], sizeof(path[0]), "%s/%s", folder, name);
	return path[n % 8];
}

static void file_make(const char *name)
{
	int fd = open(in(name), O_CREAT | O_EXCL | O_WRONLY, 0700);

	CHECK(fd >= 0);
	close(fd);
}

/* The name of `real`, which is what the kernel reports; NULL: its own. */
static void check_started(const char *argv0, const char *want)
{
	char *got = program_path_started(in("real"), argv0);

	CHECK_STR(got ? got : "its own", want ? want : "its own");
	free(got);
}

TEST(started_by_another_name)
{
	CHECK(mkdtemp(folder) != NULL);
	CHECK_INT(mkdir(in("bin"), 0700), 0);
	file_make("real");
	file_make("other");
	CHECK_INT(symlink("real", in("link")), 0);
	CHECK_INT(link(in("real"), in("hard")), 0);
	CHECK_INT(symlink("../real", in("bin/tool")), 0);
	CHECK_INT(symlink("real", in("with blank")), 0);

	check_started("link", in("link"));
	check_started("/elsewhere/link", in("link")); /* as a shell in a container wrote it */
	check_started("./link", in("link"));
	check_started("hard", in("hard"));
	check_started(in("bin/tool"), in("bin/tool"));
	check_started("with blank", in("with blank"));
	/* Titles that programs give themselves. */
	check_started("link *:6379", in("link"));
	check_started("link: worker process", in("link"));

	check_started("real", NULL);
	check_started(in("real"), NULL);
	check_started("other", NULL); /* another file */
	check_started("-link", NULL); /* a login shell */
	check_started("nothing", NULL);
	check_started("", NULL);
	check_started("/", NULL);
	check_started("link/", NULL);
	check_started(" : ", NULL);
	CHECK(!program_path_started("", "link"));
	CHECK(!program_path_started("real (deleted)", "link"));
}

static void folder_remove(void)
{
	static const char *const names[] = { "bin/tool", "bin", "real", "other", "link", "hard",
		"with blank" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CHECK_INT(remove(in(names[i])), 0);
	CHECK_INT(rmdir(folder), 0);
}

int main(void)
{
	RUN(started_by_another_name);
	folder_remove();
	return check_end();
}
