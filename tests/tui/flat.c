/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A viewer that is left open for days: frame after frame of a real session on the screen, through
 * all views, and its memory does not grow, nor does the next frame send more than the first ones.
 * Some thousand frames; 100,000 with SOAK=1.
 */
#include <malloc.h>
#include <math.h>
#include "src/proc/proc.h"
#include "src/session/session.h"
#include "tests/tui/paper.h"
#include "tests/unit/segment_fixture.h"

#define WARM_FRAMES  1500
#define CHECK_FRAMES 2500
#define SOAK_FRAMES  100000
#define VIEW_FRAMES  150 /* in each view; with SOAK=1 its share of SOAK_FRAMES */
#define VIEW_WARM    30
#define BUSY_MOST    866 /* bytes; it was 911 when all trends moved with each frame */
#define GROWTH_MOST  16384 /* bytes: caches that were not full yet; far below one block a frame */
/* In a view that is not left nothing is new. The least block that malloc makes takes 32 bytes. */
#define VIEW_GROWTH_MOST(frames) ((size_t)(frames)*8)

static struct made made;
static struct session *session;
static struct paper p;

static void begin(void)
{
	const struct session_options o = { .debuginfod = false };
	struct segment_identity id = fixture_identity;
	char message[READ_MESSAGE_MAX] = "";

	id.pid = (uint32_t)getpid();
	CHECK_INT(proc_start_ticks(getpid(), &id.start_ticks), 0);
	made_open(&made, &id);
	made_fill(&made);
	made.s.header->state = HT_STATE_RUNNING;
	session = session_open(made.path, &o, message);
	if (!session)
		made_give_up(message);
}

static struct snapshot *session_next(void *ctx, const char **error)
{
	*error = NULL;
	return session_tick(session);
}

/* A user who now and then looks at something else. */
static void look_around(unsigned frame)
{
	static const char keys[] = "\t\t\t\t\tt\rqjo 3o/x\r1?qMqvH g\x1b";

	if (frame % 10 == 0)
		screen_key(&p.ui, keys[frame / 10 % (sizeof(keys) - 1)]);
}

static void frames(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		look_around(i);
		refresh_tick(&p.ui);
		paper_draw(&p);
		if (i % 1000 == 0 && ftruncate(fileno(p.out), 0))
			CHECK(false);
		p.ui.quit = p.ui.suspend = false;
	}
}

static size_t held(void)
{
	return mallinfo2().uordblks + mallinfo2().hblkhd;
}

static void view_go(int view)
{
	p.ui.depth = 1;
	if (view < VIEW_TABS)
		ui_tab(&p.ui, (enum view_id)view);
	else
		ui_push(&p.ui, (enum view_id)view);
	refresh_tick(&p.ui);
	paper_draw(&p);
}

static void view_frames(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		refresh_tick(&p.ui);
		paper_draw(&p);
		if (i % 1000 == 0 && ftruncate(fileno(p.out), 0))
			CHECK(false);
	}
}

static void open_all(void)
{
	begin();
	paper_open(&p, 30, 100, false);
	p.source.tick = session_next;
}

static void close_all(void)
{
	paper_close(&p);
	session_close(session);
	made_close(&made);
}

/* A leak per frame is found even in a view that is shown only now and then. */
TEST(memory_is_flat_in_each_view)
{
	unsigned count = getenv("SOAK") ? SOAK_FRAMES / VIEW_COUNT : VIEW_FRAMES;

	for (int view = 0; view < VIEW_COUNT; view++) {
		size_t before;

		view_go(view);
		view_frames(VIEW_WARM);
		before = held();
		view_frames(count);
		fprintf(stderr, "%s: %zu bytes held, after %u more frames %zu\n",
			view_table[view]->title, before, count, held());
		CHECK(held() <= before + VIEW_GROWTH_MOST(count));
	}
}

TEST(memory_is_flat)
{
	unsigned count = getenv("SOAK") ? SOAK_FRAMES : CHECK_FRAMES;
	size_t before;

	before = held();
	frames(count);
	fprintf(stderr, "%zu bytes held, after %u more frames %zu\n", before, count, held());
	CHECK(held() <= before + GROWTH_MOST);
}

TEST(steady_frames_are_below_1_kb)
{
	const int count = 20;

	paper_open(&p, 30, 100, false);
	p.canned.nsites = 10000;
	for (int view = 0; view < VIEW_COUNT; view++) {
		long before, bytes;

		view_go(view);
		before = paper_bytes(&p);
		for (int i = 0; i < count; i++) {
			refresh_tick(&p.ui);
			paper_draw(&p);
		}
		bytes = (paper_bytes(&p) - before) / count;
		fprintf(stderr, "%s: %ld bytes a frame\n", view_table[view]->title, bytes);
		CHECK(bytes <= 1024);
	}
	paper_close(&p);
}

