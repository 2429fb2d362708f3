/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Source files: where they are looked for, what is not opened, and what is made of their bytes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "src/source/source_cache.h"
#include "tests/check.h"

static char root[] = "/tmp/heaptop-source-XXXXXX";

static const char *under(const char *name)
{
	static char path[4][PATH_MAX];
	static unsigned at;

	at = (at + 1) % 4;
	snprintf(path[at], sizeof(path[at]), "%s/%s", root, name);
	return path[at];
}

/* A file below `root`, its directories made; `age` seconds old. */
static void file_make(const char *name, const char *bytes, size_t len, int age)
{
	char path[PATH_MAX];
	struct timespec times[2] = { { .tv_sec = time(NULL) - age },
		{ .tv_sec = time(NULL) - age } };
	int fd;

	snprintf(path, sizeof(path), "%s", under(name));
	for (char *p = strchr(path + strlen(root) + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = 0;
		mkdir(path, 0700);
		*p = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	futimens(fd, times);
	close(fd);
}

static void text_make(const char *name, const char *text)
{
	file_make(name, text, strlen(text), 10);
}

static struct source_text *look(const char *file, const char *dirs)
{
	struct source_file_dirs d = { 0 };
	struct source_text *t;

	if (dirs)
		CHECK_INT(source_file_dirs_add(&d, dirs), 0);
	t = source_file_read(file, NULL, &d);
	source_file_dirs_free(&d);
	CHECK(t != NULL);
	return t;
}

/* Looked for as `file`, it is found at `path`, or nowhere. */
static void check_found(const char *file, const char *dirs, const char *path)
{
	struct source_text *t = look(file, dirs);

	CHECK_INT(t->note == NULL, path != NULL);
	if (path)
		CHECK_STR(t->path, path);
	else
		CHECK(t->path == NULL && strstr(t->note, "not found"));
	source_file_free(t);
}

TEST(as_it_stands_then_in_directories_then_by_its_name)
{
	char both[PATH_MAX * 2];

	text_make("a/lib/x.c", "one\n");
	text_make("b/build/proj/lib/x.c", "two\n");
	text_make("b/lib/x.c", "three\n");
	text_make("c/x.c", "four\n");
	/* As it stands comes before all directories. */
	check_found(under("a/lib/x.c"), under("c"), under("a/lib/x.c"));
	/* The longest end of the path that is there; a directory may stand for the root, for the
	 * one that was compiled in, or have the file itself. */
	check_found("/build/proj/lib/x.c", under("b"), under("b/build/proj/lib/x.c"));
	check_found("/other/proj/lib/x.c", under("b"), under("b/lib/x.c"));
	check_found("/other/proj/lib/x.c", under("c"), under("c/x.c"));
	/* The first directory wins, even with less of the path. */
	snprintf(both, sizeof(both), "%s:%s", under("c"), under("b"));
	check_found("/build/proj/lib/x.c", both, under("c/x.c"));
	check_found("/build/proj/lib/none.c", both, NULL);
	check_found("/build/proj/lib/x.c", NULL, NULL);
	/* Nothing outside of a directory that was given. */
	check_found("../../a/lib/x.c", under("b/lib"), under("b/lib/x.c"));
	check_found("../a/lib/y.c", under("b"), NULL);
	/* In the current directory. */
	CHECK_INT(chdir(under("c")), 0);
	check_found("/nowhere/x.c", NULL, "x.c");
	check_found("lib/x.c", under("b"), under("b/lib/x.c"));
	CHECK_INT(chdir("/"), 0);
}

TEST(lists_of_directories)
{
	struct source_file_dirs d = { 0 };

	CHECK_INT(source_file_dirs_add(&d, "/a:/b"), 0);
	CHECK_INT(source_file_dirs_add(&d, "c"), 0);
	CHECK_INT(d.count, 3);
	CHECK_STR(d.dir[1], "/b");
	CHECK_INT(source_file_dirs_add(&d, ""), -EINVAL);
	CHECK_INT(source_file_dirs_add(&d, "/a::/b"), -EINVAL);
	CHECK_INT(source_file_dirs_add(&d, "/a:"), -EINVAL);
	for (int rc = 0; rc == 0;)
		rc = source_file_dirs_add(&d, "x");
	CHECK_INT(d.count, SOURCE_FILE_DIRS_MAX);
	source_file_dirs_free(&d);
}

static void check_refused(const char *file, const char *why)
{
	struct source_text *t = look(file, NULL);

	CHECK(!t->path && t->note && strstr(t->note, why) && strstr(t->note, file));
	if (!t->note || !strstr(t->note, why))
		fprintf(stderr, "  note: %s\n", t->note ? t->note : "(none)");
	source_file_free(t);
}

/* A program's debug information can name anything; none of these may be opened, or waited for. */
TEST(only_regular_files_are_opened)
{
	alarm(20);
	CHECK_INT(mkfifo(under("pipe.c"), 0600), 0);
	check_refused(under("pipe.c"), "is not a regular file");
	check_refused("/dev/zero", "is not a regular file");
	check_refused("/dev/tty", "is not a regular file");
	check_refused("/tmp", "is not a regular file");
	check_refused("/proc/self/environ", "is not a regular file");
	CHECK_INT(symlink("/dev/zero", under("link.c")), 0);
	check_refused(under("link.c"), "is not a regular file");
	/* A refused one does not hide one that is found later. */
	text_make("later/pipe.c", "x\n");
	check_found(under("pipe.c"), under("later"), under("later/pipe.c"));
	alarm(0);
}

TEST(long_files_are_not_read)
{
	int fd = open(under("long.c"), O_WRONLY | O_CREAT, 0600);

	CHECK_INT(ftruncate(fd, (off_t)SOURCE_FILE_BYTES_MAX + 1), 0);
	close(fd);
	check_refused(under("long.c"), "is too large");
}

TEST(lines_are_clean_and_tabs_are_blanks)
{
	struct source_text *t;
	char *wide = malloc(100000);

	text_make(
		"t.c", "\xef\xbb\xbfint x;\r\n\tif\tx\n\n\033[31mred\x01\n\xc3\xa4\tb\nlast \xff");
	t = look(under("t.c"), NULL);
	CHECK_INT(t->lines, 6);
	CHECK_STR(source_text_line(t, 1), "int x;");
	CHECK_STR(source_text_line(t, 2), "        if      x");
	CHECK_STR(source_text_line(t, 3), "");
	CHECK_STR(source_text_line(t, 4), "?[31mred?");
	CHECK_STR(source_text_line(t, 5), "\xc3\xa4       b");
	CHECK_STR(source_text_line(t, 6), "last ?");
	CHECK_STR(source_text_line(t, 0), "");
	CHECK_STR(source_text_line(t, 7), "");
	source_file_free(t);
	/* One long line, of bytes that become longer; and a file of nothing. */
	memset(wide, '\xff', 100000);
	wide[50000] = '\n';
	file_make("w.c", wide, 100000, 10);
	t = look(under("w.c"), NULL);
	CHECK_INT(t->lines, 2);
	CHECK(strlen(source_text_line(t, 1)) < SOURCE_FILE_LINE_MAX);
	CHECK(strlen(source_text_line(t, 1)) > SOURCE_FILE_LINE_MAX - 20);
	source_file_free(t);
	file_make("e.c", "", 0, 10);
	t = look(under("e.c"), NULL);
	CHECK(!t->note && t->lines == 0);
	CHECK_STR(source_text_line(t, 1), "");
	source_file_free(t);
	free(wide);
}

TEST(newer_than_the_object)
{
	struct source_file_dirs none = { 0 };
	struct source_text *t;

	file_make("prog", "x", 1, 60);
	file_make("old.c", "x", 1, 100);
	file_make("new.c", "x", 1, 10);
	t = source_file_read(under("old.c"), under("prog"), &none);
	CHECK(t && !t->newer);
	source_file_free(t);
	t = source_file_read(under("new.c"), under("prog"), &none);
	CHECK(t && t->newer);
	source_file_free(t);
	/* An object that is gone has no age. */
	t = source_file_read(under("new.c"), under("no-prog"), &none);
	CHECK(t && !t->newer);
	source_file_free(t);
}

/* ---- kept files --------------------------------------------------------------------------- */

static const struct source_text *get(struct source_cache *s, const char *file)
{
	const struct source_text *t;

	while (!(t = source_cache_get(s, file, NULL)))
		source_cache_collect(s);
	return t;
}

TEST(what_was_read_is_kept_until_it_is_forgotten)
{
	struct source_file_dirs none = { 0 };
	struct source_cache *s = source_cache_new(&none);
	const struct source_text *t;
	char name[32];

	text_make("k.c", "before\n");
	t = get(s, under("k.c"));
	CHECK_STR(source_text_line(t, 1), "before");
	text_make("k.c", "after\n");
	CHECK(get(s, under("k.c")) == t);
	CHECK_STR(source_text_line(t, 1), "before");
	source_cache_forget(s);
	t = get(s, under("k.c"));
	CHECK_STR(source_text_line(t, 1), "after");
	/* More than are kept, round and round. */
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "many-%d.c", i % 20);
		text_make(name, name);
		CHECK_STR(source_text_line(get(s, under(name)), 1), name);
	}
	/* One that nobody waits for. */
	source_cache_get(s, under("many-1.c"), "/object");
	source_cache_free(s);
}

int main(void)
{
	if (!mkdtemp(root))
		return 1;
	RUN(as_it_stands_then_in_directories_then_by_its_name);
	RUN(lists_of_directories);
	RUN(only_regular_files_are_opened);
	RUN(long_files_are_not_read);
	RUN(lines_are_clean_and_tabs_are_blanks);
	RUN(newer_than_the_object);
	RUN(what_was_read_is_kept_until_it_is_forgotten);
	if (chdir("/") == 0 && !fork())
		execlp("rm", "rm", "-rf", root, NULL);
	return check_end();
}
