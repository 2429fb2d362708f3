/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a segment whose contents are known: every part of it comes out as it went in. */
#include <sys/file.h>
#include <sys/stat.h>
#include "src/read/read.h"
#include "tests/unit/segment_fixture.h"

static struct made made;

static uint64_t sum_of(const uint64_t *values, unsigned count)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += values[i];
	return sum;
}

TEST(identity)
{
	struct read_segment *r = made_read(&made);
	struct read_identity id = { 0 }, peeked = { 0 };
	char message[READ_MESSAGE_MAX];

	CHECK_INT(read_identity(r, &id), 0);
	CHECK_INT(id.pid, fixture_identity.pid);
	CHECK_INT(id.ppid, fixture_identity.ppid);
	CHECK_INT(id.uid, fixture_identity.uid);
	CHECK_INT(id.start_ticks, fixture_identity.start_ticks);
	CHECK_INT(id.exec_gen, fixture_identity.exec_gen);
	CHECK_INT(id.depth, fixture_identity.depth);
	CHECK_INT(id.family, fixture_identity.family);
	CHECK_INT(id.created_ns, FIXTURE_CREATED_NS);
	CHECK_INT(id.created_realtime_ns, fixture_identity.created_realtime_ns);
	CHECK_INT(id.state, HT_STATE_EXITED);
	CHECK(memcmp(id.boot_id, fixture_identity.boot_id, sizeof(id.boot_id)) == 0);
	CHECK_STR(id.exe, MADE_PATH_1);
	CHECK_INT(id.command_bytes, 12);
	CHECK(memcmp(id.command, "made\0--fast", 12) == 0);
	CHECK_STR(read_path(r), made.path);
	CHECK_INT(read_identity_of_file(made.path, &peeked, message), 0);
	CHECK(memcmp(&peeked, &id, sizeof(id)) == 0);
	read_close(r);
}

TEST(control)
{
	struct read_segment *r = made_read(&made);
	struct ht_header *h = made.s.header;

	CHECK_INT(read_control(r, 1 << 19, true), 0);
	CHECK_INT(h->sample_bytes, 1 << 19);
	CHECK_INT(h->measure, 1);
	CHECK_INT(read_control(r, 0, false), 0);
	CHECK_INT(h->sample_bytes, 0);
	CHECK_INT(h->measure, 0);
	read_close(r);
}

/* The copy of another machine's segment: words of ours would spoil the changes that come of it. */
TEST(frozen)
{
	struct read_segment *r = made_read(&made);
	struct ht_header *h = made.s.header;

	read_freeze(r);
	CHECK_INT(read_control(r, 1 << 19, true), -EROFS);
	CHECK_INT(read_exit_scan_request(r, HT_LEAK_ASK_ONE), -EROFS);
	CHECK_INT(read_forks_ignore(r), -EROFS);
	CHECK(h->sample_bytes == 0 && h->leak_ask == 0 && h->fork_alone == 0);
	read_close(r);
}

/* The latest marks, oldest first, in time since the start; one that is being written is not one. */
TEST(marks)
{
	struct read_segment *r = made_read(&made);
	struct ht_header *h = made.s.header;
	struct read_totals t;

	for (uint32_t i = 0; i < HT_RATE_CHANGES + 3; i++)
		h->rate_change[i % HT_RATE_CHANGES] =
			(struct ht_rate_change){ FIXTURE_CREATED_NS + i, i % 2 << 16 };
	h->rate_changes = HT_RATE_CHANGES + 3;
	h->rate_change[2].ns = 0; /* the last */
	h->sample_most = 1 << 16;
	h->timed_ns = 99;
	CHECK_INT(read_totals(r, &t), 0);
	CHECK_INT(t.marks, HT_RATE_CHANGES - 1);
	CHECK_INT(t.mark[0].ns, 3);
	CHECK_INT(t.mark[0].sample_bytes, 1 << 16);
	CHECK_INT(t.mark[HT_RATE_CHANGES - 2].ns, HT_RATE_CHANGES + 1);
	CHECK_INT(t.sample_most, 1 << 16);
	CHECK_INT(t.timed_ns, 99);
	h->rate_changes = 1;
	CHECK_INT(read_totals(r, &t), 0);
	CHECK_INT(t.marks, 1);
	h->rate_changes = UINT32_MAX;
	CHECK_INT(read_totals(r, &t), 0);
	CHECK(t.marks <= HT_RATE_CHANGES);
	h->rate_changes = 0;
	h->sample_most = 0;
	read_close(r);
}

