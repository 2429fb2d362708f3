/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an attached program had before: of a process that keeps its own account, with a segment as
 * the library would have prepared it.
 */
#include "src/leak/before.h"
#include "src/leak/access/malloc_code.h"
#include "src/proc/proc.h"
#include "src/trace/stop.h"
#include "tests/unit/heap_account.h"
#include "tests/unit/mapped_file.h"
#include "tests/unit/segment_fixture.h"

#include "shm/before.h"

static struct made made;
static struct read_segment *reader;
static pid_t pid;

static void begin(const char *what)
{
	struct segment_identity id = fixture_identity;
	char path[sizeof(made.path)];

	pid = child_start(what);
	id.pid = (uint32_t)pid;
	CHECK_INT(proc_start_ticks(pid, &id.start_ticks), 0);
	made_open(&made, &id);
	CHECK_INT(thread_claim(&made.s, (uint32_t)pid, NULL), 1);
	memset(&made.owner, 0, sizeof(made.owner));
	counter_own(&made.s, &made.owner, 1);
	made.s.header->state = HT_STATE_RUNNING;
	snprintf(path, sizeof(path), "%s/heaptop-test.%d", check_memory(), (int)pid);
	CHECK_INT(rename(made.path, path), 0);
	snprintf(made.path, sizeof(made.path), "%s", path);
	child_maps(pid, made.path);
	reader = made_read(&made);
}

static void end(void)
{
	read_close(reader);
	made_close(&made);
	child_end(pid);
}

static uint64_t account_bytes(void)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < account->count; i++)
		sum += account->block[i].usable;
	return sum;
}

static int publish(struct leak_before *b)
{
	char message[TRACE_MESSAGE_MAX];
	int rc = leak_before_publish(reader, pid, NULL, b, message);

	if (rc != 0)
		printf("  %s\n", message);
	return rc;
}

/* Within a thousandth, and what libc has allocated for each thread. */
static void check_bytes(uint64_t got, uint64_t want)
{
	CHECK(got >= want);
	CHECK(got <= want + want / 1000 + (THREADS + 2) * 300);
}

static struct read_totals totals(void)
{
	struct read_totals t;

	CHECK_INT(read_totals(reader, &t), 0);
	return t;
}

/* The first `count` blocks of the account are in the live table: allocated since. */
static uint64_t live_put(uint32_t site, unsigned count)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < count; i++) {
		struct live_block old[LIVE_MISSED_MAX],
			b = { account->block[i].usable, i, counter_claim(&made.s, site, 1) };

		CHECK_INT(live_insert(&made.s, account->block[i].addr, &b, old), 0);
		counter_alloc(&made.s, &made.owner, site, b.size);
		bytes += b.size;
	}
	return bytes;
}

TEST(recorded_from_its_start)
{
	struct leak_before b;

	begin("one");
	CHECK_INT(publish(&b), -ENOENT);
	end();
}

TEST(all_of_it)
{
	struct leak_before b, again;

	begin("threads");
	CHECK_INT(before_prepare(&made.s), 0);
	CHECK_INT(publish(&b), 0);
	CHECK(b.whole && !b.known);
	CHECK(b.arenas > 1);
	CHECK_INT(b.busy, 0);
	check_bytes(b.bytes, account_bytes());
	CHECK_INT(totals().live_bytes, (long long)b.bytes);
	CHECK_INT(totals().allocs, (long long)b.blocks);
	CHECK_INT(publish(&again), 0);
	CHECK(again.known);
	CHECK_INT(totals().live_bytes, (long long)b.bytes);
	end();
}

/* Blocks that were allocated since, and old ones that were freed since, before anyone counted. */
TEST(not_what_is_recorded)
{
	struct leak_before b;
	uint64_t live, freed = 0;
	uint32_t site;

	begin("threads");
	CHECK_INT(before_prepare(&made.s), 0);
	made_modules(&made);
	site = made_stack(&made, 1);
	live = live_put(site, 100);
	for (unsigned i = 0; i < 10; i++) {
		before_free(&made.s, &made.owner, 40 + i, true);
		freed += 40 + i;
	}
	CHECK_INT(publish(&b), 0);
	check_bytes(b.bytes, account_bytes() - live);
	CHECK_INT(totals().live_bytes, (long long)(b.bytes + live));
	CHECK_INT(totals().before.bytes, (long long)(b.bytes + freed));
	CHECK_INT(totals().before_frees, 10);
	end();
}

TEST(other_allocators)
{
	char message[TRACE_MESSAGE_MAX];
	struct leak_before b;

	begin("one");
	CHECK_INT(before_prepare(&made.s), 0);
	before_other_note(&made.s, 3, 3000);
	CHECK_INT(leak_before_publish(reader, pid, NULL, &b, message), 0);
	CHECK_INT(totals().live_bytes, (long long)b.bytes + 3000);
	before_free(&made.s, &made.owner, 1000, false);
	CHECK_INT(totals().live_bytes, (long long)b.bytes + 2000);
	before_free(&made.s, &made.owner, 4000, false); /* more than there was */
	CHECK_INT(totals().live_bytes, (long long)b.bytes);
	end();
}

static bool has(struct leak_range r, const void *function)
{
	return (uintptr_t)function >= r.start && (uintptr_t)function < r.end;
}

/* Where threads are taken to be inside malloc. */
/* Also beside a mapping of libc's file, before it, that is only read. */
TEST(code_of_malloc)
{
	struct mapped_file file = mapped_file_of((void *)pause);
	struct leak_range r = leak_malloc_code_find(getpid());

	CHECK(file.at != NULL);
	mapped_file_drop(&file);
	CHECK(has(r, (void *)malloc) && has(r, (void *)free) && has(r, (void *)realloc));
	CHECK(has(r, (void *)malloc_usable_size) && has(r, (void *)memalign));
	CHECK(!has(r, (void *)pause) && !has(r, (void *)read) && !has(r, (void *)printf));
	CHECK(r.end - r.start < 1 << 17);
}

int main(int argc, char **argv)
{
	int rc = account_main(argc, argv);

	if (rc >= 0)
		return rc;
	RUN(recorded_from_its_start);
	RUN(all_of_it);
	RUN(not_what_is_recorded);
	RUN(other_allocators);
	RUN(code_of_malloc);
	return check_end();
}
