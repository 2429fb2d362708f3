/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sessions: ticks over segments whose contents are known, of a process that runs (this one), and of
 * some that are gone.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include "src/session/process_figures.h"
#include "src/util/clock.h"
#include "tests/unit/session_fixture.h"

/* Until this process has used so much processor time more. */
static void work_ns(uint64_t ns)
{
	uint64_t from = clock_process_cpu_ns();

	while (clock_process_cpu_ns() - from < ns)
		;
}

TEST(sampling_is_switched)
{
	struct sampling_request request = { .given = true, .has_rate = true, .bytes = 1 << 19 };
	struct ht_header *h;
	struct snapshot *s;

	begin(0, HT_STATE_RUNNING);
	h = made.s.header;
	CHECK_INT(session_sample(session, &request), 0);
	CHECK_INT(h->sample_bytes, 1 << 19);
	CHECK_INT(h->measure, 1);
	/* Asked for is not done yet. */
	s = tick();
	CHECK_INT(s->sampling.bytes, 0);
	CHECK_INT(s->sampling.most, 0);
	snapshot_unref(s);
	h->rate_change[0] = (struct ht_rate_change){ FIXTURE_CREATED_NS + 77, 1 << 19 };
	h->rate_changes = 1;
	h->sample_most = 1 << 19;
	s = tick();
	CHECK_INT(s->sampling.bytes, 1 << 19);
	CHECK_INT(s->sampling.mark[0].ns, 77);
	CHECK(s->totals.error.live_bytes > 0);
	snapshot_unref(s);
	/* A limit alone leaves the rate where it is. */
	request = (struct sampling_request){ .given = true, .limit = 0.05 };
	CHECK_INT(session_sample(session, &request), 0);
	CHECK_INT(h->sample_bytes, 1 << 19);
	session_sample_leave(session);
	CHECK_INT(h->sample_bytes, 1 << 19);
	CHECK_INT(h->measure, 0);
	end();
}

TEST(sampling_is_steered)
{
	struct sampling_request request = { .given = true, .limit = 0.05 };
	struct ht_header *h;
	struct snapshot *s;

	begin(0, HT_STATE_RUNNING);
	h = made.s.header;
	CHECK_INT(session_sample(session, &request), 0);
	snapshot_unref(tick());
	/* A hundred thousand events in 30 ms, at 100 ns each. */
	thread_at(&made.s, 1)->size[0].frees += 100000;
	h->timed_events = 10;
	h->timed_ns = 1000;
	work_ns(30000000);
	s = tick();
	CHECK(s->sampling.measured && s->sampling.overhead > 0.05);
	CHECK(h->sample_bytes != 0);
	snapshot_unref(s);
	/* Without a wish nothing is touched. */
	session_sample_leave(session);
	h->sample_bytes = 0;
	snapshot_unref(tick());
	thread_at(&made.s, 1)->size[0].frees += 100000;
	work_ns(30000000);
	snapshot_unref(tick());
	CHECK_INT(h->sample_bytes, 0);
	end();
}

TEST(running)
{
	struct snapshot *s;
	uint64_t live = 0;

	begin(0, HT_STATE_RUNNING);
	thread_at(&made.s, 1)->ring_head += 31000000; /* nobody reads them, so none is lost */
	s = tick();
	CHECK_INT(s->totals.lost_events, 0);
	CHECK_INT(s->state, SNAP_RUNNING);
	CHECK(session_alive(session));
	CHECK_INT(s->pid, getpid());
	CHECK_STR(s->command, "made --fast");
	CHECK_INT(s->argc, 2);
	CHECK_STR(s->argv[0], "made");
	CHECK_STR(s->argv[1], "--fast");
	CHECK_STR(s->exe, MADE_PATH_1);
	CHECK_INT(s->totals.allocs, 3 * MADE_BLOCKS);
	CHECK_INT(s->totals.live_blocks, 3 * MADE_BLOCKS / 2);
	CHECK_INT(s->totals.temporary, 3);
	CHECK_INT(s->nsites, 3);
	for (size_t i = 0; i < s->nsites; i++) {
		CHECK_INT(s->sites[i].live_bytes, made_live_bytes(s->sites[i].id));
		CHECK_INT(s->sites[i].live_blocks, MADE_BLOCKS / 2);
		CHECK_INT(s->sites[i].peak_live_bytes, made_alloc_bytes(s->sites[i].id));
		live += s->sites[i].live_bytes;
	}
	CHECK_INT(s->totals.live_bytes, live);
	CHECK_INT(s->history_points, 4);
	CHECK_INT(s->history[3], live);
	CHECK(s->proc.valid && s->proc.rss > 0 && s->proc.threads > 0);
	CHECK(s->segment_bytes > 0 && s->viewer_rss > 0);
	snapshot_unref(s);
	end();
}