TEST(totals)
{
	struct read_segment *r = made_read(&made);
	struct read_totals t;
	uint64_t alloc_bytes = 0, live = 0;

	for (uint32_t i = 1; i < MADE_SITES; i++) {
		alloc_bytes += made_alloc_bytes(i);
		live += made_live_bytes(i);
	}
	CHECK_INT(read_totals(r, &t), 0);
	CHECK_INT(t.allocs, 3 * MADE_BLOCKS);
	CHECK_INT(t.frees, 3 * MADE_BLOCKS / 2);
	CHECK_INT(t.alloc_bytes, alloc_bytes);
	CHECK_INT(t.free_bytes, alloc_bytes - live);
	CHECK_INT(t.live_bytes, live);
	CHECK_INT(t.temporary, 3);
	CHECK_INT(t.events, 3 * MADE_BLOCKS * 3 / 2);
	CHECK_INT(t.sites, MADE_SITES);
	CHECK_INT(t.modules, MADE_MODULES);
	CHECK_INT(t.state, HT_STATE_EXITED);
	CHECK_INT(t.peak_bytes, live - made_live_bytes(3) + made_alloc_bytes(3));
	CHECK_INT(t.peak_ns, 1000000000);
	CHECK_INT(sum_of(t.size_allocs, HT_SIZE_BUCKETS), t.allocs);
	CHECK_INT(sum_of(t.size_alloc_bytes, HT_SIZE_BUCKETS), t.alloc_bytes);
	CHECK_INT(sum_of(t.life, HT_LIFE_BUCKETS), t.frees);
	read_close(r);
}

TEST(history)
{
	struct read_segment *r = made_read(&made);
	struct read_totals t;

	CHECK_INT(read_totals(r, &t), 0);
	CHECK_INT(t.history.points, 4);
	CHECK_INT(t.history.step_ns, 10000000);
	CHECK_INT(t.history.point[0], 0);
	CHECK_INT(t.history.point[1], made_live_bytes(1));
	CHECK_INT(t.history.point[2], made_live_bytes(1) + made_live_bytes(2));
	CHECK_INT(t.history.point[3], t.live_bytes);
	read_close(r);
}

/* Live bytes are never shown as a number near 2^64, whatever a torn reading says. */
TEST(totals_below_zero)
{
	struct read_segment *r = made_read(&made);
	struct ht_thread_size *in = &thread_at(&made.s, 1)->size[0];
	struct ht_counter *c = counter_at(&made.s, stack_site(&made.s, 1)->counters);
	struct read_site site;
	struct read_totals t;

	in->free_bytes += 1u << 30;
	c->free_bytes += 1u << 30;
	CHECK_INT(read_totals(r, &t), 0);
	CHECK_INT(t.live_bytes, 0);
	CHECK_INT(read_sites(r, 1, &site, 1), 1);
	CHECK_INT(site.live_bytes, 0);
	CHECK_INT(site.peak_bytes, made_alloc_bytes(1));
	in->free_bytes -= 1u << 30;
	c->free_bytes -= 1u << 30;
	read_close(r);
}

