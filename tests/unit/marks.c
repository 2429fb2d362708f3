/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Marks over a segment whose contents are known: what is said since then, of what is still alive
 * too; that they outlive the session that took them and end with the process; and files that are
 * broken.
 */
#include "src/marks/marks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "src/proc/proc.h"
#include "src/session/session.h"
#include "src/util/clock.h"
#include "tests/unit/live_agent.h"
#include "tests/unit/segment_fixture.h"

static struct made made;
static struct live_agent agent;
static struct session *session;
static bool waits = true; /* for an agent's walk */
static char state[64], message[MARKS_MESSAGE_MAX];

static struct session *session_new(void)
{
	const struct session_options o = { .walks = live_agent_order(&agent), .waits = waits };
	char why[READ_MESSAGE_MAX] = "";
	struct session *s = session_open(made.path, &o, why);

	if (!s)
		made_give_up(why);
	snapshot_unref(session_tick(s));
	return s;
}

static void begin(void)
{
	struct segment_identity id = fixture_identity;

	strcpy(state, "/tmp/heaptop-marks.XXXXXX");
	CHECK(mkdtemp(state) != NULL);
	setenv("XDG_STATE_HOME", state, 1);
	id.pid = (uint32_t)getpid();
	CHECK_INT(proc_start_ticks(getpid(), &id.start_ticks), 0);
	CHECK(proc_boot_id(id.boot_id));
	made_open(&made, &id);
	made_fill(&made);
	made.s.header->state = HT_STATE_RUNNING;
	live_agent_init(&agent, made.path);
	session = session_new();
}

static void end(void)
{
	char command[128];

	if (session)
		session_close(session);
	live_agent_free(&agent);
	made_close(&made);
	snprintf(command, sizeof(command), "rm -rf %s", state);
	CHECK_INT(system(command), 0);
}

static uint64_t tick_now(void)
{
	return (clock_monotonic_ns() - FIXTURE_CREATED_NS) >> HT_TICK_SHIFT;
}

/* Allocates a block now, in a tick without a mark, since allocation times are no finer. */
static void alloc_now(uint32_t site, uint32_t i)
{
	uint64_t tick = tick_now() + 1;
	struct live_block b = { made_size(site, i), tick, counter_claim(&made.s, site, 1) },
			  old[LIVE_MISSED_MAX];

	while (tick_now() <= tick)
		;

	CHECK_INT(live_insert(&made.s, made_address(site, i), &b, old), 0);
	counter_alloc(&made.s, &made.owner, site, b.size);
}

/* One of a thread whose clock is late. */
static void alloc_late(uint32_t site, uint32_t i, uint64_t tick)
{
	struct live_block b = { made_size(site, i), tick, counter_claim(&made.s, site, 1) },
			  old[LIVE_MISSED_MAX];

	CHECK_INT(live_insert(&made.s, made_address(site, i), &b, old), 0);
	counter_alloc(&made.s, &made.owner, site, b.size);
}

static struct snap_since since_of(struct session *s, uint32_t site)
{
	struct snapshot *snap = session_tick(s);
	struct snap_since since = snapshot_site(snap, site)->since;

	CHECK(snap->kept || !snap->since);
	snapshot_unref(snap);
	return since;
}

TEST(what_came_since)
{
	struct snap_since since;

	begin();
	CHECK_INT(since_of(session, 1).allocs, 0); /* nothing is marked */
	CHECK_INT(session_mark(session, "first", message), 1);
	CHECK_STR(message, "");
	for (uint32_t i = MADE_BLOCKS; i < MADE_BLOCKS + 10; i++)
		alloc_now(1, i);
	made_free(&made, 1, MADE_BLOCKS); /* of the ten */
	made_free(&made, 1, 1); /* from before */
	since = since_of(session, 1);
	CHECK_INT(since.allocs, 10);
	CHECK_INT(since.blocks, 8);
	CHECK_INT(since.bytes, 9 * 1000 + 9 * 100 + 45 - 1001);
	CHECK_INT(since.kept_blocks, 9);
	CHECK_INT(since.kept_of, 10);
	CHECK_INT(since.kept_bytes, 9 * 1000 + 9 * 100 + 45);
	/* A site where nothing came, and of which blocks from before are alive. */
	since = since_of(session, 2);
	CHECK(since.bytes == 0 && since.allocs == 0 && since.kept_blocks == 0);
	end();
}

