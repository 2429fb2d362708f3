/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file of settings: found, read, written whole or not at all, and outranked by options. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "src/run/config.h"
#include "src/run/settings_file.h"
#include "tests/check.h"

static char root[] = "/tmp/heaptop-config-XXXXXX", path[256];

static void file_write(const char *text)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* The troubles of a load, for a moment. */
static const char *load(struct settings *s)
{
	static struct strbuf troubles;

	strbuf_reset(&troubles);
	settings_file_load(s, &troubles);
	return strbuf_text(&troubles);
}

static bool is_default(const struct settings *s)
{
	struct settings plain;

	settings_default(&plain);
	return memcmp(s, &plain, sizeof(plain)) == 0;
}

static int leftovers(void)
{
	char command[300];

	snprintf(command, sizeof(command), "[ $(find %s -name 'config.*' | wc -l) = 0 ]", root);
	return system(command);
}

TEST(none_is_no_trouble)
{
	struct settings s;

	CHECK_STR(load(&s), "");
	CHECK(is_default(&s));
}

TEST(round_trip)
{
	struct settings s, back;
	char said[400];
	struct stat st;

	settings_default(&s);
	s.sort = COL_PEAK;
	settings_rule_add(&s, "pool_get*");
	CHECK_INT(
		settings_file_save(&s, said, sizeof(said)), 0); /* the directories are made, too */
	CHECK(strstr(said, "heaptop/config") != NULL);
	CHECK_STR(load(&back), "");
	CHECK(memcmp(&s, &back, sizeof(s)) == 0);
	CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
	CHECK_INT(leftovers(), 0);
}

TEST(broken_lines_are_told_with_their_place)
{
	struct settings s;
	char want[400];

	file_write("sort = blocks\nmouse = perhaps\nnames = full\n");
	snprintf(want, sizeof(want), "%s:2: \"mouse = perhaps\": no such value\n", path);
	CHECK_STR(load(&s), want);
	CHECK_INT(s.sort, COL_BLOCKS);
	CHECK_INT(s.names, NAMES_FULL);
	CHECK_INT(s.mouse, 1);
}

/* What is no file, too large, or not to be read: the built-in settings, and a line that says so. */
TEST(what_cannot_be_read)
{
	struct settings s;

	unlink(path);
	CHECK_INT(mkdir(path, 0700), 0);
	CHECK(strstr(load(&s), "built-in") != NULL);
	CHECK(is_default(&s));
	rmdir(path);
	CHECK_INT(mkfifo(path, 0600), 0); /* reading would wait for ever */
	CHECK(strstr(load(&s), "is not a regular file") != NULL);
	CHECK(is_default(&s));
	unlink(path);
	CHECK_INT(symlink("config", path), 0);
	CHECK(strstr(load(&s), "built-in") != NULL);
	unlink(path);
	file_write("");
	CHECK_INT(truncate(path, 10 << 20), 0);
	CHECK(strstr(load(&s), "too large") != NULL);
	CHECK(is_default(&s));
	file_write("sort = peak");
	if (geteuid() == 0)
		return; /* may read everything */
	chmod(path, 0);
	CHECK(strstr(load(&s), "Permission denied") != NULL);
	chmod(path, 0600);
}

TEST(what_cannot_be_written)
{
	struct settings s;
	char said[400], text[32] = "", beside[300];
	FILE *f;

	/* A link stays one, and its file is written. */
	snprintf(beside, sizeof(beside), "%s/elsewhere", root);
	unlink(path);
	CHECK_INT(symlink(beside, path), 0);
	f = fopen(beside, "w");
	CHECK(f && fclose(f) == 0);
	settings_default(&s);
	CHECK_INT(settings_file_save(&s, said, sizeof(said)), 0);
	CHECK(readlink(path, text, sizeof(text) - 1) > 0);
	CHECK_STR(load(&s), "");
	unlink(path);
	/* A file where the directory should be; and another user's. */
	setenv("XDG_CONFIG_HOME", beside, 1);
	CHECK(settings_file_save(&s, said, sizeof(said)) < 0);
	CHECK(strstr(said, "not saved") != NULL);
	setenv("XDG_CONFIG_HOME", "/proc/self", 1);
	CHECK(settings_file_save(&s, said, sizeof(said)) < 0);
	setenv("XDG_CONFIG_HOME", root, 1);
	file_write("sort = peak");
	if (geteuid() == 0) {
		CHECK_INT(chown(path, 1234, -1), 0);
		CHECK(settings_file_save(&s, said, sizeof(said)) < 0);
		CHECK(strstr(said, "another user") != NULL);
		load(&s);
		CHECK_INT(s.sort, COL_PEAK); /* as it was */
		CHECK_INT(chown(path, 0, -1), 0);
	}
	CHECK_INT(leftovers(), 0);
}

static void saved(const char *before, const char *said)
{
	struct settings s;
	char message[400];

	file_write(before);
	load(&s);
	settings_file_save(&s, message, sizeof(message));
	CHECK(strstr(message, said) != NULL);
}