TEST(sites)
{
	struct read_segment *r = made_read(&made);
	struct read_site sites[MADE_SITES + 3];
	struct ht_hist hist;

	CHECK_INT(read_sites(r, 0, sites, MADE_SITES + 3), MADE_SITES);
	CHECK_INT(sites[0].allocs, 0);
	for (uint32_t i = 1; i < MADE_SITES; i++) {
		CHECK_INT(sites[i].allocs, MADE_BLOCKS);
		CHECK_INT(sites[i].frees, MADE_BLOCKS / 2);
		CHECK_INT(sites[i].live_bytes, made_live_bytes(i));
		CHECK_INT(sites[i].alloc_bytes, made_alloc_bytes(i));
		CHECK_INT(sites[i].peak_bytes, made_alloc_bytes(i));
		CHECK_INT(sites[i].temporary, 1);
		CHECK_INT(read_hist(r, i, &hist), 0);
		CHECK_INT(sum_of(hist.size_allocs, HT_SIZE_BUCKETS), MADE_BLOCKS);
		CHECK_INT(sum_of(hist.size_frees, HT_SIZE_BUCKETS), MADE_BLOCKS / 2);
		CHECK_INT(hist.life[counter_life_bucket(1)], MADE_BLOCKS / 2);
	}
	read_close(r);
}

/* What several slots counted at a site is one sum: that of slot 0, of one who freed more than it
 * allocated, and of one whose histogram there was no room for. */
TEST(sites_of_many_counters)
{
	static struct counter_owner other[3];
	const struct counter_freed end = { .size = 1001, .life_ticks = 4, .temporary = true };
	struct made m;
	struct read_segment *r;
	char message[READ_MESSAGE_MAX];
	struct read_site site;
	struct ht_counter *c;
	struct ht_hist hist;

	made_open(&m, &fixture_identity);
	made_fill(&m);
	memset(other, 0, sizeof(other));
	CHECK_INT(thread_claim(&m.s, 4712, NULL), 2);
	for (uint32_t slot = 0; slot < 3; slot += 2)
		counter_own(&m.s, &other[slot], slot);
	counter_alloc(&m.s, &other[0], 1, 7);
	counter_free(&m.s, &other[2], 1, &end);
	r = read_open(m.path, message);
	CHECK(r && read_sites(r, 1, &site, 1) == 1 && read_hist(r, 1, &hist) == 0);
	CHECK_INT(site.allocs, MADE_BLOCKS + 1);
	CHECK_INT(site.frees, MADE_BLOCKS / 2 + 1);
	CHECK_INT(site.temporary, 2);
	CHECK_INT(site.live_bytes, made_live_bytes(1) + 7 - 1001);
	CHECK_INT(hist.size_allocs[0], 1);
	CHECK_INT(sum_of(hist.size_frees, HT_SIZE_BUCKETS), MADE_BLOCKS / 2 + 1);
	CHECK_INT(hist.life[counter_life_bucket(4)], 1);
	CHECK_INT(hist.life[0], 0);
	c = counter_at(&m.s, stack_site(&m.s, 1)->counters);
	c->key = ht_counter_key(1, 2, HT_SIZE_MIXED);
	c->hist = 0;
	CHECK(r && read_hist(r, 1, &hist) == 0);
	CHECK_INT(sum_of(hist.size_frees, HT_SIZE_BUCKETS), MADE_BLOCKS / 2);
	CHECK_INT(sum_of(hist.life, HT_LIFE_BUCKETS), MADE_BLOCKS / 2);
	read_close(r);
	made_close(&m);
}

/* Any window of the sites may be asked for; what lies beyond the used ones is not given out. */
TEST(sites_in_parts)
{
	struct read_segment *r = made_read(&made);
	struct read_site one = { 0 };
	struct ht_hist hist;

	CHECK_INT(read_sites(r, 2, &one, 1), 1);
	CHECK_INT(one.alloc_bytes, made_alloc_bytes(2));
	CHECK_INT(read_sites(r, 2, &one, 0), 0);
	CHECK_INT(read_sites(r, MADE_SITES, &one, 1), 0);
	CHECK_INT(read_sites(r, UINT32_MAX, &one, 1), 0);
	CHECK_INT(read_hist(r, UINT32_MAX, &hist), -EINVAL);
	read_close(r);
}