/* An agent's walk arrives some ticks later: it is compared with what was allocated by its time. */
TEST(a_walk_that_arrives_later)
{
	struct snapshot *s;
	struct snap_since since;

	waits = false;
	begin();
	CHECK_INT(session_mark(session, NULL, message), 1);
	alloc_now(1, 200);
	alloc_now(2, 201);
	agent.takes = 2;
	snapshot_unref(session_tick(session));
	alloc_now(1, 202);
	alloc_now(2, 203);
	snapshot_unref(session_tick(session));
	CHECK_INT(agent.begun, 1);
	s = session_tick(session);
	since = snapshot_site(s, 1)->since;
	CHECK(s->kept);
	CHECK(since.allocs == 2 && since.kept_blocks == 1 && since.kept_of == 1);
	CHECK(s->newest.allocs == 4 && s->newest.kept_blocks == 2 && s->newest.kept_of == 2);
	snapshot_unref(s);
	/* Between two marks it is what these say. */
	CHECK_INT(session_mark(session, NULL, message), 2);
	alloc_now(1, 204);
	CHECK_INT(marks_choose(session_marks(session), 1, 2), 0);
	agent.takes = 0;
	s = session_tick(session);
	since = snapshot_site(s, 1)->since;
	CHECK_INT(agent.begun, 2);
	CHECK(since.allocs == 2 && since.kept_blocks == 2 && since.kept_of == 2);
	CHECK(s->newest.kept_blocks == 1 && s->newest.kept_of == 1);
	snapshot_unref(s);
	waits = true;
	end();
}

TEST(any_two_are_compared)
{
	struct snapshot *s;

	begin();
	CHECK_INT(session_mark(session, NULL, message), 1);
	alloc_now(1, 200);
	CHECK_INT(session_mark(session, NULL, message), 2);
	alloc_now(1, 201);
	alloc_now(1, 202);
	CHECK_INT(session_mark(session, NULL, message), 3);
	alloc_now(2, 203);
	CHECK_INT(marks_choose(session_marks(session), 2, 3), 0);
	CHECK_INT(since_of(session, 1).allocs, 2);
	CHECK_INT(since_of(session, 1).kept_blocks, 2);
	CHECK_INT(since_of(session, 2).blocks, 0);
	CHECK_INT(marks_choose(session_marks(session), 1, 2), 0);
	CHECK_INT(since_of(session, 1).bytes, (int64_t)made_size(1, 200));
	s = session_tick(session);
	CHECK_INT(s->moments->number, 3);
	CHECK_INT(s->moments->alive_blocks, 2);
	CHECK_INT(s->moments->before->alive_blocks, 1);
	CHECK_INT(s->newest.kept_blocks, 1);
	CHECK_INT(s->newest.allocs, 1);
	snapshot_unref(s);
	CHECK_INT(marks_choose(session_marks(session), 9, 0), -ENOENT);
	CHECK_INT(marks_choose(session_marks(session), 0, 0), 0);
	CHECK_INT(since_of(session, 1).bytes, 0);
	end();
}

/* A viewer that comes later has them, one that is there gets them, and their names. */
/* It is counted after a mark, and by its birth came before that. */
TEST(no_more_alive_than_allocated)
{
	struct snapshot *s;
	uint64_t late;

	begin();
	CHECK_INT(session_mark(session, NULL, message), 1);
	alloc_now(1, 200);
	late = tick_now();
	alloc_now(1, 201);
	CHECK_INT(session_mark(session, NULL, message), 2);
	for (uint32_t i = 202; i < 205; i++)
		alloc_late(1, i, late);
	s = session_tick(session);
	CHECK_INT(mark_list_between(s, s->moments->before, s->moments).allocs, 2);
	CHECK_INT(s->moments->alive_blocks, 2);
	CHECK_INT(s->moments->alive_bytes, 2 * (1200 + 1204) / 2); /* of five, on average */
	CHECK_INT(s->newest.kept_blocks, 3);
	CHECK_INT(s->newest.kept_of, 3);
	snapshot_unref(s);
	end();
}

TEST(they_are_everybodys)
{
	struct session *other;
	struct snapshot *s;

	begin();
	other = session_new();
	CHECK_INT(session_mark(session, "before", message), 1);
	CHECK_INT(session_mark(other, NULL, message), 2);
	CHECK_INT(marks_name(session_marks(other), 2, "after\033[2J"), 0);
	session_close(session);
	alloc_now(3, 300);
	session = session_new();
	s = session_tick(session);
	CHECK_INT(s->moments->number, 2);
	CHECK_STR(s->moments->name, "after?[2J");
	CHECK_STR(s->moments->before->name, "before");
	CHECK(s->since == s->moments->before && s->until == NULL);
	CHECK_INT(snapshot_site(s, 3)->since.blocks, 1);
	snapshot_unref(s);
	session_close(other);
	end();
}

static void file_path(char path[MARK_FILE_PATH_MAX])
{
	struct read_identity id;
	struct mark_file f;

	CHECK_INT(read_identity(session_segment(session), &id), 0);
	CHECK_INT(mark_file_find(&f, &id, getpid()), 0);
	snprintf(path, MARK_FILE_PATH_MAX, "%s", f.path);
}

/* As if the last mark had been taken two hours ago. */
static void age(const char *path)
{
	const struct timespec then = { .tv_sec = time(NULL) - 7200 }, both[2] = { then, then };

	CHECK_INT(utimensat(AT_FDCWD, path, both, 0), 0);
}

