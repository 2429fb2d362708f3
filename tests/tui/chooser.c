/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The screen on which a process is chosen: canned processes, keys, and what is drawn. */
#include "tests/check.h"
#include "tests/tui/paper.h"
#include "tui/chooser.h"

#define ROWS 60

static struct process_row rows[ROWS];
static size_t count, more;
static SCREEN *screen;
static FILE *in, *out;
static struct chooser c;
static struct chooser_source source;

static size_t some_rows(void *ctx, const struct process_row **to, size_t *left_out)
{
	*to = rows;
	*left_out = more;
	return count;
}

/* Three that matter, and smaller ones behind them. */
static void rows_fill(void)
{
	static const struct process_row named[] = {
		{ .id = 7,
			.pid = 977,
			.state = "running",
			.rss_bytes = 40 << 20,
			.rate_bytes_per_s = 1 << 20,
			.has_rate = true,
			.command = "/usr/sbin/nginx -g daemon off;" },
		{ .id = 8,
			.pid = 4211,
			.state = "sleeping",
			.rss_bytes = 512 << 20,
			.has_rate = true,
			.command = "./server --port 80" },
		{ .id = 9,
			.pid = 12,
			.state = "running",
			.rss_bytes = 90 << 20,
			.has_live = true,
			.command = "python3 /srv/report.py" },
	};

	memcpy(rows, named, sizeof(named));
	for (unsigned i = 3; i < ROWS; i++) {
		rows[i] = (struct process_row){ .id = 100 + i,
			.pid = (pid_t)(5000 + i),
			.state = "idle",
			.rss_bytes = (uint64_t)(ROWS - i) << 10 };
		snprintf(rows[i].command, sizeof(rows[i].command), "worker %u", i);
	}
	count = ROWS;
	more = 0;
}

static void begin(int height, int width)
{
	setlocale(LC_ALL, "C.UTF-8");
	setenv("TERM", "xterm-256color", 1);
	in = fopen("/dev/null", "r");
	out = tmpfile();
	screen = newterm("xterm-256color", out, in);
	resizeterm(height, width);
	draw_init(TUI_COLOR_ALWAYS, false);
	rows_fill();
	source = (struct chooser_source){ .rows = some_rows, .title = "choose a process to watch" };
	chooser_init(&c, &source, width, height);
}

static void close_screen(void)
{
	endwin();
	delscreen(screen);
	fclose(in);
	fclose(out);
}

static const char *line(int y)
{
	static char text[SCREEN_DUMP_LINE];

	return screen_dump_line(y, text);
}

static bool has(const char *what)
{
	for (int y = 0; y < LINES; y++)
		if (strstr(line(y), what))
			return true;
	return false;
}

static void press(const char *keys)
{
	for (; *keys; keys++)
		chooser_key(&c, (unsigned char)*keys);
	chooser_draw(&c);
	doupdate();
}

static pid_t taken(void)
{
	pid_t pid = 0;

	return chooser_taken(&c, &pid, 1) == 1 ? pid : 0;
}

TEST(the_largest_is_first)
{
	begin(24, 80);
	press("");
	CHECK_STR(line(0),
		" heaptop  choose a process to watch                                    60 of 60");
	CHECK_STR(line(2), ">    4211  512.0M          0 sleeping  ./server --port 80");
	close_screen();
}

TEST(enter_takes_the_one_under_the_cursor)
{
	begin(24, 80);
	press("j\r");
	CHECK_INT(c.end, CHOOSER_TAKEN);
	CHECK_INT(taken(), 12);
	close_screen();
}

TEST(leaving_takes_none)
{
	begin(24, 80);
	press("q");
	CHECK_INT(c.end, CHOOSER_LEFT);
	close_screen();
	begin(24, 80);
	press("\033");
	CHECK_INT(c.end, CHOOSER_LEFT);
	close_screen();
}

/* By its identity: rows change places, end, and appear. */
TEST(the_cursor_follows_its_process)
{
	begin(24, 80);
	press("jj");
	CHECK_INT(taken(), 977);
	rows[0].rss_bytes = 1024u << 20; /* now the largest */
	chooser_refresh(&c);
	CHECK_INT(taken(), 977);
	CHECK_INT(c.list.cursor, 0);
	rows[0] = rows[--count]; /* and gone */
	chooser_refresh(&c);
	CHECK(taken() != 977 && taken() > 0);
	close_screen();
}

/* Untouched, it stays on the first row: the largest is what one looks for. */
TEST(an_untouched_cursor_stays_on_top)
{
	begin(24, 80);
	rows[0].rss_bytes = 1024u << 20;
	chooser_refresh(&c);
	CHECK_INT(taken(), 977);
	close_screen();
}

TEST(digits_sort)
{
	begin(24, 80);
	press("3");
	CHECK_INT(taken(), 977);
	press("1\r");
	CHECK_INT(c.sort.sort, 0);
	close_screen();
	begin(24, 80);
	press("2"); /* the same again: reversed */
	CHECK(c.sort.reverse);
	CHECK_INT(taken(), 5000 + ROWS - 1);
	press("I");
	CHECK_INT(taken(), 4211);
	press("5");
	CHECK(strstr(line(2), "./server"));
	close_screen();
}

