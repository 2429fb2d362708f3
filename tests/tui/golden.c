/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whole screens against files in tests/tui/golden: each view at each size, in both glyph sets. A
 * run with GOLDEN_UPDATE=1 writes the files instead; look at the difference before you commit it.
 */
#include "tests/check.h"
#include "tests/tui/paper.h"

static const struct {
	int width, height;
} sizes[] = { { 40, 8 }, { 80, 24 }, { 100, 30 }, { 200, 60 } };

static char *golden_read(const char *path)
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

static void golden_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f) {
		perror(path);
		return;
	}
	fputs(text, f);
	fclose(f);
}

/* `got` is freed. */
static void golden_compare(char *got, const char *name, int width, int height, const char *kind)
{
	char path[256], *want;

	snprintf(path, sizeof(path), "tests/tui/golden/%s-%dx%d-%s.txt", name, width, height, kind);
	if (getenv("GOLDEN_UPDATE"))
		golden_write(path, got);
	want = golden_read(path);
	if (!want || strcmp(got, want)) {
		check_fail(path, 1, "the screen is as it was");
		fprintf(stderr, "%s", got);
	}
	free(want);
	free(got);
}

static void prepare_nothing(struct paper *p)
{
}

static void prepare_frozen(struct paper *p)
{
	paper_keys(p, "3jj ");
	ui_tick(&p->ui);
	ui_tick(&p->ui);
}

static void prepare_detail(struct paper *p)
{
	paper_keys(p, "j\r");
}

static void prepare_output(struct paper *p)
{
	ui_tab(&p->ui, VIEW_OUTPUT);
}

static void prepare_tree(struct paper *p)
{
	paper_keys(p, "tjjl");
}

static void prepare_tree_up(struct paper *p)
{
	paper_keys(p, "tijj");
}

static void prepare_help(struct paper *p)
{
	paper_keys(p, "?");
}

static void prepare_sampled(struct paper *p)
{
	p->canned.sampled = true;
	ui_tick(&p->ui);
}

static void prepare_sampled_detail(struct paper *p)
{
	prepare_sampled(p);
	paper_keys(p, "\r");
}

static void prepare_ended(struct paper *p)
{
	p->canned.state = SNAP_KILLED;
	p->canned.notice = "tracking ended: the program was killed";
	p->canned.untracked = 12;
	ui_tick(&p->ui);
	paper_keys(p, "v");
}

/* Colours and attributes, cell by cell; in mono what they say must be there, too. */
static void golden_looks(const char *name, void (*prepare)(struct paper *p))
{
	struct paper p;

	paper_open(&p, 24, 80, false);
	ui_tick(&p.ui);
	prepare(&p);
	paper_draw(&p);
	golden_compare(paper_looks(), name, 80, 24, "colour");
	ink_init(TUI_COLOR_NEVER, false);
	paper_draw(&p);
	golden_compare(paper_looks(), name, 80, 24, "mono");
	paper_close(&p);
}

static void golden_view(const char *name, void (*prepare)(struct paper *p))
{
	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct paper p;
		bool ascii = i % 2;

		paper_open(&p, sizes[i / 2].height, sizes[i / 2].width, ascii);
		ui_tick(&p.ui);
		prepare(&p);
		paper_draw(&p);
		golden_compare(paper_text(&p), name, sizes[i / 2].width, sizes[i / 2].height,
			ascii ? "ascii" : "utf8");
		paper_close(&p);
	}
	golden_looks(name, prepare);
}

TEST(sites)
{
	golden_view("sites", prepare_nothing);
}

TEST(frozen)
{
	golden_view("frozen", prepare_frozen);
}

TEST(detail)
{
	golden_view("detail", prepare_detail);
}

TEST(tree)
{
	golden_view("tree", prepare_tree);
	golden_view("tree-up", prepare_tree_up);
}

static void prepare_filtered(struct paper *p)
{
	paper_keys(p, "\\live>10M rate>0\rj");
}

static void prepare_prompt(struct paper *p)
{
	paper_keys(p, "\\json");
}

TEST(filtered)
{
	golden_view("filtered", prepare_filtered);
	golden_view("prompt", prepare_prompt);
}

static void prepare_sizes(struct paper *p)
{
	paper_keys(p, "j");
	ui_tab(&p->ui, VIEW_SIZES);
}

TEST(sizes_and_lifetimes)
{
	golden_view("sizes", prepare_sizes);
}

static void prepare_modules(struct paper *p)
{
	ui_tab(&p->ui, VIEW_MODULES);
	paper_keys(p, "j");
}

TEST(modules)
{
	golden_view("modules", prepare_modules);
}

