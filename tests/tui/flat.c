/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A viewer that is left open for days: frame after frame of a real session on the screen, through
 * all views, and its memory does not grow, nor does the next frame send more than the first ones.
 * Some thousand frames; 100,000 with SOAK=1.
 */
#include <malloc.h>
#include "src/proc/proc.h"
#include "src/session.h"
#include "tests/tui/paper.h"
#include "tests/unit/segment_fixture.h"

#define WARM_FRAMES  1500
#define CHECK_FRAMES 4000
#define SOAK_FRAMES  100000
#define GROWTH_MOST  16384 /* bytes: caches that were not full yet; far below one block a frame */

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
		ui_key(&p.ui, keys[frame / 10 % (sizeof(keys) - 1)]);
}

static void frames(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		look_around(i);
		ui_tick(&p.ui);
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

TEST(memory_is_flat)
{
	unsigned count = getenv("SOAK") ? SOAK_FRAMES : CHECK_FRAMES;
	size_t before;

	begin();
	paper_open(&p, 30, 100, false);
	p.source.tick = session_next;
	frames(WARM_FRAMES);
	before = held();
	frames(count);
	fprintf(stderr, "%zu bytes held, after %u more frames %zu\n", before, count, held());
	CHECK(held() <= before + GROWTH_MOST);
	paper_close(&p);
	session_close(session);
	made_close(&made);
}

TEST(steady_frames_are_below_1_kb)
{
	const int count = 20;

	paper_open(&p, 30, 100, false);
	p.canned.nsites = 10000;
	for (int view = 0; view < VIEW_COUNT; view++) {
		long before, bytes;

		p.ui.depth = 1;
		if (view < VIEW_TABS)
			ui_tab(&p.ui, (enum view_id)view);
		else
			ui_push(&p.ui, (enum view_id)view);
		ui_tick(&p.ui);
		paper_draw(&p);
		before = paper_bytes(&p);
		for (int i = 0; i < count; i++) {
			ui_tick(&p.ui);
			paper_draw(&p);
		}
		bytes = (paper_bytes(&p) - before) / count;
		fprintf(stderr, "%s: %ld bytes a frame\n", view_table[view]->title, bytes);
		CHECK(bytes <= 1024);
	}
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
	RUN(memory_is_flat);
	RUN(steady_frames_are_below_1_kb);
	return check_end();
}
