/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of shm/segment: the layout of a fresh segment, refusal of every damaged header field,
 * memory taken unit by unit, and what the system calls' failures turn into.
 */
#include "tests/unit/shm_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "shm/thread.h"

#define PAGE 4096u
/* The header has memory up to the first pieces, and for what a leak scan reads at once. */
#define HEADER_PAGES                                                                               \
	(offsetof(struct ht_header, pieces[1]) / PAGE + 1 +                                        \
		offsetof(struct ht_header, coop.data) / PAGE -                                     \
		offsetof(struct ht_header, coop) / PAGE + 1)

/* Stand-ins for the two system calls, to play a kernel that interrupts or lacks one, or an emulator
 * that accepts what it does not know. */
static int fallocate_interrupts, populate_missing, populate_ignored;

int fallocate(int fd, int mode, off_t offset, off_t bytes)
{
	if (fallocate_interrupts > 0) {
		fallocate_interrupts--;
		errno = EINTR;
		return -1;
	}
	return (int)syscall(SYS_fallocate, fd, mode, offset, bytes);
}

int madvise(void *at, size_t bytes, int advice)
{
	if (populate_missing) {
		errno = EINVAL;
		return -1;
	}
	return populate_ignored ? 0 : (int)syscall(SYS_madvise, at, bytes, advice);
}

