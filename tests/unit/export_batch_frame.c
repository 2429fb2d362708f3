/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A batch frame, letter by letter, and its width at any width asked for. */
#include <locale.h>
#include <stdlib.h>
#include "src/export/export.h"
#include "src/util/text.h"
#include "tests/unit/canned.h"
#include "tests/check.h"

static const char head[] =
	"heaptop  ./server --port 80  pid 4211  killed by SIGSEGV  14 thr  up 12m41s  self 0.3%cpu "
	"9.0M\n"
	"Live 128.4M in 101.2k blocks  peak 134.5M @9m12s  growth +1.8M/s  4 sites  exact\n"
	"RSS  538.2M  hwm 701.4M  pss 530.0M  swap 0  faults 1.2k/s min 0/s maj\n"
	"Ops  alloc 184k/s  free 183k/s  realloc 0.3/s  untracked 0\n";

static const char rows[] = "  LIVE     %      RATE TREND      BLOCKS    AVG CALL SITE              "
			   "         FILE:LINE\n"
			   " 96.4M  75.1   +1.1M/s       ▁▃▇▇ 101.2k    998 "
			   "cache::Shard::insert(int)       cache.cc:214\n"
			   " 32.0M  24.9         0          ▁      8   4.0M arena_new              "
			   "         arena.c:118\n"
			   "  4.0k   0.0    -96k/s                 1   4.0k ?? libfoo.so.3+0x4f1c0 "
			   "         libfoo.so.3\n"
			   "     0     0         0                 0      - ?? 0x7f1122334455\n"
			   "\n";

static const struct export_options options = {
	.sort = COL_LIVE, .names = NAMES_FULL, .version = "0.1.0"
};
static struct strbuf out;

static const char *frame(const struct snapshot *s, const struct export_options *o)
{
	strbuf_reset(&out);
	export_frame(&out, s, o);
	CHECK(!out.failed);
	return strbuf_text(&out);
}

TEST(whole_frame)
{
	const char *text = frame(&canned, &options);

	CHECK(strncmp(text, head, strlen(head)) == 0);
	CHECK_STR(text + strlen(head), rows);
}

/* What the program started holds memory, too. */
TEST(others_of_its_launch)
{
	struct snapshot s = canned;

	s.launch = (struct snap_launch){
		.running = 4, .ended = 1200, .live_bytes = 106u << 20, .peak_bytes = 300u << 20
	};
	CHECK(strstr(frame(&s, &options),
		"\nAlso 4 processes of its launch with 106.0M live, 1,200 "
		"ended; at least 300.0M live at once\n  LIVE "));
	s.launch.running = 1;
	CHECK(strstr(frame(&s, &options), "\nAlso 1 process of its launch with "));
	s.launch = (struct snap_launch){ .peak_bytes = 5 };
	CHECK(!strstr(frame(&s, &options), "\nAlso"));
}

TEST(sampling)
{
	struct snapshot s = canned;
	const char *text;

	s.sampling = (struct snap_sampling){ .bytes = 1 << 20, .most = 1 << 20 };
	s.totals.error.live_bytes = s.totals.live_bytes * 2;
	text = frame(&s, &options);
	CHECK(strstr(text, "  sampled 1/1M ±100%\n") != NULL);
	CHECK(strstr(text, "\n  LIVE  ERROR     %      RATE TREND") != NULL);
	s.sampling.measured = true;
	s.sampling.overhead = 0.5;
	CHECK(strstr(frame(&s, &options), "±100%  cost 50.0%\n") != NULL);
}

TEST(a_filter_is_told)
{
	struct export_options o = options;
	struct snapshot s = canned;

	o.filter = "operator<<";
	o.sites = 83;
	s.nsites = 0;
	CHECK(strstr(frame(&s, &o), "  0 of 83 sites  exact  filter: operator<<\n") != NULL);
	s.nsites = 1;
	CHECK(strstr(frame(&s, &o), "  1 of 83 sites  exact  filter: ") != NULL);
	/* Rows that sum up sites are no part of these. */
	o.group = GROUP_FUNCTION;
	CHECK(strstr(frame(&s, &o), "  1 function  exact  filter: operator<<\n") != NULL);
}