static void prepare_threads(struct paper *p)
{
	ui_tab(&p->ui, VIEW_THREADS);
	paper_keys(p, "j");
}

TEST(threads)
{
	golden_view("threads", prepare_threads);
}

static void prepare_grouped(struct paper *p)
{
	paper_keys(p, "gfjj");
}

static void prepare_group_choice(struct paper *p)
{
	paper_keys(p, "gmg");
}

TEST(grouped)
{
	golden_view("grouped", prepare_grouped);
	golden_view("group-choice", prepare_group_choice);
}

static void prepare_settings(struct paper *p)
{
	ui_key(&p->ui, KEY_F(2));
}

static void prepare_rules(struct paper *p)
{
	paper_keys(p, "S\rmy_alloc*\r");
}

TEST(settings)
{
	golden_view("settings", prepare_settings);
	golden_view("rules", prepare_rules);
}

static void prepare_map(struct paper *p)
{
	ui_tab(&p->ui, VIEW_MAP);
	paper_keys(p, "jll");
}

static void prepare_map_zoomed(struct paper *p)
{
	ui_tab(&p->ui, VIEW_MAP);
	paper_keys(p, "]]+j");
}

TEST(map)
{
	golden_view("map", prepare_map);
	golden_view("map-zoomed", prepare_map_zoomed);
}

/* A minute between two marks, the first with a name, and some seconds since. */
static void prepare_marked(struct paper *p)
{
	paper_keys(p, "mwarm-up\r");
	for (int i = 0; i < 60; i++)
		ui_tick(&p->ui);
	paper_keys(p, "m\r");
	for (int i = 0; i < 5; i++)
		ui_tick(&p->ui);
	paper_keys(p, "j");
}

static void prepare_marks(struct paper *p)
{
	prepare_marked(p);
	paper_keys(p, "M");
}

TEST(marks)
{
	golden_view("marked", prepare_marked);
	golden_view("marks", prepare_marks);
}

static void leaks_scan(struct paper *p)
{
	paper_keys(p, "L");
	cannedleaks_end(&p->canned.leaks, p->canned.seconds * CANNED_S);
	ui_tick(&p->ui);
}

static void prepare_leaks(struct paper *p)
{
	leaks_scan(p);
	ui_tick(&p->ui);
	leaks_scan(p);
	paper_keys(p, "A30s\rj");
}

static void prepare_leaks_none(struct paper *p)
{
	p->canned.leaks.none = true;
	leaks_scan(p);
}

static void prepare_leaks_busy(struct paper *p)
{
	prepare_leaks(p);
	paper_keys(p, "LKKKKKK");
}

static void prepare_why(struct paper *p)
{
	prepare_leaks(p);
	paper_keys(p, "jjjH\r");
}

TEST(leaks)
{
	golden_view("leaks", prepare_leaks);
	golden_view("leaks-none", prepare_leaks_none);
	golden_view("leaks-busy", prepare_leaks_busy);
	golden_view("why", prepare_why);
}

static void prepare_processes(struct paper *p)
{
	paper_keys(p, "pj");
}

TEST(processes)
{
	golden_view("processes", prepare_processes);
}

TEST(output)
{
	golden_view("output", prepare_output);
}

TEST(help)
{
	golden_view("help", prepare_help);
}

TEST(ended)
{
	golden_view("ended", prepare_ended);
}

TEST(sampled)
{
	golden_view("sampled", prepare_sampled);
	golden_view("sampled-detail", prepare_sampled_detail);
}

/* The ASCII screen has no byte above 127 but those of the names it shows. */
TEST(ascii_is_ascii)
{
	struct paper p;
	char *text;

	paper_open(&p, 30, 100, true);
	p.canned.nsites = 9; /* without the site that has a Japanese name */
	p.canned.sampled = true;
	ui_tick(&p.ui);
	for (const char *keys = "\r?qqpjptjlizt\t\t\t\th"; *keys; keys++) {
		paper_draw(&p);
		text = paper_text(&p);
		for (const char *c = text; *c; c++)
			CHECK((unsigned char)*c < 128);
		free(text);
		ui_key(&p.ui, *keys);
	}
	paper_close(&p);
}

int main(void)
{
	RUN(sites);
	RUN(frozen);
	RUN(detail);
	RUN(tree);
	RUN(filtered);
	RUN(sizes_and_lifetimes);
	RUN(modules);
	RUN(threads);
	RUN(grouped);
	RUN(settings);
	RUN(map);
	RUN(marks);
	RUN(leaks);
	RUN(processes);
	RUN(output);
	RUN(help);
	RUN(ended);
	RUN(sampled);
	RUN(ascii_is_ascii);
	return check_end();
}