TEST(stacks)
{
	struct read_segment *r = made_read(&made);
	struct read_site sites[MADE_SITES];
	struct read_frame frames[8];

	CHECK_INT(read_sites(r, 0, sites, MADE_SITES), MADE_SITES);
	for (uint32_t site = 1; site < MADE_SITES; site++) {
		uint32_t function = 0;

		CHECK_INT(read_stack(r, sites[site].node, frames, 8, &function), site + 1);
		CHECK_INT(function, HT_FN_MALLOC + site);
		CHECK_INT(sites[site].flags, site + 1 == MADE_SITES ? HT_SITE_TRUNCATED : 0);
		for (uint32_t i = 0; i <= site; i++) {
			CHECK_INT(frames[i].pc, made_pc(site, i));
			CHECK_INT(frames[i].module, i % 2 ? 2 : 1);
		}
	}
	read_close(r);
}

/* The site of a stack without room names an inner node; the root's names none. */
TEST(stack_of_an_ancestor)
{
	const struct ht_node *leaf = stack_node(&made.s, stack_site(&made.s, 3)->node);
	struct read_segment *r = made_read(&made);
	struct read_frame frames[8];
	uint32_t function = 1;

	CHECK_INT(read_stack(r, leaf->parent, frames, 8, &function), 4);
	CHECK_INT(function, HT_FN_NONE);
	for (uint32_t i = 0; i < 4; i++)
		CHECK_INT(frames[i].pc, made_pc(3, i));
	CHECK_INT(read_stack(r, leaf->parent, frames, 0, &function), 0);
	CHECK_INT(read_stack(r, 0, frames, 8, &function), -EINVAL);
	read_close(r);
}

/* Two threads made the same stack at once: the leaf of one goes on from a frame of the other, which
 * took its number later. */
TEST(stack_of_two_threads)
{
	struct ht_node *leaf = stack_node(&made.s, stack_site(&made.s, 3)->node);
	uint32_t parent = leaf->parent, later = made.s.header->nodes, function = 0;
	struct read_segment *r;
	struct read_frame frames[8];

	*stack_node(&made.s, later) = *stack_node(&made.s, parent);
	made.s.header->nodes++;
	leaf->parent = later;
	r = made_read(&made);
	CHECK_INT(read_stack(r, stack_site(&made.s, 3)->node, frames, 8, &function), 4);
	CHECK_INT(function, HT_FN_MALLOC + 3);
	for (uint32_t i = 0; i < 4; i++)
		CHECK_INT(frames[i].pc, made_pc(3, i));
	leaf->parent = parent;
	read_close(r);
}

TEST(stack_longer_than_asked_for)
{
	struct read_segment *r = made_read(&made);
	struct read_frame frames[2] = { { 0 }, { .pc = 7 } };
	uint32_t function;

	CHECK_INT(read_stack(r, stack_site(&made.s, 3)->node, frames, 1, &function), 1);
	CHECK_INT(frames[0].pc, made_pc(3, 0));
	CHECK_INT(frames[1].pc, 7);
	read_close(r);
}

/* Nodes are kept once read; one that was not written yet is read again. */
TEST(stack_written_later)
{
	struct read_segment *r = made_read(&made);
	struct ht_node *leaf = stack_node(&made.s, stack_site(&made.s, 1)->node);
	uint32_t node = stack_site(&made.s, 1)->node, function = 0;
	struct read_frame frames[8];
	uint64_t pc = leaf->pc;

	leaf->pc = 0;
	CHECK_INT(read_stack(r, node, frames, 8, &function), -EINVAL);
	leaf->pc = pc;
	CHECK_INT(read_stack(r, node, frames, 8, &function), 2);
	CHECK_INT(function, HT_FN_MALLOC + 1);
	read_close(r);
}