/* The sums over the histograms are the totals. */
TEST(histograms)
{
	uint64_t blocks = 0, bytes = 0, frees = 0;
	struct snapshot *s;
	struct snap_detail d;

	begin(0, HT_STATE_RUNNING);
	s = tick();
	for (unsigned i = 0; i < SNAP_SIZE_BUCKETS; i++) {
		blocks += s->sizes[i].live_blocks;
		bytes += s->sizes[i].live_bytes;
	}
	for (unsigned i = 0; i < SNAP_LIFE_BUCKETS; i++)
		frees += s->lifetimes[i];
	CHECK_INT(blocks, s->totals.live_blocks);
	CHECK_INT(bytes, s->totals.live_bytes);
	CHECK_INT(frees, s->totals.frees);
	CHECK_INT(session_detail(s, 2, &d), 0);
	CHECK_INT(d.id, 2);
	CHECK_INT(d.sizes[counter_size_bucket(made_size(2, 99))].allocs, 51);
	CHECK_INT(d.sizes[counter_size_bucket(made_size(2, 0))].allocs, 49); /* up to 2048 */
	CHECK_INT(d.lifetimes[counter_life_bucket(1)], MADE_BLOCKS / 2);
	CHECK_INT(session_detail(s, UINT32_MAX, &d), -EINVAL);
	snapshot_unref(s);
	end();
}

/* A block that one thread took and another gave back while we read: seen to end, not to begin. */
TEST(torn_counters)
{
	const uint32_t bucket = counter_size_bucket(made_size(1, 0));
	struct ht_thread_size *in;
	struct ht_counter *c;
	struct snapshot *s;
	struct snap_detail d;
	struct ht_hist *h;

	begin(0, HT_STATE_RUNNING);
	in = &thread_at(&made.s, 1)->size[bucket];
	in->frees = in->allocs + 1;
	in->free_bytes = UINT64_MAX / 2;
	c = counter_at(&made.s, stack_site(&made.s, 1)->counters);
	c->free_bytes = c->alloc_bytes + 1;
	CHECK(c->hist != 0);
	h = &made.owner.hists[c->hist];
	h->size_frees[bucket] = h->size_allocs[bucket] + 1;
	s = tick();
	CHECK_INT(s->sizes[bucket].live_blocks, 0);
	CHECK_INT(s->sizes[bucket].live_bytes, 0);
	CHECK_INT(s->sites[0].live_bytes, 0);
	CHECK_INT(session_detail(s, 1, &d), 0);
	CHECK_INT(d.sizes[bucket].live_blocks, 0);
	snapshot_unref(s);
	end();
}

/* Made ahead for a program that has not reported; its own words come later. */
TEST(starting)
{
	struct snapshot *before, *after;
	struct ht_header *h;

	begin(0, HT_STATE_PREPARED);
	h = made.s.header;
	before = tick();
	CHECK_INT(before->state, SNAP_STARTING);
	CHECK(session_alive(session));
	memcpy(h->command, "other\0a\nc\0b", 12);
	h->command_bytes = 12;
	snprintf(h->exe, sizeof(h->exe), "/bin/other");
	h->state = HT_STATE_RUNNING;
	after = tick();
	CHECK_INT(after->state, SNAP_RUNNING);
	CHECK_STR(after->command, "other a c b");
	CHECK_INT(after->argc, 3);
	CHECK_STR(after->exe, "/bin/other");
	/* Someone may still show the snapshot before. */
	CHECK_STR(before->command, "made --fast");
	CHECK_INT(before->argc, 2);
	CHECK_STR(before->argv[1], "--fast");
	CHECK_STR(before->exe, MADE_PATH_1);
	snapshot_unref(before);
	snapshot_unref(after);
	end();
}

/* Opened after the library took the segment, and before it wrote what runs. */
TEST(starting_unnamed)
{
	struct snapshot *s;
	struct ht_header *h;

	make(0, HT_STATE_RUNNING);
	h = made.s.header;
	h->command_bytes = 0;
	h->exe[0] = '\0';
	open_made();
	s = tick();
	CHECK_STR(s->command, "");
	snapshot_unref(s);
	memcpy(h->command, "late\0x", 7);
	h->command_bytes = 7;
	snprintf(h->exe, sizeof(h->exe), "/bin/late");
	s = tick();
	CHECK_STR(s->command, "late x");
	CHECK_STR(s->exe, "/bin/late");
	snapshot_unref(s);
	end();
}

