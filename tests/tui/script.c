/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scripts: what they are made of, that they show what a terminal would, and --readonly. */
#include <errno.h>
#include <unistd.h>
#include "tests/check.h"
#include "tests/tui/paper.h"
#include "tui/keys.h"
#include "tui/script.h"

static char directory[] = "/tmp/heaptop-script-XXXXXX", script_path[64], shot_path[64];
static char why[SCRIPT_WHY_MAX];

static void file_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f)
		exit(1);
	fputs(text, f);
	fclose(f);
}

static char *file_read(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t cap = 0;

	if (!f || getdelim(&text, &cap, 0, f) < 0) {
		free(text);
		text = NULL;
	}
	if (f)
		fclose(f);
	return text;
}

/* Runs `text` on canned data; `why` tells. */
static int play(const char *text, bool readonly)
{
	struct canned canned = canned_default();
	struct tui_source source = canned_source(&canned);
	struct tui_options options = {
		.delay_ns = CANNED_S, .sort = COL_LIVE, .version = "0.1.0", .readonly = readonly
	};
	struct script *script;
	int signal, rc;

	setlocale(LC_ALL, "C.UTF-8");
	file_write(script_path, text);
	script = script_load(script_path, why);
	if (!script)
		return -EINVAL;
	rc = script_run(script, &source, &options, &signal, why);
	CHECK_INT(signal, 0);
	script_free(script);
	return rc;
}

/* Whether the script ends with a screen that has `what`. */
static bool shows(const char *script, bool readonly, const char *what)
{
	char text[1024], *shot;
	bool has;

	snprintf(text, sizeof(text), "%s:save-display %s\n", script, shot_path);
	unlink(shot_path);
	if (play(text, readonly)) {
		fprintf(stderr, "%s\n", why);
		return false;
	}
	shot = file_read(shot_path);
	has = shot && strstr(shot, what);
	if (!has)
		fprintf(stderr, "%s", shot ? shot : "no shot");
	free(shot);
	return has;
}

/* A script's screen is the one that a terminal of its size shows. */
TEST(it_shows_what_a_terminal_shows)
{
	char *want, *shot;
	struct paper p;

	paper_open(&p, 30, 100, false);
	refresh_tick(&p.ui);
	paper_keys(&p, "tjjl");
	paper_draw(&p);
	want = paper_text(&p);
	paper_close(&p);
	CHECK(shows(":size 100x30\nt\nj j l\n", false, "Tree"));
	shot = file_read(shot_path);
	CHECK(shot && !strcmp(want, shot));
	free(want);
	free(shot);
}

TEST(commands_do_what_they_say)
{
	CHECK(shows("# a comment\n\n  \\\n:type rate>0\nEnter\n", false, "filter: rate>0"));
	CHECK(shows("Space\n:wait 3\n", false, "3 newer snapshots are waiting"));
	CHECK(shows(":click 11 6\n", false, "[Tree"));
	CHECK(shows(":size 200x60\n", false, "AGE") || shows(":size 200x60\n", false, "TEMP"));
	CHECK(shows(":until up 12:45\n", false, "up 12:45"));
}

/* The row under the cursor is a line of one sign, from edge to edge. */
TEST(looks_are_one_sign_for_each_cell)
{
	char text[128], *shot;
	unsigned lines = 0;

	snprintf(text, sizeof(text), ":size 40x16\n:save-looks %s\n", shot_path);
	CHECK_INT(play(text, false), 0);
	shot = file_read(shot_path);
	CHECK(shot && strstr(shot, "\n6666666666666666666666666666666666666666\n"));
	for (const char *c = shot; c && *c; c++)
		lines += *c == '\n';
	CHECK_INT(lines, 16);
	free(shot);
}

TEST(it_ends_where_it_cannot_go_on)
{
	CHECK_INT(play(":until no such words\n", false), -ECANCELED);
	CHECK(strstr(why, ":1: this never appeared") != NULL);
	CHECK_INT(play("j\n:save-display /no/such/folder/shot\n", false), -ECANCELED);
	CHECK(strstr(why, ":2: /no/such/folder/shot: No such file") != NULL);
	CHECK_INT(play("Q\n:until no such words\n", false), 0);
}