TEST(the_file_ends_with_the_process)
{
	char path[MARK_FILE_PATH_MAX], old[MARK_FILE_PATH_MAX + 8];
	struct stat st;

	begin();
	CHECK_INT(session_mark(session, NULL, message), 1);
	file_path(path);
	CHECK_INT(stat(path, &st), 0);
	CHECK_INT(st.st_mode & 0777, 0600);
	/* What a process left that is no more is removed by whoever comes next. */
	snprintf(old, sizeof(old), "%s", path);
	*strrchr(old, '-') = 0;
	strcpy(strrchr(old, '-'), "-1-0");
	CHECK_INT(link(path, old), 0);
	age(path);
	session_close(session);
	CHECK_INT(stat(path, &st), 0);
	session = session_new();
	CHECK_INT(stat(old, &st), -1);
	CHECK_INT(stat(path, &st), 0);
	made.s.header->state = HT_STATE_EXITED;
	made.s.header->start_ticks++;
	session_close(session);
	session = session_new();
	session_ended(session, 0);
	CHECK(session_mark(session, NULL, message) < 0);
	CHECK(strstr(message, "has ended") != NULL);
	end();
}

/* A viewer that is late opens the file of a process that it takes for alive, and that is gone. */
TEST(who_needs_a_file_does_not_remove_it)
{
	struct mark_file f, none = { .read = 0 };
	struct mark_list m = { 0 };
	struct snap_mark moment = { .ns = 1 };
	struct read_identity id;
	struct stat st;

	begin();
	CHECK_INT(read_identity(session_segment(session), &id), 0);
	id.start_ticks++; /* of another process, which had this number */
	CHECK_INT(mark_file_find(&f, &id, getpid()), 0);
	CHECK_INT(mark_file_add(&f, &m, &moment), 0);
	mark_file_clean(&none); /* another viewer may be about to read the last mark */
	CHECK_INT(stat(f.path, &st), 0);
	age(f.path);
	mark_file_clean(&f);
	CHECK_INT(stat(f.path, &st), 0);
	mark_file_clean(&none);
	CHECK_INT(stat(f.path, &st), -1);
	mark_list_free(&m);
	end();
}

TEST(gone_sessions_remove_theirs)
{
	char path[MARK_FILE_PATH_MAX];
	struct stat st;

	begin();
	CHECK_INT(session_mark(session, NULL, message), 1);
	file_path(path);
	session_ended(session, 0);
	session_close(session);
	session = NULL;
	CHECK_INT(stat(path, &st), -1);
	end();
}

/* Where none can be written, the viewer still has them, and says so. */
TEST(without_a_file)
{
	char blocked[96];

	begin();
	snprintf(blocked, sizeof(blocked), "%s/heaptop", state);
	fclose(fopen(blocked, "w"));
	CHECK_INT(session_mark(session, "mine", message), 1);
	CHECK(strstr(message, "this viewer only") != NULL);
	alloc_now(1, 400);
	CHECK_INT(session_mark(session, NULL, message), 2);
	CHECK_INT(since_of(session, 1).blocks, 1);
	end();
}

static unsigned count_of(const char *text)
{
	struct mark_file f = { .read = 0 };
	struct mark_list m = { 0 };
	unsigned count;
	FILE *file;

	snprintf(f.path, sizeof(f.path), "%s/file", state);
	file = fopen(f.path, "w");
	fputs(text, file);
	fclose(file);
	mark_file_load(&f, &m);
	count = m.count;
	mark_list_free(&m);
	return count;
}

/* Cut off, counts that lie, junk: what is whole is taken, and nothing else happens. */
TEST(broken_files)
{
	begin();
	CHECK_INT(count_of("heaptop-marks 1\nmark 1 5 1 9 1 1 9 x\n1 9 1 1 9\nend 1\n"), 1);
	CHECK_INT(count_of("mark 1 5 2 9 1 1 9 x\n1 9 1 1 9\nmark 2 5 0 9 1 1 9\nend 2\n"), 1);
	CHECK_INT(count_of("mark 1 5 1 9 1 1 9 x\n1 9 1 1 9\nend 2\n"), 0);
	CHECK_INT(count_of("mark 1 5 1 9 1 1 9 x\n1 9 1 1 9\n"), 0);
	CHECK_INT(count_of("mark 1 5 1 9 1 1 9 x\n1 9 1 1 9\nend 1"), 0);
	CHECK_INT(count_of("mark 1 5 4294967295 9 1 1 9\nend 1\n"), 0);
	CHECK_INT(count_of("mark 0 5 0 9 1 1 9\nend 0\nname 7 x\nname\n\n\377\n"), 0);
	CHECK_INT(count_of(""), 0);
	/* A number that does not rise gets the next one. */
	CHECK_INT(count_of("mark 5 1 0 0 0 0 0\nend 5\nmark 5 1 0 0 0 0 0\nend 5\n"), 2);
	end();
}

int main(void)
{
	RUN_BOTH(what_came_since);
	RUN_BOTH(any_two_are_compared);
	RUN_BOTH(no_more_alive_than_allocated);
	RUN(a_walk_that_arrives_later);
	live_agent_walks = false;
	RUN(they_are_everybodys);
	RUN(the_file_ends_with_the_process);
	RUN(who_needs_a_file_does_not_remove_it);
	RUN(gone_sessions_remove_theirs);
	RUN(without_a_file);
	RUN(broken_files);
	return check_end();
}