/* Gone before we came: it says how, as far as it can be known, and its clock stands. */
TEST(gone)
{
	static const struct {
		uint32_t segment;
		enum snap_state state;
	} ends[] = { { HT_STATE_EXITED, SNAP_EXITED }, { HT_STATE_RUNNING, SNAP_GONE },
		{ HT_STATE_PREPARED, SNAP_GONE } };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct snapshot *s;

		begin(PID_NONE, ends[i].segment);
		s = tick();
		CHECK_INT(s->state, ends[i].state);
		CHECK_INT(s->exit_status, ends[i].state == SNAP_EXITED ? -1 : 0);
		CHECK(!session_alive(session));
		CHECK(!s->proc.valid);
		CHECK_INT(s->uptime_ns, 1000000000);
		CHECK_INT(s->totals.allocs, 3 * MADE_BLOCKS);
		snapshot_unref(s);
		end();
	}
}

static bool ends_meanwhile; /* the program, while a tick is read */

void __real_process_figures_read(struct process_figures *f, pid_t pid);
void __wrap_process_figures_read(struct process_figures *f, pid_t pid);

void __wrap_process_figures_read(struct process_figures *f, pid_t pid)
{
	__real_process_figures_read(f, pid);
	if (!ends_meanwhile)
		return;
	thread_at(&made.s, 1)->unknown_frees += 7;
	made.s.header->state = HT_STATE_EXITED;
}

TEST(what_ends_while_it_is_read_is_shown_as_it_ended)
{
	struct snapshot *s;

	begin(PID_NONE, HT_STATE_RUNNING);
	ends_meanwhile = true;
	s = tick();
	ends_meanwhile = false;
	CHECK_INT(s->state, SNAP_EXITED);
	CHECK(s->notice == NULL);
	CHECK_INT(s->totals.unknown_frees, 7);
	snapshot_unref(s);
	end();
}

/* The pid was given to another process since. */
TEST(pid_of_another)
{
	struct snapshot *s;

	begin(0, HT_STATE_RUNNING);
	session_close(session);
	made.s.header->start_ticks ^= 1;
	session = session_open(
		made.path, &(struct session_options){ 0 }, (char[READ_MESSAGE_MAX]){ 0 });
	s = tick();
	CHECK_INT(s->state, SNAP_GONE);
	CHECK(!s->proc.valid && s->proc.rss == 0);
	snapshot_unref(s);
	end();
}

TEST(ended)
{
	struct snapshot *s;

	begin(0, HT_STATE_RUNNING);
	session_ended(session, 3 << 8);
	s = tick();
	CHECK_INT(s->state, SNAP_EXITED);
	CHECK_INT(s->exit_status, 3);
	CHECK(s->signal_name == NULL);
	CHECK(!session_alive(session));
	snapshot_unref(s);
	session_ended(session, SIGSEGV);
	s = tick();
	CHECK_INT(s->state, SNAP_KILLED);
	CHECK_INT(s->signal, SIGSEGV);
	CHECK_STR(s->signal_name, "SIGSEGV");
	snapshot_unref(s);
	session_replaced(session);
	s = tick();
	CHECK_INT(s->state, SNAP_GONE);
	snapshot_unref(s);
	end();
}

TEST(usage)
{
	struct snapshot *s;

	begin(PID_NONE, HT_STATE_EXITED);
	session_usage(session, 1 << 20, 10, 2);
	s = tick();
	CHECK(s->proc.valid);
	CHECK_INT(s->proc.hwm, 1 << 20);
	CHECK_INT(s->proc.minor_faults, 10);
	CHECK_INT(s->proc.major_faults, 2);
	snapshot_unref(s);
	session_usage(session, 1 << 10, 11, 2); /* a high-water mark does not fall */
	s = tick();
	CHECK_INT(s->proc.hwm, 1 << 20);
	CHECK_INT(s->proc.minor_faults, 11);
	snapshot_unref(s);
	end();
}

/* The library is there, but had to give up: its own word for it goes before any other. */
TEST(library_gave_up)
{
	struct snapshot *s;

	begin(0, HT_STATE_STOPPED);
	strcpy(made.s.header->why, "no \033room");
	session_notice(session, "look");
	s = tick();
	CHECK_STR(s->notice, "nothing is recorded: no ?room");
	snapshot_unref(s);
	end();
	begin(0, HT_STATE_RUNNING);
	strcpy(made.s.header->why, "no malloc");
	s = tick();
	CHECK_STR(s->notice, "recording is incomplete: no malloc");
	snapshot_unref(s);
	end();
}