TEST(what_is_wrong_is_told_with_its_line)
{
	static const char *const wrong[] = { ":jump 3", ":wait", ":wait 0", ":wait x", ":size 80",
		":size 0x3", ":size 9999x3", ":type", ":save-display", ":save-looks", ":click 0 3",
		"Entr", "F13", "F1x", "jj" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char text[64];

		snprintf(text, sizeof(text), "j\n%s\n", wrong[i]);
		CHECK_INT(play(text, false), -EINVAL);
		CHECK(strstr(why, ":2: ") != NULL);
	}
	CHECK(script_load("/no/such/script", why) == NULL);
	CHECK(strstr(why, "No such file") != NULL);
	CHECK(!script_load(directory, why));
	CHECK(strstr(why, "Is a directory") != NULL);
}

/* Each code of the table can be written as the help and the man page call it. */
TEST(keys_are_called_as_in_the_help)
{
	for (size_t i = 0; i < keys_count; i++) {
		char name[64], *rest;

		snprintf(name, sizeof(name), "%s", keys_table[i].name);
		for (char *w = strtok_r(name, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
			bool known = !strcmp(w, "gg") || !strcmp(w, "1-9") || !strcmp(w, "F10/q");

			for (unsigned k = 0; k < KEYS_CODES && keys_table[i].code[k]; k++)
				known |= script_key(w) == keys_table[i].code[k];
			if (!known)
				fprintf(stderr, "%s\n", w);
			CHECK(known);
		}
	}
	CHECK_INT(script_key("^L"), KEY_CTRL('l'));
	CHECK_INT(script_key("F12"), KEY_F(12));
	CHECK_INT(script_key(""), -1);
}

TEST(read_only_refuses_and_says_so)
{
	static const char refused[] = "is refused: heaptop was started with --readonly";
	struct paper p;

	CHECK(shows("x\n", false, "saved heaptop-snapshot"));
	paper_open(&p, 30, 100, false);
	p.ui.options.readonly = true;
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(paper_find(&p, "read only") == 0);
	CHECK_INT(paper_find(&p, "export"), -1); /* nor is it advertised */
	for (size_t i = 0; i < keys_count; i++) {
		const struct key_binding *b = &keys_table[i];

		if (!(b->scope & CHANGES))
			continue;
		for (int v = 0; v < VIEW_COUNT; v++) {
			if (!(b->scope & view_table[v]->scope))
				continue;
			p.ui.depth = 1;
			ui_push(&p.ui, (enum view_id)v);
			screen_key(&p.ui, b->code[0]);
			CHECK(strstr(p.ui.message, refused) != NULL);
			CHECK(!p.ui.prompt.open);
		}
	}
	CHECK_INT(p.canned.saved, 0);
	CHECK(!p.canned.asked[0]);
	paper_close(&p);
}

static void ended(void *ctx)
{
	((struct canned *)ctx)->saved = 99;
}

TEST(read_only_ends_no_program)
{
	for (int readonly = 0; readonly < 2; readonly++) {
		struct paper p;

		paper_open(&p, 30, 100, false);
		p.source.end = ended;
		p.ui.options.launched = true;
		p.ui.options.readonly = readonly;
		refresh_tick(&p.ui);
		paper_keys(&p, "q");
		CHECK_INT(strstr(p.ui.message, "t ends it") == NULL, readonly);
		paper_keys(&p, "t");
		CHECK_INT(p.canned.saved, readonly ? 0 : 99);
		CHECK_INT(p.ui.quit, !readonly);
		paper_close(&p);
	}
}

TEST(read_only_scripts_write_to_stdout_only)
{
	char text[128];

	snprintf(text, sizeof(text), ":save-display %s\n", shot_path);
	unlink(shot_path);
	CHECK_INT(play(text, true), -ECANCELED);
	CHECK(strstr(why, "--readonly") != NULL);
	CHECK_INT(access(shot_path, F_OK), -1);
}

int main(void)
{
	if (!mkdtemp(directory))
		return 1;
	snprintf(script_path, sizeof(script_path), "%s/script", directory);
	snprintf(shot_path, sizeof(shot_path), "%s/shot", directory);
	RUN(it_shows_what_a_terminal_shows);
	RUN(commands_do_what_they_say);
	RUN(looks_are_one_sign_for_each_cell);
	RUN(it_ends_where_it_cannot_go_on);
	RUN(what_is_wrong_is_told_with_its_line);
	RUN(keys_are_called_as_in_the_help);
	RUN(read_only_refuses_and_says_so);
	RUN(read_only_ends_no_program);
	RUN(read_only_scripts_write_to_stdout_only);
	unlink(script_path);
	unlink(shot_path);
	rmdir(directory);
	return check_end();
}