/* Of no luck: the same numbers on each run; 0 to 1. */
static double noise(uint64_t a, uint64_t b)
{
	uint32_t x = (uint32_t)(a * 2654435761u + b * 40503u + 12345);

	x ^= x >> 16;
	x *= 0x45d9f3b;
	x ^= x >> 13;
	return (x & 0xffff) / 65536.0;
}

/* Live bytes of a site of a program that is busy everywhere: all sites change a little all the
 * time, and each fourth a lot. None overtakes another. */
static uint64_t busy_bytes(size_t site, uint64_t second)
{
	double most = 60e6 * pow(0.7, (double)site), part = site % 4 ? 0.02 : 0.15;

	return (uint64_t)(most * (1 - part * noise(site, second)));
}

/* As the model has it: half of the sites move with the even ticks. */
static void busy_trend(struct snap_site *s, size_t i, uint64_t t)
{
	uint64_t back = 0;

	for (unsigned at = SNAP_TREND_POINTS; at-- > 0;) {
		s->trend[at] = busy_bytes(i, t > back ? t - back : 0);
		back += back == 0 ? 1 + (t + s->id) % SNAP_TREND_TICKS : SNAP_TREND_TICKS;
	}
}

static void busy_site(struct snap_site *s, size_t i, uint64_t t)
{
	uint64_t before = t > 10 ? t - 10 : 0, size = 40 + i * 300;

	s->live_bytes = busy_bytes(i, t);
	s->live_blocks = s->live_bytes / (uint64_t)((double)size * (1 + 0.02 * noise(t, i)));
	s->rate_bytes_per_s = ((double)s->live_bytes - (double)busy_bytes(i, before)) / 10;
	s->growth = (struct snap_growth){ .sure = 0 };
	busy_trend(s, i, t);
}

static struct snapshot *busy_tick(void *ctx, const char **error)
{
	struct canned *c = ctx;
	struct snapshot *s = canned_tick(ctx, error);
	struct snap_totals *t = &s->totals;

	t->live_bytes = t->live_blocks = 0;
	for (size_t i = 0; i < s->nsites; i++) {
		struct snap_site *site = (struct snap_site *)(uintptr_t)&s->sites[i];

		busy_site(site, i, c->seconds);
		t->live_bytes += site->live_bytes;
		t->live_blocks += site->live_blocks;
	}
	t->peak_live_bytes = 230000000;
	t->allocs = c->seconds * 2000000 + (uint64_t)(noise(c->seconds, 1) * 1e6);
	t->frees = t->allocs - t->live_blocks;
	t->allocs_per_s = 2e6 + noise(c->seconds, 1) * 1e5;
	t->frees_per_s = 2e6 + noise(c->seconds, 2) * 1e5;
	t->growth_bytes_per_s = (noise(c->seconds, 3) - 0.5) * 1e6;
	s->proc.rss += (uint64_t)(noise(c->seconds, 4) * 1e7);
	s->history_points = (unsigned)c->seconds;
	s->history_step_ns = CANNED_S;
	for (unsigned i = 0; i < s->history_points; i++)
		s->history[i] = busy_bytes(0, i) * 3;
	return s;
}

/* All rows change, and the history gets longer. */
TEST(busy_frames_are_below_1_kb)
{
	const int count = 100;
	long before, bytes;

	paper_open(&p, 30, 100, false);
	p.source.tick = busy_tick;
	p.canned.nsites = 20;
	p.canned.seconds = 40;
	refresh_tick(&p.ui);
	paper_draw(&p);
	before = paper_bytes(&p);
	for (int i = 0; i < count; i++) {
		refresh_tick(&p.ui);
		paper_draw(&p);
	}
	bytes = (paper_bytes(&p) - before) / count;
	fprintf(stderr, "busy: %ld bytes a frame\n", bytes);
	CHECK(bytes <= BUSY_MOST);
	paper_close(&p);
}

/* Blocks that malloc keeps for the next time would be counted as held. */
static void without_caches(char **argv)
{
	mallopt(M_MXFAST, 0);
	if (getenv("GLIBC_TUNABLES"))
		return;
	setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
	execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
	without_caches(argv);
	open_all();
	frames(WARM_FRAMES);
	RUN(memory_is_flat);
	RUN(memory_is_flat_in_each_view);
	close_all();
	RUN(steady_frames_are_below_1_kb);
	RUN(busy_frames_are_below_1_kb);
	return check_end();
}