/* The notice about an end, by the state of the segment and the wait status. */
static void check_ending(uint32_t state, int wait_status, const char *part)
{
	struct snapshot *s;

	begin(0, state);
	session_ended(session, wait_status);
	s = tick();
	CHECK(part ? s->notice && strstr(s->notice, part) : !s->notice);
	snapshot_unref(s);
	end();
}

TEST(what_an_end_leaves_open)
{
	check_ending(HT_STATE_EXITED, 3 << 8, NULL);
	check_ending(HT_STATE_RUNNING, 0, "the end is missing");
	check_ending(HT_STATE_PREPARED, 0, "without the library");
	check_ending(HT_STATE_RUNNING, SIGKILL, "one live block per thread");
}

/* A process that no longer has the segment mapped has called exec. */
TEST(goes_on_without_the_library)
{
	struct snapshot *s = NULL;
	struct segment_identity id = own_identity();
	char message[READ_MESSAGE_MAX] = "", byte = 0;
	int go[2];
	pid_t pid;

	made_open(&made, &id);
	made.s.header->state = HT_STATE_RUNNING;
	CHECK_INT(pipe(go), 0);
	pid = fork();
	if (pid == 0) {
		if (read(go[0], &byte, 1) == 1)
			segment_unmap(&made.s);
		kill(getpid(), SIGSTOP);
		_exit(0);
	}
	made.s.header->pid = (uint32_t)pid;
	CHECK_INT(proc_start_ticks(pid, &made.s.header->start_ticks), 0);
	session = session_open(made.path, &(struct session_options){ .pid = pid }, message);
	if (!session)
		made_give_up(message);
	for (int looks = 0; looks < 5; looks++) {
		s = tick();
		CHECK(s->notice == NULL);
		snapshot_unref(s);
	}
	CHECK_INT(write(go[1], "g", 1), 1);
	waitpid(pid, NULL, WUNTRACED);
	/* A look may take long on a busy machine, and the next ones come the later for that. */
	for (s = tick(); !s->notice; s = tick()) {
		snapshot_unref(s);
		sched_yield();
	}
	CHECK(strstr(s->notice, "runs on without the library"));
	snapshot_unref(s);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	s = tick();
	CHECK(s->notice && strstr(s->notice, "recording ended when"));
	snapshot_unref(s);
	close(go[0]);
	close(go[1]);
	end();
}

TEST(notice_and_children)
{
	struct snapshot *child, *s;
	const struct snapshot *children[1];

	begin(0, HT_STATE_RUNNING);
	children[0] = child = tick();
	session_notice(session, "look");
	session_children(session, children, 1);
	s = tick();
	CHECK_STR(s->notice, "look");
	CHECK_INT(s->nchildren, 1);
	CHECK(s->children[0] == child);
	snapshot_unref(s);
	session_notice(session, NULL);
	s = tick();
	CHECK(s->notice == NULL);
	snapshot_unref(s);
	snapshot_unref(child);
	end();
}

TEST(names_finish)
{
	struct snapshot *s;

	begin(0, HT_STATE_RUNNING);
	s = tick();
	snapshot_unref(s);
	CHECK(session_fd(session) >= 0);
	CHECK_INT(session_names_finish(session, (uint64_t)120 * 1000000000), 0);
	CHECK(!session_collect(session));
	s = tick();
	for (size_t i = 0; i < s->nsites; i++)
		CHECK(s->sites[i].stack->resolved);
	snapshot_unref(s);
	end();
}

/* Our own hold is in the way of nobody but us; the file goes when we say so. */
TEST(remove)
{
	begin(PID_NONE, HT_STATE_EXITED);
	CHECK_STR(session_path(session), made.path);
	CHECK(session_remove(session));
	CHECK(access(made.path, F_OK) != 0);
	end();
}

int main(void)
{
	RUN(sampling_is_switched);
	RUN(sampling_is_steered);
	RUN(running);
	RUN(histograms);
	RUN(torn_counters);
	RUN(starting);
	RUN(starting_unnamed);
	RUN(gone);
	RUN(what_ends_while_it_is_read_is_shown_as_it_ended);
	RUN(pid_of_another);
	RUN(ended);
	RUN(usage);
	RUN(library_gave_up);
	RUN(what_an_end_leaves_open);
	RUN(goes_on_without_the_library);
	RUN(notice_and_children);
	RUN(names_finish);
	RUN(remove);
	return check_end();
}