TEST(order_and_top)
{
	struct export_options o = options;
	const char *text;

	o.sort = COL_SITE;
	o.top = 2;
	o.width = 40;
	text = frame(&canned, &o);
	CHECK_STR(text + strlen(head), "  LIVE BLOCKS CALL SITE\n"
				       " 32.0M      8 arena_new\n"
				       " 96.4M 101.2k cache::Shard::insert(int)\n"
				       "\n");
}

/* Rows are not sorted by what nobody sees. */
TEST(the_order_is_shown)
{
	struct export_options o = options;
	struct snapshot s = canned;

	s.totals.has_at_peak = true;
	CHECK(strstr(frame(&s, &o), "AT-PEAK") == NULL);
	o.sort = COL_AT_PEAK;
	CHECK(strstr(frame(&s, &o), "  AVG AT-PEAK CALL SITE ") != NULL);
	o.width = 160;
	CHECK(strstr(frame(&s, &o), "   PEAK AT-PEAK PEAK% ALLOCS ") != NULL);
	o.width = 40;
	CHECK(strstr(frame(&s, &o), "AT-PEAK") == NULL);
}

TEST(notice_and_unread_proc)
{
	struct snapshot s = canned;

	s.proc.valid = false;
	s.notice = "tracking ended: table full";
	frame(&s, &options);
	CHECK(strstr(out.data, "\n! tracking ended: table full\nLive ") != NULL);
	CHECK(strstr(out.data, "RSS") == NULL && strstr(out.data, " thr ") == NULL);
	s.proc.valid = true;
	s.proc.have_pss = false;
	CHECK(strstr(frame(&s, &options), "pss -  swap") != NULL);
	s.proc.rss = 0;
	s.proc.threads = 0;
	frame(&s, &options);
	CHECK(strstr(out.data, "RSS  -  hwm") != NULL && strstr(out.data, " thr ") == NULL);
}

TEST(rows_keep_their_width)
{
	struct export_options o = options;

	for (o.width = 30; o.width < 250; o.width++) {
		const char *line = strstr(frame(&canned, &o), "  LIVE");

		o.ascii = o.width & 1;
		for (const char *end; line && (end = strchr(line, '\n')); line = end + 1) {
			char one[1024];

			snprintf(one, sizeof(one), "%.*s", (int)(end - line), line);
			CHECK(text_cells(one) <= o.width);
			CHECK(end == line || end[-1] != ' ');
		}
	}
	o.width = 1; /* no room: the least there is, not a crash */
	CHECK(strstr(frame(&canned, &o), "CALL SITE") != NULL);
}

TEST(no_escapes)
{
	struct export_options o = options;

	o.ascii = true;
	for (const char *p = frame(&canned, &o); *p; p++)
		CHECK((*p >= ' ' && *p < 0x7f) || *p == '\n');
}

/* With a look at all sites for each row, this takes minutes. */
TEST(many_rows)
{
	const size_t n = 150000;
	struct snap_site *sites = malloc(n * sizeof(*sites));
	struct export_options o = options;
	struct snapshot s = canned;
	size_t lines = 0;

	CHECK(sites != NULL);
	for (size_t i = 0; sites && i < n; i++) {
		sites[i] = canned_sites[1];
		sites[i].id = (uint32_t)i + 1;
	}
	s.sites = sites;
	s.nsites = sites ? n : 0;
	o.width = 60; /* the least with AGE */
	for (const char *p = frame(&s, &o); (p = strchr(p, '\n')); p++)
		lines++;
	CHECK_INT(lines, n + 6);
	CHECK(strstr(out.data, " AGE ") == NULL);
	s.nsites = sites ? 10 : 0;
	if (sites)
		sites[9].has_ages = true;
	CHECK(strstr(frame(&s, &o), " AGE ") != NULL);
	free(sites);
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	RUN(whole_frame);
	RUN(others_of_its_launch);
	RUN(sampling);
	RUN(a_filter_is_told);
	RUN(order_and_top);
	RUN(the_order_is_shown);
	RUN(notice_and_unread_proc);
	RUN(rows_keep_their_width);
	RUN(no_escapes);
	RUN(many_rows);
	strbuf_free(&out);
	return check_end();
}