static uint64_t file_memory(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

TEST(identity)
{
	struct fixture f;
	const struct ht_header *h;

	fixture_open(&f, SEGMENT_SMALL);
	h = f.s.header;
	CHECK(memcmp(&h->magic, "heaptop1", 8) == 0);
	CHECK_INT(h->version, HT_VERSION);
	CHECK_INT(h->signature, HT_SIGNATURE);
	CHECK_INT(h->state, HT_STATE_PREPARED);
	CHECK_INT(h->pid, 4711);
	CHECK_INT(h->ppid, 4710);
	CHECK_INT(h->uid, 1000);
	CHECK_INT(h->exec_gen, 3);
	CHECK_INT(h->depth, 64);
	CHECK_INT(h->start_ticks, 123456789);
	CHECK_INT(h->created_realtime_ns, 1700000000000000000ll);
	CHECK_INT(h->created_ns, FIXTURE_CREATED_NS);
	CHECK_INT(h->clock_ns, FIXTURE_CREATED_NS);
	CHECK_INT(h->family, 0xfeedf00d);
	CHECK(memcmp(h->boot_id, fixture_identity.boot_id, 16) == 0);
	CHECK_INT(h->page_bytes, sysconf(_SC_PAGESIZE));
	fixture_close(&f);
	CHECK(f.s.header == NULL);
	CHECK_INT(f.s.bytes, 0);
}

static void check_layout(enum segment_size size)
{
	struct fixture f;
	const struct ht_header *h;
	uint64_t at = HT_HEADER_BYTES, threads;
	struct stat st;

	fixture_open(&f, size);
	h = f.s.header;
	for (int i = 0; i < HT_REGION_COUNT; i++) {
		CHECK_INT(h->region[i].offset, at);
		CHECK_INT(h->region[i].bytes % HT_COMMIT_BYTES, 0);
		at += h->region[i].bytes;
	}
	CHECK_INT(h->segment_bytes, at);
	CHECK_INT(f.s.bytes, at);
	CHECK(fstat(f.fd, &st) == 0 && (uint64_t)st.st_size == at);
	CHECK(h->region[HT_REGION_RINGS].offset / HT_COMMIT_BYTES <= HT_COMMITTED_WORDS * 64);
	CHECK(h->region[HT_REGION_PIECES].bytes >= h->live_pieces_max * sizeof(struct ht_piece));
	CHECK_INT(h->live_pieces_max, size == SEGMENT_FULL ? HT_PIECES_MAX : 0);
	threads = h->region[HT_REGION_THREADS].bytes / sizeof(struct ht_thread);
	CHECK_INT(h->region[HT_REGION_RINGS].bytes,
		(size == SEGMENT_FULL ? threads : 16) * HT_RING_EVENTS * sizeof(struct ht_event));
	/* A counter of slot 0 for each site, whatever the other slots take. */
	CHECK(h->region[HT_REGION_COUNTERS].bytes / sizeof(struct ht_counter) / 2 >=
		h->region[HT_REGION_SITES].bytes / sizeof(struct ht_site));
	CHECK(threads <= HT_SLOTS_MAX); /* as ht_owner has it */
	CHECK(h->region[HT_REGION_SITES].bytes / sizeof(struct ht_site) <= HT_SITES_MAX);
	CHECK(h->region[HT_REGION_COUNTERS].bytes / sizeof(struct ht_counter) <= HT_COUNTERS_MAX);
	if (size == SEGMENT_FULL)
		CHECK_INT(h->region[HT_REGION_SITES].bytes / sizeof(struct ht_site), 1u << 22);
	CHECK(segment_check(h, at));
	fixture_close(&f);
}

TEST(layout)
{
	check_layout(SEGMENT_SMALL);
	check_layout(SEGMENT_FULL);
}

TEST(levels)
{
	struct fixture f;
	const struct ht_header *h;
	uint64_t at;

	fixture_open(&f, SEGMENT_FULL);
	h = f.s.header;
	at = h->region[HT_REGION_LIVE].offset;
	for (uint32_t i = 0; i < h->live_levels_max; i++) {
		CHECK_INT(segment_level_offset(h, i), at);
		CHECK_INT(segment_level_bytes(h, i), sizeof(struct ht_bucket)
							     << (h->live_log2 + 2 * i));
		at += segment_level_bytes(h, i);
	}
	CHECK_INT((at + HT_COMMIT_BYTES - 1) / HT_COMMIT_BYTES * HT_COMMIT_BYTES,
		h->region[HT_REGION_LIVE].offset + h->region[HT_REGION_LIVE].bytes);
	CHECK_INT(h->live_levels_max, HT_LIVE_LEVELS);
	/* Room for 20 million blocks at a fill that the probing reaches. */
	CHECK(segment_level_bytes(h, 7) / sizeof(struct ht_bucket) * HT_BUCKET_SLOTS > 25000000);
	fixture_close(&f);
}

TEST(sparse_start)
{
	struct fixture f;

	fixture_open(&f, SEGMENT_FULL);
	CHECK(file_memory(f.fd) <= (HEADER_PAGES + SEGMENT_STARTS) * PAGE);
	CHECK_INT(f.s.header->nodes, 1);
	CHECK_INT(f.s.header->sites, 1);
	CHECK_INT(f.s.header->counters, 1);
	CHECK_INT(f.s.header->hists, 2);
	CHECK_INT(f.s.header->modules, 1);
	CHECK_INT(f.s.header->threads, 1);
	CHECK_INT(f.s.header->strings_bytes, 1);
	CHECK_INT(f.s.header->live_levels, 0);
	CHECK_INT(f.s.header->commit_failed, 0);
	fixture_close(&f);
	fixture_open(&f, SEGMENT_SMALL);
	CHECK(f.s.bytes <= 48u << 20);
	fixture_close(&f);
}

/* One way to damage a header. `bytes` of the field at `offset` become `value`, or are added it. */
struct damage {
	const char *field;
	uint64_t offset, bytes, value;
	bool add;
};

#define SET(field, v)                                                                              \
	{                                                                                          \
#field " = " #v, offsetof(struct ht_header, field),                                \
			sizeof(((struct ht_header *)0)->field), (uint64_t)(v), false               \
	}
#define ADD(field, v)                                                                              \
	{                                                                                          \
#field " += " #v, offsetof(struct ht_header, field),                               \
			sizeof(((struct ht_header *)0)->field), (uint64_t)(v), true                \
	}

static const struct damage damages[] = {
	SET(magic, 0),
	ADD(magic, 1),
	SET(version, 0),
	SET(version, HT_VERSION + 1),
	SET(signature, 0),
	ADD(signature, 1),
	SET(segment_bytes, 0),
	SET(segment_bytes, HT_HEADER_BYTES),
	SET(segment_bytes, UINT64_MAX),
	ADD(segment_bytes, 1),
	ADD(segment_bytes, -1),
	ADD(segment_bytes, HT_COMMIT_BYTES),
	ADD(segment_bytes, -(int64_t)HT_COMMIT_BYTES),
	SET(live_log2, 0),
	SET(live_log2, 2),
	SET(live_log2, 15),
	SET(live_log2, 25),
	SET(live_log2, 63),
	SET(live_log2, UINT32_MAX),
	SET(live_levels_max, 0),
	SET(live_levels_max, 3),
	SET(live_pieces_max, 1),
	SET(live_pieces_max, 3),
	SET(live_pieces_max, 2 * HT_PIECES_MAX),
	SET(live_pieces_max, UINT32_MAX),
	SET(live_levels_max, HT_LIVE_LEVELS + 1),
	SET(live_levels_max, UINT32_MAX),
	SET(index_log2, 13),
	SET(index_log2, 25),
	SET(index_log2, 64),
	SET(index_log2, UINT32_MAX),
	SET(index_levels, 0),
	SET(index_levels, 3),
	SET(index_levels, 9),
	SET(index_levels, UINT32_MAX),
};

static void damage_apply(struct ht_header *h, const struct damage *d)
{
	char *at = (char *)h + d->offset;
	uint64_t value = 0;

	if (d->add)
		memcpy(&value, at, d->bytes);
	value += d->value;
	memcpy(at, &value, d->bytes);
}

/* A private copy of a good header. Its own tail is zeros: only what `check` reads matters. */
static struct ht_header *header_copy(uint64_t *bytes)
{
	struct ht_header *h = malloc(sizeof(*h));
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	memcpy(h, f.s.header, sizeof(*h));
	*bytes = f.s.bytes;
	fixture_close(&f);
	return h;
}

TEST(check_refuses_fields)
{
	uint64_t bytes;
	struct ht_header *good = header_copy(&bytes), *bad = malloc(sizeof(*bad));

	CHECK(segment_check(good, bytes));
	CHECK(segment_check(good, bytes + 1));
	CHECK(!segment_check(good, bytes - 1));
	CHECK(!segment_check(good, 0));
	for (unsigned i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		*bad = *good;
		damage_apply(bad, &damages[i]);
		if (segment_check(bad, bytes))
			check_fail(__FILE__, __LINE__, damages[i].field);
	}
	free(good);
	free(bad);
}

TEST(check_refuses_regions)
{
	static const int64_t deltas[] = { 1, -1, HT_COMMIT_BYTES, -(int64_t)HT_COMMIT_BYTES,
		INT64_MIN, 1ll << 40 };
	uint64_t bytes;
	struct ht_header *good = header_copy(&bytes), *bad = malloc(sizeof(*bad));

	for (int i = 0; i < HT_REGION_COUNT; i++)
		for (unsigned d = 0; d < sizeof(deltas) / sizeof(deltas[0]); d++) {
			*bad = *good;
			bad->region[i].offset += (uint64_t)deltas[d];
			CHECK(!segment_check(bad, bytes));
			*bad = *good;
			bad->region[i].bytes += (uint64_t)deltas[d];
			CHECK(!segment_check(bad, bytes));
			*bad = *good;
			bad->region[i].bytes = 0;
			CHECK(!segment_check(bad, bytes));
		}
	free(good);
	free(bad);
}

/* Moves the border between a region and the next: sizes still add up, but one table is too small
 * for the indices of another. */
static bool border_accepted(
	const struct ht_header *good, uint64_t bytes, enum ht_region_id id, int64_t by)
{
	struct ht_header bad = *good;

	bad.region[id].bytes += (uint64_t)by;
	bad.region[id + 1].offset += (uint64_t)by;
	bad.region[id + 1].bytes -= (uint64_t)by;
	return segment_check(&bad, bytes);
}

TEST(check_refuses_tables_that_disagree)
{
	const int64_t unit = HT_COMMIT_BYTES;
	uint64_t bytes;
	struct ht_header *good = header_copy(&bytes);

	/* owners for fewer counters than there are */
	CHECK(!border_accepted(good, bytes, HT_REGION_OWNERS, -unit));
	/* the index's levels larger than their region */
	CHECK(!border_accepted(good, bytes, HT_REGION_INDEX, -unit));
	/* live levels larger than their region */
	CHECK(!border_accepted(good, bytes, HT_REGION_LIVE, -unit));
	free(good);
}

static char *page_map(void)
{
	return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* What the program maps next lies where it would have without. */
TEST(out_of_the_way)
{
	char *before = page_map(), *after;
	struct fixture f;

	fixture_open(&f, SEGMENT_FULL);
	after = page_map();
	CHECK(before - after < 1 << 20 && after - before < 1 << 20);
	munmap(before, 4096);
	munmap(after, 4096);
	fixture_close(&f);
}

TEST(map_shares)
{
	struct fixture f;
	struct segment other;

	fixture_open(&f, SEGMENT_SMALL);
	CHECK_INT(segment_map(&other, f.fd), 0);
	CHECK_INT(other.bytes, f.s.bytes);
	CHECK(other.header != f.s.header);
	ht_store_relaxed_64(&f.s.header->live_bytes, 77);
	CHECK_INT(ht_load_relaxed_64(&other.header->live_bytes), 77);
	segment_unmap(&other);
	fixture_close(&f);
}

TEST(map_refuses)
{
	struct fixture f;
	struct segment other = { 0 };
	int fd = memfd_create("short", MFD_CLOEXEC), junk;

	CHECK_INT(segment_map(&other, -1), -EBADF);
	CHECK_INT(segment_map(&other, fd), -EPROTO); /* empty */
	CHECK(ftruncate(fd, HT_HEADER_BYTES - 1) == 0);
	CHECK_INT(segment_map(&other, fd), -EPROTO);
	CHECK(ftruncate(fd, HT_HEADER_BYTES) == 0);
	CHECK_INT(segment_map(&other, fd), -EPROTO); /* zeros */
	junk = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	for (unsigned i = 0; i < 32; i++) {
		char buf[4096];

		CHECK(read(junk, buf, sizeof(buf)) == sizeof(buf));
		CHECK(pwrite(fd, buf, sizeof(buf), (off_t)(i * sizeof(buf))) == sizeof(buf));
	}
	CHECK_INT(segment_map(&other, fd), -EPROTO);
	close(junk);
	close(fd);
	fixture_open(&f, SEGMENT_SMALL);
	CHECK(ftruncate(f.fd, (off_t)f.s.bytes - 1) == 0);
	CHECK_INT(segment_map(&other, f.fd), -EPROTO);
	CHECK(other.header == NULL);
	fixture_close(&f);
}

TEST(commit_takes_units)
{
	struct fixture f;
	uint64_t at, before;

	fixture_open(&f, SEGMENT_FULL);
	at = f.s.header->region[HT_REGION_NODES].offset + 10 * HT_COMMIT_BYTES;
	before = file_memory(f.fd);
	CHECK(!commit_has(&f.s, at));
	CHECK_INT(commit_range(&f.s, at + HT_COMMIT_BYTES - 1, 1), 0);
	CHECK(commit_has(&f.s, at));
	CHECK(commit_has(&f.s, at + HT_COMMIT_BYTES - 1));
	CHECK(!commit_has(&f.s, at + HT_COMMIT_BYTES));
	CHECK(!commit_has(&f.s, at - 1));
	CHECK_INT(file_memory(f.fd) - before, HT_COMMIT_BYTES);
	/* across a border: both units */
	CHECK_INT(commit_range(&f.s, at + HT_COMMIT_BYTES - 1, 2), 0);
	CHECK(commit_has(&f.s, at + HT_COMMIT_BYTES));
	CHECK_INT(file_memory(f.fd) - before, 2 * HT_COMMIT_BYTES);
	CHECK_INT(commit_range(&f.s, at, 2 * HT_COMMIT_BYTES), 0);
	CHECK_INT(file_memory(f.fd) - before, 2 * HT_COMMIT_BYTES);
	for (uint64_t i = 0; i < 2 * HT_COMMIT_BYTES; i += 512)
		CHECK(*(const char *)segment_at(&f.s, at + i) == 0);
	/* the last unit before the pieces */
	at = f.s.header->region[HT_REGION_PIECES].offset - 1;
	CHECK_INT(commit_range(&f.s, at, 1), 0);
	CHECK(commit_has(&f.s, at));
	fixture_close(&f);
}

/* A region that fills up from its start takes its first unit in parts, each as large as all before
 * it, or as large as it must be; another process's mapping has them, too. */
TEST(commit_grows_from_the_start)
{
	static const struct {
		uint64_t end, pages; /* of the unit, in pages: what is asked for, and then there */
	} steps[] = { { 1, 1 }, { 2, 2 }, { 3, 4 }, { 4, 4 }, { 11, 11 }, { 12, 16 } };
	struct segment other = { 0 };
	struct fixture f;
	uint64_t at, before;

	fixture_open(&f, SEGMENT_FULL);
	at = f.s.header->region[HT_REGION_NODES].offset;
	before = file_memory(f.fd) - PAGE; /* its first page */
	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		CHECK(!commit_has(&f.s, at));
		CHECK_INT(commit_range(&f.s, at + steps[i].end * PAGE - 1, 1), 0);
		CHECK_INT(file_memory(f.fd) - before, steps[i].pages * PAGE);
		memset(segment_at(&f.s, at), 0xaa, steps[i].end * PAGE);
		CHECK_INT(file_memory(f.fd) - before, steps[i].pages * PAGE);
	}
	CHECK(commit_has(&f.s, at));
	/* One whose unit was not whole is right as well. */
	at = f.s.header->region[HT_REGION_SITES].offset;
	CHECK_INT(commit_range(&f.s, at, 3 * PAGE), 0);
	memset(segment_at(&f.s, at), 0xaa, 3 * PAGE);
	CHECK_INT(segment_map(&other, f.fd), 0);
	before = file_memory(f.fd);
	for (uint64_t i = 0; i < 3 * PAGE; i++)
		CHECK(*(const uint8_t *)segment_at(&other, at + i) == 0xaa);
	CHECK_INT(commit_range(&other, at, 3 * PAGE), 0);
	CHECK_INT(file_memory(f.fd), before);
	CHECK_INT(commit_range(&other, at + 4 * PAGE, 1), 0);
	memset(segment_at(&other, at), 0xbb, 5 * PAGE);
	segment_unmap(&other);
	fixture_close(&f);
}

/* The overflow is used all over. */
TEST(commit_takes_whole_units_elsewhere)
{
	struct fixture f;
	uint64_t before, at;

	fixture_open(&f, SEGMENT_FULL);
	at = f.s.header->region[HT_REGION_LIVE].offset;
	before = file_memory(f.fd);
	CHECK_INT(commit_range(&f.s, at, 1), 0);
	CHECK_INT(file_memory(f.fd) - before, HT_COMMIT_BYTES);
	CHECK(commit_has(&f.s, at));
	fixture_close(&f);
}

TEST(elements)
{
	struct fixture f;
	uint64_t at;

	fixture_open(&f, SEGMENT_SMALL);
	at = segment_element(&f.s, HT_REGION_THREADS, 5, sizeof(struct ht_thread));
	CHECK_INT(at, f.s.header->region[HT_REGION_THREADS].offset + 5 * sizeof(struct ht_thread));
	CHECK(segment_at(&f.s, at) == (void *)((char *)f.s.header + at));
	CHECK(thread_at(&f.s, 5) == segment_at(&f.s, at));
	fixture_close(&f);
}

TEST(interrupted_fallocate)
{
	struct fixture f;
	int rc;

	f.fd = memfd_create("segment", MFD_CLOEXEC);
	fallocate_interrupts = 3;
	populate_missing = 1;
	rc = segment_create(&f.s, f.fd, SEGMENT_SMALL, &fixture_identity);
	CHECK_INT(rc, 0);
	CHECK_INT(fallocate_interrupts, 0);
	populate_missing = 0;
	if (rc == 0)
		fixture_close(&f);
}

static void check_all_is_there(int *populate)
{
	struct segment s;
	int fd = memfd_create("segment", MFD_CLOEXEC);

	*populate = 1;
	CHECK_INT(segment_create(&s, fd, SEGMENT_FULL, &fixture_identity), -EAGAIN);
	CHECK(ftruncate(fd, 0) == 0);
	CHECK_INT(segment_create(&s, fd, SEGMENT_SMALL, &fixture_identity), 0);
	*populate = 0;
	/* everything is there, and says so */
	CHECK(file_memory(fd) >= s.bytes);
	for (uint64_t at = 0; at < s.bytes; at += HT_COMMIT_BYTES)
		CHECK(commit_has(&s, at));
	segment_unmap(&s);
	close(fd);
}

TEST(kernel_without_populate)
{
	check_all_is_there(&populate_missing);
}

TEST(emulator_that_ignores_advice)
{
	check_all_is_there(&populate_ignored);
}

TEST(not_a_memory_file)
{
	struct segment s;
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	CHECK(segment_create(&s, fd, SEGMENT_SMALL, &fixture_identity) < 0);
	CHECK_INT(segment_create(&s, -1, SEGMENT_SMALL, &fixture_identity), -EBADF);
	close(fd);
}

TEST(function_names)
{
	for (uint32_t i = 1; i < HT_FUNCTION_COUNT; i++)
		for (uint32_t j = 0; j < i; j++)
			CHECK(strcmp(ht_function_name(i), ht_function_name(j)) != 0);
	CHECK_STR(ht_function_name(HT_FN_MALLOC), "malloc");
	CHECK_STR(ht_function_name(HT_FN_NEW_ARRAY_ALIGNED_NOTHROW),
		"operator new[](align, nothrow)");
	CHECK_STR(ht_function_name(HT_FN_NONE), "?");
	CHECK_STR(ht_function_name(HT_FUNCTION_COUNT), "?");
	CHECK_STR(ht_function_name(UINT32_MAX), "?");
}

int main(void)
{
	RUN(identity);
	RUN(layout);
	RUN(levels);
	RUN(sparse_start);
	RUN(check_refuses_fields);
	RUN(check_refuses_regions);
	RUN(check_refuses_tables_that_disagree);
	RUN(out_of_the_way);
	RUN(map_shares);
	RUN(map_refuses);
	RUN(commit_takes_units);
	RUN(commit_grows_from_the_start);
	RUN(commit_takes_whole_units_elsewhere);
	RUN(elements);
	RUN(interrupted_fallocate);
	RUN(kernel_without_populate);
	RUN(emulator_that_ignores_advice);
	RUN(not_a_memory_file);
	RUN(function_names);
	return check_end();
}