static bool file_has(const char *text)
{
	char all[8192] = "";
	FILE *f = fopen(path, "r");

	CHECK(f && fread(all, 1, sizeof(all) - 1, f) > 0 && fclose(f) == 0);
	return strstr(all, text) != NULL;
}

/* Saving keeps what it does not know, and rather writes nothing than lose what it cannot read. */
TEST(nothing_is_lost_by_saving)
{
	static const char zero[] = "sort = peak\n\0\nfuture-key = 5\n";
	struct settings s;
	char said[400];
	FILE *f;

	saved("sort = size\nnames = full\n", "line 1 of it is not understood");
	CHECK(file_has("sort = size\n"));
	saved("what\n", "line 1 of it is not understood");
	saved("future-key = 5\ncolumns-off.sites = live, nonsense\n", "settings saved");
	CHECK(file_has("future-key = 5\n") && file_has("= live nonsense\n"));
	f = fopen(path, "w");
	CHECK(f && fwrite(zero, 1, sizeof(zero) - 1, f) == sizeof(zero) - 1 && fclose(f) == 0);
	CHECK(strstr(load(&s), "config:2: \"?\": a zero byte") != NULL);
	CHECK(settings_file_save(&s, said, sizeof(said)) < 0);
	CHECK(strstr(said, "line 2 of it is not understood") != NULL);
	CHECK_INT(truncate(path, 10 << 20), 0);
	CHECK(settings_file_save(&s, said, sizeof(said)) < 0);
	CHECK(strstr(said, "reading the existing file failed: File too large") != NULL);
	unlink(path);
	/* Started without it: what it keeps for others is kept. */
	file_write("version = 3\nfuture-key = 5\n");
	settings_default(&s);
	CHECK_INT(settings_file_save(&s, said, sizeof(said)), 0);
	CHECK(file_has("future-key = 5\n") && file_has("version = 3\n"));
	CHECK_STR(load(&s), "");
	unlink(path);
	CHECK_INT(leftovers(), 0);
}

TEST(where_it_is)
{
	struct settings s;
	char home[300];

	file_write("sort = peak");
	snprintf(home, sizeof(home), "%s/home", root);
	setenv("HOME", home, 1);
	setenv("XDG_CONFIG_HOME", "not/absolute", 1); /* to be ignored */
	load(&s);
	CHECK(is_default(&s));
	settings_switch(&s, SETTINGS_TREE, "rate", true);
	CHECK_INT(settings_file_save(&s, home, sizeof(home)), 0);
	CHECK(strstr(home, "/home/.config/heaptop/config") != NULL);
	load(&s);
	CHECK(settings_is_off(&s, SETTINGS_TREE, "rate"));
	unsetenv("HOME");
	load(&s);
	CHECK(is_default(&s));
	CHECK(settings_file_save(&s, home, sizeof(home)) < 0);
	setenv("XDG_CONFIG_HOME", root, 1);
}

static struct options parsed(const char *const *argv)
{
	struct options o;
	int argc = 0;

	while (argv[argc])
		argc++;
	CHECK_INT(options_parse(argc, (char **)(uintptr_t)argv, &o, stdout, stderr), -1);
	return o;
}

TEST(options_outrank_it)
{
	const char *const plain[] = { "heaptop", "-a", "1", NULL };
	const char *const all[] = { "heaptop", "-s", "avg", "--group=module", "-d", "3", "-C",
		"always", "-U", "-M", "--full-names", "--follow", "-D", "7", "--history=5M", "-a",
		"1", NULL };
	const char *const none[] = { "heaptop", "--no-config", "-a", "1", NULL };
	static struct config c;
	struct options o;

	file_write("sort = peak\nreverse = yes\ngroup = function\ndelay = 5\ncolor = never\n"
		   "glyphs = braille\nnames = mangled\nall-frames = yes\nfollow = no\ndepth = 9\n"
		   "debuginfod = yes\nhistory = 2500K\n");
	o = parsed(plain);
	config_take(&c, &o);
	CHECK(o.sort == COL_PEAK && o.reverse && o.group == GROUP_FUNCTION);
	CHECK(o.delay_ns == 5000000000u && o.color == OPTIONS_COLOR_NEVER && !o.ascii);
	CHECK(o.names == NAMES_MANGLED && o.show_hidden && o.follow == OPTIONS_FOLLOW_NO);
	CHECK(o.depth == 9 && o.history_limit == 3 << 20 && o.debuginfod && !o.no_mouse);
	o = parsed(all);
	config_take(&c, &o);
	CHECK(o.sort == COL_AVG && !o.reverse && o.group == GROUP_MODULE);
	CHECK(o.delay_ns == 3000000000u && o.color == OPTIONS_COLOR_ALWAYS && o.ascii);
	CHECK(o.names == NAMES_FULL && o.follow == OPTIONS_FOLLOW_YES && o.depth == 7 &&
		o.history_limit == 5 << 20 && o.no_mouse);
	/* The screen has the same of both. */
	CHECK(c.settings.sort == COL_AVG && c.settings.delay_ms == 3000 && !c.settings.mouse);
	o = parsed(none);
	config_take(&c, &o);
	CHECK(is_default(&c.settings) && o.sort == COL_LIVE && o.depth == OPTIONS_DEPTH_DEFAULT);
	/* Nothing said at all is what the options say by themselves. */
	unlink(path);
	o = parsed(plain);
	config_take(&c, &o);
	CHECK(o.sort == COL_LIVE && o.delay_ns == 1000000000u &&
		o.follow == OPTIONS_FOLLOW_DEFAULT && o.depth == OPTIONS_DEPTH_DEFAULT &&
		o.history_limit == OPTIONS_HISTORY_BYTES && !o.debuginfod && !o.ascii &&
		!o.no_mouse);
}