TEST(a_filter)
{
	begin(24, 80);
	press("/ngi");
	CHECK(has("filter: ngi_") && has("1 of 60"));
	CHECK_INT(taken(), 977);
	press("\b\b\b\b");
	CHECK(has("60 of 60"));
	press("REPORT 12\r");
	CHECK_INT(c.end, CHOOSER_OPEN); /* Enter ends the typing */
	CHECK_INT(taken(), 12);
	press("\033");
	CHECK_INT(c.end, CHOOSER_OPEN); /* Esc clears the filter first */
	CHECK(has("60 of 60"));
	press("/zzz");
	CHECK(has("no process matches the filter"));
	press("\r\r");
	CHECK_INT(c.end, CHOOSER_OPEN);
	CHECK(has("no process to choose from"));
	close_screen();
}

/* In the order in which they were marked; the first is what is shown. */
TEST(several)
{
	pid_t pids[4];

	begin(24, 80);
	press("j j ");
	CHECK(has("2 marked: Enter watches them together"));
	CHECK(has("*      12"));
	press("k k\r"); /* unmarks 977 */
	CHECK_INT(c.marks, 1);
	close_screen();
	begin(24, 80);
	press("  \r");
	CHECK_INT(chooser_taken(&c, pids, 4), 2);
	CHECK_INT(pids[0], 4211);
	CHECK_INT(pids[1], 12);
	CHECK_INT(chooser_taken(&c, pids, 1), 1);
	rows[1] = rows[--count]; /* 4211 ends meanwhile */
	chooser_refresh(&c);
	CHECK_INT(chooser_taken(&c, pids, 4), 1);
	CHECK_INT(pids[0], 12);
	close_screen();
}

/* On a narrow screen the column sorted by replaces another one, in the rows as in the header. */
TEST(values_stand_under_their_headers)
{
	begin(9, 50);
	press("4G");
	CHECK_STR(line(1), "     1PID    2RSS 4STATE▲   5COMMAND");
	CHECK_STR(line(6), ">    4211  512.0M sleeping  ./server --port 80");
	press("3");
	CHECK_STR(line(1), "     1PID    2RSS    3GROWTH▼5COMMAND");
	CHECK_STR(line(2), "      977   40.0M    +1.0M/s /usr/sbin/nginx -g d…");
	close_screen();
}

/* The cursor went on to another process, which was not chosen. */
TEST(a_marked_process_ends)
{
	begin(24, 80);
	press("1Ij ");
	CHECK_INT(taken(), 977);
	rows[0] = rows[--count];
	chooser_refresh(&c);
	press("");
	CHECK(has("1 marked process has ended, 0 still marked"));
	CHECK(!has("Enter watches them"));
	press("\r");
	CHECK_INT(c.end, CHOOSER_OPEN);
	CHECK(has("the marked processes have ended"));
	press("\r");
	CHECK_INT(c.end, CHOOSER_TAKEN);
	close_screen();
}

/* Any key shows that the user has seen it. */
TEST(another_is_chosen_instead)
{
	begin(24, 80);
	press("  k");
	rows[1] = rows[count - 1];
	rows[2] = rows[count - 2];
	count -= 2;
	chooser_refresh(&c);
	press("");
	CHECK(has("2 marked processes have ended, 0 still marked"));
	press("g\r");
	CHECK_INT(c.end, CHOOSER_TAKEN);
	CHECK_INT(taken(), 977);
	close_screen();
}

/* At every size the chosen row is on the screen, and nothing is drawn outside. */
TEST(every_size)
{
	for (int width = 20; width <= 140; width += 12)
		for (int height = 3; height <= 40; height += 7) {
			begin(height, width);
			press("G");
			if (width < LAYOUT_MIN_WIDTH || height < LAYOUT_MIN_HEIGHT)
				CHECK(has("too small"));
			else
				CHECK(has(">    5059"));
			press("gq");
			CHECK_INT(c.end, CHOOSER_LEFT);
			close_screen();
		}
}

TEST(what_is_recorded_already)
{
	begin(24, 80);
	press("");
	CHECK(has("     12   90.0M            recorded  python3 /srv/report.py"));
	more = 300;
	chooser_refresh(&c);
	press("");
	CHECK(has("60 of 360"));
	close_screen();
}

int main(void)
{
	RUN(the_largest_is_first);
	RUN(enter_takes_the_one_under_the_cursor);
	RUN(leaving_takes_none);
	RUN(the_cursor_follows_its_process);
	RUN(an_untouched_cursor_stays_on_top);
	RUN(digits_sort);
	RUN(a_filter);
	RUN(several);
	RUN(values_stand_under_their_headers);
	RUN(a_marked_process_ends);
	RUN(another_is_chosen_instead);
	RUN(every_size);
	RUN(what_is_recorded_already);
	return check_end();
}