TEST(modules)
{
	struct read_segment *r = made_read(&made);
	struct read_module m;

	CHECK_INT(read_module(r, 1, &m), 0);
	CHECK_STR(m.path, MADE_PATH_1);
	CHECK_INT(m.build_id_bytes, 0);
	CHECK_INT(m.start, 0x400000);
	CHECK_INT(m.bias, 0);
	CHECK_INT(read_module(r, 2, &m), 0);
	CHECK_STR(m.path, MADE_PATH_2);
	CHECK_INT(m.bias, 0x7f0000000000ll);
	CHECK_INT(m.end, 0x7f0000100000ll);
	CHECK_INT(m.build_id_bytes, sizeof(made_build_id));
	CHECK(memcmp(m.build_id, made_build_id, sizeof(made_build_id)) == 0);
	CHECK_INT(read_module(r, 3, &m), -EAGAIN); /* not written */
	CHECK_INT(read_module(r, UINT32_MAX, &m), -EINVAL);
	read_close(r);
}

struct heard {
	uint64_t count, allocs, bytes;
	uint32_t thread;
};

static void hear(void *ctx, uint32_t thread, const struct ht_event *e)
{
	struct heard *h = ctx;

	h->count++;
	h->allocs += e->kind == HT_EVENT_ALLOC;
	h->bytes += e->size;
	h->thread = thread;
	CHECK(e->site >= 1 && e->site < MADE_SITES && e->tick == e->site);
}

TEST(events)
{
	struct read_segment *r = made_read(&made);
	struct read_totals t;
	struct heard h = { 0 };
	uint64_t lost = 0;

	CHECK_INT(read_totals(r, &t), 0);
	CHECK_INT(read_events(r, hear, &h, &lost), t.events);
	CHECK_INT(h.count, t.events);
	CHECK_INT(h.allocs, t.allocs);
	CHECK_INT(h.bytes, t.alloc_bytes + t.free_bytes);
	CHECK_INT(h.thread, 1);
	CHECK_INT(lost, 0);
	CHECK_INT(read_events(r, hear, &h, &lost), 0); /* each once */
	read_close(r);
}

/* Events of the shared slot whose writers never finished are lost, and the oldest of a ring that
 * ran over. Both are counted. */
TEST(events_lost)
{
	struct made busy;
	struct read_segment *r;
	struct read_totals t;
	struct heard h = { 0 };
	char message[READ_MESSAGE_MAX];
	uint64_t lost = 0;

	made_open(&busy, &fixture_identity);
	CHECK_INT(thread_claim(&busy.s, 1, NULL), 1);
	for (unsigned i = 0; i < HT_RING_EVENTS + 10; i++)
		made_push(&busy, HT_EVENT_ALLOC, 1, 64 + i, 1);
	thread_at(&busy.s, 0)->ring_head = 7;
	r = read_open(busy.path, message);
	CHECK(r && read_totals(r, &t) == 0);
	if (r)
		CHECK_INT(read_events(r, hear, &h, &lost), HT_RING_EVENTS - 1);
	CHECK_INT(lost, 7 + 11);
	read_close(r);
	made_close(&busy);
}

/* A viewer asks for events: it gets none that were written for another one, and does not shorten
 * that one's time. */
TEST(events_requested)
{
	struct made busy;
	struct read_segment *r;
	struct read_totals t;
	struct heard h = { 0 };
	uint64_t lost = 0;

	made_open(&busy, &fixture_identity);
	CHECK_INT(thread_claim(&busy.s, 1, NULL), 1);
	for (unsigned i = 0; i < HT_RING_EVENTS + 10; i++)
		made_push(&busy, HT_EVENT_ALLOC, 1, 64 + i, 1);
	thread_at(&busy.s, 0)->ring_head = 7;
	busy.s.header->clock_ns = 1000;
	CHECK(!ring_is_wanted(&busy.s));
	r = made_read(&busy);
	CHECK_INT(read_events_request(r, 2000), 0);
	CHECK(ring_is_wanted(&busy.s));
	for (unsigned i = 0; i < 5; i++)
		made_push(&busy, HT_EVENT_ALLOC, 1, 64 + i, 1);
	CHECK_INT(read_events_request(r, 3000), 0);
	CHECK_INT(read_events_request(r, 2500), 0);
	CHECK_INT(busy.s.header->events_until, 3000);
	CHECK_INT(read_totals(r, &t), 0);
	CHECK_INT(read_events(r, hear, &h, &lost), 5);
	CHECK_INT(lost, 0);
	busy.s.header->clock_ns = 3000;
	CHECK(!ring_is_wanted(&busy.s));
	read_close(r);
	made_close(&busy);
}