#define ONE_ERROR(...) one_error((const char *const[]){ "heaptop", __VA_ARGS__, NULL })

/* The message of a refused command line, for a moment. */
static const char *one_error(const char *const *argv)
{
	static char text[400];
	static struct options o;
	char *err;
	size_t len;
	FILE *f = open_memstream(&err, &len);
	int argc = 0;

	while (argv[argc])
		argc++;
	CHECK_INT(options_parse(argc, (char **)(uintptr_t)argv, &o, stdout, f), OPTIONS_EXIT_USAGE);
	fclose(f);
	snprintf(text, sizeof(text), "%s", err);
	free(err);
	return text;
}

/* Sections of the file: own ones, and ones that replace the built-in ones. */
TEST(profiles)
{
	const char *const night[] = { "heaptop", "--profile", "night", "x", NULL };
	const char *const tiny[] = { "heaptop", "-d", "9", "--profile", "tiny", "x", NULL };
	const char *const plain[] = { "heaptop", "--profile", "tiny", "--no-config", "x", NULL };
	static struct config c;
	struct options o;

	file_write("sort = peak\ndepth = 9\n\n[profile night]\n# all that happens\n"
		   "record = /tmp/night.rec\nheadless\n no-follow = yes\nreadonly = no\n"
		   "[profile tiny]\ndelay = 30s\nfail-on = peak>64M\n");
	o = parsed(night);
	CHECK(o.headless && o.follow == OPTIONS_FOLLOW_NO && !o.readonly);
	CHECK_STR(o.record, "/tmp/night.rec");
	config_take(&c, &o);
	CHECK(o.sort == COL_PEAK && o.depth == 9 && o.delay_ns == 1000000000u);
	o = parsed(tiny);
	CHECK(o.delay_ns == 9000000000u && o.depth == OPTIONS_DEPTH_DEFAULT && o.nconditions == 1);
	CHECK_INT(parsed(plain).depth, 32);
	/* What W writes keeps them. */
	saved("sort = size\n[profile a]\ntop = 3\n", "line 1 of it");
	saved("[profile a]\n\n# why\ntop = 3\n[profile b]\ntree\n", "settings saved");
	CHECK(file_has("\n[profile a]\n\n# why\ntop = 3\n[profile b]\ntree\n"));
	saved("[profile a]\ntop = 3\n[colors]\nred = 1\n", "line 3 of it");
	CHECK(strstr(load(&c.settings), "config:3: \"[colors]\": no \"[profile NAME]\"") != NULL);
}

TEST(profiles_that_are_wrong)
{
	file_write("[profile a]\ndelay = never\n[profile b]\nmargin = 3\n[profile c]\nhelp\n"
		   "[profile d]\ndelay\n[profile e]\ntree = perhaps\n[profile f]\nfollow\n");
	CHECK_STR(ONE_ERROR("--profile", "a", "x"),
		"heaptop: profile a: --delay never: must be 0.1 to 60 seconds (\"500ms\" too); try "
		"heaptop "
		"--help\n");
	CHECK(strstr(ONE_ERROR("--profile", "b", "x"), "profile b: --margin: there is no such"));
	CHECK(strstr(ONE_ERROR("--profile", "c", "x"), "--help belongs on the command line"));
	CHECK(strstr(ONE_ERROR("--profile", "d", "x"), "--delay requires a value (SECS)"));
	CHECK(strstr(ONE_ERROR("--profile", "e", "x"), "--tree perhaps: must be yes or no"));
	CHECK(strstr(ONE_ERROR("--no-config", "--profile", "f", "x"),
		"no such profile without the settings file"));
	unlink(path);
}

int main(void)
{
	char command[300];

	CHECK(mkdtemp(root) != NULL);
	setenv("XDG_CONFIG_HOME", root, 1);
	snprintf(path, sizeof(path), "%s/heaptop/config", root);
	RUN(none_is_no_trouble);
	RUN(round_trip);
	RUN(broken_lines_are_told_with_their_place);
	RUN(what_cannot_be_read);
	RUN(what_cannot_be_written);
	RUN(nothing_is_lost_by_saving);
	RUN(where_it_is);
	RUN(options_outrank_it);
	RUN(profiles);
	RUN(profiles_that_are_wrong);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	CHECK_INT(system(command), 0);
	return check_end();
}