/* A sampled block is one event, by whatever it counts. */
TEST(events_of_samples)
{
	const struct poisson_weight w = { .blocks = 50, .bytes = 5000 };
	struct counter_freed end_of = { .size = 100 };
	struct made busy;
	struct read_segment *r;
	struct read_totals t;

	made_open(&busy, &fixture_identity);
	CHECK_INT(thread_claim(&busy.s, 1, NULL), 1);
	counter_own(&busy.s, &busy.owner, 1);
	for (unsigned i = 0; i < 3; i++)
		counter_alloc_sampled(&busy.s, &busy.owner, 0, 100, &w);
	counter_free_sampled(&busy.s, &busy.owner, 0, &end_of, &w);
	counter_alloc(&busy.s, &busy.owner, 0, 100);
	r = made_read(&busy);
	CHECK_INT(read_totals(r, &t), 0);
	CHECK_INT(t.allocs, 151);
	CHECK_INT(t.frees, 50);
	CHECK_INT(t.events, 5);
	read_close(r);
	made_close(&busy);
}

TEST(removed_by_the_last_viewer)
{
	struct made m;
	struct read_segment *a, *b;
	char message[READ_MESSAGE_MAX];

	made_open(&m, &fixture_identity);
	a = read_open(m.path, message);
	b = read_open(m.path, message);
	if (!a || !b)
		made_give_up(message);
	CHECK_INT(read_viewer_lock(a), 0);
	CHECK_INT(read_viewer_lock(b), 0);
	CHECK(!read_remove_if_unused(a));
	CHECK_INT(access(m.path, F_OK), 0);
	read_close(b);
	CHECK(read_remove_if_unused(a));
	CHECK(access(m.path, F_OK) != 0);
	read_close(a);
	made_close(&m);
}

/* A name that has gone to another file is not ours to remove. */
TEST(another_file_of_that_name_stays)
{
	struct made m;
	struct read_segment *r;
	char message[READ_MESSAGE_MAX];
	int fd;

	made_open(&m, &fixture_identity);
	r = read_open(m.path, message);
	unlink(m.path);
	fd = open(m.path, O_CREAT | O_EXCL | O_WRONLY, 0600);
	CHECK(r && !read_remove_if_unused(r));
	CHECK_INT(access(m.path, F_OK), 0);
	close(fd);
	read_close(r);
	made_close(&m);
}

TEST(close_of_nothing)
{
	read_close(NULL);
}

int main(void)
{
	made_open(&made, &fixture_identity);
	made_fill(&made);
	RUN(identity);
	RUN(control);
	RUN(frozen);
	RUN(marks);
	RUN(totals);
	RUN(history);
	RUN(totals_below_zero);
	RUN(sites);
	RUN(sites_of_many_counters);
	RUN(sites_in_parts);
	RUN(stacks);
	RUN(stack_of_an_ancestor);
	RUN(stack_of_two_threads);
	RUN(stack_longer_than_asked_for);
	RUN(stack_written_later);
	RUN(modules);
	RUN(events);
	RUN(events_lost);
	RUN(events_requested);
	RUN(events_of_samples);
	RUN(removed_by_the_last_viewer);
	RUN(another_file_of_that_name_stays);
	RUN(close_of_nothing);
	made_close(&made);
	return check_end();
}
